"""Reads what was added to a transcript, and stores the statements in it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, time
from typing import NamedTuple

from subconscious.app import App
from subconscious.authorship.forgery import HOOK_SECONDS, doubted, fresh, hold, may_be_forged, waiting
from subconscious.capture import observing
from subconscious.capture.admission import Provenance, keep
from subconscious.capture.evaluation import judge
from subconscious.capture.exchange import last_exchange, opens
from subconscious.capture.llm_extraction import refinement_worker
from subconscious.capture.opinions import opinions_of
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.domain.model import Candidate, Decision, Judged, Level, Origin, Role, Turn
from subconscious.poisoning import check_text
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction import ledger
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Sketch, Transcript, handover_of, read_deeds, tell, with_answers
from subconscious.store import captures, fading, failures, receipts, sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.supersession import confirmation, merging, retirement
from subconscious.system.projects import head
from subconscious.system.safe_files import NotRegularError, require_regular
from subconscious.text import wording
from subconscious.text.examined import examined_text
from subconscious.text.sentences import sentences
from subconscious.text.terms import names, terms
from subconscious.transcripts import Reading, State, read_turns
from subconscious.transcripts.records import AGENT_FILE

log = logging.getLogger("subconscious.capture")

LATE = "it was written after its session had ended"
"""The reason for which statements wait that were written after the session's end: anybody can append to a file."""

LOOK_SECONDS = 0.1
"""Seconds between two checks for the hook of a prompt."""

PROMPT_LENGTH = 500
"""Characters of a prompt that are stored with its session."""


