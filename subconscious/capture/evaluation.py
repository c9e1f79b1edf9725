"""Evaluates candidates: finds the origin of their words, runs the poisoning check, and applies the thresholds.

The result is an admission: stored, queued, quarantined or discarded, with the confidence and the reason. A reservation
is the reason why a queued capture must not be shown to sessions before a person confirms it. Queued captures without a
reservation may become unconfirmed memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from unicodedata import category

from subconscious.calibration.curves import UNCALIBRATED, Calibration
from subconscious.capture import habits, own_edits
from subconscious.capture.detectors.typed import NO_OPINIONS, Opinions
from subconscious.capture.gate import admit, is_below
from subconscious.capture.lasting import QUOTES, Session, carried_out, is_general, of_the_moment, passing
from subconscious.capture.later_use import for_a_stranger, of_no_later_use
from subconscious.capture.offline import extract
from subconscious.domain.model import (
    MODELS,
    PROBABLY,
    Act,
    Admission,
    Candidate,
    Decision,
    Judged,
    Level,
    Origin,
    Role,
    Turn,
    Verdict,
)
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.poisoning.reservations import ONLY_THE_USER, of_own_words, reservation
from subconscious.settings.settings import Settings
from subconscious.text.standalone import RESOLVED, unclear, without_announcement

UNCHECKED = "the poisoning check is off"
"""Every queued capture has this reservation while the check is off, so that nothing unchecked reaches a session."""

LESS_TRUST, BELOW = 0.15, 0.01
"""The deduction from the confidence of an unclear or short-lived finding.

After the deduction, the confidence is at least ``BELOW`` under the review threshold.
"""

WORTH_A_TRY = 0.38
"""The minimum confidence of a finding that becomes an unconfirmed memory because the session's actions support it."""

PLANNED = 0.5
"""The minimum confidence of an unconfirmed memory from an approved plan."""

UNCLAIMED = 0.2
"""A weak finding does not become an unconfirmed memory if a passage in files or output has this share of its words."""

PROBABLE, PROBABLE_FACT = 0.8, 0.5
"""The minimum probabilities at which a rule and a fact that the user typed become unconfirmed memories."""

WISH = re.compile(r"\b(?:should|shall|must|needs?|have to|has to|want|let's)\b", re.IGNORECASE)
"""Words that show that an apparent fact may be a task."""

REQUEST = re.compile(r"\b(?:can|could|would|will) you\b|\bplease\b|\?", re.IGNORECASE)
"""Words of a request, which is a task even if it is worded as a general rule."""

PRINTED = frozenset("\u2022\u2a2f\u00d7\u2717\u2192\u25b6\u276f")
"""Bullets, crosses and arrows that programs print; boxes and ticks are found by their Unicode category."""

EMOJI = "\U0001f300"
"""The emoji with the lowest code point. Boxes, ticks and dingbats, which programs print, are below it."""

FOR_A_SECOND_LOOK = "a model's second look has to confirm it"
"""The reservation about a statement of the user that a model found, if there is no other reservation."""

CLAIMED = "a comment, document or message says nearly the same"
CLAIMED_TO_A_MODEL = 0.15
"""Replaces ``UNCLAIMED`` for findings worded by a model. It is lower because the model's own words lower the share."""


def judge(
    turns: Sequence[Turn],
    settings: Settings,
    calibration: Calibration = UNCALIBRATED,
    opinions: Opinions = NO_OPINIONS,
) -> list[Judged]:
    """Extract the candidates in some turns and decide on each one. CPU-bound: run it in a thread."""
    return weigh(extract(turns, opinions), turns, settings, calibration) if settings.capture else []


