"""Applies verdicts to candidates. No candidate is dropped silently, and a failed check does not count as passed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from subconscious.domain.model import Admission, Candidate, Decision, Finding, Level, Threat, Verdict
from subconscious.poisoning.check import check

log = logging.getLogger("subconscious.poisoning")

FAILED = "check-failed"
"""The name of the rule in a finding that says that the check itself failed."""


def screen(candidate: Candidate, judge: Callable[[Candidate], Verdict] = check) -> Verdict:
    """Return the verdict on a candidate; if the check fails, the verdict requires a review."""
    try:
        return judge(candidate)
    except Exception as error:
        # Any error: a text must not pass because it makes the check fail.
        log.exception("a candidate can't be checked")
        why = f"the poisoning check failed ({type(error).__name__})"
        return Verdict(Level.MEDIUM, (Finding(FAILED, Threat.INSTRUCTION, Level.MEDIUM, why),))


def apply_verdict(admission: Admission, verdict: Verdict) -> Admission:
    """Return the decision after a verdict: level medium requires a review, high and critical a quarantine."""
    judged = replace(admission, verdict=verdict)
    if admission.decision is Decision.DISCARD or verdict.level.rank < Level.MEDIUM.rank:
        return judged
    decision = Decision.REVIEW if verdict.level is Level.MEDIUM else Decision.QUARANTINE
    return replace(judged, decision=decision, reason=explanation(verdict))


def explanation(verdict: Verdict) -> str:
    """Return the verdict as a sentence, the worst finding first; "" without findings."""
    worst = sorted(verdict.findings, key=lambda finding: -finding.level.rank)
    if not worst:
        return ""
    if worst[0].rule == FAILED:
        return f"{worst[0].why}: a person must review the text"
    whys: dict[str, str] = {}
    for finding in worst:  # the summary often repeats a match in the content
        whys.setdefault(finding.rule, finding.why)
    reasons = "; ".join([*dict.fromkeys(whys.values())][:3])
    return f"may be poisoned ({verdict.level}, {worst[0].threat}): {reasons}"
