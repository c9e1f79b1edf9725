"""Habits of a project: what several sessions show of how it is worked in becomes a memory without a person.

Their wording is ours, and what stands in it are commands that were run and worked. One session may be an exception;
once a second one shows the same it is kept, unless a command in it is one that a person must decide about.
"""

from __future__ import annotations

import re
from dataclasses import replace

import aiosqlite

from subconscious.capture.draft import PRACTISED
from subconscious.failures import hazards
from subconscious.failures.commands import only
from subconscious.model import Admission, Candidate, Decision, Level, Memory, Verdict
from subconscious.settings import Settings
from subconscious.store import decisions, habits
from subconscious.store.capture_rows import Place

CONFIDENCE = 0.9
AGAIN = "seen in several sessions"

ONE_SESSION = "a habit that one session showed may be an exception"
"""Why a habit waits; who reads the captures of other sessions knows by it that nothing else spoke against them."""

_QUOTED = re.compile(r"`([^`]*)`")
_OURS = frozenset(("git add <file>", "git add -A", "git add ."))
"""Commands that stand in our own wording."""


def is_habit(candidate: Candidate) -> bool:
    """Whether a candidate tells of a habit, in our words."""
    return candidate.extractor == PRACTISED


async def judge(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, place: Place, settings: Settings
) -> Admission:
    """Store a habit that an earlier session showed; of one that a memory tells otherwise, nothing is kept."""
    verdict = admission.verdict or Verdict()
    waits = admission.decision is Decision.REVIEW and not admission.doubtful and verdict.level is Level.NONE
    if not is_habit(candidate) or not waits or not place.session_id:
        return admission
    known = next(iter(await habits.told(tx, place.project_id, PRACTISED, candidate.tags[0])), None)
    if known is not None and known.archived_at is not None:
        return admission  # somebody took it out of use: a person decides
    if known is not None and known.content != candidate.content:
        return replace(admission, decision=Decision.DISCARD, reason=f"memory {known.id} tells of this habit already")
    seen = known is not None or await habits.seen_elsewhere(tx, place, PRACTISED, candidate.content, ONE_SESSION)
    if not seen or settings.auto_threshold > CONFIDENCE + 1e-9 or hazard(candidate.content):
        return admission
    reason = f"{AGAIN}: {candidate.reason}"
    return replace(admission, decision=Decision.AUTO, confidence=CONFIDENCE, reason=reason)


async def settle(tx: aiosqlite.Connection, candidate: Candidate, memory: Memory, project_id: str) -> None:
    """Ask nobody about a habit any more that a memory tells of."""
    if is_habit(candidate):
        for number in await habits.waiting(tx, project_id, PRACTISED, candidate.tags[0]):
            await decisions.displace(tx, number, f"memory {memory.id} tells of this habit already")


def hazard(content: str) -> str:
    """Return why a person must decide about a habit: a command in it fetches, deletes or forces; or ""."""
    return next((why for told in _QUOTED.findall(content) if told not in _OURS and (why := _doubt(told))), "")


def _doubt(told: str) -> str:
    if not hazards.tellable(told):
        return "it holds characters that no sentence can hold"
    command = only(told)
    return hazards.hazard(command) if command is not None else hazards.doubtful(told)
