"""Read what a transcript has gained and keep what is worth it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, time
from typing import NamedTuple

from subconscious.capture.examined import examined_text
from subconscious.capture.judge import opinions as judged_with
from subconscious.capture.sentences import sentences
from subconscious.capture.typed import Opinions, spoken
from subconscious.embeddings.local import LocalEmbedder
from subconscious.errors import UnreadableTranscriptError
from subconscious.flow import confirming, holding, merging, observing
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Judged, Provenance, clean, judge, keep
from subconscious.model import Candidate, Decision, Level, Origin, Role, Turn
from subconscious.poisoning import check_text
from subconscious.projects import head
from subconscious.redaction import ledger
from subconscious.safe_files import NotRegularError, require_regular
from subconscious.sources import AGENT_FILE
from subconscious.store import captures, fading, failures, receipts, sessions
from subconscious.store.capture_rows import Place
from subconscious.summaries import Sketch, Transcript, handover_of, read_deeds, tell, with_answers
from subconscious.transcripts import Reading, State, read_turns

from . import refining
from .core import Core
from .fading import touched
from .forgery import HOOK_SECONDS, doubted, fresh, hold, may_be_forged, waiting

log = logging.getLogger("subconscious.daemon")

LATE = "it was written when its session was over"
"""Why words wait that anybody could have added to a transcript."""

LOOK_SECONDS = 0.1
"""Between two looks at a prompt whose hook may be on the way."""

MOST_SENTENCES = 400
"""Typed sentences of one batch that are embedded; those beyond are judged by their words alone."""

PROMPT_LENGTH = 500
"""Characters of a prompt that are kept with its session."""


@dataclass(frozen=True, slots=True)
class Source:
    """Which transcript is read, and for whom.

    ``watched`` says that it is being written: what it gains is for the model too, where there is one. ``late``: it was
    written when its session was over, so that it waits for a person. ``settled``: what is told of the session stays as
    it is.
    """

    session_id: str
    project_id: str
    path: str
    folder: str = ""
    watched: bool = False
    late: bool = False
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Gain:
    """What one batch of a transcript brought; ``known`` candidates had been judged before, from a repeated line."""

    reading: Reading
    new: tuple[int, ...] = ()
    known: int = 0


async def learn(core: Core, mind: Mind, source: Source, *, final: bool = False) -> list[int]:
    """Read a transcript from where it was left; return the ids of the captures that are new.

    ``final`` says that no more will be written, so that a last line without an end counts too. Raises
    UnreadableTranscriptError where what lies at its path is no file: trying again would be useless.
    """
    if not source.path or not await asyncio.to_thread(is_written, source.path):
        return []
    new: list[int] = []
    more = True
    while more:
        gain = await learn_batch(core, mind, source, final=final)
        more = gain.reading.more
        new.extend(gain.new)
    return new


async def learn_batch(core: Core, mind: Mind, source: Source, *, final: bool = False) -> Gain:
    """Read one batch on, as one transaction: what was learned, and how far was read."""
    async with core.reading[source.path]:
        gain = await _learn_batch(core, mind, source, final)
    if source.watched:
        core.lately.hear(source.session_id, gain.reading.turns)
    if gain.new:
        core.embedding.wake()
    if source.watched:
        core.gathered.set()
    return gain


async def _learn_batch(core: Core, mind: Mind, source: Source, final: bool) -> Gain:
    began = monotonic()
    place = await sessions.position(mind.database, source.path, source.session_id)
    reading, doubtful = await _read_and_doubted(core, source, place, final)
    if reading.offset == place.position and not reading.turns:
        return Gain(reading)
    opinions = await opinions_of(core, reading.turns)
    judged = await asyncio.to_thread(judge, reading.turns, mind.settings, mind.calibration, opinions)
    judged = waiting([hold(one, LATE) for one in judged] if source.late else judged, doubtful)
    heard = _heard(source, reading, doubtful)
    ended = await _ended(mind, source, reading, judged, doubtful)
    judged = ended.judged
    where = await _provenance(mind, source, reading)
    repeats = await merging.repeated(mind, judged, source.project_id)
    contrary = await confirming.contradicted(mind.database, _sure(judged), source.project_id)
    story = await _tell(mind, source, 0 if reading.restarted else place.position, heard, judged)
    seen = await _observed(mind, source, reading, place.position, doubtful)
    worked_on = await touched(mind, source.project_id, reading.turns, judged)
    async with mind.database.write() as tx:
        kept = await keep(mind, tx, judged, where, repeats)
        changed = await observing.keep(mind, tx, seen, where, source.path)
        await confirming.retire(tx, contrary, confirming.CONTRADICTED)
        repeats.changed.extend(await holding.retire(tx, ended, [memory for _, memory in kept]))
        if kept and source.watched and mind.settings.receipts:
            await receipts.expect(tx, [capture_id for capture_id, _ in kept], time())
        await fading.touch(tx, worked_on, min(time(), max((turn.time for turn in reading.turns), default=0.0)))
        if story is not None:
            await sessions.summarise(tx, source.session_id, story)
        stands = [turn for turn in reading.turns if turn.role is Role.USER]  # also a plan, which nobody spoke
        prompts = [turn.text[:PROMPT_LENGTH] for turn in _spoken(heard.turns)] if mind.settings.capture else []
        await sessions.written(tx, source.session_id, [turn.prompt_id for turn in stands if turn.prompt_id])
        await sessions.written_as(tx, source.session_id, [turn.text for turn in stands if not turn.prompt_id])
        await sessions.progress(tx, source.session_id, branch=heard.branch, prompts=prompts)
        new = sessions.Position(source.path, source.session_id, reading.offset, json.dumps(reading.state.to_json()))
        await sessions.advance(tx, new, time())
        if source.watched:
            await refining.gather(mind, tx, source.project_id, place, reading)
    await core.embedding.refresh([*repeats.changed, *changed])
    if changed:
        core.embedding.wake()
    gain = Gain(reading, tuple(capture_id for capture_id, _ in kept), len(judged) - len(kept))
    await _log_batch(mind, source, gain, began)
    return gain


async def _log_batch(mind: Mind, source: Source, gain: Gain, began: float) -> None:
    """Write one line about a batch to the log: counts and seconds, and nothing of what was said."""
    turns = gain.reading.turns
    if not turns:
        return
    said = await asyncio.to_thread(lambda: sum(1 for turn in turns for _ in sentences(examined_text(turn.text))))
    status = Counter(capture["status"] for capture in await captures.many(mind.database, gain.new))
    log.info(
        "session %s: read %d turns with %d sentences; %d new candidates (%d stored, %d waiting, %d quarantined,"
        " %d discarded), %d known before; %.1f s",
        source.session_id,
        len(turns),
        said,
        len(gain.new),
        status["captured"],
        status["review"],
        status["quarantined"],
        status["discarded"],
        gain.known,
        monotonic() - began,
    )


async def _read_and_doubted(
    core: Core, source: Source, place: sessions.Position, final: bool
) -> tuple[Reading, set[str]]:
    """Read on, and say which turns nobody vouches for.

    The client writes a prompt down while its hook is on the way, or behind it, and the end of the turn before may be
    read just then. So what was typed a moment ago is looked at again, with what was written meanwhile; and so are a
    session's first words, for it tells whether they are older than the first prompt that was vouched for.
    """
    until = monotonic() + HOOK_SECONDS
    while True:
        doubting = (source.watched or source.late) and await may_be_forged(core, source.session_id)
        size = await asyncio.to_thread(_size, source.path)
        reading = await asyncio.to_thread(_read, source.path, place, final)
        if not doubting:
            return reading, set()
        while (doubtful := await _doubtful(core, source, reading)).unsettled and monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(_size, source.path) != size:
                break
        else:
            return reading, doubtful.turns


class _Doubtful(NamedTuple):
    """Turns that nobody vouches for; ``unsettled``: somebody still may."""

    turns: set[str]
    unsettled: bool


async def _doubtful(core: Core, source: Source, reading: Reading) -> _Doubtful:
    session = await sessions.get(core.database, source.session_id)
    first = session is None or not session.first_prompt
    found = await doubted(core, source.session_id, reading.turns, first=first)
    return _Doubtful(found, bool(found if first else found & fresh(reading.turns)))


async def _ended(
    mind: Mind, source: Source, reading: Reading, judged: list[Judged], doubtful: set[str]
) -> holding.Ended:
    """What the typed turns end; nothing where anybody may have written them."""
    if source.late:
        return holding.Ended(judged)
    return await holding.ended(mind, reading.turns, judged, source.project_id, source.session_id, doubtful)


def _heard(source: Source, reading: Reading, doubtful: set[str]) -> Reading:
    """What a session may be told from: nothing that nobody vouches for, and nothing where that is settled."""
    if source.settled:
        return replace(reading, turns=(), branch="")
    return replace(reading, turns=tuple(turn for turn in reading.turns if turn.id not in doubtful))


async def _tell(
    mind: Mind, source: Source, begin: int, reading: Reading, judged: Sequence[Judged]
) -> sessions.Told | None:
    """Tell the session anew; None where summaries are off or it is settled, and for the lines of a sub-agent."""
    told_of = mind.settings.capture and mind.settings.summaries and not source.settled
    if not told_of or Path(source.path).name.startswith(AGENT_FILE):
        return None
    before = Sketch.from_json(await sessions.sketch(mind.database, source.session_id))
    known = Sketch() if begin == 0 else before
    deeds = await asyncio.to_thread(read_deeds, Path(source.path), begin, reading.offset, known.deeds, clean)
    sketch = known.after(reading.turns, stated(judged), stopped=reading.state.interrupted)
    transcript = Transcript(Path(source.path), reading.offset)
    return await asyncio.to_thread(told, replace(sketch, deeds=deeds), transcript)


def _sure(judged: Sequence[Judged]) -> list[Candidate]:
    """What counts against an unconfirmed memory: what is stored, and what a person seems to have said."""
    return [
        candidate
        for candidate, admission in judged
        if admission.decision is Decision.AUTO
        or (admission.decision is Decision.REVIEW and candidate.origin is Origin.USER)
    ]


def told(sketch: Sketch, transcript: Transcript | None = None) -> sessions.Told:
    """Tell a session; what would steer its reader is left out: the next session may be given it."""
    sketch = sketch if transcript is None else with_answers(sketch, transcript)
    told_of = tell(sketch)
    title, text, left_open = (_harmless(part) for part in (told_of.title, told_of.text, told_of.left_open))
    return sessions.Told(
        title, text, told_of.tags, left_open, sketch.to_json(), handover_of(sketch, transcript).to_json()
    )


def _harmless(text: str) -> str:
    return "" if check_text(text).level.rank >= Level.MEDIUM.rank else text


def stated(judged: Sequence[Judged]) -> list[str]:
    """The user's statements that are kept: what waits for a person is not told to the next session."""
    return [
        candidate.content
        for candidate, admission in judged
        if candidate.origin is Origin.USER and admission.decision is Decision.AUTO
    ]