@dataclass(frozen=True, slots=True)
class Source:
    """A transcript to read, with its session and project.

    ``watched``: it is still being written, so new turns also go to a configured model. ``late``: it was written after
    the session had ended, so that its captures wait for a person. ``settled``: the session's summary stays as it is.
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
    """The result of one batch; ``known`` counts candidates that were stored before, from a repeated line."""

    reading: Reading
    new: tuple[int, ...] = ()
    known: int = 0


async def learn(app: App, ctx: RecallContext, source: Source, *, final: bool = False) -> list[int]:
    """Read a transcript from the saved position on; return the ids of new captures.

    ``final``: the file is complete, so a last line without a line feed is read too. Raises UnreadableTranscriptError if
    the path is no regular file, since a retry would be useless.
    """
    if not source.path or not await asyncio.to_thread(is_written, source.path):
        return []
    new: list[int] = []
    more = True
    while more:
        gain = await learn_batch(app, ctx, source, final=final)
        more = gain.reading.more
        new.extend(gain.new)
    return new


async def learn_batch(app: App, ctx: RecallContext, source: Source, *, final: bool = False) -> Gain:
    """Read the next batch; store its results and the new position in one transaction."""
    async with app.signals.reading[source.path]:
        gain = await _learn_batch(app, ctx, source, final)
    if source.watched:
        app.sessions.recent_turns.add(source.session_id, gain.reading.turns)
    if gain.new:
        app.embedding.wake()
    if source.watched:
        app.signals.gathered.set()
    return gain


async def _learn_batch(app: App, ctx: RecallContext, source: Source, final: bool) -> Gain:
    began = monotonic()
    place = await sessions.position(ctx.database, source.path, source.session_id)
    reading, doubtful = await _read_and_doubted(app, source, place, final)
    if reading.offset == place.position and not reading.turns:
        return Gain(reading)
    before = _turns_before(app, source, reading, place.position)
    opinions = await opinions_of(app, reading.turns)
    turns = (*before, *reading.turns)
    found = await asyncio.to_thread(judge, turns if reading.turns else (), ctx.settings, ctx.calibration, opinions)
    judged = _of_turns(reading.turns, found)
    judged = waiting([hold(one, LATE) for one in judged] if source.late else judged, doubtful)
    heard = _heard(source, reading, doubtful)
    ended = await _ended(ctx, source, reading, judged, doubtful)
    judged = ended.judged
    where = await _provenance(ctx, source, reading)
    repeats = await merging.repeated(ctx, judged, source.project_id, reading.turns)
    contrary = await confirmation.contradicted(ctx.database, _sure(judged), source.project_id)
    story = await _tell(ctx, source, 0 if reading.restarted else place.position, heard, judged)
    seen = await _observed(ctx, source, reading, place.position, doubtful)
    worked_on = await touched(ctx, source.project_id, reading.turns, judged)
    async with ctx.database.write() as tx:
        kept = await keep(ctx, tx, judged, where, repeats)
        changed = await observing.keep(ctx, tx, seen, where, source.path)
        await confirmation.retire(tx, contrary, confirmation.CONTRADICTED)
        repeats.changed.extend(await retirement.retire(tx, ended, [memory for _, memory in kept]))
        if kept and source.watched and ctx.settings.receipts:
            await receipts.insert(tx, [capture_id for capture_id, _ in kept], time())
        await fading.touch(tx, worked_on, min(time(), max((turn.time for turn in reading.turns), default=0.0)))
        if story is not None:
            await sessions.save_story(tx, source.session_id, story)
        stands = [turn for turn in reading.turns if turn.role is Role.USER]  # also a plan, which nobody spoke
        prompts = [turn.text[:PROMPT_LENGTH] for turn in _spoken(heard.turns)] if ctx.settings.capture else []
        await sessions.mark_written(tx, source.session_id, [turn.prompt_id for turn in stands if turn.prompt_id])
        await sessions.mark_written_texts(tx, source.session_id, [turn.text for turn in stands if not turn.prompt_id])
        await sessions.update_from_transcript(tx, source.session_id, branch=heard.branch, prompts=prompts)
        new = sessions.Position(source.path, source.session_id, reading.offset, json.dumps(reading.state.to_json()))
        await sessions.advance(tx, new, time())
        if source.watched:
            await refinement_worker.gather(ctx, tx, source.project_id, place, reading)
    app.sessions.running_exchanges.note(source.path, reading.offset, last_exchange(turns))
    await app.embedding.refresh([*repeats.changed, *changed])
    if changed:
        app.embedding.wake()
    gain = Gain(reading, tuple(capture_id for capture_id, _ in kept), len(judged) - len(kept))
    await _log_batch(ctx, source, gain, began)
    return gain


def _turns_before(app: App, source: Source, reading: Reading, position: int) -> tuple[Turn, ...]:
    """Return the turns of earlier batches that belong to the same exchange as the first turn of this one."""
    if reading.restarted or (reading.turns and opens(reading.turns[0])):
        return ()
    return app.sessions.running_exchanges.before(source.path, position)


def _of_turns(turns: Sequence[Turn], judged: Sequence[Judged]) -> list[Judged]:
    """Return the results about some turns; the others were only read for context, and were judged before."""
    ids = {turn.id for turn in turns}
    return [one for one in judged if one[0].evidence.turn_id in ids]


async def _log_batch(ctx: RecallContext, source: Source, gain: Gain, began: float) -> None:
    """Log one line about a batch: counts and seconds, no text of the session."""
    turns = gain.reading.turns
    if not turns:
        return
    said = await asyncio.to_thread(lambda: sum(1 for turn in turns for _ in sentences(examined_text(turn.text))))
    status = Counter(capture["status"] for capture in await captures.get_many(ctx.database, gain.new))
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
    app: App, source: Source, place: sessions.Position, final: bool
) -> tuple[Reading, set[str]]:
    """Read the next batch; return it with the ids of turns that no hook attested.

    The client may write a prompt before its hook arrives, and the end of the previous turn may be read just then. So
    recent prompts, and the first ones of a session, are checked again for a moment.
    """
    until = monotonic() + HOOK_SECONDS
    while True:
        doubting = (source.watched or source.late) and await may_be_forged(app, source.session_id)
        size = await asyncio.to_thread(_size, source.path)
        reading = await asyncio.to_thread(_read, source.path, place, final)
        if not doubting:
            return reading, set()
        while (doubtful := await _doubtful(app, source, reading)).unsettled and monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(_size, source.path) != size:
                break
        else:
            return reading, doubtful.turns


class _Doubtful(NamedTuple):
    """Turns that no hook attested; ``unsettled``: one may still be attested."""

    turns: set[str]
    unsettled: bool


async def _doubtful(app: App, source: Source, reading: Reading) -> _Doubtful:
    session = await sessions.get(app.database, source.session_id)
    first = session is None or not session.first_prompt
    found = await doubted(app, source.session_id, reading.turns, first=first)
    return _Doubtful(found, bool(found if first else found & fresh(reading.turns)))


async def _ended(
    ctx: RecallContext, source: Source, reading: Reading, judged: list[Judged], doubtful: set[str]
) -> retirement.Ended:
    """Return the memories that the typed turns end; nothing for a late transcript, which anybody may have written."""
    if source.late:
        return retirement.Ended(judged)
    return await retirement.ended(ctx, reading.turns, judged, source.project_id, source.session_id, doubtful)


def _heard(source: Source, reading: Reading, doubtful: set[str]) -> Reading:
    """Return the part of a batch that the session's summary may use: attested turns, none of a settled session."""
    if source.settled:
        return replace(reading, turns=(), branch="")
    return replace(reading, turns=tuple(turn for turn in reading.turns if turn.id not in doubtful))


