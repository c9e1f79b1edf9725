"""Input for promotion, which decides whether a memory counts as project knowledge: the sessions that stated it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from subconscious.domain.model import Level, Memory, Origin
from subconscious.store.capture_rows import capture_from
from subconscious.store.connect import Database
from subconscious.store.merges import MERGED
from subconscious.store.rows import qmarks
from subconscious.wire.captures import Capture

COUNTED_STATUSES = frozenset({"captured", "approved"})
"""The statuses of captures that count as a statement of their memory."""


@dataclass(slots=True)
class Statements:
    """Ids of the sessions that stated a memory (``sessions``), and of those that don't count (``withdrawn``).

    ``level`` is the highest threat level of the memory's captures, without those that a person released from
    quarantine. ``quarantined`` means that one of the captures is in quarantine.
    """

    sessions: set[str] = field(default_factory=set)
    withdrawn: set[str] = field(default_factory=set)
    quarantined: bool = False
    level: Level = Level.NONE


async def statements(database: Database, found: Sequence[Memory]) -> Mapping[int, Statements]:
    """Return the sessions that stated each memory, by the memory's id, except sessions that were rolled back.

    Captures that were not stored or approved, and those with an origin less trusted than the memory's, don't count.
    """
    known: defaultdict[int, Statements] = defaultdict(Statements)
    origins = {memory.id: memory.origin for memory in found}
    for row in await _captures(database, list(origins)):
        _count(known[row["memory_id"]], row, origins[row["memory_id"]])
    for row in await _recurrences(database, list(origins)):
        statement = known[int(row["subject_id"])]
        statement.sessions |= {row["session_id"]} - statement.withdrawn
    for memory in found:
        statement = known[memory.id]
        statement.sessions |= {memory.session_id or ""} - statement.withdrawn - {""}
    return known


def _count(statement: Statements, row: Any, origin: Origin) -> None:
    """Add one capture: its session counts if the capture was stored and is not less trusted than the memory.

    ``origin`` is the memory's origin.
    """
    statement.quarantined |= bool(row["quarantined"])
    if row["released_at"] is None and Level(row["level"]).rank > statement.level.rank:
        statement.level = Level(row["level"])
    counts = row["status"] in COUNTED_STATUSES and Origin(row["origin"]).distrust <= origin.distrust
    (statement.sessions if counts else statement.withdrawn).add(row["session_id"] or "")
    statement.withdrawn -= statement.sessions
    statement.sessions.discard("")


async def _captures(database: Database, ids: Sequence[int]) -> list[Any]:
    return await database.rows(
        "SELECT memory_id, session_id, status, origin, quarantined, level, released_at FROM implicit_captures"  # noqa: S608
        f" WHERE memory_id IN ({qmarks(ids)}) UNION ALL SELECT into_id, session_id, status, origin, quarantined, level,"
        f" released_at FROM {MERGED} AS merged JOIN implicit_captures AS said ON said.memory_id = merged.memory_id"
        f" WHERE into_id IN ({qmarks(ids)})",
        (*ids, *ids),
    )


async def _recurrences(database: Database, ids: Sequence[int]) -> list[Any]:
    return await database.rows(
        "SELECT DISTINCT subject_id, session_id FROM events WHERE subject = 'memory' AND action = 'recur'"  # noqa: S608
        f" AND session_id IS NOT NULL AND subject_id IN ({qmarks(ids)})",
        [str(number) for number in ids],
    )


async def troubles(database: Database, project_id: str, limit: int) -> list[Capture]:
    """Return a project's latest captures of obstacles, dead ends, lessons and learnings, stored or waiting for review.

    Left out are captures in quarantine, captures flagged as `medium` or worse that no person released, and captures
    whose memory was archived, except by a merge.
    """
    rows = await database.rows(
        "SELECT c.* FROM implicit_captures AS c LEFT JOIN memories AS m ON m.id = c.memory_id"  # noqa: S608
        " WHERE c.project_id = ? AND c.status IN ('captured', 'approved', 'review') AND NOT c.quarantined"
        " AND (c.level IN ('none', 'low') OR c.released_at IS NOT NULL)"
        f" AND (m.archived_at IS NULL OR m.id IN (SELECT memory_id FROM {MERGED}))"
        " AND c.session_id IS NOT NULL AND c.kind IN ('blocker', 'dead_end', 'lesson', 'learning')"
        " ORDER BY c.id DESC LIMIT ?",
        (project_id, limit),
    )
    return [capture_from(row) for row in rows]