def weigh(
    candidates: Iterable[Candidate], turns: Sequence[Turn], settings: Settings, calibration: Calibration = UNCALIBRATED
) -> list[Judged]:
    """Decide on candidates that rules or a model found; return each candidate, perhaps reworded, with the decision."""
    heard = {turn.id: turn.quotable_text for turn in turns}
    confirmed = {turn.id for turn in turns if turn.act is not Act.NONE}
    judged = []
    spoken = {turn.id for turn in turns if turn.role is Role.ASSISTANT and not turn.sidechain}
    session = Session.of(turns)
    for one in map(_worded_by_us, trace(map(_begun, candidates), confirmed, spoken)):
        candidate = one.candidate
        verdict = screen(candidate) if settings.poisoning else Verdict()
        worth = calibration.at(candidate.extractor, candidate.raw_confidence, candidate.kind)
        worth *= settings.poisoning_low if verdict.level is Level.LOW else 1.0
        quoted = heard.get(candidate.evidence.turn_id, "")
        admission = admit(candidate, settings, heard=quoted, confidence=worth)
        if candidate.evidence.turn_id not in confirmed:
            admission = _unasked(candidate, admission)
        admission = _worth_keeping(candidate, admission, session)
        admission = _reserved(apply_verdict(admission, verdict), one, session, checked=settings.poisoning)
        admission = _attested(admission, one, verdict, session, settings)
        admission = _planned(admission, one, session)
        admission = _lasting(candidate, admission, session, settings)
        if not candidate.extractor.startswith(MODELS):
            candidate, admission = own_edits.admit(one, admission, verdict, session, settings)
            candidate, admission = _of_later_use(candidate, admission)
        judged.append((candidate, _probable(candidate, admission, verdict, session, settings)))
    return judged


def _begun(candidate: Candidate) -> Candidate:
    """Remove the introductory phrase from a finding of the rules; its quote and all other candidates stay unchanged."""
    if candidate.origin is Origin.USER or candidate.by_model:
        return candidate
    said, told = without_announcement(candidate.content), without_announcement(candidate.summary)
    return candidate if said == candidate.content else replace(candidate, content=said, summary=told)


def _worded_by_us(traced: Traced) -> Traced:
    """Make the assistant the origin of a habit: the wording of a habit is fixed, only its evidence is tool output."""
    if not habits.is_habit(traced.candidate):
        return traced
    return replace(traced, candidate=replace(traced.candidate, origin=Origin.ASSISTANT))


def _worth_keeping(candidate: Candidate, admission: Admission, session: Session) -> Admission:
    """Queue a candidate that would be stored, but is unclear without context or valid only in its session."""
    if admission.decision is not Decision.AUTO:
        return admission
    why = unclear(candidate.content) or passing(candidate, session)
    return replace(admission, decision=Decision.REVIEW, reason=f"it {why}: {admission.reason}") if why else admission


def _planned(admission: Admission, traced: Traced, session: Session) -> Admission:
    """Add a reservation to a statement of an approved plan if its confidence is low or it is about the planned work.

    Statements about the planned work are outdated when the work is done.
    """
    waits = admission.decision is Decision.REVIEW and admission.reservation == ""
    if not (waits and traced.approved) or traced.candidate.origin is Origin.USER:
        return admission
    unsure = is_below(admission.confidence, PLANNED)
    # For a model's finding, the review after the session (the second look) decides whether it still holds.
    if not (unsure or (carried_out(traced.candidate, session) and not traced.candidate.by_model)):
        return admission
    return replace(admission, reservation=own_edits.OF_A_PLAN)


def _lasting(candidate: Candidate, admission: Admission, session: Session, settings: Settings) -> Admission:
    """Lower the confidence of an unclear or short-lived finding, to hide it until another session finds the same."""
    if admission.decision is not Decision.REVIEW or admission.reservation != "":
        return admission
    why = unclear(candidate.content) or of_the_moment(candidate, session)
    if not why:
        return admission
    confidence = min(admission.confidence - LESS_TRUST, settings.review_threshold - BELOW)
    return replace(admission, confidence=confidence, reason=f"it {why}: {admission.reason}")


def _of_later_use(candidate: Candidate, admission: Admission) -> tuple[Candidate, Admission]:
    """Add a reservation to findings without later use, and reword the others for readers who did not see the session.

    Statements that a person chose or made keep their wording.
    """
    free = admission.decision is Decision.REVIEW and admission.reservation == ""
    if not free or candidate.origin is Origin.USER or RESOLVED.search(candidate.content):
        return candidate, admission
    if why := of_no_later_use(candidate, reports_edits=admission.reason.startswith(own_edits.SPEAK_FOR_IT)):
        return candidate, replace(admission, reservation=f"it {why}")
    said, told = for_a_stranger(candidate.content), for_a_stranger(candidate.summary)
    return replace(candidate, content=said, summary=told), admission


