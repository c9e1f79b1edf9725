"""Admits statements about a session's own edits: reports of edits, and designs from a plan that was carried out.

The edits are the evidence. Such a statement may become an unconfirmed memory, which is confirmed when another session
finds the same. It ranks below findings, because the code itself shows the edits.
"""

from __future__ import annotations

import re
from dataclasses import replace

from subconscious.capture.gate import is_below
from subconscious.capture.lasting import (
    Session,
    has_edits,
    names_edited,
    names_lines,
    without_added_names,
    without_lines,
)
from subconscious.domain.model import Admission, Candidate, Decision, Origin, Verdict
from subconscious.poisoning.echo import Traced
from subconscious.poisoning.reservations import reservation
from subconscious.settings.settings import Settings
from subconscious.text.standalone import unclear
from subconscious.text.words import content_words, is_name

OF_A_PLAN = "it is outdated once its plan is carried out"
"""The reason why a statement of an approved plan is not shown to sessions."""

LEAST = 0.45
"""The minimum confidence of a statement about the session's own edits that becomes an unconfirmed memory."""

MOST = 0.5
"""The maximum confidence of an unconfirmed memory about the session's own edits."""

SPEAK_FOR_IT = "the edits of its session support it: "
"""The beginning of the reason for admitting a statement."""

CHANCE = 0.5
"""A passage in files or output with less than this share of a statement's words is similar only by chance."""

FEWEST_NAMES = 2
"""The minimum number of names in a report: with fewer, it does not say what was changed."""

_OF_TESTS_OR_UNNAMED = re.compile(
    r"tests?(?:\b|[_.-])|[._-]spec\b|\bTest[A-Z_]"
    r"|\b(?:Added|Removed|Updated|Changed|Moved|Renamed|Replaced|Fixed) (?:it|this|them)\b",
    re.IGNORECASE,
)
"""Matches reports about tests, which are of little later use, and edits of "it", which names nothing."""


def admit(
    traced: Traced, admission: Admission, verdict: Verdict, session: Session, settings: Settings
) -> tuple[Candidate, Admission]:
    """Return a candidate and its admission; if its session's edits support it, it may become an unconfirmed memory."""
    if not (settings.unconfirmed and settings.poisoning and admission.confidence >= LEAST):
        return traced.candidate, admission
    named = replace(traced.candidate, content=without_lines(traced.candidate.content))
    if not (
        _is_of_edits(traced, admission, session, settings) and _says_what(named) and _is_mere_news(traced, verdict)
    ):
        return traced.candidate, admission
    reason = f"{SPEAK_FOR_IT}{admission.reason}"
    confidence = min(admission.confidence, MOST)
    kept = replace(admission, decision=Decision.REVIEW, confidence=confidence, reason=reason, reservation="")
    return replace(named, summary=without_lines(named.summary)), kept


def _is_of_edits(traced: Traced, admission: Admission, session: Session, settings: Settings) -> bool:
    """Whether a statement reports or plans edits of its exchange, and no file or output has the same words.

    A plan may be written before any code is read, so its evidence is the later edits of the files that it names.
    """
    if traced.candidate.origin is Origin.USER or traced.prosaic >= CHANCE:
        return False
    if traced.approved:
        sure = not is_below(admission.confidence, settings.review_threshold)
        return sure and admission.reservation == OF_A_PLAN and names_edited(traced.candidate, session)
    return traced.anchored and _is_refused(admission) and has_edits(traced.candidate, session)


def _is_mere_news(traced: Traced, verdict: Verdict) -> bool:
    """Whether the only reservation about a statement is that it reports work; a planned statement may have none."""
    if reservation(traced, verdict, news=True):
        return False
    return traced.approved or bool(reservation(traced, verdict))


def _is_refused(admission: Admission) -> bool:
    waits = admission.decision is Decision.REVIEW and bool(admission.reservation)
    return waits or (admission.decision is Decision.DISCARD and admission.weak)


def _says_what(candidate: Candidate) -> bool:
    said = candidate.content
    names = {word for word in content_words(without_added_names(said)) if is_name(word)}
    return len(names) >= FEWEST_NAMES and not (names_lines(said) or unclear(said) or _OF_TESTS_OR_UNNAMED.search(said))
