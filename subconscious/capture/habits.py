"""Stores habits of a project that several sessions showed, without a review.

A habit is a fixed sentence with commands that were run and worked. It is stored when a second session shows it, unless
one of its commands needs a person's decision.
"""

from __future__ import annotations

import re
from dataclasses import replace

import aiosqlite

from subconscious.capture.draft import PRACTISED
from subconscious.domain.model import Admission, Candidate, Decision, Level, Memory, Verdict
from subconscious.failures import hazards
from subconscious.failures.commands import only
from subconscious.settings.settings import Settings
from subconscious.store import captures, decisions
from subconscious.store.capture_rows import SessionRef

CONFIDENCE = 0.9
AGAIN = "seen in several sessions"

ONE_SESSION = "a habit that one session showed may be an exception"
"""The reservation of a habit that only one session showed."""

_QUOTED = re.compile(r"`([^`]*)`")
_OURS = frozenset(("git add <file>", "git add -A", "git add ."))
"""Commands that are part of the fixed sentences, and were not run."""

_PLACEHOLDERS = re.compile(r"<(?:comment id|number)>| -f body=\.\.\.")
"""Parts of the commands in fixed sentences that stand for what differs from run to run."""


def is_habit(candidate: Candidate) -> bool:
    """Whether a candidate is a habit: a fixed sentence with commands."""
    return candidate.extractor == PRACTISED


async def judge(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, place: SessionRef, settings: Settings
) -> Admission:
    """Return the decision on a habit.

    It is stored if another session showed the same habit, and discarded if a memory states the habit in other words.
    """
    verdict = admission.verdict or Verdict()
    waits = admission.decision is Decision.REVIEW and not admission.doubtful and verdict.level is Level.NONE
    if not is_habit(candidate) or not waits or not place.session_id:
        return admission
    known = next(iter(await captures.habit_memories(tx, place.project_id, PRACTISED, candidate.tags[0])), None)
    if known is not None and known.archived_at is not None:
        return admission  # it was removed once, so a person decides
    if known is not None and known.content != candidate.content:
        return replace(admission, decision=Decision.DISCARD, reason=f"memory {known.id} states this habit already")
    seen = known is not None or await captures.habit_seen_elsewhere(
        tx, place, PRACTISED, candidate.content, ONE_SESSION
    )
    if not seen or settings.auto_threshold > CONFIDENCE + 1e-9 or hazard(candidate.content):
        return admission
    reason = f"{AGAIN}: {candidate.reason}"
    return replace(admission, decision=Decision.AUTO, confidence=CONFIDENCE, reason=reason)


async def settle(tx: aiosqlite.Connection, candidate: Candidate, memory: Memory, project_id: str) -> None:
    """Close the waiting captures of a habit that is now stored."""
    if is_habit(candidate):
        for number in await captures.waiting_habit_captures(tx, project_id, PRACTISED, candidate.tags[0]):
            await decisions.displace(tx, number, f"memory {memory.id} states this habit already")


def hazard(content: str) -> str:
    """Return why a person must decide on a habit: a command in it downloads, deletes or forces; "" if none does."""
    return next((why for told in _QUOTED.findall(content) if told not in _OURS and (why := _doubt(told))), "")


def _doubt(told: str) -> str:
    told = _PLACEHOLDERS.sub("", told)
    if not hazards.tellable(told):
        return "it contains characters that can't be quoted in a sentence"
    command = only(told)
    return hazards.hazard(command) if command is not None else hazards.doubtful(told)