def _unasked(candidate: Candidate, admission: Admission) -> Admission:
    """Queue a statement of the assistant that no person approved: it may repeat a text that the assistant read."""
    if candidate.origin is Origin.USER or admission.decision is not Decision.AUTO:
        return admission
    return replace(admission, decision=Decision.REVIEW, reason=f"no person stated or approved it: {admission.reason}")


def _reserved(admission: Admission, traced: Traced, session: Session, *, checked: bool) -> Admission:
    """Add the reason why a queued candidate must not be shown to sessions before a person confirms it."""
    if admission.decision is not Decision.REVIEW:
        return admission
    if habits.is_habit(traced.candidate):
        return replace(admission, reservation=habits.ONE_SESSION)
    if not checked:
        return replace(admission, reservation=UNCHECKED)
    verdict = admission.verdict or Verdict()
    if traced.candidate.by_model and traced.candidate.origin is Origin.USER:
        return replace(admission, reservation=_of_the_user(traced.candidate, verdict, session))
    return replace(admission, reservation=reservation_of(traced, verdict))


def _of_the_user(candidate: Candidate, verdict: Verdict, session: Session) -> str:
    """Return why a statement of the user that a model found must not be shown to sessions yet; never ""."""
    if passing(candidate, session) == QUOTES or not _is_typed_prose(candidate.content):
        return ONLY_THE_USER
    return of_own_words(candidate, verdict, quoted=False) or FOR_A_SECOND_LOOK


def reservation_of(traced: Traced, verdict: Verdict) -> str:
    """Return why a candidate must not be shown to sessions before it is confirmed; "" if it may be shown.

    A model's finding counts as reviewed here, because it must pass the model's second look before it can be shown.
    """
    if not traced.candidate.by_model:
        return reservation(traced, verdict)
    return reservation(traced, verdict, reviewed=True) or (CLAIMED if traced.prosaic >= CLAIMED_TO_A_MODEL else "")


def _attested(
    admission: Admission, traced: Traced, verdict: Verdict, session: Session, settings: Settings
) -> Admission:
    """Queue a weak finding that its session's own actions support, so that it can become an unconfirmed memory.

    The finding must also be clear and lasting, and no file or output of the session may state the same.
    """
    weak = admission.decision is Decision.DISCARD and admission.weak
    if not (weak and settings.unconfirmed and settings.poisoning) or admission.confidence < WORTH_A_TRY:
        return admission
    if traced.prosaic >= UNCLAIMED or reservation_of(traced, verdict):
        return admission
    if unclear(traced.candidate.content) or of_the_moment(traced.candidate, session):
        return admission
    reason = f"the session's own actions support it: {admission.reason}"
    return replace(admission, decision=Decision.REVIEW, reason=reason, reservation="")


def _probable(
    candidate: Candidate, admission: Admission, verdict: Verdict, session: Session, settings: Settings
) -> Admission:
    """Queue a statement of the user that is probably worth storing, so that it can become an unconfirmed memory.

    A rule may be a task, so it needs a higher probability than a fact, unless it is worded as a general rule.
    """
    weak = admission.decision is Decision.DISCARD and admission.weak
    typed = candidate.origin is Origin.USER and (weak or admission.decision is Decision.REVIEW)
    fact = candidate.kind == "learning" and not WISH.search(candidate.content)
    general = not candidate.by_model and is_general(candidate.content) and not REQUEST.search(candidate.content)
    enough = PROBABLE_FACT if fact or general else _likely(candidate, settings)
    if not (typed and settings.unconfirmed and settings.poisoning) or is_below(admission.confidence, enough):
        return admission
    why = passing(candidate, session)
    allowed = ("",) if candidate.by_model else ("", QUOTES)
    if why not in allowed or unclear(candidate.content) or not _is_typed_prose(candidate.content):
        return admission
    if of_own_words(candidate, verdict, quoted=bool(why)):
        return admission
    reason = f"{PROBABLY}{admission.reason}"
    return replace(admission, decision=Decision.REVIEW, reason=reason, reservation="")


def _likely(candidate: Candidate, settings: Settings) -> float:
    """Return the minimum probability of a rule that the user typed; lower if a model found it and will review it."""
    return settings.review_threshold if candidate.by_model else PROBABLE


def _is_typed_prose(text: str) -> bool:
    """Whether a text has no character that only programs print, such as a box or a tick. Emoji are allowed."""
    return not any(sign in PRINTED or (category(sign) == "So" and sign < EMOJI) for sign in text)