async def _observed(mind: Mind, source: Source, reading: Reading, begin: int, doubtful: set[str]) -> observing.Seen:
    """What failed in the tool calls of the main conversation; nothing where it was written after the session's end."""
    if not mind.settings.capture or source.late or not reading.turns or Path(source.path).name.startswith(AGENT_FILE):
        return observing.Seen()
    start = 0 if reading.restarted else begin
    return await asyncio.to_thread(
        observing.look,
        Path(source.path),
        start,
        reading.offset,
        source.folder,
        known=await failures.led_out(mind.database, source.session_id),
        vouched=not doubtful,
    )


def _read(path: str, place: sessions.Position, final: bool) -> Reading:
    """Parse and clean, for a thread."""
    state = State.from_json(json.loads(place.state or "{}"))
    with ledger.reading(f"session/{place.session_id}"):
        return read_turns(Path(path), place.position, state, clean=clean, final=final)


async def opinions_of(core: Core, turns: Sequence[Turn]) -> Opinions:
    """What the judge thinks of what was typed; where there is no local model, it goes by the words."""
    said = dict.fromkeys(one for turn in turns for one in spoken(turn))
    embedder = await core.embedding.for_captures() if said else None
    if not isinstance(embedder, LocalEmbedder):
        return {}
    return await asyncio.to_thread(judged_with, list(said)[:MOST_SENTENCES], embedder)


async def _provenance(mind: Mind, source: Source, reading: Reading) -> Provenance:
    session = await sessions.get(mind.database, source.session_id)
    first = next((turn.text for turn in _spoken(reading.turns)), "")
    intent = session.first_prompt if session and session.first_prompt else first
    _, commit = await asyncio.to_thread(head, source.folder) if source.folder else ("", "")
    return Provenance(Place(source.project_id, source.session_id), commit=commit, intent=intent[:PROMPT_LENGTH])


def _spoken(turns: tuple[Turn, ...] | list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.origin is Origin.USER and turn.text]


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def is_written(path: str) -> bool:
    """Whether a transcript is there yet: a client writes it after its first hooks.

    Raises UnreadableTranscriptError for a FIFO, a device, or a link that leads nowhere. A link to a file is followed:
    people link sessions and `~/.claude` elsewhere, and a caller that can name the link can name its target too.
    """
    try:
        require_regular(path)
    except NotRegularError as error:
        message = f"the transcript {path} is {error.strerror}"
        raise UnreadableTranscriptError(message, "nothing can be learned from it") from error
    except OSError:
        return False
    return True
