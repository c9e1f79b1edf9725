"""What tools answer: typed, and terse, for every name is paid for in tokens."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr


class Result(BaseModel):
    """An answer. What is empty is left out of it."""

    model_config = ConfigDict(frozen=True)

    def told(self) -> dict[str, Any]:
        """The answer as plain values."""
        return self.model_dump(exclude_defaults=True)


class Note(Result):
    """A memory, as much of it as its tier tells."""

    id: int
    kind: str
    said: str = Field(description="day")
    by: str = Field(description="user, assistant or tool")
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
        """Whether it tells the memory's own words, and not a summary of them."""
        return self._whole

    def saying_all(self) -> Note:
        """The same, known to tell the memory's own words."""
        self._whole = True
        return self


class Telling(Result):
    """An answer that tells of memories."""

    memories: list[Note]


class Notes(Telling):
    """Memories; ``next`` is the offset of those that follow. ``again`` says that they were returned before."""

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


class Linkage(Telling):
    """Links, with the memories at their ends."""

    links: list[Edge]
    left_out: int = 0


class Meeting(Result):
    """A session of before."""

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


class Meetings(Result):
    """Sessions; ``next`` is the offset of those that follow."""

    sessions: list[Meeting]
    next: int = 0


class Context(Telling):
    """What matters for a task."""

    left_open: list[Meeting] = []


class Happening(Result):
    """An event of a memory's history, or what a session was given."""

    day: str
    what: str
    reason: str = ""


class Detail(Telling):
    """A memory with where it comes from and what became of it."""

    history: list[Happening] = []
    given: list[Happening] = []


class SessionDetail(Result):
    """A session, and what it was given."""

    session: Meeting
    given: list[Happening] = []


class Admission(Result):
    """What became of a statement."""

    decision: str = Field(description="auto (stored), review (a person decides), quarantine or discard")
    reason: str = ""
    memory: int = 0
    capture: int = 0


class State(Result):
    """How the memory is."""

    version: str
    active: int = 0
    here: int = 0
    waiting_for_review: int = 0
    quarantined: int = 0
    warnings: list[str] = []
