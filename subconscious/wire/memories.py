"""Results of the requests about memories, as they are sent over the socket."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from subconscious.domain import model
from subconscious.wire.captures import Capture
from subconscious.wire.fields import fields_of
from subconscious.wire.history import Event, Succession


class MemoryFields(TypedDict):
    """A memory with its provenance: the columns of its row."""

    id: int
    project_id: str | None
    scope: str
    kind: str
    category: str
    summary: str
    content: str
    origin: str
    confidence: float
    raw_confidence: float
    extractor: str
    created_at: float
    said_at: float
    content_hash: str
    rationale: str
    sentiment: str
    verified: bool
    pinned: bool
    recurrence: int
    uses: int
    last_used_at: float | None
    archived_at: float | None
    agent: str
    session_id: str | None
    turn_id: str
    transcript: str
    evidence: str
    byte_start: int
    byte_end: int
    branch: str
    commit: str
    intent: str
    embedding_status: str
    tags: list[str]
    files: list[str]
    unconfirmed: bool


class PromotionStatus(TypedDict):
    """The promotion status of a memory, and the scores that it follows from."""

    status: str
    score: float
    recurrence: float
    impact: float
    specificity: float
    sessions: int
    flaw: str


class Memory(MemoryFields):
    """A memory with its trust and promotion status. ``suspicion`` is why it looks poisoned."""

    trust: NotRequired[str]
    conflicts: NotRequired[list[int]]
    superseded_by: NotRequired[list[int]]
    stale: NotRequired[bool]
    standing: NotRequired[PromotionStatus]
    suspicion: NotRequired[str | None]


class EngineHit(TypedDict):
    """The rank and the raw score that one search method (``engine``) gave to a hit."""

    engine: str
    rank: int
    score: float


class ShortenedText(TypedDict):
    """The text of a memory, at most as long as the request asked for. ``cut``: the text was shortened."""

    text: str
    cut: bool


class Hit(TypedDict):
    """A memory that a search found."""

    memory: Memory
    relevance: float
    decay: float
    engines: list[EngineHit]
    rank: float
    priority: float
    score: float
    trust: NotRequired[str]
    marks: NotRequired[list[str]]
    suspicion: NotRequired[str]
    told: NotRequired[ShortenedText]


class TeamHit(TypedDict):
    """A memory that was found in a team's store, and that is missing or unconfirmed in the local store.

    ``by`` is the person who shared it, ``confirmed_by`` the maintainer who confirmed it, ``people`` how many used it.
    """

    uid: str
    kind: str
    content: str
    by: str
    confirmed_by: str
    people: int
    said_at: float


class _Hits(TypedDict):
    """What a search found in the local store."""

    hits: list[Hit]
    mode: str
    far: int


class SearchResult(_Hits):
    """Response to ``search``. ``far`` counts omitted hits of low relevance; ``team`` has hits from a team's store."""

    team: NotRequired[list[TeamHit]]


class RecallResult(_Hits):
    """Response to the request ``recall``: the hits, and the text that the model gets."""

    text: str


class ListResult(TypedDict):
    """Response to the request ``list``: a page of memories."""

    memories: list[Memory]
    total: int
    branch: str


class MemoriesResult(TypedDict):
    """Response to requests that change or select memories."""

    memories: list[Memory]


class SurfaceFields(TypedDict):
    """One memory that was added to one session's context; subclasses add ``limits``."""

    session_id: str
    event: str
    at: float
    memory_id: int
    content_hash: str
    position: int
    reason: str
    relevance: float
    decay: float
    engines: list[EngineHit]
    about: str
    priority: float
    trigger_id: int | None
    characters: int


class Surface(SurfaceFields):
    """One memory that was added to one session's context.

    ``limits`` is a JSON object, as text, with the limits that applied and how much of each was used, such as
    ``{"session": "2 of 8"}``.
    """

    limits: str


class ShowResult(TypedDict):
    """Response to the request ``show``: one memory, its history, and the sessions to whose context it was added."""

    memory: Memory
    marks: list[str]
    priority: float
    history: list[Event]
    successions: list[Succession]
    surfaces: list[Surface]
    merged_into: int | None
    merged: list[int]


class CorrectResult(TypedDict):
    """Response to ``correct``: the old memory, the memory that replaces it, and the id of the change."""

    memory: Memory
    replacement: Memory | None
    act: str


class RememberResult(TypedDict):
    """Response to the request ``remember``: the decision, and the memory or the capture that was stored.

    ``replaced`` are the memories that the new one supersedes.
    """

    decision: str
    reason: str
    confidence: float
    memory: NotRequired[Memory]
    replaced: NotRequired[list[Memory]]
    capture: NotRequired[Capture]


def memory_fields(memory: model.Memory) -> Memory:
    """Return the fields of a memory in the format of a response."""
    return fields_of(Memory, memory)
