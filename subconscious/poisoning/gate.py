"""What a verdict does to a candidate: nothing is dropped in silence, and a check that failed is no pass."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from subconscious.model import Admission, Candidate, Decision, Finding, Level, Threat, Verdict
from subconscious.poisoning.check import check

log = logging.getLogger("subconscious.poisoning")

FAILED = "check-failed"
"""The rule of a verdict that could not be reached."""


def screen(candidate: Candidate, judge: Callable[[Candidate], Verdict] = check) -> Verdict:
    """Check a candidate; one that can't be checked waits for a person, with that reason."""
    try:
        return judge(candidate)
    except Exception as error:
        # Any error in the check: a text that causes one must not pass because of it.
        log.exception("a candidate can't be checked")
        why = f"the poisoning check failed ({type(error).__name__})"
        return Verdict(Level.MEDIUM, (Finding(FAILED, Threat.INSTRUCTION, Level.MEDIUM, why),))


def withhold(admission: Admission, verdict: Verdict) -> Admission:
    """Let the verdict weigh on what the gate said: medium waits for a person, high and critical are set apart."""
    judged = replace(admission, verdict=verdict)
    if admission.decision is Decision.DISCARD or verdict.level.rank < Level.MEDIUM.rank:
        return judged
    decision = Decision.REVIEW if verdict.level is Level.MEDIUM else Decision.QUARANTINE
    return replace(judged, decision=decision, reason=told(verdict))


def told(verdict: Verdict) -> str:
    """The verdict in a sentence: the worst first."""
    worst = sorted(verdict.findings, key=lambda finding: -finding.level.rank)
    if not worst:
        return ""
    if worst[0].rule == FAILED:
        return f"{worst[0].why}: a person must look at it"
    reasons = "; ".join(dict.fromkeys(finding.why for finding in worst[:3]))
    return f"may be poisoned ({verdict.level}, {worst[0].threat}): {reasons}"
