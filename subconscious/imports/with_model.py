"""Import with a language model: estimates the cost by provider, and queues sessions for the model.

A model reads past sessions only if a person asks for it. Sessions are queued chunk by chunk, and sent through the
provider's batch API if it has one. Each answer is applied exactly once, even if the daemon is killed in between.
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

from subconscious.app import App
from subconscious.capture.admission import Provenance
from subconscious.capture.llm_extraction import extractor as model
from subconscious.capture.llm_extraction import reconciliation, refinement
from subconscious.capture.llm_extraction.chunks import CHARACTERS_A_TOKEN, Chunk, Measure, chunks, tokens
from subconscious.capture.llm_extraction.proposals import SCALES, Answer
from subconscious.capture.llm_extraction.refinement import Piece
from subconscious.capture.llm_extraction.refinement_worker import INTENT_LENGTH
from subconscious.domain.errors import RequestError
from subconscious.imports.sources import Sort, examine_file
from subconscious.llm.answers import Purpose
from subconscious.llm.providers import PROVIDERS, Usage
from subconscious.llm.providers.prices import default_model, price
from subconscious.llm.spending import estimate
from subconscious.settings.provider_table import provider_row
from subconscious.settings.settings import Settings
from subconscious.store import events, model_readings, sessions
from subconscious.store.capture_rows import SessionRef as CapturePlace
from subconscious.store.llm_requests import StoredRequest
from subconscious.store.model_readings import Part, ReadingPosition, Span
from subconscious.transcripts import State, read_turns
from subconscious.wire.imports import FileEstimate, ImportOffer, ModelEstimate, SourceFile

PURPOSE = "import"

ANSWER_TOKENS = 700
"""The typical number of tokens of an answer. The upper limit is ``max_tokens`` of each request."""

ESTIMATE_BYTES = 64 << 20
"""The most bytes that are read to extrapolate the cost of all files, so that a plan takes less time than the import."""


@dataclass(frozen=True, slots=True)
class CallTokens:
    """The tokens of one call: the estimate (``input``, ``output``), and the highest possible usage (``most``)."""

    input: int
    output: int
    most: Usage


def measure_of(settings: Settings) -> Measure:
    """Return the size and the overlap of chunks under these settings."""
    return Measure(settings.chunk_tokens, settings.chunk_overlap)


async def price_tags(app: App, files: Sequence[SourceFile], *, whole: bool) -> ModelEstimate:
    """Return the calls and tokens that a model needs to read sessions, and the cost with each provider.

    With ``whole``, every file is read, and its cost added to its row; otherwise, the total is extrapolated from a part.
    """
    spans = await model_readings.parts(app.database)
    rows = [row for row in files if row["sort"] == Sort.SESSION]
    left = [row for row in rows if _unread(spans.get(row["path"], ()), row["bytes"]) is not None]
    settings = app.llm.settings
    needs, share = await asyncio.to_thread(
        _estimate, left, spans, measure_of(settings), ESTIMATE_BYTES if not whole else None
    )
    offers = [
        _offer(name, settings, [need for of_one in needs.values() for need in of_one], share)
        for name in _names(settings)
    ]
    if whole:
        for row in left:
            row["model"] = _file_estimate(needs[row["path"]], settings)
    calls = [need for of_one in needs.values() for need in of_one]
    return {
        "sessions": len(left),
        "calls": round(len(calls) * share),
        "tokens": round(sum(need.input + need.output for need in calls) * share),
        "estimated": share > 1.0,
        "cost_per_day": settings.cost_per_day,
        "offers": offers,
    }


def _names(settings: Settings) -> list[str]:
    """Return the configured providers in the order of their use, then the others that users can choose."""
    configured = _configured(settings)
    return [*configured, *(name for name in PROVIDERS if provider_row(name).about and name not in configured)]


def _configured(settings: Settings) -> list[str]:
    names = [settings.provider, *settings.provider_fallback]
    return [name for name in dict.fromkeys(names) if name in PROVIDERS]


def _offer(name: str, settings: Settings, needs: Sequence[CallTokens], share: float) -> ImportOffer:
    model_name = getattr(settings, f"{name}_model", "") or default_model(name)
    whole = _dollars(name, model_name, settings, [Usage(need.input, need.output) for need in needs], batch=False)
    batched = _dollars(name, model_name, settings, [Usage(need.input, need.output) for need in needs], batch=True)
    most = _dollars(name, model_name, settings, [need.most for need in needs], batch=False)
    batches = settings.native_batches and batched != whole
    return {
        "provider": name,
        "model": model_name,
        "configured": name in _configured(settings),
        "cost": _scaled(whole, share),
        "batch": _scaled(batched, share) if batches else None,
        "most": _scaled(most, share),
    }


def _scaled(dollars: float | None, share: float) -> float | None:
    return None if dollars is None else dollars * share


def _dollars(name: str, model_name: str, settings: Settings, usages: Iterable[Usage], *, batch: bool) -> float | None:
    """Return the cost of calls in dollars; None if the price of at least one is unknown."""
    url = getattr(settings, f"{name}_url", "")
    prices = [price(name, model_name, usage, batch=batch, base_url=url) for usage in usages]
    known = [one for one in prices if one is not None]
    return sum(known) if len(known) == len(prices) else None


def _file_estimate(needs: Sequence[CallTokens], settings: Settings) -> FileEstimate:
    """Return the calls and tokens of a file. ``most`` is the highest possible cost in dollars."""
    name = next(iter(_configured(settings)), "")
    model_name = getattr(settings, f"{name}_model", "") or default_model(name)
    most = _dollars(name, model_name, settings, [need.most for need in needs], batch=False) if name else None
    return {"calls": len(needs), "tokens": sum(need.input + need.output for need in needs), "most": most}


def _estimate(
    rows: Sequence[SourceFile], spans: Mapping[str, Sequence[Part]], measure: Measure, byte_limit: int | None
) -> tuple[dict[str, list[CallTokens]], float]:
    """Return the calls of each examined file, and the factor that extrapolates from these files to all files."""
    file: dict[str, list[CallTokens]] = {}
    total = sum(row["bytes"] for row in rows)
    examined_bytes = 0
    for row in rows:
        if byte_limit is not None and examined_bytes >= byte_limit:
            break
        reach = _unread(spans.get(row["path"], ()), row["bytes"])
        file[row["path"]] = _call_tokens_of_file(row["path"], reach, measure) if reach else []
        examined_bytes += row["bytes"]
    return file, total / examined_bytes if examined_bytes else 1.0


def _call_tokens_of_file(path: str, reach: Part, measure: Measure) -> list[CallTokens]:
    """Return the tokens of each call for the part ``reach`` of a file, without redaction: only the length matters."""
    state = State.from_json(json.loads(reach.place.state or "{}"))
    room = max(1, reach.until - reach.place.anchor)
    reading = read_turns(Path(path), reach.place.anchor, state, final=True, max_bytes=room, tool_excerpts=True)
    return [_call_tokens(chunk) for chunk in chunks(reading.turns[reach.place.seen :], measure) if chunk.speaks]


def _call_tokens(chunk: Chunk) -> CallTokens:
    request = model.request(chunk, [])
    schema = json.dumps(request.schema.model_json_schema())
    return CallTokens(
        (len(request.system) + len(request.text) + len(schema)) // CHARACTERS_A_TOKEN,
        ANSWER_TOKENS,
        estimate(request),
    )


def _unread(known: Sequence[Part], end: int) -> Part | None:
    """Return the first part of a file that is neither read nor queued to be read by a model; None if there is none.

    The rest of a session that is still open is not included, because it is read as the session continues.
    """
    place, begin = ReadingPosition(0, ""), 0
    for reach in sorted(known, key=lambda one: one.begin):
        if reach.begin > begin:
            return Part(begin, reach.begin, place, open=False)
        begin, place = reach.until, reach.place
        if reach.open:
            return None
    return Part(begin, end, place, open=False) if begin < end else None


@dataclass(frozen=True, slots=True)
class QueuedReading:
    """How many calls and tokens were queued for a file, or why none were."""

    calls: int = 0
    tokens: int = 0
    reason: str = ""


async def queue_reading(app: App, path: Path) -> QueuedReading:
    """Queue the unread part of an imported session for the model; a second call changes nothing.

    Raises RequestError if no provider is set.
    """
    if not app.llm.on:
        raise RequestError(
            "no provider is set, so no model can read the sessions",
            'set provider = "anthropic" (or another provider) in config.toml',
        )
    file = await asyncio.to_thread(examine_file, path)
    if file.sort is not Sort.SESSION:
        return QueuedReading(reason="a model reads only transcripts of whole sessions")
    read = await sessions.position(app.database, file.path, "")
    known = (await model_readings.parts(app.database)).get(file.path, [])
    reach = _unread(known, read.position)
    session = await sessions.get(app.database, file.session_id)
    if reach is None or session is None:
        return QueuedReading(reason="it has been read or queued already" if session else "it has not been imported yet")
    span = Span(0, file.path, session.id, session.project_id, reach.begin, reach.until, reach.place, 0, 0, True)
    measure = measure_of(app.llm.settings)
    pieces = await asyncio.to_thread(lambda: list(_chunks_of(span, measure)))
    return await _queue(app, span, pieces, measure)


def _chunks_of(span: Span, measure: Measure) -> Iterator[tuple[Span, Piece]]:
    """Yield the chunks of a span, each with the part of the span that begins with the chunk."""
    while isinstance(piece := refinement.read_on(span, measure), Piece):
        yield span, piece
        span = replace(span, place=piece.place)


async def _queue(app: App, span: Span, pieces: Sequence[tuple[Span, Piece]], measure: Measure) -> QueuedReading:
    """Store the requests, and the position up to which they read the transcript, in one transaction."""
    ctx = app.recall_context()
    requests = [
        (of, piece, replace(await refinement.ask_of(ctx, piece.chunk, span.project_id), purpose=PURPOSE))
        for of, piece in pieces
        if piece.chunk.speaks
    ]
    calls = 0
    async with app.database.write() as tx:
        last = pieces[-1][1].place if pieces else span.place
        if not await model_readings.insert_imported(tx, span, last):
            return QueuedReading(reason="it has been read or queued already")
        for of, piece, request in requests:
            payload = asdict(of) | {"length": measure.tokens, "overlap": measure.overlap}
            calls += await app.later.put(tx, _key(piece.chunk), request, payload, span.session_id, span.project_id)
    app.signals.questioned.set()
    return QueuedReading(calls, sum(tokens(piece.chunk.fresh) for _, piece, _ in requests))


def _key(chunk: Chunk) -> str:
    """Return the key of a request, made from turns and prompt version: requests with the same key are sent once."""
    about = "\0".join((str(model.VERSION), *(turn.id for turn in chunk.fresh)))
    return hashlib.sha256(about.encode()).hexdigest()[:40]


def register(app: App) -> None:
    """Register the functions that apply the answers."""

    async def apply(tx: aiosqlite.Connection, asked: StoredRequest, answer: Any) -> None:
        await _apply_answer(app, tx, asked, answer)

    async def give_up(tx: aiosqlite.Connection, asked: StoredRequest, reason: str) -> None:
        await events.record(tx, "given up", "reading", asked.key, session_id=asked.session_id, reason=reason)

    schema = SCALES[app.recall_context().settings.model_scores].schema
    app.later.register(PURPOSE, Purpose(schema, apply, give_up, app.embedding.wake))


async def _apply_answer(app: App, tx: aiosqlite.Connection, asked: StoredRequest, answer: Answer) -> None:
    """Apply the model's answer about a chunk. The chunk is read again, because the evidence must occur in it."""
    payload = dict(asked.payload)
    measure = Measure(payload.pop("length"), payload.pop("overlap"))
    span = Span(**payload | {"place": ReadingPosition(**payload["place"])})
    piece = await asyncio.to_thread(refinement.read_on, span, measure)
    if not isinstance(piece, Piece):
        reason = piece.reason if piece else f"{span.path} has changed"
        await events.record(tx, "given up", "reading", asked.key, session_id=asked.session_id, reason=reason)
        return
    ctx = app.recall_context()
    session = await sessions.get(app.database, span.session_id)
    intent = session.first_prompt[:INTENT_LENGTH] if session else ""
    where = Provenance(CapturePlace(span.project_id, span.session_id), intent=intent, agent="import")
    name = model.extractor(asked.provider, asked.model)
    judged = await asyncio.to_thread(refinement.judge, ctx, answer, piece.chunk, name)
    # Without a second look (a call that reviews the answer): the cost that the user approved does not include it.
    judged = reconciliation.without(judged)
    await refinement.join(ctx, tx, await refinement.compare(ctx, judged, where.place), where)
