"""Results of the requests about sessions, as they are sent over the socket."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from subconscious.wire.captures import ReviewedCapture
from subconscious.wire.history import Suspicion
from subconscious.wire.memories import SurfaceFields


class Session(TypedDict):
    """A session: the columns of its row."""

    id: str
    project_id: str
    transcript: str
    cwd: str
    status: str
    started_at: float
    last_event_at: float
    ended_at: float | None
    end_reason: str
    branch: str
    first_prompt: str
    last_prompt: str
    turns: int
    options: str
    title: str
    summary: str
    tags: list[str]
    left_open: str
    handover: str


class SessionsResult(TypedDict):
    """Response to the request ``sessions``."""

    sessions: list[Session]


class LearnResult(TypedDict):
    """Response to the request ``capture``: the new captures of a transcript."""

    session_id: str
    turns: int
    captures: list[ReviewedCapture]


class ExplainedSession(TypedDict):
    """The session of an explanation. ``known``: the daemon has recorded the session."""

    id: str
    title: str
    known: bool


class ExplainedSentence(TypedDict):
    """One sentence and its outcome, as a word (``fate``) and as text (``told``).

    ``number`` is the id of the memory or the capture that was made from the sentence.
    """

    sentence: str
    origin: str
    time: float
    seen: str
    confidence: float
    lowered: list[str]
    fate: str
    told: str
    number: int | None
    kind: str


class ExplainResult(TypedDict):
    """Response to ``explain``. ``unseen`` counts left-out sentences by origin; ``missing`` lists unreadable files."""

    session: ExplainedSession | None
    turns: int
    sentences: list[ExplainedSentence]
    unseen: dict[str, int]
    missing: list[str]


class GivenResult(TypedDict):
    """Response to the request ``given``: the session, and how many memories were recorded as given to the session."""

    session_id: str
    given: int


class ExplainedSurface(SurfaceFields, Suspicion):
    """One memory that was added to one session's context, and the session's response."""

    limits: dict[str, str]
    summary: str
    response: str


class SuppressedMemory(TypedDict):
    """A memory that was not added to a session's context, and why."""

    session_id: str
    event: str
    at: float
    memory_id: int
    relevance: float
    why: str


class Handover(TypedDict):
    """A hand-over: the session ``session_id`` got the record of the session ``from_id``."""

    session_id: str
    from_id: str
    event: str
    at: float


class Responses(TypedDict):
    """How often a memory was used, repeated and violated.

    ``given`` counts the ended sessions that received the memory and did some work. ``unheeded`` counts those of them
    that received it after its latest use, repetition or violation; ``followed`` counts the unheeded ones that changed
    files.
    """

    used: int
    repeated: int
    violated: int
    unheeded: int
    given: int
    followed: int


class WhySurfacedResult(TypedDict):
    """Response to ``why_surfaced``.

    ``responses`` says how often sessions used, repeated and violated the requested memory. ``left_out`` is whether
    new sessions no longer start with that memory, because recent sessions did not use it. ``paused`` are those of
    several requested memories for which this is so. They are missing if the request names no memory.
    """

    surfaces: list[ExplainedSurface]
    held: list[SuppressedMemory]
    handovers: list[Handover]
    responses: NotRequired[Responses]
    left_out: NotRequired[bool]
    paused: NotRequired[list[int]]
