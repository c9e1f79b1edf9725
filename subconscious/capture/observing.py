"""Makes memories of failed tool calls, each with its way out: the command that worked afterwards.

A memory is stored without a review if the failure occurred several times and the way out is harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import aiosqlite

from subconscious.capture.admission import Provenance, admit_memory, memory_of
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Level, Memory, Origin, Strength, Verdict
from subconscious.failures import hazards, wording
from subconscious.failures.observation import Observation, command_key
from subconscious.failures.runs import LOOKED_BACK, SUGGESTED, brought, read_runs
from subconscious.failures.shell_errors import shell_error
from subconscious.failures.signature import alike, signatures
from subconscious.failures.ways_out import observe, working
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, decisions, failures, memories, unconfirmed
from subconscious.store.capture_rows import SessionRef
from subconscious.store.failures import Failure
from subconscious.store.rows import content_hash
from subconscious.text import wording as words

FEWEST_SESSIONS = 2
FEWEST_TIMES = 3
"""A failure is stored if it occurred in at least ``FEWEST_SESSIONS`` sessions, or at least this many times."""

CONFIDENCE = 0.9

MOST_ONCE = 2
"""Per session, the maximum number of unconfirmed memories about failures that occurred only in that session."""

ONCE_CONFIDENCE = 0.75
"""The confidence of a memory of a failure in one session: of 42 such failures in four projects, 23 occurred again."""

MET_AGAIN = "the same failure was met again"

KEPT = ("captured", "approved")
REFUSED = ("rejected", "quarantined")

RETIRED_AFTER = 2
"""A memory is retired when its way out has failed this many times with the error that it should avoid."""

RECOVERS = ("instead", "skill", "agent")
"""Types of failures that are over once the same command or name works."""

EXPLAINED = ("unread", "changed")
"""Types of failures for which the error itself names the way out: a memory would only repeat it."""

UNVOUCHED = "it is unknown who wrote a part of the transcript"
WHY = "observed in tool calls: what failed, and what then worked"

_LONGEST_EVIDENCE = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """The failures in a part of a transcript, and the commands that worked, with their times."""

    failures: tuple[Observation, ...] = ()
    worked: tuple[tuple[str, float], ...] = ()


def look(
    path: Path,
    start: int,
    end: int,
    root: str,
    *,
    known: Collection[str] = (),
    vouched: bool = True,
) -> Seen:
    """Return the failures and the commands that worked in a part of a transcript. Slow: run it in a thread.

    Earlier calls are read again, because their way out may be in this part; ``known`` has the ids of calls whose way
    out has been found already.
    """
    runs = read_runs(path, max(0, start - LOOKED_BACK), end)
    seen = observe(runs, root or next((run.cwd for run in runs if run.cwd), ""))
    found = (one for one in seen if one.run.id not in known)
    worked = ((key, run.at) for run in runs if run.start >= start and (key := working(run)))
    return Seen(tuple(_checked(path, one, vouched=vouched) for one in found), tuple(worked))


def _checked(path: Path, one: Observation, *, vouched: bool) -> Observation:
    """Add the reason to doubt a failure's way out, if there is one; drop details that contain secrets."""
    if not one.sort:
        return one
    slots = [slot for slot in one.slots.values() if slot]
    if any(clean(slot) != slot for slot in slots):
        return Observation(one.run, one.signatures, one.command)
    doubt = one.doubt or ("" if vouched else UNVOUCHED)
    if not doubt and one.needle and brought(path, one.until, one.needle, clean):
        doubt = SUGGESTED
    return replace(one, doubt=doubt, quote=clean(one.quote)[:_LONGEST_EVIDENCE])


