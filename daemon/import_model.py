"""Import with a model: what it would cost with whom, and having it done where it costs least.

Nothing of the past is read by a model unless a person asks for it. What they ask for is handed over chunk by chunk, in
the provider's own batches where it has them, and each answer is used once, however often the daemon dies meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import aiosqlite

from subconscious import refining
from subconscious.capture import model
from subconscious.capture.chunks import CHARACTERS_A_TOKEN, Chunk, Measure, chunks, tokens
from subconscious.capture.proposals import SCALES, Answer
from subconscious.errors import RequestError
from subconscious.flow import second_look
from subconscious.flow.remembering import Provenance
from subconscious.llm.answers import Purpose
from subconscious.llm.spending import estimate
from subconscious.provider_table import provider_row
from subconscious.providers import PROVIDERS, Usage
from subconscious.providers.prices import default_model, price
from subconscious.refining import Piece
from subconscious.settings import Settings
from subconscious.sources import Sort, look
from subconscious.store import events, model_readings, sessions
from subconscious.store.asked import Asked
from subconscious.store.capture_rows import Place as Spot
from subconscious.store.model_readings import Place, Reach, Span
from subconscious.transcripts import State, read_turns

from .core import Core
from .refining import INTENT_LENGTH

PURPOSE = "import"

ANSWERED = 700
"""Tokens that an answer has, by rule of thumb; at the most it is as long as was allowed."""

READ_TO_TELL = 64 << 20
"""Bytes that are read to tell what the rest would take too: a plan must not take as long as the deed."""


@dataclass(frozen=True, slots=True)
class Need:
    """What one call takes: tokens by rule of thumb, and at the most."""

    input: int
    output: int
    most: Usage


@dataclass(frozen=True, slots=True)
class Offer:
    """What one provider would take. A cost of None is not known; ``batch`` is what its own batches cost."""

    provider: str
    model: str
    configured: bool
    cost: float | None
    batch: float | None
    most: float | None


def measure_of(settings: Settings) -> Measure:
    """How sessions are cut under these settings."""
    return Measure(settings.chunk_tokens, settings.chunk_overlap)


async def price_tags(core: Core, files: Sequence[dict[str, Any]], *, whole: bool) -> dict[str, Any]:
    """Say what it takes to have sessions read by a model, and what each provider would ask for that.

    ``whole`` reads every file, and writes into each row what it needs; else the rest is told from a part.
    """
    spans = await model_readings.reaches(core.database)
    rows = [row for row in files if row["sort"] == Sort.SESSION]
    left = [row for row in rows if _unread(spans.get(row["path"], ()), row["bytes"]) is not None]
    chosen = core.llm.settings
    needs, share = await asyncio.to_thread(_needs, left, spans, measure_of(chosen), READ_TO_TELL if not whole else None)
    offers = [
        _offer(name, chosen, [need for of_one in needs.values() for need in of_one], share) for name in _names(chosen)
    ]
    if whole:
        for row in left:
            row["model"] = _of_file(needs[row["path"]], chosen)
    calls = [need for of_one in needs.values() for need in of_one]
    return {
        "sessions": len(left),
        "calls": round(len(calls) * share),
        "tokens": round(sum(need.input + need.output for need in calls) * share),
        "estimated": share > 1.0,
        "cost_per_day": chosen.cost_per_day,
        "offers": [asdict(offer) for offer in offers],
    }


def _names(chosen: Settings) -> list[str]:
    """Every provider: those that are set first, in the order in which they are asked."""
    configured = _configured(chosen)
    return [*configured, *(name for name in PROVIDERS if provider_row(name).about and name not in configured)]


def _configured(chosen: Settings) -> list[str]:
    names = [chosen.provider, *chosen.provider_fallback]
    return [name for name in dict.fromkeys(names) if name in PROVIDERS]


def _offer(name: str, chosen: Settings, needs: Sequence[Need], share: float) -> Offer:
    sold = getattr(chosen, f"{name}_model", "") or default_model(name)
    whole = _dollars(name, sold, chosen, [Usage(need.input, need.output) for need in needs], batch=False)
    halved = _dollars(name, sold, chosen, [Usage(need.input, need.output) for need in needs], batch=True)
    most = _dollars(name, sold, chosen, [need.most for need in needs], batch=False)
    batches = chosen.native_batches and halved != whole
    return Offer(
        name,
        sold,
        name in _configured(chosen),
        _times(whole, share),
        _times(halved, share) if batches else None,
        _times(most, share),
    )


def _times(dollars: float | None, share: float) -> float | None:
    return None if dollars is None else dollars * share


def _dollars(name: str, sold: str, chosen: Settings, usages: Iterable[Usage], *, batch: bool) -> float | None:
    """What calls cost in all; None where one of them is not known, and where there is none to know it by."""
    url = getattr(chosen, f"{name}_url", "")
    prices = [price(name, sold, usage, batch=batch, base_url=url) for usage in usages]
    known = [one for one in prices if one is not None]
    return sum(known) if len(known) == len(prices) else None


def _of_file(needs: Sequence[Need], chosen: Settings) -> dict[str, Any]:
    """What one file takes. ``most`` is what its calls cost at the very most, so that a cap can be held."""
    name = next(iter(_configured(chosen)), "")
    sold = getattr(chosen, f"{name}_model", "") or default_model(name)
    most = _dollars(name, sold, chosen, [need.most for need in needs], batch=False) if name else None
    return {"calls": len(needs), "tokens": sum(need.input + need.output for need in needs), "most": most}


def _needs(
    rows: Sequence[Mapping[str, Any]], spans: Mapping[str, Sequence[Reach]], measure: Measure, enough: int | None
) -> tuple[dict[str, list[Need]], float]:
    """What reading these files takes, and by how much to multiply it, where only some of them were looked into."""
    found: dict[str, list[Need]] = {}
    total = sum(row["bytes"] for row in rows)
    looked = 0
    for row in rows:
        if enough is not None and looked >= enough:
            break
        reach = _unread(spans.get(row["path"], ()), row["bytes"])
        found[row["path"]] = _need(row["path"], reach, measure) if reach else []
        looked += row["bytes"]
    return found, total / looked if looked else 1.0


def _need(path: str, reach: Reach, measure: Measure) -> list[Need]:
    """What each call for a file takes; its words need not be cleaned to be counted."""
    state = State.from_json(json.loads(reach.place.state or "{}"))
    room = max(1, reach.until - reach.place.anchor)
    reading = read_turns(Path(path), reach.place.anchor, state, final=True, max_bytes=room, glimpses=True)
    return [_need_of(chunk) for chunk in chunks(reading.turns[reach.place.seen :], measure) if chunk.speaks]


def _need_of(chunk: Chunk) -> Need:
    asked = model.request(chunk, [])
    schema = json.dumps(asked.schema.model_json_schema())
    return Need((len(asked.system) + len(asked.text) + len(schema)) // CHARACTERS_A_TOKEN, ANSWERED, estimate(asked))


def _unread(known: Sequence[Reach], end: int) -> Reach | None:
    """The first part of a file that no model has read and none is about to; None where there is none.

    What a model goes on reading by itself, while a session lives, is left to it.
    """
    place, begin = Place(0, ""), 0
    for reach in sorted(known, key=lambda one: one.begin):
        if reach.begin > begin:
            return Reach(begin, reach.begin, place, open=False)
        begin, place = reach.until, reach.place
        if reach.open:
            return None
    return Reach(begin, end, place, open=False) if begin < end else None


@dataclass(frozen=True, slots=True)
class Ordered:
    """What became of a wish to have a file read: how many calls were put on record, or why none."""

    calls: int = 0
    tokens: int = 0
    reason: str = ""


async def order(core: Core, path: Path) -> Ordered:
    """Hand the unread part of an imported session over; asked for again, it changes nothing."""
    if not core.llm.on:
        raise RequestError("no provider is set, so there is no model to read with", 'set provider = "anthropic", say')
    found = await asyncio.to_thread(look, path)
    if found.sort is not Sort.SESSION:
        return Ordered(reason="only a session's own transcript is read by a model")
    read = await sessions.position(core.database, found.path, "")
    known = (await model_readings.reaches(core.database)).get(found.path, [])
    reach = _unread(known, read.position)
    session = await sessions.get(core.database, found.session_id)
    if reach is None or session is None:
        return Ordered(reason="it was read before" if session else "it was not imported yet")
    span = Span(0, found.path, session.id, session.project_id, reach.begin, reach.until, reach.place, 0, 0, True)
    measure = measure_of(core.llm.settings)
    pieces = await asyncio.to_thread(lambda: list(_pieces(span, measure)))
    return await _put(core, span, pieces, measure)


def _pieces(span: Span, measure: Measure) -> Iterator[tuple[Span, Piece]]:
    """Each chunk of a span, with the place that it is read from."""
    while isinstance(piece := refining.read_on(span, measure), Piece):
        yield span, piece
        span = replace(span, place=piece.place)


async def _put(core: Core, span: Span, pieces: Sequence[tuple[Span, Piece]], measure: Measure) -> Ordered:
    """Put the questions and how far they reach on record, as one."""
    mind = core.mind()
    asked = [
        (of, piece, replace(await refining.ask_of(mind, piece.chunk, span.project_id), purpose=PURPOSE))
        for of, piece in pieces
        if piece.chunk.speaks
    ]
    calls = 0
    async with core.database.write() as tx:
        last = pieces[-1][1].place if pieces else span.place
        if not await model_readings.order(tx, span, last):
            return Ordered(reason="it was read before")
        for of, piece, request in asked:
            payload = asdict(of) | {"length": measure.tokens, "overlap": measure.overlap}
            calls += await core.later.put(tx, _key(piece.chunk), request, payload, span.session_id, span.project_id)
    core.questioned.set()
    return Ordered(calls, sum(tokens(piece.chunk.fresh) for _, piece, _ in asked))


def _key(chunk: Chunk) -> str:
    """A question by what it is about: the same turns, asked for in the same words, are asked about once."""
    about = "\0".join((str(model.VERSION), *(turn.id for turn in chunk.fresh)))
    return hashlib.sha256(about.encode()).hexdigest()[:40]


def register(core: Core) -> None:
    """Say what becomes of the answers."""

    async def apply(tx: aiosqlite.Connection, asked: Asked, answer: Any) -> None:
        await _use(core, tx, asked, answer)

    async def give_up(tx: aiosqlite.Connection, asked: Asked, reason: str) -> None:
        await events.record(tx, "given up", "reading", asked.key, session_id=asked.session_id, reason=reason)

    schema = SCALES[core.mind().settings.model_scores].schema
    core.later.register(PURPOSE, Purpose(schema, apply, give_up, core.embedding.wake))


async def _use(core: Core, tx: aiosqlite.Connection, asked: Asked, answer: Answer) -> None:
    """Join what a model made of a chunk with what stands; the chunk is read again, for evidence is looked up in it."""
    said = dict(asked.payload)
    measure = Measure(said.pop("length"), said.pop("overlap"))
    span = Span(**said | {"place": Place(**said["place"])})
    piece = await asyncio.to_thread(refining.read_on, span, measure)
    if not isinstance(piece, Piece):
        reason = piece.reason if piece else f"{span.path} has changed"
        await events.record(tx, "given up", "reading", asked.key, session_id=asked.session_id, reason=reason)
        return
    mind = core.mind()
    session = await sessions.get(core.database, span.session_id)
    intent = session.first_prompt[:INTENT_LENGTH] if session else ""
    where = Provenance(Spot(span.project_id, span.session_id), intent=intent, agent="import")
    name = model.extractor(asked.provider, asked.model)
    judged = await asyncio.to_thread(refining.judge, mind, answer, piece.chunk, name)
    # No second look: a person was told what this costs, and how many calls it takes.
    judged = second_look.without(judged)
    await refining.join(mind, tx, await refining.compare(mind, judged, where.place), where)
