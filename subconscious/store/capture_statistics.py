"""Statistics of captures and of memories shown to sessions, for `stats`, `doctor` and the calibration."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import cast

from subconscious.store.capture_rows import SHOWN_STATUS
from subconscious.store.connect import Database
from subconscious.wire.stats import CaptureCounts, StatusCounts, SurfaceCounts


async def by_status(database: Database, project_id: str | None) -> CaptureCounts:
    """Count captures by status, by kind and status, and by extractor and status."""
    counted = await _count_by(database, "''", project_id)
    return {
        "status": counted.get("", {}),
        "kinds": await _count_by(database, "kind", project_id),
        "extractors": await _count_by(database, "extractor", project_id),
    }


async def _count_by(database: Database, column: str, project_id: str | None) -> dict[str, StatusCounts]:
    rows = await database.rows(
        f"SELECT {column}, {SHOWN_STATUS}, count(*) FROM implicit_captures"  # noqa: S608 - our own columns
        " WHERE (?1 IS NULL OR project_id = ?1) GROUP BY 1, 2",
        (project_id,),
    )
    table: dict[str, StatusCounts] = {}
    for name, status, number in rows:
        table.setdefault(name, {})[status] = number
    return table


async def by_status_since(database: Database, project_id: str | None, since: float) -> dict[str, int]:
    """Count, by status, the captures made since a time."""
    rows = await database.rows(
        f"SELECT {SHOWN_STATUS}, count(*) FROM implicit_captures"  # noqa: S608
        " WHERE (?1 IS NULL OR project_id = ?1) AND created_at >= ?2 GROUP BY 1",
        (project_id, since),
    )
    return {row[0]: row[1] for row in rows}


async def count_edited(database: Database, project_id: str | None) -> int:
    """Return how many captures a person edited when approving them."""
    rows = await database.rows(
        "SELECT count(DISTINCT c.id) FROM implicit_captures c JOIN events e"
        " ON e.subject = 'capture' AND e.subject_id = CAST(c.id AS TEXT) AND e.action = 'edited'"
        " WHERE c.status = 'approved' AND (?1 IS NULL OR c.project_id = ?1)",
        (project_id,),
    )
    return int(rows[0][0])


async def surface_counts(database: Database, project_id: str | None) -> SurfaceCounts:
    """Count how often sessions received memories and used them, and how many sessions and memories this concerns.

    Memories that a forked session inherited from its parent are not counted.
    """
    rows = await database.rows(
        "SELECT count(*) AS given, count(DISTINCT session_id) AS sessions, count(DISTINCT memory_id) AS memories,"
        " count(*) FILTER (WHERE EXISTS"
        "  (SELECT 1 FROM surface_outcomes WHERE surface_id = surfaces.id AND used)) AS used"
        " FROM surfaces WHERE (?1 IS NULL OR project_id = ?1) AND event <> 'fork'",
        (project_id,),
    )
    return cast("SurfaceCounts", dict(rows[0]))


_LATEST = """
WITH latest AS (
 SELECT session_id FROM implicit_captures WHERE session_id IS NOT NULL AND extractor <> 'told' AND created_at <= :now
  GROUP BY session_id ORDER BY max(created_at) DESC LIMIT :sessions)
SELECT count(DISTINCT session_id) AS sessions, count(*) AS candidates, coalesce(sum(decision = 'auto'), 0) AS stored,
 coalesce(sum(origin = 'user'), 0) AS own, coalesce(sum(sure), 0) AS sure,
 coalesce(sum(sure AND level = 'none' AND confidence < :auto), 0) AS lowered,
 coalesce(sum(sure AND level <> 'none'), 0) AS suspect,
 coalesce(max(CASE WHEN origin = 'user' THEN raw_confidence END), 0) AS surest
 FROM (SELECT *, origin = 'user' AND raw_confidence >= :auto AS sure FROM implicit_captures
  WHERE extractor <> 'told' AND session_id IN (SELECT session_id FROM latest))
