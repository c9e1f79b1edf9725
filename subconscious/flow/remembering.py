"""Turns become candidates, candidates are judged and kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any
from unicodedata import category

import aiosqlite

from subconscious.capture.budget import Entry, distinct, settle
from subconscious.capture.calibration import Calibration, Outcome, fit
from subconscious.capture.decided import weight_against
from subconscious.capture.gate import PROBABLY, admit, is_below
from subconscious.capture.lasting import QUOTES, Session, carried_out, of_the_moment, passing
from subconscious.capture.offline import extract
from subconscious.capture.typed import NO_OPINIONS, Opinions
from subconscious.claude_files.told import Told
from subconscious.flow import habits, merging, own_edits, succession
from subconscious.flow.merging import ECHO, Repeats
from subconscious.flow.mind import UNCALIBRATED, Mind
from subconscious.kinds import KINDS
from subconscious.model import (
    MODELS,
    Act,
    Admission,
    Candidate,
    Decision,
    Level,
    Memory,
    Origin,
    Role,
    Scope,
    Turn,
    Verdict,
)
from subconscious.poisoning.context import beside
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import screen, withhold
from subconscious.poisoning.reservations import of_own_words, reservation
from subconscious.redaction import cut_own, cut_private, ledger, redact
from subconscious.search.engines import projects_of
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import (
    captures,
    decisions,
    full_text,
    memories,
    outcomes,
    poison,
    surfaces,
)
from subconscious.store.capture_rows import Place
from subconscious.store.connect import Database
from subconscious.store.rows import content_hash
from subconscious.store.second_looks import AWAITS
from subconscious.text.claims import replaces
from subconscious.text.standalone import unclear

Judged = tuple[Candidate, Admission]

UNCHECKED = "the poisoning check is off"
"""Why nothing is given unconfirmed without that check."""

MOST_UNCONFIRMED = 3
"""Captures of one session that may become unconfirmed memories."""

TO_A_PERSON = 2
"""Captures of one session that wait for a person, the user's own words apart."""

TOO_MANY = f"more than {TO_A_PERSON} of its session would wait for a person"

LESS_TRUST, BELOW = 0.15, 0.01
"""By so much a finding that is unclear or of the moment counts less, and falls short of what is given unconfirmed."""

WORTH_A_TRY = 0.38
"""Confidence from which what the session's own evidence speaks for may become an unconfirmed memory."""

PLANNED = 0.5
"""Confidence from which a statement of a plan that a person approved may become an unconfirmed memory."""

UNCLAIMED = 0.2
"""Share of a sentence that prose may have said in one place, at most, if nobody is to look at it."""

PROBABLE, PROBABLE_FACT = 0.8, 0.5
"""Chance from which what a person typed, and is not stored, may become an unconfirmed memory."""

WISH = re.compile(r"\b(?:should|shall|must|needs?|have to|has to|want|let's)\b", re.IGNORECASE)
"""Words by which what reads like a fact may be a task."""

PRINTED = frozenset("\u2022\u2a2f\u00d7\u2717\u2192\u25b6\u276f")
"""Bullets, crosses and arrows as programs print them, besides boxes and ticks."""

ASKED_FOR = "told"
"""The extractor of what somebody asked to have remembered."""

CLAIMED = "a comment, document or message says nearly the same"
CLAIMED_TO_A_MODEL = 0.1
"""As ``UNCLAIMED``, for a model's own sentence: what it adds around a claim makes the claim's share smaller."""

DAY = 86_400.0
NEIGHBOURS = 5
"""Memories that a statement nobody typed is compared with."""


AT_ONCE = 5.0
"""Seconds before a prompt in which what is given may be given for it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the candidate itself does not know."""

    place: Place
    commit: str = ""
    intent: str = ""
    agent: str = "claude-code"
    actor: str = "daemon"
    verified: bool = False


def clean(text: str) -> str:
    """Take out what must never be stored: private spans, our own injected text, secrets."""
    redacted = redact(cut_own(cut_private(text)))
    ledger.note(redacted.finds)
    return redacted.text


def judge(
    turns: Sequence[Turn],
    settings: Settings,
    calibration: Calibration = UNCALIBRATED,
    opinions: Opinions = NO_OPINIONS,
) -> list[Judged]:
    """Extract candidates and admit them by what their confidence is worth. Pure and CPU-bound: run it in a thread."""
    return weigh(extract(turns, opinions), turns, settings, calibration) if settings.capture else []


