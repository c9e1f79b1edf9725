"""The story: turns become candidates, candidates are judged and kept; a question becomes a ranking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious import decay, surfacing
from subconscious.capture.budget import Entry, settle
from subconscious.capture.calibration import Calibration, Outcome, fit
from subconscious.capture.gate import admit
from subconscious.capture.offline import extract
from subconscious.kinds import KINDS
from subconscious.model import (
    PRIORITY_WEIGHT,
    Act,
    Admission,
    Candidate,
    Decision,
    Hit,
    Level,
    Memory,
    Origin,
    Scope,
    Surface,
    Turn,
    Verdict,
)
from subconscious.poisoning.context import beside
from subconscious.poisoning.echo import traced
from subconscious.poisoning.gate import screen, withhold
from subconscious.redaction import cut_own, cut_private, ledger, redact
from subconscious.search.context import Around, lift
from subconscious.search.engines import OVERFETCH, Fusion, Query, find, projects_of
from subconscious.search.fusion import Fused
from subconscious.search.relevance import Asked, relevance
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import captures, memories, outcomes, poison, sessions, surface_outcomes, surfaces, triggers
from subconscious.store.captures import Place
from subconscious.store.connect import Database
from subconscious.store.rows import content_hash
from subconscious.store.triggers import Due
from subconscious.surfacing import echo
from subconscious.surfacing.marks import UNKNOWN, Standing, lean, marks_of

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

Embed = Callable[[str], Awaitable["numpy.ndarray | None"]]
"""A query's embedding, or None while there is no embedder: recall then goes by words alone (SPEC B23)."""

Judged = tuple[Candidate, Admission]

DAY = 86_400.0
ECHO = "repeats a memory that was given to this session"
"""Why a candidate that a session only gives back is discarded (SPEC N2)."""
NEIGHBOURS = 5
"""Memories that a statement nobody typed is compared with."""

UNCALIBRATED = Calibration()
"""Before any decision: every extractor is taken at its word."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What remembering and recalling need. ``index`` is None while it is opened: recall goes by words then.

    ``standing`` is what is known at the moment of the files and branches that memories are bound to.
    """

    database: Database
    index: VectorIndex | None
    settings: Settings
    embed: Embed
    calibration: Calibration = UNCALIBRATED
    standing: Standing = UNKNOWN

    @property
    def around(self) -> Around:
        """How much what stands around a hit counts."""
        return Around(self.settings.fusion_near, self.settings.fusion_session)

    @property
    def fusion(self) -> Fusion:
        """How engines are fused."""
        chosen = self.settings
        return Fusion(chosen.fusion, chosen.fusion_alpha, chosen.rrf_k, chosen.rrf_agreement)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the candidate itself does not know (SPEC C10)."""

    place: Place
    commit: str = ""
    intent: str = ""
    agent: str = "claude-code"
    actor: str = "daemon"
    verified: bool = False


def clean(text: str) -> str:
    """Take out what must never be stored: private spans, our own injected text, secrets (SPEC A28, N2)."""
    redacted = redact(cut_own(cut_private(text)))
    ledger.note(redacted.finds)
    return redacted.text


def judge(turns: Sequence[Turn], settings: Settings, calibration: Calibration = UNCALIBRATED) -> list[Judged]:
    """Extract candidates and admit them by what their confidence is worth. Pure and CPU-bound: run it in a thread."""
    return weigh(extract(turns), turns, settings, calibration) if settings.capture else []


def weigh(
    candidates: Iterable[Candidate], turns: Sequence[Turn], settings: Settings, calibration: Calibration = UNCALIBRATED
) -> list[Judged]:
    """Admit candidates, whoever extracted them: traced to whose words they are, checked, then judged by their worth."""
    heard = {turn.id: turn.heard for turn in turns}
    confirmed = {turn.id for turn in turns if turn.act is not Act.NONE}
    judged = []
    for candidate in traced(candidates, confirmed):
        verdict = screen(candidate) if settings.poisoning else Verdict()
        worth = calibration.at(candidate.extractor, candidate.raw_confidence)
        worth *= settings.poisoning_low if verdict.level is Level.LOW else 1.0
        quoted = heard.get(candidate.evidence.turn_id, "")
        admission = admit(candidate, settings, heard=quoted, confidence=worth)
        judged.append((candidate, withhold(admission, verdict)))
    return judged


async def calibrate(database: Database, settings: Settings) -> Calibration:
    """Learn from all that was decided so far what stated confidences are worth (SPEC N3)."""
    if not settings.calibration:
        return UNCALIBRATED
    now = time()
    return fit([_outcome(row, settings, now) for row in await outcomes.rows(database)], settings.calibration_prior)


def _outcome(row: outcomes.Row, settings: Settings, now: float) -> Outcome:
    """An old decision counts less, so that a tenth that was once judged badly gets another chance."""
    weight = 0.5 ** (max(0.0, now - row.at) / (settings.calibration_days * DAY))
    return Outcome(row.extractor, row.stated, row.right, weight * (settings.calibration_silence if row.silent else 1.0))


async def keep(
    mind: Mind, tx: aiosqlite.Connection, judged: Sequence[Judged], where: Provenance
) -> list[tuple[int, Memory | None]]:
    """Store what was judged, in the caller's transaction; ids of the captures that are new, with their memory."""
    kept = []
    for candidate, stated in judged:
        admission = await last_word(mind, (candidate, stated), where)
        expiry = mind.settings.review_expiry_days
        capture_id = await captures.insert(tx, candidate, admission, where.place, expiry)
        if capture_id is not None:
            kept.append((capture_id, await admit_memory(mind, tx, capture_id, (candidate, admission), where)))
    if kept and where.place.session_id:
        await hold_cap(tx, where.place.session_id, mind.settings.session_captures)
    return kept


