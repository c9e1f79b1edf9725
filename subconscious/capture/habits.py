"""Stores habits of a project that several sessions showed, without a review.

A habit is a fixed sentence with commands that were run and worked. It is stored when a second session shows it, unless
one of its commands needs a person's decision. A session in which a file, a page or an output named a command before it
was run does not count: the text may have been planted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import aiosqlite

from subconscious.capture.detectors.conventions import is_check
from subconscious.capture.draft import PRACTISED, WRAPPER
from subconscious.domain.model import Admission, Candidate, Decision, Judged, Level, Memory, Verdict
from subconscious.failures import hazards
from subconscious.failures.commands import only
from subconscious.failures.runs import SUGGESTED, named_first
from subconscious.redaction.cleaning import clean
from subconscious.settings.settings import Settings
from subconscious.store import captures, decisions
from subconscious.store.capture_rows import SessionRef
from subconscious.transcripts.records import AGENT_FILE

CONFIDENCE = 0.9
AGAIN = "seen in several sessions"

ONE_SESSION = "a habit that one session showed may be an exception"
"""The reservation of a habit that only one session showed."""

_QUOTED = re.compile(r"`([^`]*)`")
_OURS = frozenset(("git add <file>", "git add -A", "git add ."))
"""Commands that the fixed sentences themselves contain, and that the session did not run."""

_PLACEHOLDERS = re.compile(r"<(?:comment id|number)>| -f body=\.\.\.")
"""Placeholders in the commands of fixed sentences, for parts that differ from run to run."""


def is_habit(candidate: Candidate) -> bool:
    """Whether a candidate is a habit: a fixed sentence with commands."""
    return candidate.extractor == PRACTISED


def with_suggestions(path: Path, end: int, judged: Sequence[Judged]) -> list[Judged]:
    """Return the decisions, with a reservation about each habit that a text in the session suggested.

    This reads the transcript: run it in a thread.
    """
    return [
        (candidate, _suggested(admission))
        if is_habit(candidate) and admission.decision is Decision.REVIEW and _is_suggested(path, end, candidate)
        else (candidate, admission)
        for candidate, admission in judged
    ]


def _suggested(admission: Admission) -> Admission:
    return replace(admission, reservation=SUGGESTED, reason=f"{SUGGESTED}: {admission.reason}")


def _is_suggested(path: Path, end: int, candidate: Candidate) -> bool:
    """Whether a text of the session named a command of a habit before the command was run.

    This is assumed for a sub-agent's transcript, because the instructions to the sub-agent are in another file.
    """
    commands = _commands(candidate)
    return bool(commands) and (path.name.startswith(AGENT_FILE) or named_first(path, end, commands, clean, is_check))


def _commands(candidate: Candidate) -> list[str]:
    """Return the commands in a habit, up to the first placeholder.

    Single words are left out, because they are general tools, such as `mise` or `pytest`, except the name of a wrapper
    script.
    """
    told = [one for one in _QUOTED.findall(candidate.content) if one not in _OURS]
    wrapper = told[:1] if candidate.tags == (WRAPPER,) else []
    whole = (_PLACEHOLDERS.split(one)[0].rstrip("/ ") for one in told)
    return list(dict.fromkeys((*wrapper, *(one for one in whole if " " in one))))


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
        return admission  # the habit's memory was archived once, so a person decides
    if known is not None and known.content != candidate.content:
        return replace(admission, decision=Decision.DISCARD, reason=f"memory {known.id} states this habit already")
    if known is None and admission.reservation == SUGGESTED:
        return admission
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
    """Return why a person must decide on a habit, such as that a command in it deletes files; "" if there is no reason."""
    return next((why for told in _QUOTED.findall(content) if told not in _OURS and (why := _doubt(told))), "")


def _doubt(told: str) -> str:
    told = _PLACEHOLDERS.sub("", told)
    if not hazards.tellable(told):
        return "it contains characters that can't be quoted in a sentence"
    command = only(told)
    return hazards.hazard(command) if command is not None else hazards.doubtful(told)