def weigh(
    candidates: Iterable[Candidate], turns: Sequence[Turn], settings: Settings, calibration: Calibration = UNCALIBRATED
) -> list[Judged]:
    """Admit candidates, whoever extracted them: traced to whose words they are, checked, then judged by their worth."""
    heard = {turn.id: turn.heard for turn in turns}
    confirmed = {turn.id for turn in turns if turn.act is not Act.NONE}
    judged = []
    spoken = {turn.id for turn in turns if turn.role is Role.ASSISTANT and not turn.sidechain}
    session = Session.of(turns)
    for one in map(_worded_by_us, trace(candidates, confirmed, spoken)):
        candidate = one.candidate
        verdict = screen(candidate) if settings.poisoning else Verdict()
        worth = calibration.at(candidate.extractor, candidate.raw_confidence, candidate.kind)
        worth *= settings.poisoning_low if verdict.level is Level.LOW else 1.0
        quoted = heard.get(candidate.evidence.turn_id, "")
        admission = admit(candidate, settings, heard=quoted, confidence=worth)
        if candidate.evidence.turn_id not in confirmed:
            admission = _unasked(candidate, admission)
        admission = _worth_keeping(candidate, admission, session)
        admission = _reserved(withhold(admission, verdict), one, checked=settings.poisoning)
        admission = _attested(admission, one, verdict, settings)
        admission = _planned(admission, one, session)
        admission = _lasting(candidate, admission, session, settings)
        if not candidate.extractor.startswith(MODELS):
            candidate, admission = own_edits.admit(one, admission, verdict, session, settings)
        judged.append((candidate, _probable(candidate, admission, verdict, session, settings)))
    return judged


def _worded_by_us(traced: Traced) -> Traced:
    """Return what was traced; no tool worded a habit, though tools answered before it was seen."""
    if not habits.is_habit(traced.candidate):
        return traced
    return replace(traced, candidate=replace(traced.candidate, origin=Origin.ASSISTANT))


def _worth_keeping(candidate: Candidate, admission: Admission, session: Session) -> Admission:
    """Let what can't be understood alone, or is over with its session, wait for a person instead of storing it."""
    if admission.decision is not Decision.AUTO:
        return admission
    why = unclear(candidate.content) or passing(candidate, session)
    return replace(admission, decision=Decision.REVIEW, reason=f"it {why}: {admission.reason}") if why else admission


def _planned(admission: Admission, traced: Traced, session: Session) -> Admission:
    """Leave to a person what an approved plan says of the work that it plans: it is over when that is done."""
    waits = admission.decision is Decision.REVIEW and admission.reservation == ""
    if not (waits and traced.approved) or traced.candidate.origin is Origin.USER:
        return admission
    unsure = is_below(admission.confidence, PLANNED)
    # Of what a model found the second look says whether it holds when the session is over.
    if not (unsure or (carried_out(traced.candidate, session) and not traced.candidate.by_model)):
        return admission
    return replace(admission, reservation=own_edits.OF_A_PLAN)


def _lasting(candidate: Candidate, admission: Admission, session: Session, settings: Settings) -> Admission:
    """Trust a finding less that is unclear or of the moment: it is given once another session has found the same."""
    if admission.decision is not Decision.REVIEW or admission.reservation != "":
        return admission
    why = unclear(candidate.content) or of_the_moment(candidate, session)
    if not why:
        return admission
    confidence = min(admission.confidence - LESS_TRUST, settings.review_threshold - BELOW)
    return replace(admission, confidence=confidence, reason=f"it {why}: {admission.reason}")


def _unasked(candidate: Candidate, admission: Admission) -> Admission:
    """Store nothing at once that the assistant says and no person has let through: what it read may have said so."""
    if candidate.origin is Origin.USER or admission.decision is not Decision.AUTO:
        return admission
    return replace(
        admission, decision=Decision.REVIEW, reason=f"no person said so or let it through: {admission.reason}"
    )


def _reserved(admission: Admission, traced: Traced, *, checked: bool) -> Admission:
    """Note with what is to wait why it may not be given meanwhile."""
    if admission.decision is not Decision.REVIEW:
        return admission
    if habits.is_habit(traced.candidate):
        return replace(admission, reservation=habits.ONE_SESSION)
    why = _reservation(traced, admission.verdict or Verdict()) if checked else UNCHECKED
    return replace(admission, reservation=why)


def _reservation(traced: Traced, verdict: Verdict) -> str:
    """Return why a candidate may not be given meanwhile; what a model found is looked at a second time by then."""
    if not traced.candidate.by_model:
        return reservation(traced, verdict)
    return reservation(traced, verdict, reviewed=True) or (CLAIMED if traced.prosaic >= CLAIMED_TO_A_MODEL else "")