async def last_word(mind: Mind, judged: Judged, where: Provenance) -> Admission:
    """What the gate says of a candidate when it is known what stands besides; asked right before anything is stored."""
    candidate, stated = judged
    admission = await _in_context(mind, candidate, stated, where)
    given = await surfaces.given_hashes(mind.database, where.place.session_id or "")
    if content_hash(candidate.content) in given:
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    return admission


async def _in_context(mind: Mind, candidate: Candidate, admission: Admission, where: Provenance) -> Admission:
    """Judge a candidate by what is known besides; whatever was not checked on its way is checked here."""
    if not mind.settings.poisoning:
        return admission
    verdict = admission.verdict or screen(candidate)
    known: list[Memory] = []
    if candidate.origin is not Origin.USER and admission.decision is Decision.AUTO:
        found = await memories.search_text(
            mind.database, terms(candidate.content), projects_of(where.place.project_id), NEIGHBOURS
        )
        known = list((await memories.get_many(mind.database, [number for number, _ in found])).values())
    return withhold(admission, beside(candidate, verdict, known, await poison.lessons(mind.database)))


async def hold_cap(tx: aiosqlite.Connection, session_id: str, cap: int) -> None:
    """Let the strongest of a session's captures wait for a person, and no more than ``cap`` of them."""
    entries = [
        Entry(row["id"], row["confidence"], row["content"], fixed=row["status"] != "review")
        for row in await captures.of_session(tx, session_id)
    ]
    for capture_id, reason in settle(entries, cap).items():
        await captures.displace(tx, int(str(capture_id)), reason)


async def admit_memory(
    mind: Mind, tx: aiosqlite.Connection, capture_id: int, judged: Judged, where: Provenance
) -> Memory | None:
    """Make a memory of a capture that is stored at once, or let the one that says the same recur."""
    if judged[1].decision is not Decision.AUTO:
        return None
    memory = memory_of(*judged, where)
    known = await memories.same_wording(tx, memory) if mind.settings.dedupe else None
    if known is None:
        known = await memories.insert(tx, memory, where.actor)
    else:
        await memories.recur(tx, known, memory.said_at, memory.session_id, memory.origin)
    await captures.bind(tx, capture_id, known.id)
    return known


def memory_of(candidate: Candidate, admission: Admission, where: Provenance) -> Memory:
    """The memory that an admitted candidate becomes; its id is given by the store."""
    wide = candidate.scope is Scope.USER
    return Memory(
        id=0,
        project_id=None if wide else where.place.project_id,
        scope=candidate.scope,
        kind=candidate.kind,
        category=KINDS[candidate.kind].category,
        summary=candidate.summary,
        content=candidate.content,
        origin=candidate.origin,
        confidence=admission.confidence,
        raw_confidence=candidate.raw_confidence,
        extractor=candidate.extractor,
        created_at=time(),
        said_at=candidate.time,
        content_hash=content_hash(candidate.content),
        rationale=candidate.rationale,
        sentiment=candidate.sentiment,
        verified=where.verified,
        agent=where.agent,
        session_id=where.place.session_id,
        turn_id=candidate.evidence.turn_id,
        transcript=candidate.evidence.file,
        evidence=candidate.evidence.quote,
        byte_start=candidate.evidence.start,
        byte_end=candidate.evidence.end,
        branch=candidate.branch,
        commit=where.commit,
        intent=where.intent,
        tags=candidate.tags,
        files=candidate.files,
    )


