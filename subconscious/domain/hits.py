"""What a search found, and what sessions were given: frozen and typed, with derived properties only."""

from __future__ import annotations

from dataclasses import dataclass, field

from subconscious.domain.model import Memory
from subconscious.domain.trust import Repute


@dataclass(frozen=True, slots=True)
class EngineHit:
    """One engine's result for a hit: its 1-based rank and its own raw score (higher is better)."""

    engine: str
    rank: int
    score: float


PRIORITY_WEIGHT = 0.15
"""Change of a rank by a priority of 1 or -1, as a share."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by a search: its relevance, its decay factor, and each engine's result.

    ``relevance`` (0..1) is calibrated: it means the same for every query, and thresholds apply to it. ``rank`` (0..1)
    only compares the hits of one query. ``priority`` (-1..1) comes from how answers used the memory. ``repute`` is None
    if it was not looked up.
    """

    memory: Memory
    relevance: float
    decay: float
    engines: tuple[EngineHit, ...] = ()
    rank: float = 0.0
    priority: float = 0.0
    repute: Repute | None = None

    @property
    def score(self) -> float:
        """The sort key of hits: decay and priority change the order, they never filter."""
        return self.rank * self.decay * (1.0 + PRIORITY_WEIGHT * self.priority)

    @property
    def cosine(self) -> float:
        """Cosine similarity to the query; 0 if the vector engine did not find it."""
        return next((engine.score for engine in self.engines if engine.engine == "vector"), 0.0)


@dataclass(frozen=True, slots=True)
class Surface:
    """One memory given to one session, with the reason.

    ``about`` is the file it was given for, ``limits`` the state of the limits as JSON, ``trigger_id`` the due date in
    the memory that triggered it.
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