def _attested(admission: Admission, traced: Traced, verdict: Verdict, settings: Settings) -> Admission:
    """Let what is not worth a person's look be given unconfirmed where the session's own evidence speaks for it.

    What is too weak to wait for a person needs more than the absence of a reservation: prose must not have claimed it.
    """
    weak = admission.decision is Decision.DISCARD and admission.weak
    if not (weak and settings.unconfirmed and settings.poisoning) or admission.confidence < WORTH_A_TRY:
        return admission
    if traced.prosaic >= UNCLAIMED or _reservation(traced, verdict):
        return admission
    reason = f"the session's own evidence speaks for it: {admission.reason}"
    return replace(admission, decision=Decision.REVIEW, reason=reason, reservation="")


def _probable(
    candidate: Candidate, admission: Admission, verdict: Verdict, session: Session, settings: Settings
) -> Admission:
    """Let what a person probably stated be given unconfirmed: a fact more easily than a rule, which may be a task."""
    weak = admission.decision is Decision.DISCARD and admission.weak
    typed = candidate.origin is Origin.USER and (weak or admission.decision is Decision.REVIEW)
    fact = candidate.kind == "learning" and not WISH.search(candidate.content)
    enough = PROBABLE_FACT if fact else PROBABLE
    if not (typed and settings.unconfirmed and settings.poisoning) or is_below(admission.confidence, enough):
        return admission
    why = passing(candidate, session)
    if why not in ("", QUOTES) or unclear(candidate.content) or not _is_typed_prose(candidate.content):
        return admission
    if of_own_words(candidate, verdict, quoted=bool(why)):
        return admission
    reason = f"{PROBABLY}{admission.reason}"
    return replace(admission, decision=Decision.REVIEW, reason=reason, reservation="")


def _is_typed_prose(text: str) -> bool:
    """Whether a text has no signs in it that programs print and nobody types."""
    return not any(sign in PRINTED or category(sign) == "So" for sign in text)


async def calibrate(database: Database, settings: Settings) -> Calibration:
    """Learn from all that was decided so far what stated confidences are worth."""
    if not settings.calibration:
        return UNCALIBRATED
    now = time()
    found = [_outcome(row, settings, now) for row in await outcomes.rows(database)]
    thresholds = (settings.review_threshold, settings.auto_threshold)
    return fit([one for one in found if one.weight > 0.0], settings.calibration_prior, thresholds)


def _outcome(row: outcomes.Row, settings: Settings, now: float) -> Outcome:
    """An old decision counts less, so that a tenth that was once judged badly gets another chance."""
    faded = 0.5 ** (max(0.0, now - row.at) / (settings.calibration_days * DAY))
    return Outcome(row.extractor, row.stated, row.right, faded * _weight(row, settings), row.kind, _act(row))


def _weight(row: outcomes.Row, settings: Settings) -> float:
    if row.silent:
        return settings.calibration_silence
    return 1.0 if row.right else weight_against(row.reason, None if row.age is None else row.age / DAY)


def _act(row: outcomes.Row) -> str:
    """What was decided together; events of old versions don't name their act, so there the second does."""
    return row.act or ("" if row.silent else f"at {int(row.at)}")


async def keep(
    mind: Mind,
    tx: aiosqlite.Connection,
    judged: Sequence[Judged],
    where: Provenance,
    repeats: Repeats | None = None,
) -> list[tuple[int, Memory | None]]:
    """Store what was judged, in the caller's transaction; ids of the captures that are new, with their memory.

    ``repeats`` is what the candidates say again, where that was looked for.
    """
    kept = []
    found = repeats or Repeats()
    told = {} if where.verified else await asyncio.to_thread(_told_elsewhere, mind.elsewhere, judged)
    for candidate, stated in judged:
        admission = await last_word(mind, (candidate, stated), where)
        if candidate.content in told and candidate.content not in found.memories:
            reason = f"{told[candidate.content]} says it already"
            admission = replace(admission, decision=Decision.DISCARD, reason=reason)
        admission = merging.made_certain(candidate, admission, found)
        admission = await habits.judge(tx, candidate, admission, where.place, mind.settings)
        if candidate in found and not await captures.is_known(tx, candidate):
            given = await _given(mind, where)
            said_in = where.place.session_id
            admission = await merging.weighed(mind, tx, (candidate, admission), said_in, given, found)
        expiry = mind.settings.review_expiry_days
        capture_id = await captures.insert(tx, candidate, admission, where.place, expiry, where.actor)
        if capture_id is not None:
            memory = await admit_memory(mind, tx, capture_id, (candidate, admission), where, found)
            if memory is not None:
                await habits.settle(tx, candidate, memory, where.place.project_id)
            kept.append((capture_id, memory))
            if candidate.origin is Origin.USER and stated.decision in merging.KEPT:
                await _note_violation(tx, candidate, memory, where, found)
    if kept and where.place.session_id:
        await hold_cap(tx, where.place.session_id, mind.settings)
    return kept