async def _tell(
    ctx: RecallContext, source: Source, begin: int, reading: Reading, judged: Sequence[Judged]
) -> sessions.Story | None:
    """Return the session's new summary; None if summaries are off, the session is settled, or a sub-agent wrote the lines."""
    told_of = ctx.settings.capture and ctx.settings.summaries and not source.settled
    if not told_of or Path(source.path).name.startswith(AGENT_FILE):
        return None
    before = Sketch.from_json(await sessions.sketch(ctx.database, source.session_id))
    known = Sketch() if begin == 0 else before
    deeds = await asyncio.to_thread(read_deeds, Path(source.path), begin, reading.offset, known.deeds, clean)
    sketch = known.after(reading.turns, stated(judged), stopped=reading.state.interrupted)
    transcript = Transcript(Path(source.path), reading.offset)
    return await asyncio.to_thread(told, replace(sketch, deeds=deeds), transcript)


def _sure(judged: Sequence[Judged]) -> list[Candidate]:
    """Return the candidates that may contradict unconfirmed memories: stored ones, and probable ones of the user."""
    return [
        candidate
        for candidate, admission in judged
        if admission.decision is Decision.AUTO
        or (admission.decision is Decision.REVIEW and candidate.origin is Origin.USER)
    ]


def told(sketch: Sketch, transcript: Transcript | None = None) -> sessions.Story:
    """Return a session's summary without parts that could steer the next session, which may receive it."""
    sketch = sketch if transcript is None else with_answers(sketch, transcript)
    told_of = tell(sketch)
    title, text, left_open = (_harmless(part) for part in (told_of.title, told_of.text, told_of.left_open))
    return sessions.Story(
        title, text, told_of.tags, left_open, sketch.to_json(), handover_of(sketch, transcript).to_json()
    )


def _harmless(text: str) -> str:
    return "" if check_text(text).level.rank >= Level.MEDIUM.rank else text


def stated(judged: Sequence[Judged]) -> list[str]:
    """Return the user's stored statements; the next session receives no statement that waits for a review."""
    return [
        candidate.content
        for candidate, admission in judged
        if candidate.origin is Origin.USER and admission.decision is Decision.AUTO
    ]


async def _observed(
    ctx: RecallContext, source: Source, reading: Reading, begin: int, doubtful: set[str]
) -> observing.Seen:
    """Return the failed tool calls of the main conversation; nothing for a late transcript."""
    if not ctx.settings.capture or source.late or not reading.turns or Path(source.path).name.startswith(AGENT_FILE):
        return observing.Seen()
    start = 0 if reading.restarted else begin
    return await asyncio.to_thread(
        observing.look,
        Path(source.path),
        start,
        reading.offset,
        source.folder,
        known=await failures.solved(ctx.database, source.session_id),
        vouched=not doubtful,
    )


def _read(path: str, place: sessions.Position, final: bool) -> Reading:
    """Parse and clean the next batch. Blocking: run it in a thread."""
    state = State.from_json(json.loads(place.state or "{}"))
    with ledger.reading(f"session/{place.session_id}"):
        return read_turns(Path(path), place.position, state, clean=clean, final=final)


async def _provenance(ctx: RecallContext, source: Source, reading: Reading) -> Provenance:
    session = await sessions.get(ctx.database, source.session_id)
    first = next((turn.text for turn in _spoken(reading.turns)), "")
    intent = session.first_prompt if session and session.first_prompt else first
    _, commit = await asyncio.to_thread(head, source.folder) if source.folder else ("", "")
    return Provenance(SessionRef(source.project_id, source.session_id), commit=commit, intent=intent[:PROMPT_LENGTH])


def _spoken(turns: tuple[Turn, ...] | list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.origin is Origin.USER and turn.text]


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def is_written(path: str) -> bool:
    """Whether a transcript exists yet: the client creates it after its first hooks.

    Raises UnreadableTranscriptError for a FIFO, a device, or a broken link. A link to a file is followed: people link
    sessions and `~/.claude` elsewhere, and a caller that can name the link can name its target too.
    """
    try:
        require_regular(path)
    except NotRegularError as error:
        message = f"the transcript {path} is {error.strerror}"
        raise UnreadableTranscriptError(message, "nothing can be learned from it") from error
    except OSError:
        return False
    return True


async def touched(ctx: RecallContext, project_id: str, turns: Sequence[Turn], judged: Iterable[Judged]) -> list[int]:
    """Return the memories whose files or topics these turns worked on."""
    if not ctx.settings.capture:
        return []
    # In a thread, and of each message what capture examines: a pasted megabyte would hold up all answers.
    files, topics = await asyncio.to_thread(_worked_on, turns, judged)
    return await fading.about(ctx.database, project_id, files, topics) if files or topics else []


def _worked_on(turns: Sequence[Turn], judged: Iterable[Judged]) -> tuple[set[str], set[str]]:
    """Return the files and topics that turns are about."""
    spoken = [examined_text(turn.text) for turn in turns if turn.origin is Origin.USER]
    topics = {word for text in spoken for word in (*terms(text), *names(text))}
    topics.update(tag.casefold() for candidate, _ in judged for tag in candidate.tags)
    return {file for turn in turns for file in turn.files}.union(*map(wording.files, spoken)), topics
