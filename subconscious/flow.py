"""The story: turns become candidates, candidates are judged and kept; a question becomes a ranking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious import decay, repute, standings, surfacing
from subconscious.capture.budget import Entry, settle
from subconscious.capture.calibration import Calibration, Outcome, fit
from subconscious.capture.gate import admit
from subconscious.capture.offline import UNKNOWN, Meanings, extract
from subconscious.capture.sameness import differ
from subconscious.kinds import KINDS
from subconscious.model import (
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
from subconscious.search.depths import DEPTHS, Depth
from subconscious.search.engines import Query, find, projects_of
from subconscious.search.fusion import Fused
from subconscious.search.modes import EXTENDED, mode_of
from subconscious.search.presets import PRESETS, Fusion
from subconscious.search.relevance import Asked, relevance
from subconscious.search.selection import EVERYTHING, Selection, distinct, selected
from subconscious.search.understanding import Wanted
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import captures, corrections, links, memories, outcomes, poison, sessions, surfaces
from subconscious.store.captures import Place
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.rows import content_hash

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

Embed = Callable[[str], Awaitable["numpy.ndarray | None"]]
"""A query's embedding, or None while there is no embedder: recall then goes by words alone (SPEC B23)."""

Judged = tuple[Candidate, Admission]

DAY = 86_400.0
LOOKED_AT = 50
"""Hits of one recall that are read from the store."""
ECHO = "repeats a memory that was given to this session"
"""Why a candidate that a session only gives back is discarded (SPEC N2)."""
NEIGHBOURS = 5
"""Memories that a statement nobody typed is compared with."""

UNCALIBRATED = Calibration()
"""Before any decision: every extractor is taken at its word."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What remembering and recalling need. ``index`` is None while it is opened: recall goes by words then."""

    database: Database
    index: VectorIndex | None
    settings: Settings
    embed: Embed
    calibration: Calibration = UNCALIBRATED

    @property
    def around(self) -> Around:
        """How much what stands around a hit counts."""
        return Around(self.settings.fusion_near, self.settings.fusion_session)

    @property
    def fusion(self) -> Fusion:
        """How engines are fused."""
        chosen = self.settings
        return Fusion(
            preset=chosen.fusion,
            alpha=chosen.fusion_alpha,
            feedback=chosen.fusion_feedback,
            graph=chosen.fusion_graph,
            kin=chosen.graph_kin,
            damping=chosen.graph_damping,
            k=chosen.rrf_k,
            agreement=chosen.rrf_agreement,
            rrf_graph=chosen.rrf_graph,
            shares=(chosen.nexus_vector, chosen.nexus_graph, chosen.nexus_belief),
        )

    @property
    def depth(self) -> Depth:
        """How far a search looks."""
        return DEPTHS[self.settings.recall_budget]

    def wanted(self, text: str) -> Selection:
        """Which hits somebody wants to see who asks ``text`` (SPEC C2, C5, D18, D21)."""
        chosen = self.settings
        preset = PRESETS[chosen.fusion]
        name = preset.mode if chosen.recall_mode == "preset" else chosen.recall_mode
        mode = mode_of(name, text, {one: getattr(chosen, f"{one}_relevance") for one in EXTENDED})
        floor = chosen.nexus_relevance if chosen.fusion == "nexus" else 0.0
        return Selection(
            hits=mode.hits,
            relevance=max(mode.relevance, floor),
            first=chosen.recall_first,
            alone=chosen.recall_budget == "lean",
            mode=mode.name,
            tokens=mode.tokens or self.depth.tokens,
        )


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


def judge(
    turns: Sequence[Turn],
    settings: Settings,
    calibration: Calibration = UNCALIBRATED,
    meanings: Meanings = UNKNOWN,
) -> list[Judged]:
    """Extract candidates and admit them by what their confidence is worth. Pure and CPU-bound: run it in a thread."""
    return weigh(extract(turns, meanings), turns, settings, calibration) if settings.capture else []


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
        capture_id = await captures.insert(tx, candidate, admission, where.place, expiry, where.actor)
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