def _told_elsewhere(elsewhere: Told, judged: Sequence[Judged]) -> dict[str, str]:
    """Which candidates a file says that the client loads, or a note of Claude's, by their content, with its name.

    What is flagged goes its own way, and what is known already is said again. CPU-bound: run it in a thread.
    """
    kept = [one for one in judged if one[1].decision in merging.KEPT and not merging.is_flagged(one[1])]
    sources = {candidate.content: elsewhere.source(candidate.content) for candidate, _ in kept}
    return {content: source for content, source in sources.items() if source}


async def _note_violation(
    tx: aiosqlite.Connection, candidate: Candidate, memory: Memory | None, where: Provenance, found: Repeats
) -> None:
    """Note where a person says again what their session had been given before: it was not heeded.

    ``memory`` is what says it now; None where the candidate was not stored, for another memory says it. What is given
    on the very prompt that says it was not given before it.
    """
    session, number = where.place.session_id, found.memories.get(candidate.content, (0, 0.0))[0]
    earlier = await memories.found(tx, number) if number else None
    says_it = [one for one in (memory, earlier) if one is not None]
    hashes = {one.content_hash for one in says_it}
    if session and says_it and await surfaces.was_given(tx, session, hashes, candidate.time - AT_ONCE):
        await memories.violated(tx, says_it[0].id, session)


async def last_word(mind: Mind, judged: Judged, where: Provenance) -> Admission:
    """What the gate says of a candidate when it is known what stands besides; asked right before anything is stored.

    The assistant's repeating of what it was given is an echo. A person's is not: they say that it was ignored.
    """
    candidate, stated = judged
    admission = await _in_context(mind, candidate, stated, where)
    if candidate.origin is not Origin.USER and content_hash(candidate.content) in await _given(mind, where):
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    return admission


async def _given(mind: Mind, where: Provenance) -> set[str]:
    """What the session was given, and may only give back; a person who asks for it to be remembered means it."""
    return set() if where.verified else await surfaces.given_hashes(mind.database, where.place.session_id or "")


async def _in_context(mind: Mind, candidate: Candidate, admission: Admission, where: Provenance) -> Admission:
    """Judge a candidate by what is known besides; whatever was not checked on its way is checked here."""
    if not mind.settings.poisoning:
        return admission
    verdict = admission.verdict or screen(candidate)
    known: list[Memory] = []
    if candidate.origin is not Origin.USER and admission.decision is Decision.AUTO:
        found = await full_text.search(
            mind.database, terms(candidate.content), projects_of(where.place.project_id), NEIGHBOURS
        )
        known = list((await memories.get_many(mind.database, [number for number, _ in found])).values())
    return withhold(admission, beside(candidate, verdict, known, await poison.lessons(mind.database)))


async def hold_cap(tx: aiosqlite.Connection, session_id: str, settings: Settings) -> None:
    """Keep the strongest of a session's captures: a few that may be given unconfirmed, and fewer for a person.

    What awaits a second look takes nobody's place before it has passed that.
    """
    found = await captures.of_session(tx, session_id)
    rows = {row["id"]: row for row in found if row["reservation"] != AWAITS}
    out = without_place(list(rows.values()), settings)
    left = [row for number, row in rows.items() if number not in out and row["status"] == "review"]
    most = MOST_UNCONFIRMED if settings.unconfirmed else 0
    out |= dict.fromkeys(_too_many(left, most, settings.review_threshold), TOO_MANY)
    for capture_id, reason in out.items():
        await decisions.displace(tx, capture_id, reason)