async def recall(mind: Mind, text: str, project_id: str | None, limit: int, kind: str | None = None) -> list[Hit]:
    """Find memories by words, by meaning and by what stands around them, best first; decay orders and hides none."""
    # The kind is filtered after the engines have answered: a rare one must not drown among the others.
    wanted = OVERFETCH if kind is None else 20 * OVERFETCH
    query = Query(text, tuple(projects_of(project_id)), await mind.embed(text), wanted)
    fused = await find(mind.database, mind.index, query, mind.fusion)
    sessions_found = await memories.in_sessions(mind.database, [hit.id for hit in fused], project_id)
    lifted = lift(fused, sessions_found, mind.around)[:wanted]
    found = await memories.get_many(mind.database, [hit.id for hit in lifted])
    weights = await priorities(mind, list(found))
    asked, now = Asked.of(text), time()
    hits = [
        replace(_hit(mind, asked, hit, found[hit.id], now), priority=weights.get(hit.id, 0.0))
        for hit in lifted
        if hit.id in found and found[hit.id].archived_at is None and kind in (None, found[hit.id].kind)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))[:limit]


def _hit(mind: Mind, asked: Asked, fused: Fused, memory: Memory, now: float) -> Hit:
    about = " ".join((*memory.tags, *memory.files))
    told = f"{memory.content} {memory.rationale} {about}"
    share = mind.settings.fusion_names
    rank = (fused.relevance + share * asked.met(about)) / (1.0 + share)
    return Hit(memory, relevance(asked, told, fused.engines), fade(mind, memory, now), fused.engines, rank)


async def priorities(mind: Mind, ids: Sequence[int]) -> dict[int, float]:
    """What answers made of memories that they were given (SPEC D14); 0 for those that are not named."""
    if not mind.settings.feedback or not ids:
        return {}
    found = await surface_outcomes.of_memories(mind.database, ids)
    return {memory_id: echo.priority(judged) for memory_id, judged in found.items()}


def fade(mind: Mind, memory: Memory, now: float) -> float:
    """The ranking's decay of a memory under the current settings."""
    chosen = mind.settings
    return decay.ranking_decay(memory, now, chosen.ranking_decay, chosen.stale_days, chosen.stale_factor)


GREETING = "start/"
"""What the events begin with by which a session is given what it starts with."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known of a session that is given something: enough to guess what it may need.

    ``asked`` says in words what the engines were asked, for `why-surfaced`. ``late`` means that the session has begun
    already: what it brought itself stands in its context. ``about``, ``limits`` and ``reasons`` are for `why-surfaced`;
    ``due`` are the triggers that have brought a memory (SPEC D21a).
    """

    session_id: str
    project_id: str
    event: str
    branch: str = ""
    asked: str = ""
    hints: str = ""
    extra: tuple[str, ...] = ()
    late: bool = False
    about: str = ""
    limits: str = "{}"
    reasons: Mapping[int, str] = field(default_factory=dict)
    due: Mapping[int, Due] = field(default_factory=dict)


async def surface_start(mind: Mind, start: Start) -> surfacing.Context:
    """Choose what a session starts with, and save it in the ledger before it leaves (SPEC A25, B12, D15)."""
    chosen = mind.settings
    known = await surfaces.ledger(mind.database, start.session_id)
    start = replace(start, due=await due_now(mind, start.project_id))
    worded: dict[str, Hit] = {}
    for hit in await _ranked(mind, start):
        worded.setdefault(hit.memory.content_hash, hit)  # one wording, of two kinds perhaps, is told once
    ranked = [
        hit
        for hit in worded.values()
        if hit.memory.content_hash not in known and not (start.late and hit.memory.session_id == start.session_id)
    ]
    budget = surfacing.Budget(chosen.start_tokens, chosen.start_characters, chosen.start_memories)
    context = surfacing.compose(ranked, budget, start.branch, start.extra, marks_for(mind, start))
    await save_given(mind, start, context.hits)
    return context