async def keep(
    ctx: RecallContext, tx: aiosqlite.Connection, seen: Seen, where: Provenance, transcript: str
) -> list[int]:
    """Store failures in the caller's transaction; return the ids of memories that were made, repeated or archived."""
    place = where.place
    if not place.session_id or not ctx.settings.capture:
        return []
    changed: list[int] = []
    for one in seen.failures:
        row = await _with_known_way_out(tx, _row(one, place, transcript))
        if await failures.record(tx, row) and row.trouble:
            changed += await _store(ctx, tx, await failures.of_trouble(tx, place.project_id, row.trouble), where)
        changed += await _failed_itself(tx, row)
    await failures.record_recovered(tx, place.project_id, seen.worked)
    changed += await _recovered(tx, place.project_id)
    return changed


def _row(one: Observation, place: SessionRef, transcript: str) -> Failure:
    return Failure(
        run_id=one.run.id,
        project_id=place.project_id,
        session_id=place.session_id or "",
        at=one.run.at,
        command_key=one.command,
        signatures=one.signatures,
        sort=one.sort,
        failed=one.failed,
        way_out=one.way_out,
        dropped=one.dropped,
        way_out_key=one.way_out_key,
        trouble=one.trouble,
        doubt=one.doubt,
        evidence=one.quote,
        branch=one.run.branch,
        transcript=transcript,
        byte_start=one.run.start,
        byte_end=one.run.end,
    )


async def _with_known_way_out(tx: aiosqlite.Connection, row: Failure) -> Failure:
    """Return a failure with the way out that another session found for the same command and type of error.

    Sessions often work around the same failure in different ways; it must still be counted as the same failure.
    """
    if row.trouble or not (row.command_key and row.signatures):
        return row
    known = await failures.with_way_out(tx, row.project_id, row.command_key)
    same = (one for one in known if one.session_id != row.session_id and alike(one.signatures, row.signatures))
    one = next(same, None)
    if one is None or one.sort in EXPLAINED:
        return row
    found = {name: getattr(one, name) for name in ("sort", "failed", "way_out", "dropped", "way_out_key", "trouble")}
    return replace(row, **found, doubt=one.doubt)


async def _store(ctx: RecallContext, tx: aiosqlite.Connection, met: Sequence[Failure], where: Provenance) -> list[int]:
    """Make a memory of a frequent failure, or count its recurrence; return the memory's id in a list, or []."""
    if not _often(met) or met[-1].sort in EXPLAINED:
        return []
    wordings = {content_hash(wording.sentence(one.sort, one.slots)) for one in met}
    said = await failures.capture_results(tx, met[-1].project_id, wording.EXTRACTOR, wordings)
    once = await failures.capture_results(tx, met[-1].project_id, wording.ONCE, wordings)
    approved = next((one.memory_id for one in (*said, *once) if one.status in KEPT and one.memory_id is not None), None)
    bound = next((one.memory_id for one in reversed(met) if one.memory_id is not None), approved)
    if bound is None:
        if any(one.status not in KEPT for one in said) or any(one.status in REFUSED for one in once):
            return []  # a person decides, or has decided
        content = wording.sentence(met[-1].sort, _most_common(met).slots)
        stored = await _capture(ctx, tx, content, met, where, judge(content, met, ctx))
        for proposal in once:
            await decisions.displace(tx, proposal.capture_id, MET_AGAIN)
        return stored
    memory = await memories.find(tx, bound)
    if memory is None or memory.archived_at is not None:
        return []  # a person or a later success archived it: it stays archived
    admission = Admission(Decision.AUTO, memory.confidence, WHY)
    return await _capture(ctx, tx, memory.content, met, where, admission)


async def propose(ctx: RecallContext, tx: aiosqlite.Connection, session_id: str, places: int) -> list[int]:
    """Make unconfirmed memories of up to ``places`` failures that occurred only in one session; return their ids.

    More than half of these failures occur again in a later session, which then stores the way out.
    """
    seen = await failures.of_session(tx, session_id)
    troubles = list(dict.fromkeys(one.trouble for one in seen if one.sort not in EXPLAINED))
    met = [await failures.of_trouble(tx, seen[0].project_id, trouble) for trouble in troubles]
    made: list[int] = []
    for one in sorted(met, key=len, reverse=True):
        if len(made) < min(places, MOST_ONCE) and one and not _often(one):
            made += await _proposed(ctx, tx, one, session_id)
    return made