def without_place(rows: Sequence[dict[str, Any]], settings: Settings) -> dict[int, str]:
    """Return which captures of a session find no place, with the reason.

    What may be given unconfirmed is chosen first: what waits for a person, mostly in vain, must not take its place.
    """
    doubted = _says_what_is_doubted(rows)
    free = [row for row in rows if settings.unconfirmed and _may_be_given(row) and row["id"] not in doubted]
    first = [row for row in rows if row["status"] != "review" or row in free]
    entries = [_entry(row, fixed=row["status"] != "review") for row in first]
    out = settle(entries, settings.session_captures)
    entries = [_entry(row, fixed=True) for row in first if row["id"] not in out]
    # What somebody asked for outright is looked at by itself, whoever said the same before.
    entries += [_entry(row, fixed=row["extractor"] == ASKED_FOR) for row in rows if row not in first]
    out |= settle(entries, settings.session_captures)
    return {int(str(number)): why for number, why in out.items()}


def _says_what_is_doubted(rows: Sequence[dict[str, Any]]) -> set[int]:
    """Return the captures that say what another one says about which the poisoning check, or a model's origin, warns.

    Whoever was taken in words one claim in many ways: the harmless wording must not come first.
    """
    warned = [row for row in rows if row["level"] != Level.NONE or (row["reservation"] and _is_of_model(row))]
    entries = [_entry(row, fixed=True) for row in warned]
    others = [row for row in rows if row["status"] == "review" and row not in warned]
    return {row["id"] for row in others if settle([*entries, _entry(row)], len(rows))}


def _is_of_model(row: dict[str, Any]) -> bool:
    return str(row["extractor"]).startswith(MODELS)


def _entry(row: dict[str, Any], *, fixed: bool = False) -> Entry:
    return Entry(row["id"], row["confidence"], row["content"], fixed=fixed)


def _may_be_given(row: dict[str, Any]) -> bool:
    return bool(row["reservation"] == "" and row["level"] == Level.NONE)


def _too_many(waiting: Iterable[dict[str, Any]], may_be_given: int, threshold: float) -> list[int]:
    """Return what finds no place among what waits of a session: the weakest, and what is not worth a person's look.

    What the person typed takes no place from what the assistant found. What a second look let pass is not left out for
    what the rules found before: that gives way when unconfirmed memories are made.
    """
    ranked = sorted(waiting, key=lambda row: (row["memory_id"] is None, -row["confidence"], row["id"]))
    fit = [row for row in ranked if _may_be_given(row)]
    free = []
    for finder in ("user", "model", "rules"):
        rows = [row for row in fit if _finder(row) == finder]
        free += [rows[place]["id"] for place in distinct([row["content"] for row in rows], may_be_given)]
    others = [row for row in ranked if row["id"] not in free]
    weak = [row["id"] for row in others if is_below(row["confidence"], threshold)]
    found = [row for row in others if row["id"] not in weak and row["origin"] != Origin.USER]
    return weak + [row["id"] for row in found][TO_A_PERSON:]


def _finder(row: dict[str, Any]) -> str:
    """Who found a statement: the user stated it, a model, or else the rules."""
    if row["origin"] == Origin.USER:
        return "user"
    return "model" if _is_of_model(row) else "rules"


async def admit_memory(
    mind: Mind,
    tx: aiosqlite.Connection,
    capture_id: int,
    judged: Judged,
    where: Provenance,
    repeats: Repeats | None = None,
) -> Memory | None:
    """Make a memory of a capture that is stored at once, or let the one that says the same recur."""
    if judged[1].decision is not Decision.AUTO:
        return None
    found = repeats or Repeats()
    memory = memory_of(*judged, where)
    known = await memories.same_wording(tx, memory) if mind.settings.dedupe else None
    known = known or await merging.known_as(tx, *judged, memory, found)
    if known is None:
        known = await memories.insert(tx, memory, where.actor, number=capture_id)
        await merging.take_place(tx, *judged, known, found)
    else:
        await memories.recur(tx, known, memory.said_at, memory.session_id, memory.origin)
    await captures.bind(tx, capture_id, known.id)
    if not merging.is_flagged(judged[1]):
        await _succeed(tx, replace(known, said_at=memory.said_at), memory.origin, found)
    return known


async def _succeed(tx: aiosqlite.Connection, memory: Memory, origin: Origin, found: Repeats) -> None:
    """Let a memory that was just stated supersede what says otherwise: from before, and of the same batch."""
    if origin is not Origin.USER:
        return
    meanwhile = [one for one in found.made if one.id != memory.id and replaces(memory.content, one.content)]
    await succession.take_over(tx, memory, [*found.replaced.get(memory.content, ()), *meanwhile])
    if (capture := found.displaced.get(memory.content)) is not None:
        await decisions.displace(tx, capture, f"memory {memory.id} says otherwise since")
    found.made.append(memory)


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
