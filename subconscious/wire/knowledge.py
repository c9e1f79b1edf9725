"""Results of the requests about a project's knowledge, as they are sent over the socket."""

from __future__ import annotations

from typing import Literal, TypedDict

from subconscious.wire.history import Suspicion
from subconscious.wire.memories import Memory
from subconscious.wire.sessions import Session


class StandingsResult(TypedDict):
    """Response to ``standings``: memories, highest score first, and the number of memories by promotion status."""

    memories: list[Memory]
    counts: dict[str, int]


class PullResult(TypedDict):
    """Response to the request ``pull``: the folder of the rendered files, and their names."""

    folder: str
    files: list[str]


class SessionDigest(TypedDict):
    """The latest session, with its stored summary; ``session`` is None if there is none."""

    mode: Literal["summarize"]
    session: Session | None


class Tag(TypedDict):
    """A tag, and how many memories and sessions have it."""

    tag: str
    memories: int
    sessions: int


class TagDigest(TypedDict):
    """The tags of memories and sessions."""

    mode: Literal["tag"]
    tags: list[Tag]


class Occurrence(TypedDict):
    """A session with one of the similar captures, and the time of that capture."""

    id: str
    at: float


class Friction(Suspicion):
    """Similar captures of several sessions."""

    kind: str
    content: str
    origin: str
    extractor: str
    times: int
    sessions: list[Occurrence]


class PatternDigest(TypedDict):
    """Approved patterns, and similar captures that recur in several sessions."""

    mode: Literal["patterns"]
    patterns: list[Memory]
    friction: list[Friction]


class KnowledgeDigest(TypedDict):
    """The project's knowledge as text."""

    mode: Literal["synthesize"]
    text: str
    promoted: int
    observed: int


Digest = SessionDigest | TagDigest | PatternDigest | KnowledgeDigest
"""Response to the request ``digest``."""