async def recall(
    mind: Mind, asked: str | Wanted, project_id: str | None, limit: int, wanted: Selection = EVERYTHING
) -> list[Hit]:
    """Find memories by words, by meaning, by links and by what stands around them, best first; decay only orders.

    A text is looked for as it stands; what somebody searches for is understood first (see `search.understanding`).
    """
    meant = asked if isinstance(asked, Wanted) else Wanted(asked)
    meant = replace(meant, which=replace(meant.which, project_id=project_id))
    if meant.wordless:
        best = await _listed(mind, meant.outright, limit)
    else:
        pool = await _pool(mind, meant, project_id, limit)
        best = selected(await _distinct(mind, pool), wanted, await _knowledge(mind, pool, wanted))[:limit]
    return await repute.of_hits(mind.database, best, mind.settings, time(), project_id)


async def _knowledge(mind: Mind, pool: Sequence[Hit], wanted: Selection) -> set[int]:
    """Those of the hits that could lead and are project knowledge; nobody is asked where nothing leads (SPEC D18)."""
    could = [hit.memory for hit in pool if hit.relevance >= wanted.first < 1]
    return await standings.promoted(mind.database, could, mind.settings) if could else set()


async def _pool(mind: Mind, meant: Wanted, project_id: str | None, limit: int) -> list[Hit]:
    """The best hits, twice as many as are asked for: some of them will say the same, or not be sure enough."""
    query = await _query(mind, meant, max(mind.depth.hits, limit))
    fused = await find(mind.database, mind.index, query, mind.fusion, mind.depth)
    sessions_found = await memories.in_sessions(mind.database, [hit.id for hit in fused], project_id)
    most = query.most if meant.which.narrow or query.rather is not None else 0
    lifted = lift(fused, sessions_found, mind.around)[: max(LOOKED_AT, most, 2 * limit)]
    found = await memories.get_many(mind.database, [hit.id for hit in lifted], meant.which)
    compared, now, gone = Asked.of(meant.text), time(), await superseded(mind, found.values(), project_id)
    said = await corrections.counts(mind.database, list(found))
    hits = [
        _heeded(mind, _hit(mind, compared, hit, found[hit.id], now, gone), said.get(hit.id))
        for hit in lifted
        if hit.id in found
    ]
    favoured = [_favoured(mind, meant, hit) for hit in hits]
    ranked = sorted(favoured, key=lambda hit: (-hit.score, hit.memory.id))
    return [_weighed(compared, hit) for hit in ranked[: 2 * limit]]


async def _query(mind: Mind, meant: Wanted, depth: int) -> Query:
    """What the engines are asked; where few memories are meant, or rather meant, they are told which."""
    which, rather = meant.which, meant.outright
    return Query(
        text=meant.text,
        projects=tuple(projects_of(which.project_id)),
        # Archived memories stand in no index of vectors.
        vector=None if which.archived else await mind.embed(meant.text),
        limit=depth,
        which=which,
        among=tuple(await memories.ids_of(mind.database, which)) if which.narrow else None,
        rather=rather if rather != which else None,
        best=tuple(await memories.ids_of(mind.database, rather)) if rather != which else (),
    )


def _heeded(mind: Mind, hit: Hit, said: Mapping[str, int] | None) -> Hit:
    """A hit as what people said of its memory leaves it: its confidence and, by a little, its rank (SPEC B17)."""
    if not said:
        return hit
    pinned = hit.memory.pinned
    left = decay.effective(hit.memory.confidence, said, pinned=pinned)
    moved = hit.rank * decay.standing(said, mind.settings.feedback_weight, pinned=pinned)
    return replace(hit, memory=replace(hit.memory, confidence=left), rank=min(1.0, moved))


async def _listed(mind: Mind, which: Filter, limit: int) -> list[Hit]:
    """What a query without words means: all of that time and sort, the latest first."""
    found = await memories.latest(mind.database, which, limit)
    return [Hit(memory, 1.0, 1.0, rank=1.0) for memory in found]