async def due_now(mind: Mind, project_id: str) -> dict[int, Due]:
    """The memories whose date has come, and which no session was told of (SPEC D21a)."""
    if not mind.settings.surface_due:
        return {}
    now = time()
    found = await triggers.due(mind.database, project_id, now - mind.settings.due_days * DAY, now)
    return {one.memory_id: one for one in reversed(found)}


def marks_for(mind: Mind, start: Start) -> surfacing.Marks:
    """What is told beside each memory: that it is due, and how the world has moved on since (SPEC N8, N9)."""

    def marks(memory: Memory) -> tuple[str, ...]:
        due = start.due.get(memory.id)
        return (*((surfacing.due_mark(due.due_at),) if due else ()), *marks_of(memory, start.branch, mind.standing))

    return marks


async def save_given(mind: Mind, start: Start, hits: Sequence[Hit]) -> None:
    """Write the ledger and count the uses; a greeting counts as such even if there was nothing to say."""
    now = time()
    rows = [
        Surface(
            session_id=start.session_id,
            event=start.event,
            at=now,
            memory_id=hit.memory.id,
            content_hash=hit.memory.content_hash,
            position=position,
            reason=_why(hit, start),
            relevance=hit.relevance,
            decay=hit.decay,
            engines=hit.engines,
            about=start.about,
            priority=hit.priority,
            limits=start.limits,
            trigger_id=start.due[hit.memory.id].id if hit.memory.id in start.due else None,
        )
        for position, hit in enumerate(hits, start=1)
    ]
    async with mind.database.write() as tx:
        await surfaces.record(tx, start.project_id, rows)
        await memories.touch(tx, [hit.memory.id for hit in hits], now)
        if start.event.startswith(GREETING):
            await sessions.greet(tx, start.session_id, now)


async def _ranked(mind: Mind, start: Start) -> list[Hit]:
    """Pinned and lessons first, then what is due and fits the branch and the latest words, then what is recent."""
    limit = 2 * mind.settings.start_memories  # twice what is given: some are known to the session, some too long
    now = time()
    found = {hit.memory.id: hit for hit in await recall(mind, start.hints, start.project_id, limit)}
    for memory in await memories.recent(mind.database, start.project_id, limit):
        found.setdefault(memory.id, Hit(memory, 0.0, fade(mind, memory, now)))
    first = await memories.core(mind.database, start.project_id, mind.settings.start_memories)
    lessons = [memory for memory in first if not memory.pinned]
    # Lessons may take half of the places, so that what fits this very session has the others.
    found = {number: hit for number, hit in found.items() if number not in start.due}
    head = await due_hits(mind, start.due) + [
        found.pop(memory.id, Hit(memory, 0.0, fade(mind, memory, now)))
        for memory in first
        if memory.id not in start.due
        and (memory.pinned or memory in lessons[: max(1, mind.settings.start_memories // 2)])
    ]
    weights = await priorities(mind, list(found))
    tail = [replace(hit, priority=weights.get(hit.memory.id, 0.0)) for hit in found.values()]
    tail.sort(key=lambda hit: (-_worth(mind, hit, start.branch), -hit.memory.id))
    return head + tail


async def due_hits(mind: Mind, due: Mapping[int, Due]) -> list[Hit]:
    """What is due, as hits: no engine has to find it."""
    now = time()
    known = await memories.get_many(mind.database, list(due))
    return [Hit(known[number], 1.0, fade(mind, known[number], now)) for number in due if number in known]


def _worth(mind: Mind, hit: Hit, branch: str) -> float:
    """How much a session is likely to need a memory it has not asked for: fit, trust and branch, faded by age."""
    here = 1.0 if branch and hit.memory.branch == branch else 0.0
    apart = min(1.0, lean(hit.memory, branch, mind.standing))
    used = 1.0 + PRIORITY_WEIGHT * hit.priority
    return (0.5 * hit.rank + 0.4 * hit.memory.confidence + 0.1 * here) * hit.decay * apart * used


def _why(hit: Hit, start: Start) -> str:
    """The reason of a surface, for `why-surfaced`."""
    asked = start.reasons.get(hit.memory.id, start.asked)
    if hit.memory.id in start.due:
        return surfacing.due_reason(start.due[hit.memory.id].words, start.due[hit.memory.id].due_at)
    if hit.memory.pinned:
        return "pinned"
    if hit.memory.kind == "lesson":
        return "a lesson of this project"
    if hit.engines:
        ranks = ", ".join(f"{engine.engine} rank {engine.rank}" for engine in hit.engines)
        return f"{asked}: {ranks}"
    return "recent in this project"
