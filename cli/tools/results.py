"""The results of tools. Field names are short, because they cost tokens."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr


class Result(BaseModel):
    """The result of a tool; empty fields are left out."""

    model_config = ConfigDict(frozen=True)

    def values(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults."""
        return self.model_dump(exclude_defaults=True)


class Note(Result):
    """A memory as a tool returns it; the tier determines which fields are set."""

    id: int
    kind: str
    said: str = Field(description="day")
    by: str = Field(description="user, assistant, teammate or tool; teammate NAME from the team's store")
    summary: str = ""
    relevance: float = 0.0
    marks: list[str] = []
    content: str = ""
    rationale: str = ""
    tags: list[str] = []
    files: list[str] = []
    branch: str = ""
    confidence: float = 0.0
    evidence: str = ""
    session: str = ""

    _whole: bool = PrivateAttr(default=False)

    @property
    def whole(self) -> bool:
        """Whether the note has the memory's content, perhaps cut to the tier's length, and not only the summary."""
        return self._whole

    def marked_whole(self) -> Note:
        """Mark the note as containing the memory's content; return it."""
        self._whole = True
        return self


class MemoryResult(Result):
    """A result with memories."""

    memories: list[Note]


class Notes(MemoryResult):
    """A page of memories. ``next`` is the offset of the next page; ``again`` has the ids of a repeated answer."""

    next: int = 0
    total: int = 0
    again: str = ""


class Edge(Result):
    """A link between two memories, read from source to target."""

    source: int
    type: str
    target: int
    confidence: float = 0.0
    status: str = ""
    by: str = ""
    evidence: str = ""


class LinkedMemories(MemoryResult):
    """Links, with the memories at their ends."""

    links: list[Edge]
    left_out: int = 0


class SessionSummary(Result):
    """A past session."""

    id: str
    day: str
    title: str = ""
    status: str = ""
    branch: str = ""
    turns: int = 0
    tags: list[str] = []
    summary: str = ""
    left_open: str = ""
    last_prompt: str = ""


class SessionPage(Result):
    """A page of sessions; ``next`` is the offset of the next page."""

    sessions: list[SessionSummary]
    next: int = 0


class Context(MemoryResult):
    """The memories that matter for a task, and the latest session that left something open, if any."""

    left_open: list[SessionSummary] = []


class Event(Result):
    """An event of a memory's history, or a memory that a session was shown."""

    day: str
    what: str
    reason: str = ""


class Detail(MemoryResult):
    """A memory with its history, and the sessions that it was shown to."""

    history: list[Event] = []
    given: list[Event] = []


class SessionDetail(Result):
    """A session, and the memories that it was shown."""

    session: SessionSummary
    given: list[Event] = []


class Admission(Result):
    """The daemon's decision on a statement to remember."""

    decision: str = Field(description="auto (stored), review (a person decides), quarantine or discard")
    reason: str = ""
    memory: int = 0
    capture: int = 0


class State(Result):
    """The status of Subconscious: its version, how many memories and captures there are, and warnings."""

    version: str
    active: int = 0
    here: int = 0
    waiting_for_review: int = 0
    quarantined: int = 0
    warnings: list[str] = []
