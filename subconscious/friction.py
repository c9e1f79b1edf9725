"""Friction: trouble that comes back across sessions, and the pattern that it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subconscious.model import Candidate, Evidence, Origin, Strength
from subconscious.promote import is_trouble
from subconscious.review import PATTERN, likeness
from subconscious.surfacing import date_of
from subconscious.text.same_statement import DISTINCT, NEAR, differences

if TYPE_CHECKING:
    import numpy

    Vectors = Mapping[int, numpy.ndarray]

EXTRACTOR = "friction"
BY_WORDS = 0.6
"""Share of words in common from which two troubles are one, where no vector says how near they are."""
MOST_NAMED = 10
"""Sessions that a pattern names."""
LONGEST = 400
SHORT = 100

Capture = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Friction:
    """One trouble, and the captures that tell of it, the earliest first."""

    captures: tuple[Capture, ...]

    @property
    def leader(self) -> Capture:
        """The capture that it is known by."""
        return self.captures[0]

    @property
    def sessions(self) -> dict[str, float]:
        """When it was first told of in each session."""
        found: dict[str, float] = {}
        for capture in self.captures:
            found.setdefault(capture["session_id"], capture["said_at"])
        return found

    @property
    def origin(self) -> Origin:
        """Whose words a pattern made of it is: those of the least trusted."""
        return Origin.least_trusted(*(Origin(capture["origin"]) for capture in self.captures))


def recurring(found: Sequence[Capture], vectors: Vectors, fewest: int) -> list[Friction]:
    """What came back in so many sessions, what did so most first."""
    groups: list[list[Capture]] = []
    for capture in sorted(filter(_is_friction, found), key=lambda one: (one["said_at"], one["id"])):
        group = next((group for group in groups if _same(group[0], capture, vectors)), None)
        if group is None:
            groups.append([capture])
        else:
            group.append(capture)
    again = [Friction(tuple(group)) for group in groups]
    kept = [one for one in again if len(one.sessions) >= fewest]
    return sorted(kept, key=lambda one: (-len(one.sessions), one.leader["id"]))


def _is_friction(capture: Capture) -> bool:
    return capture["kind"] != "learning" or is_trouble(capture["content"])


def _same(one: Capture, other: Capture, vectors: Vectors) -> bool:
    if one["memory_id"] is not None and one["memory_id"] == other["memory_id"]:
        return True
    if differences(one["content"], other["content"]) & DISTINCT:
        return False
    near = [vectors.get(capture["memory_id"]) for capture in (one, other)]
    if near[0] is not None and near[1] is not None and float(near[0] @ near[1]) >= NEAR:
        return True
    return likeness(one["content"], other["content"]) >= BY_WORDS


def candidate(friction: Friction) -> Candidate:
    """The pattern that a person is asked about: in the words of the first time, naming the sessions."""
    first = friction.leader
    content = first["content"]
    named = list(friction.sessions.items())
    told = ", ".join(f"{date_of(at)} ({session_id[:8]})" for session_id, at in named[:MOST_NAMED])
    more = f", and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return Candidate(
        kind=PATTERN,
        summary=content if len(content) <= SHORT else content[: SHORT - 1] + "\u2026",
        content=content[:LONGEST],
        evidence=Evidence(
            first["evidence"], first["turn_id"], first["transcript"], first["byte_start"], first["byte_end"]
        ),
        origin=friction.origin,
        strength=Strength.INFERRED,
        raw_confidence=Strength.INFERRED.prior,
        extractor=EXTRACTOR,
        time=max(capture["said_at"] for capture in friction.captures),
        rationale=f"It came back in {len(named)} sessions: {told}{more}.",
        tags=tuple(first["tags"]),
        files=tuple(first["files"]),
    )
