"""Reads the new lines of a transcript, and stores the statements in them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import monotonic, time

import aiosqlite

from subconscious.app import App
from subconscious.authorship.forgery import hold, reasons, waiting
from subconscious.capture import habits, observing
from subconscious.capture.admission import Provenance, keep
from subconscious.capture.evaluation import judge
from subconscious.capture.exchange import last_exchange, opens
from subconscious.capture.llm_extraction import refinement_worker
from subconscious.capture.opinions import opinions_of
from subconscious.capture.session_updates import attested_part, story_of, touched
from subconscious.capture.transcript_source import Batch, Source, is_written, read_batch
from subconscious.domain.model import Candidate, Decision, Judged, Memory, Origin, Role, Turn
from subconscious.recall.recall_context import RecallContext
from subconscious.store import captures, fading, failures, receipts, sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.supersession import confirmation, merging, reproaches, retirement
from subconscious.system.projects import head
from subconscious.text.examined import examined_text
from subconscious.text.sentences import sentences
from subconscious.transcripts import Reading
from subconscious.transcripts.records import AGENT_FILE

log = logging.getLogger("subconscious.capture")

LATE = "it was written after its session had ended"
"""The reason to review a statement from a line added after the end of its session: anybody can append to a file."""

PROMPT_LENGTH = 500
"""The maximum number of characters of a prompt that are stored with its session."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The result of one batch. ``known`` counts candidates that are not new, for example from a repeated line."""

    reading: Reading
    new: tuple[int, ...] = ()
    known: int = 0


async def learn(app: App, ctx: RecallContext, source: Source, *, final: bool = False) -> list[int]:
    """Read a transcript from the saved position on; return the ids of new captures.

    ``final`` means that the file is complete, so that a last line without a line feed is read too. Raises
    UnreadableTranscriptError if the path is not a regular file, because a retry would be useless.
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
    """Read new turns, examine them, and store the results with the new position."""
    began = monotonic()
    place = await sessions.position(ctx.database, source.path, source.session_id)
    batch = await read_batch(app, source, place, final)
    if batch.reading.offset == place.position and not batch.reading.turns:
        return Gain(batch.reading)
    turns = (*_turns_before(app, source, batch.reading, place.position), *batch.reading.turns)
    found = await _found(app, ctx, source, batch, turns, place)
    async with ctx.database.write() as tx:
        kept = await keep(ctx, tx, found.judged, found.where, found.repeats)
        observed = await observing.keep(ctx, tx, found.seen, found.where, source.path)
        await _store_effects(ctx, tx, source, batch, found, [memory for _, memory in kept if memory is not None])
        if kept and source.watched and ctx.settings.receipts:
            await receipts.insert(tx, [capture_id for capture_id, _ in kept], time())
        await _store_progress(ctx, tx, source, batch, place)
    app.sessions.running_exchanges.note(source.path, batch.reading.offset, last_exchange(turns))
    await app.embedding.refresh([*found.repeats.changed, *observed])
    if observed:
        app.embedding.wake()
    gain = Gain(batch.reading, tuple(capture_id for capture_id, _ in kept), len(found.judged) - len(kept))
    await _log_batch(ctx, source, gain, began)
    return gain


@dataclass(frozen=True, slots=True)
class _Found:
    """The results of examining a batch, before they are stored: candidates, retired memories, repetitions, failures.

    ``reminded`` are the rules that the user's reproaches refer to.
    """

    judged: list[Judged]
    ended: retirement.Ended
    where: Provenance
    repeats: merging.Repeats
    reminded: list[reproaches.Reminded]
    contrary: list[int]
    story: sessions.Story | None
    seen: observing.Seen
    worked_on: list[int]


async def _found(
    app: App, ctx: RecallContext, source: Source, batch: Batch, turns: tuple[Turn, ...], place: sessions.Position
) -> _Found:
    """Examine a batch with models and rules. This takes too long for a transaction, so it precedes the transaction."""
    reading, project_id = batch.reading, source.project_id
    ended = await _ended(ctx, source, batch, await _judged(app, ctx, source, batch, turns))
    attested = attested_part(source, batch)
    return _Found(
        judged=ended.judged,
        ended=ended,
        where=await _provenance(ctx, source, reading),
        repeats=await merging.repeated(ctx, ended.judged, project_id, reading.turns),
        reminded=await reproaches.reminded(ctx, () if source.late else attested.turns, project_id),
        contrary=await confirmation.contradicted(ctx.database, _sure(ended.judged), project_id),
        story=await story_of(ctx, source, place.position, attested, ended.judged),
        seen=await _observed(ctx, source, batch, place.position),
        worked_on=await touched(ctx, project_id, reading.turns, ended.judged),
    )


async def _judged(app: App, ctx: RecallContext, source: Source, batch: Batch, turns: tuple[Turn, ...]) -> list[Judged]:
    """Return the candidates in new turns with the decisions on them.

    Candidates from prompts that no hook reported, or from lines written after the session's end, wait for a person.
    """
    new = batch.reading.turns
    opinions = await opinions_of(app, new)
    found = await asyncio.to_thread(judge, turns if new else (), ctx.settings, ctx.calibration, opinions)
    judged = _of_turns(new, found)
    if any(habits.is_habit(candidate) for candidate, _ in judged):
        judged = await asyncio.to_thread(habits.with_suggestions, Path(source.path), batch.reading.offset, judged)
    why = await reasons(app, source.session_id, new, batch.doubtful)
    return waiting([hold(one, LATE) for one in judged] if source.late else judged, why)


async def _store_effects(
    ctx: RecallContext, tx: aiosqlite.Connection, source: Source, batch: Batch, found: _Found, kept: list[Memory]
) -> None:
    """Store what a batch changes except its captures: retired and repeated memories, the session's summary, prompts."""
    reading = batch.reading
    no_longer = {*(one.memory for one in found.ended.retired), *chain.from_iterable(found.repeats.replaced.values())}
    await reproaches.count(tx, found.reminded, source.session_id, no_longer)
    await confirmation.retire(tx, found.contrary, confirmation.CONTRADICTED)
    found.repeats.changed.extend(await retirement.retire(tx, found.ended, kept))
    await fading.touch(tx, found.worked_on, min(time(), max((turn.time for turn in reading.turns), default=0.0)))
    if found.story is not None:
        await sessions.save_story(tx, source.session_id, found.story)
    attested = attested_part(source, batch)
    prompts = [turn.text[:PROMPT_LENGTH] for turn in _spoken(attested.turns)] if ctx.settings.capture else []
    await sessions.update_from_transcript(tx, source.session_id, branch=attested.branch, prompts=prompts)


