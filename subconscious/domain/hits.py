"""Search results (hits), and records that a memory was added to a session's context (surfaces)."""

from __future__ import annotations

from dataclasses import dataclass, field

from subconscious.domain.model import Memory
from subconscious.domain.trust import Repute


@dataclass(frozen=True, slots=True)
class EngineHit:
    """How one search engine, such as `vector`, rated a hit: the rank (from 1) and the raw score (higher is better)."""

    engine: str
    rank: int
    score: float


PRIORITY_WEIGHT = 0.15
"""The share by which the highest priority (1) raises a hit's score."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by a search, with its scores and the rating by each search engine.

    ``relevance`` (0 to 1) is calibrated: it means the same for every query, and thresholds apply to it. ``rank`` (0 to
    1) only compares the hits of one query. ``share`` (0 to 1) says how many of the query's terms the memory contains.
    ``priority`` (0 to 1) depends on uses of the memory. ``repute`` (its reliability) is None if it was not looked up.
    """

    memory: Memory
    relevance: float
    decay: float
    engines: tuple[EngineHit, ...] = ()
    rank: float = 0.0
    priority: float = 0.0
    repute: Repute | None = None
    share: float = 0.0

    @property
    def score(self) -> float:
        """The sort key of hits. Decay and priority change the order of hits, but remove none."""
        return self.rank * self.decay * (1.0 + PRIORITY_WEIGHT * self.priority)

    @property
    def cosine(self) -> float:
        """The cosine similarity to the query; 0 if the vector engine did not find the memory."""
        return next((engine.score for engine in self.engines if engine.engine == "vector"), 0.0)


@dataclass(frozen=True, slots=True)
class Surface:
    """A surface: the record that one memory was added to the context of one session, with the reason.

    ``about`` is the path of the file that led to the surface, or "". ``limits`` is a JSON object with the limits that
    applied, and how much of each was used, such as ``{"session": "2 of 8"}``. ``trigger_id`` is the id of the due
    date or milestone that led to the surface.
    """

    session_id: str
    event: str
    at: float
    memory_id: int
    content_hash: str
    position: int
    reason: str
    relevance: float
    decay: float
    engines: tuple[EngineHit, ...] = field(default=())
    about: str = ""
    priority: float = 0.0
    limits: str = "{}"
    trigger_id: int | None = None
    characters: int = 0
