"""Results of the requests about captures, as they are sent over the socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict, cast


class Finding(TypedDict):
    """A finding of the poisoning check: the class of the threat, and where in the capture it was found."""

    rule: str
    threat: str
    level: str
    why: str
    part: str
    start: int
    end: int


class Capture(TypedDict):
    """A capture with the decision on it: the columns of its row, with the status as it is shown to users."""

    id: int
    capture_key: str
    project_id: str
    session_id: str | None
    status: str
    decision: str
    reason: str
    memory_id: int | None
    scope: str
    kind: str
    summary: str
    content: str
    content_hash: str
    evidence: str
    turn_id: str
    transcript: str
    byte_start: int
    byte_end: int
    origin: str
    strength: str
    raw_confidence: float
    confidence: float
    extractor: str
    rationale: str
    sentiment: str
    branch: str
    tags: list[str]
    files: list[str]
    said_at: float
    created_at: float
    expires_at: float | None
    decided_at: float | None
    level: str
    verdict: list[Finding]
    rules: str
    quarantined: bool
    released_at: float | None
    seconded_with: int
    reservation: str | None
    shown_at: float | None


class ConfidenceParts(TypedDict):
    """How a confidence was derived: the strength of the wording, the raw confidence, and the calibrated confidence."""

    strength: str
    raw: float
    calibrated: float


class Likeness(TypedDict):
    """A memory that says something similar to a capture; ``likeness`` is from 0 to 1."""

    id: int
    kind: str
    summary: str
    content: str
    likeness: float


class Proposal(TypedDict):
    """The decision that is proposed to the user: approve, reject, edit, or look (examine the capture yourself)."""

    sort: str
    decision: str
    why: str


class ReviewedCapture(Capture):
    """A capture and, if the request asked for them, the details that a decision needs.

    ``unchanged`` is whether a decision had no effect on the capture, because an earlier decision applies.
    """

    context: NotRequired[str]
    parts: NotRequired[ConfidenceParts]
    sources: NotRequired[list[int]]
    similar: NotRequired[list[Likeness]]
    proposal: NotRequired[Proposal]
    unchanged: NotRequired[bool]


class CapturesResult(TypedDict):
    """Response to ``captures`` and to the requests that decide on captures.

    ``waiting`` is the number of captures that wait for review. ``left_out`` says why some of the captures are missing.
    """

    captures: list[ReviewedCapture]
    waiting: NotRequired[int]
    left_out: NotRequired[str]


class WaitingDecision(TypedDict):
    """A decision on captures that a session requested, and the code that the user types to confirm it."""

    session_id: str
    deed: str
    wording: str
    captures: list[ReviewedCapture]
    code: str


class CodesResult(TypedDict):
    """Response to the request ``codes``."""

    decisions: list[WaitingDecision]


class Lesson(TypedDict):
    """A rejected capture. Since the rejection, the poisoning check flags statements with the same wording."""

    id: int
    capture_id: int
    threat: str
    created_at: float
    summary: str
    session_id: str | None


class LessonsResult(TypedDict):
    """Response to the requests ``lessons`` and ``forget_lesson``."""

    lessons: list[Lesson]


def reviewed(captures: Sequence[Capture]) -> list[ReviewedCapture]:
    """Return captures without the optional details, in the format of responses to decisions."""
    return [cast("ReviewedCapture", capture) for capture in captures]