def _favoured(mind: Mind, wanted: Wanted, hit: Hit) -> Hit:
    """Raise what is of the time and the kind that were spoken of. Age does not count against a time asked for."""
    chosen = mind.settings
    dates = chosen.fusion_dates if wanted.span is not None else 0.0
    kinds = chosen.fusion_kinds if wanted.kinds else 0.0
    timely, sorted_ = wanted.fits_time(hit.memory), wanted.fits_kind(hit.memory)
    rank = (hit.rank + dates * timely + kinds * sorted_) / (1.0 + dates + kinds)
    return replace(hit, rank=rank, decay=1.0 if timely else hit.decay)


async def _distinct(mind: Mind, ranked: Sequence[Hit]) -> Sequence[Hit]:
    """Drop what says again what a better hit says (SPEC C3)."""
    if mind.index is None or mind.settings.recall_alike >= 1:
        return ranked
    vectors = await mind.index.vectors([hit.memory.id for hit in ranked])
    return distinct(ranked, vectors, mind.settings.recall_alike, lambda one, other: differ(one.content, other.content))


def _hit(mind: Mind, asked: Asked, fused: Fused, memory: Memory, now: float, gone: Collection[int]) -> Hit:
    """A hit in its place; how relevant it is by itself is told of those that are near the top alone."""
    share = mind.settings.fusion_names
    rank = (fused.relevance + share * asked.met(_about(memory))) / (1.0 + share)
    return Hit(memory, 0.0, fade(mind, memory, now, gone), fused.engines, rank)


def _weighed(asked: Asked, hit: Hit) -> Hit:
    memory = hit.memory
    told = f"{memory.content} {memory.rationale} {_about(memory)}"
    return replace(hit, relevance=relevance(asked, told, hit.engines))


def _about(memory: Memory) -> str:
    """What a memory is about, in names."""
    return " ".join((*memory.tags, *memory.files))


def fade(mind: Mind, memory: Memory, now: float, gone: Collection[int] = ()) -> float:
    """The ranking's decay of a memory under the current settings; ``gone`` are those whose place another has taken."""
    chosen = mind.settings
    faded = decay.ranking_decay(memory, now, chosen.ranking_decay, chosen.stale_days, chosen.stale_factor)
    return faded * (chosen.superseded_factor if memory.id in gone else 1.0)


async def superseded(mind: Mind, found: Iterable[Memory], project_id: str | None) -> set[int]:
    """Those of these memories whose place another has taken in a project (SPEC A12)."""
    ids = [memory.id for memory in found]
    return await links.superseded(mind.database, ids, project_id) if mind.settings.links else set()


PROMPTED = "prompt"
"""The event of what a prompt was given."""

FITS = "fits the prompt"

GREETING = "start/"
"""What the events begin with by which a session is given what it starts with."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known of a session that is given something: enough to guess what it may need.

    ``asked`` says in words what the engines were asked, for `why-surfaced`. ``late`` means that the session has begun
    already: what it brought itself stands in its context.
    """

    session_id: str
    project_id: str
    event: str
    branch: str = ""
    asked: str = ""
    hints: str = ""
    extra: tuple[str, ...] = ()
    late: bool = False


async def surface_start(mind: Mind, start: Start) -> surfacing.Context:
    """Choose what a session starts with, and save it in the ledger before it leaves (SPEC A25, B12, D15)."""
    context = await compose_start(mind, start)
    await save_given(mind, start, context.hits)
    return context