"""


@dataclass(frozen=True, slots=True)
class AutomaticCounts:
    """Counts of the candidates from the latest sessions that had any candidates.

    ``stored`` is the number of candidates that were stored without review, ``own`` the number of candidates in the
    user's own words, and ``sure`` the number of those whose raw confidence reaches the threshold for storing without
    review. Of the sure candidates, ``lowered`` counts those that calibration moved below the threshold, ``suspect``
    those that the poisoning check flagged. ``surest`` is the highest raw confidence of a candidate in the user's own
    words, 0 if there is none.
    """

    sessions: int
    candidates: int
    stored: int
    own: int
    sure: int
    lowered: int
    suspect: int
    surest: float


def count_automatic(connection: sqlite3.Connection, sessions: int, auto: float, now: float) -> AutomaticCounts:
    """Count candidates of the latest ``sessions`` sessions; ``auto`` is the threshold for storing without review."""
    values = {"sessions": sessions, "auto": auto - 1e-9, "now": now}
    return AutomaticCounts(*connection.execute(_LATEST, values).fetchone())


SOON_DAYS = 30.0
"""A memory that a person archives more than this many days after its capture counts as outdated, not as wrong."""

DAY = 86_400.0

# First the decisions of people, each with its event. A capture stored without a review counts as wrong if a person
# archived its memory early, and as right, marked as silent, if sessions received the memory and nobody archived it.
# Left out are captures that the user asked for ("told"), and rejected attacks: neither rates the extraction.
_OUTCOMES = """
SELECT c.extractor, c.kind, c.raw_confidence AS stated, c.status = 'approved' AS right, 0 AS silent,
       c.decided_at AS at, coalesce(e.reason, '') AS reason, coalesce(e.act, '') AS act, NULL AS age
  FROM implicit_captures c
  LEFT JOIN events e ON e.id = (SELECT max(id) FROM events WHERE subject = 'capture'
   AND subject_id = CAST(c.id AS TEXT) AND action IN ('approved', 'rejected', 'released', 'rollback undone'))
 WHERE c.status IN ('approved', 'rejected') AND c.extractor <> 'told' AND c.level NOT IN ('high', 'critical')
UNION ALL
SELECT c.extractor, c.kind, c.raw_confidence, 0, 0, max(e.at), e.reason, e.act, max(e.at) - c.created_at
  FROM implicit_captures c
  JOIN memories m ON m.id = c.memory_id AND m.archived_at IS NOT NULL
  JOIN events e ON e.subject = 'memory' AND e.subject_id = CAST(m.id AS TEXT)
   AND e.action IN ('archive', 'correct') AND e.actor = 'user' AND e.at < c.created_at + :soon
 WHERE c.status = 'captured' AND c.extractor <> 'told' GROUP BY c.id
UNION ALL
SELECT c.extractor, c.kind, c.raw_confidence, 1, 1, max(s.at), '', '', NULL
  FROM implicit_captures c
  JOIN memories m ON m.id = c.memory_id AND m.archived_at IS NULL
  JOIN surfaces s ON s.memory_id = m.id
 WHERE c.status = 'captured' AND c.extractor <> 'told' GROUP BY c.id
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether one capture, stored or reviewed, turned out to be right (``right``); ``stated`` is its raw confidence.

    ``silent`` means that nobody decided on the capture: it counts as right because nobody objected. ``reason`` and
    ``act`` are the reason and the act id of a person's decision; decisions made together have the same act id. ``age``
    is the memory's age in seconds when a person archived it, None for all other outcomes.
    """

    extractor: str
    stated: float
    right: bool
    silent: bool
    at: float
    kind: str = ""
    reason: str = ""
    act: str = ""
    age: float | None = None


async def outcomes(database: Database) -> list[Outcome]:
    """Return the outcomes of all captures; captures without an outcome so far are left out."""
    found = await database.rows(_OUTCOMES, {"soon": SOON_DAYS * DAY})  # type: ignore[arg-type]
    return [
        Outcome(
            r["extractor"],
            r["stated"],
            bool(r["right"]),
            bool(r["silent"]),
            r["at"] or 0.0,
            r["kind"],
            r["reason"],
            r["act"],
            r["age"],
        )
        for r in found
    ]
