"""Finds problems that recur across sessions (friction), and proposes each as a pattern for a person to decide on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Origin, Strength
from subconscious.domain.promotion import is_trouble
from subconscious.framing.rules import date_of
from subconscious.review.rules import PATTERN, likeness
from subconscious.store import promotion
from subconscious.store.capture_rows import SessionRef
from subconscious.store.projects import Project
from subconscious.text.same_statement import DISTINCT, NEAR, differences
from subconscious.wire.captures import Capture

if TYPE_CHECKING:
    import numpy

    Vectors = Mapping[int, numpy.ndarray]

EXTRACTOR = "friction"
BY_WORDS = 0.6
"""The minimum share of common words (0 to 1) at which two captures count as reports of the same problem."""
MOST_NAMED = 10
"""The maximum number of sessions that a pattern names."""
COMPARED = 500
"""The maximum number of captures that are compared, in the worst case every pair of them."""
LONGEST = 400
SHORT = 100


@dataclass(frozen=True, slots=True)
class Friction:
    """A recurring problem: the captures that report it, earliest first."""

    captures: tuple[Capture, ...]

    @property
    def leader(self) -> Capture:
        """The earliest capture, which provides the description of the problem."""
        return self.captures[0]

    @property
    def sessions(self) -> dict[str, float]:
        """The time of the first report in each session."""
        found: dict[str, float] = {}
        for capture in self.captures:
            found.setdefault(str(capture["session_id"]), capture["said_at"])
        return found

    @property
    def origin(self) -> Origin:
        """The origin of a pattern made from the captures: the least trusted of their origins."""
        return Origin.least_trusted(*(Origin(capture["origin"]) for capture in self.captures))


async def find(app: App, project: Project) -> list[Friction]:
    """Return the problems that recur in a project."""
    ctx = app.recall_context()
    troubles = await promotion.troubles(app.database, project.id, COMPARED)
    ids = sorted({one["memory_id"] for one in troubles if one["memory_id"] is not None})
    vectors = await ctx.index.vectors(ids) if ctx.index is not None and ids else {}
    return await asyncio.to_thread(recurring, troubles, vectors, ctx.settings.friction_sessions)


async def propose(app: App, project: Project) -> list[int]:
    """Put new patterns into the review queue; return their capture ids.

    A pattern that was proposed before is not proposed again.
    """
    ctx = app.recall_context()
    if not ctx.settings.capture:
        return []
    judged = [
        (candidate(one), Admission(Decision.REVIEW, 0.5, f"the same problem in {len(one.sessions)} sessions"))
        for one in await find(app, project)
    ]
    async with ctx.database.write() as tx:
        kept = await keep(ctx, tx, judged, Provenance(SessionRef(project.id, None)))
    return [capture_id for capture_id, _ in kept]


def recurring(found: Sequence[Capture], vectors: Vectors, fewest: int) -> list[Friction]:
    """Return the problems that at least ``fewest`` sessions reported, the most frequent first."""
    groups: list[list[Capture]] = []
    for capture in sorted(filter(_is_friction, found), key=lambda one: (one["said_at"], one["id"])):
        group = next((group for group in groups if _same(group[0], capture, vectors)), None)
        if group is None:
            groups.append([capture])
        else:
            group.append(capture)
    kept = [one for group in groups if len((one := Friction(tuple(group))).sessions) >= fewest]
    return sorted(kept, key=lambda one: (-len(one.sessions), one.leader["id"]))


def _is_friction(capture: Capture) -> bool:
    return capture["kind"] != "learning" or is_trouble(capture["content"])


def _same(one: Capture, other: Capture, vectors: Vectors) -> bool:
    if one["memory_id"] is not None and one["memory_id"] == other["memory_id"]:
        return True
    if differences(one["content"], other["content"]) & DISTINCT:
        return False
    near = [vectors.get(capture["memory_id"] or 0) for capture in (one, other)]  # no memory has the id 0
    if near[0] is not None and near[1] is not None and float(near[0] @ near[1]) >= NEAR:
        return True
    return likeness(one["content"], other["content"]) >= BY_WORDS


def candidate(friction: Friction) -> Candidate:
    """Return the pattern as a candidate for review, in the words of the earliest report, with the sessions named."""
    first = friction.leader
    content = first["content"]
    named = list(friction.sessions.items())
    dates = ", ".join(f"{date_of(at)} ({session_id[:8]})" for session_id, at in named[:MOST_NAMED])
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
        rationale=f"It came back in {len(named)} sessions: {dates}{more}.",
        tags=tuple(first["tags"]),
        files=tuple(first["files"]),
    )