async def compose_start(mind: Mind, start: Start, without: Collection[int] = ()) -> surfacing.Context:
    """Choose what a session starts with, ``without`` some. Nothing is saved: it may be rendered for one yet to come."""
    chosen = mind.settings
    known = await surfaces.ledger(mind.database, start.session_id)
    ranked = [
        hit
        for hit in await _ranked(mind, start)
        if hit.memory.content_hash not in known
        and hit.memory.id not in without
        and not (start.late and hit.memory.session_id == start.session_id)
    ]
    budget = surfacing.Budget(chosen.start_tokens, chosen.start_characters, chosen.start_memories)
    ranked = await repute.of_hits(mind.database, ranked, chosen, time(), start.project_id)
    return surfacing.compose(ranked, budget, start.branch, start.extra)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person has just typed, free of secrets and private spans, and where."""

    session_id: str
    project_id: str
    text: str
    branch: str = ""


async def surface_prompt(mind: Mind, prompt: Prompt) -> surfacing.Context:
    """Give a prompt the few memories that it is about; mostly that is silence (SPEC A19, D8, B12)."""
    chosen, now = mind.settings, time()
    given = await surfaces.unasked(mind.database, prompt.session_id, PROMPTED)
    left = min(chosen.prompt_memories, chosen.session_surfaces - len(given))
    if left <= 0 or not terms(prompt.text):
        return surfacing.SILENCE
    known = await surfaces.ledger(mind.database, prompt.session_id)
    cooling = {one for one, at in given if now - at < chosen.surface_cooldown_minutes * 60}
    fits = [
        hit
        for hit in await recall(mind, prompt.text, prompt.project_id, 2 * surfacing.MOST)
        if hit.relevance >= chosen.surface_relevance
        and hit.memory.kind not in chosen.surface_kinds_off
        and hit.memory.content_hash not in known
        and hit.memory.id not in cooling
        and hit.memory.session_id != prompt.session_id
    ]
    budget = surfacing.Budget(chosen.prompt_tokens, chosen.start_characters, left)
    context = surfacing.compose(fits, budget, prompt.branch)
    if context.hits:
        await save_given(mind, Start(prompt.session_id, prompt.project_id, PROMPTED, asked=FITS), context.hits)
    return context


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
            reason=_why(hit, start.asked),
            relevance=hit.relevance,
            decay=hit.decay,
            engines=hit.engines,
        )
        for position, hit in enumerate(hits, start=1)
    ]
    async with mind.database.write() as tx:
        await surfaces.record(tx, start.project_id, rows)
        await memories.touch(tx, [hit.memory.id for hit in hits], now)
        if start.event.startswith(GREETING):
            await sessions.greet(tx, start.session_id, now)


async def _ranked(mind: Mind, start: Start) -> list[Hit]:
    """Pinned and lessons first, then what fits the branch and the latest words, then what is recent."""
    limit = 2 * mind.settings.start_memories  # twice what is given: some are known to the session, some too long
    now = time()
    found = {hit.memory.id: hit for hit in await recall(mind, start.hints, start.project_id, limit)}
    recent = await memories.recent(mind.database, start.project_id, limit)
    first = await memories.core(mind.database, start.project_id, mind.settings.start_memories)
    gone = await superseded(mind, [*recent, *first], start.project_id)
    said = await corrections.counts(mind.database, [memory.id for memory in recent])
    for memory in recent:
        found.setdefault(memory.id, _heeded(mind, Hit(memory, 0.0, fade(mind, memory, now, gone)), said.get(memory.id)))
    lessons = [memory for memory in first if not memory.pinned and memory.id not in gone]
    # Lessons may take half of the places, so that what fits this very session has the others.
    head = [
        found.pop(memory.id, Hit(memory, 0.0, fade(mind, memory, now, gone)))
        for memory in first
        if memory.pinned or memory in lessons[: max(1, mind.settings.start_memories // 2)]
    ]
    tail = sorted(found.values(), key=lambda hit: (-_worth(hit, start.branch), -hit.memory.id))
    return head + tail


def _worth(hit: Hit, branch: str) -> float:
    """How much a session is likely to need a memory it has not asked for: fit, trust and branch, faded by age."""
    here = 1.0 if branch and hit.memory.branch == branch else 0.0
    return (0.5 * hit.rank + 0.4 * hit.memory.confidence + 0.1 * here) * hit.decay


def _why(hit: Hit, asked: str) -> str:
    """The reason of a surface, for `why-surfaced`."""
    if hit.memory.pinned:
        return "pinned"
    if hit.memory.kind == "lesson":
        return "a lesson of this project"
    if hit.engines:
        ranks = ", ".join(f"{engine.engine} rank {engine.rank}" for engine in hit.engines)
        return f"{asked}: {ranks}"
    return "recent in this project"