async def _proposed(ctx: RecallContext, tx: aiosqlite.Connection, met: Sequence[Failure], session_id: str) -> list[int]:
    """Make an unconfirmed memory of a failure if it is new and needs no review; return the memory's id in a list."""
    project, content = met[0].project_id, wording.sentence(met[0].sort, met[0].slots)
    known = [
        await failures.capture_results(tx, project, one, {content_hash(content)})
        for one in (wording.EXTRACTOR, wording.ONCE)
    ]
    judged = judge(content, met, ctx)
    if any(known) or judged.decision is not Decision.AUTO:
        return []
    candidate = _once(_candidate(content, met[0]))
    admission = Admission(Decision.REVIEW, ONCE_CONFIDENCE, WHY, judged.verdict, reservation="")
    place = SessionRef(project, session_id)
    capture = await captures.insert(tx, candidate, admission, place, ctx.settings.review_expiry_days)
    if capture is None:
        return []
    return [(await unconfirmed.insert(tx, capture, memory_of(candidate, admission, Provenance(place)))).id]


def _once(candidate: Candidate) -> Candidate:
    """Mark a candidate as seen in one session, so that a later session's capture does not count as its duplicate."""
    evidence = replace(candidate.evidence, turn_id=f"{candidate.evidence.turn_id}:once")
    return replace(candidate, extractor=wording.ONCE, evidence=evidence)


def _often(met: Sequence[Failure]) -> bool:
    sessions = {one.session_id for one in met}
    return len(sessions) >= FEWEST_SESSIONS or len(met) >= FEWEST_TIMES


def _most_common(met: Sequence[Failure]) -> Failure:
    """Return the first failure with the most common combination of commands (the failed one and its way out)."""
    wordings = [(one.failed, one.way_out, one.dropped) for one in met]
    return max(met, key=lambda one: wordings.count((one.failed, one.way_out, one.dropped)))


async def _capture(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    content: str,
    met: Sequence[Failure],
    where: Provenance,
    admission: Admission,
) -> list[int]:
    """Add one capture per session, so that each can be undone, to one memory; return its id in a list, or []."""
    project, brought = where.place.project_id, None
    for session_id, rows in groupby(sorted(met, key=lambda one: (one.session_id, one.at)), lambda one: one.session_id):
        candidate = _candidate(content, next(rows))
        place = Provenance(SessionRef(project, session_id), commit=where.commit)
        capture = await captures.insert(tx, candidate, admission, place.place, ctx.settings.review_expiry_days)
        if capture is None:
            continue
        if admission.decision is not Decision.AUTO:
            return []  # one capture is enough for a person to decide on
        brought = await admit_memory(ctx, tx, capture, (candidate, admission), place)
    if brought is None:
        return []
    await failures.bind(tx, project, met[-1].trouble, brought.id)
    return [brought.id]


def judge(content: str, met: Sequence[Failure], ctx: RecallContext) -> Admission:
    """Return the decision on a failure: store only a fixed sentence with harmless commands that really ran."""
    candidate = _candidate(content, met[0])
    confidence = CONFIDENCE  # not calibrated: a user who rejects one way out may still want the others
    verdict = screen(candidate) if ctx.settings.poisoning else Verdict()
    if not any(wording.is_ours(content, one.sort, one.slots) for one in met):
        return Admission(Decision.DISCARD, confidence, "its text differs from what was observed", verdict)
    doubt = next((one.doubt for one in met if one.doubt), "") or hazards.doubtful(
        *(slot for one in met for slot in one.slots.values())
    )
    if doubt or verdict.level.rank > Level.NONE.rank:
        why = f"{doubt}: a person must approve it" if doubt else "it may be poisoned: a person must approve it"
        return apply_verdict(Admission(Decision.REVIEW, confidence, why), verdict)
    if confidence < ctx.settings.auto_threshold - 1e-9:
        return apply_verdict(Admission(Decision.REVIEW, confidence, f"confidence {confidence:.2f}: {WHY}"), verdict)
    return apply_verdict(Admission(Decision.AUTO, confidence, WHY), verdict)