async def _store_progress(
    ctx: RecallContext, tx: aiosqlite.Connection, source: Source, batch: Batch, place: sessions.Position
) -> None:
    """Store how far the transcript was read, and which prompts it contains."""
    reading = batch.reading
    stands = [turn for turn in reading.turns if turn.role is Role.USER]  # includes plans that the user approved
    await sessions.mark_written(tx, source.session_id, [turn.prompt_id for turn in stands if turn.prompt_id])
    await sessions.mark_written_texts(tx, source.session_id, [turn.text for turn in stands if not turn.prompt_id])
    new = sessions.Position(source.path, source.session_id, reading.offset, json.dumps(reading.state.to_json()))
    await sessions.advance(tx, new, time())
    if source.watched:
        await refinement_worker.gather(ctx, tx, source.project_id, place, reading)


def _turns_before(app: App, source: Source, reading: Reading, position: int) -> tuple[Turn, ...]:
    """Return the turns of earlier batches that belong to the same exchange as the first turn of this batch."""
    if reading.restarted or (reading.turns and opens(reading.turns[0])):
        return ()
    return app.sessions.running_exchanges.before(source.path, position)


def _of_turns(turns: Sequence[Turn], judged: Sequence[Judged]) -> list[Judged]:
    """Return the decisions on candidates from ``turns``; those from other turns were stored with an earlier batch."""
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


async def _ended(ctx: RecallContext, source: Source, batch: Batch, judged: list[Judged]) -> retirement.Ended:
    """Find memories that no longer apply according to the user; none in lines written after the session's end."""
    if source.late:
        return retirement.Ended(judged)
    turns, doubtful = batch.reading.turns, batch.doubtful
    return await retirement.ended(ctx, turns, judged, source.project_id, source.session_id, doubtful)


def _sure(judged: Sequence[Judged]) -> list[Candidate]:
    """Return the candidates that may contradict unconfirmed memories: those to store, and the user's queued ones."""
    return [
        candidate
        for candidate, admission in judged
        if admission.decision is Decision.AUTO
        or (admission.decision is Decision.REVIEW and candidate.origin is Origin.USER)
    ]


async def _observed(ctx: RecallContext, source: Source, batch: Batch, begin: int) -> observing.Seen:
    """Return the failed tool calls in a batch; none for a sub-agent's transcript, or after the session's end."""
    reading = batch.reading
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
        vouched=not batch.doubtful,
    )


async def _provenance(ctx: RecallContext, source: Source, reading: Reading) -> Provenance:
    session = await sessions.get(ctx.database, source.session_id)
    first = next((turn.text for turn in _spoken(reading.turns)), "")
    intent = session.first_prompt if session and session.first_prompt else first
    _, commit = await asyncio.to_thread(head, source.folder) if source.folder else ("", "")
    return Provenance(SessionRef(source.project_id, source.session_id), commit=commit, intent=intent[:PROMPT_LENGTH])


def _spoken(turns: tuple[Turn, ...] | list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.origin is Origin.USER and turn.text]