def _candidate(content: str, met: Failure) -> Candidate:
    evidence = met.evidence or met.way_out or met.failed or content
    return Candidate(
        kind="learning",
        summary=words.shorten(content, words.SUMMARY_LENGTH),
        content=content,
        evidence=Evidence(evidence, met.run_id, met.transcript, met.byte_start, met.byte_end),
        origin=Origin.ASSISTANT,
        strength=Strength.INFERRED,
        raw_confidence=CONFIDENCE,
        extractor=wording.EXTRACTOR,
        time=met.at,
        reason=WHY,
        branch="",  # it holds on every branch
        tags=("failure",),
    )


async def _failed_itself(tx: aiosqlite.Connection, row: Failure) -> list[int]:
    """Retire the memories whose way out failed with the error that it should avoid."""
    gone: list[int] = []
    led_out = await failures.of_way_out(tx, row.project_id, row.command_key) if row.command_key else []
    for memory_id, of_one in groupby(sorted(led_out, key=lambda one: one.memory_id or 0), lambda one: one.memory_id):
        known = list(of_one)
        errors = {signature for one in known for signature in one.signatures}
        since = min(one.at for one in known)
        met = await failures.later_failures(tx, row.project_id, row.command_key, since)
        if memory_id is not None and sum(alike(one, errors) for one in met) >= RETIRED_AFTER:
            gone += await _retire(tx, memory_id, "its way out failed in the same way")
    return gone


async def _recovered(tx: aiosqlite.Connection, project_id: str) -> list[int]:
    """Retire the memories of failed commands that worked later."""
    outdated = await failures.outdated_memories(tx, project_id, RECOVERS)
    return [gone for memory_id in outdated for gone in await _retire(tx, memory_id, "what failed has worked since")]


async def _retire(tx: aiosqlite.Connection, memory_id: int, reason: str) -> list[int]:
    memory = await memories.find(tx, memory_id)
    if memory is None or memory.pinned or not await memories.archive(tx, memory, "daemon", reason):
        return []
    from subconscious.store import vectors  # not at the top of the module: it imports numpy, which takes 0.1 s

    await vectors.activate(tx, [memory_id], False)
    return [memory_id]


async def known_ways_out(
    ctx: RecallContext, project_id: str, tool: str, given: dict[str, str], error: str
) -> list[tuple[Memory, str]]:
    """Return the memories about a failure, each with the reason for the match: the same command and type of error.

    Another type of error also matches if the command has only one known failure, which occurred often, and the command
    has never worked since.
    """
    named = shell_error(tool, given, error)
    if named is not None and (number := await failures.memory_of_trouble(ctx.database, project_id, named.trouble)):
        return await _active(ctx, [number], "its error names the same failure")
    key = command_key(tool, given)
    met = await failures.of_command(ctx.database, project_id, key) if key else []
    remembered = [one for one in met if one.memory_id is not None]
    sort = signatures(error)
    same = [one for one in remembered if alike(one.signatures, sort)]
    why = "the same command failed with the same error"
    if not same and remembered and len({one.trouble for one in met}) == 1 and _often(met):
        recovered = await failures.recovered_at(ctx.database, project_id, key)
        same, why = (remembered, "the same command has always failed") if not recovered else ([], "")
    ids = list(dict.fromkeys(one.memory_id for one in same if one.memory_id is not None))
    return await _active(ctx, ids, why)


async def _active(ctx: RecallContext, ids: Sequence[int], why: str) -> list[tuple[Memory, str]]:
    found = await memories.get_many(ctx.database, ids)
    return [(found[number], why) for number in ids if number in found and found[number].archived_at is None]
