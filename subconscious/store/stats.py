"""Counts over captures, decisions and surfaces, for `stats`."""

from __future__ import annotations

from typing import Any

from subconscious.store.capture_rows import OPENED
from subconscious.store.connect import Database

COUNTED = {"kinds": "kind", "extractors": "extractor"}


async def captures(database: Database, project_id: str | None) -> dict[str, Any]:
    """Captures by status; by kind and status; by extractor and status."""
    here = "(?1 IS NULL OR project_id = ?1)"
    rows = await database.rows(
        f"SELECT {OPENED}, count(*) FROM implicit_captures WHERE {here} GROUP BY 1",  # noqa: S608
        (project_id,),
    )
    counted: dict[str, Any] = {"status": {row[0]: row[1] for row in rows}}
    for title, column in COUNTED.items():
        table: dict[str, dict[str, int]] = {}
        rows = await database.rows(
            f"SELECT {column}, {OPENED}, count(*) FROM implicit_captures WHERE {here} GROUP BY 1, 2",  # noqa: S608
            (project_id,),
        )
        for name, status, number in rows:
            table.setdefault(name, {})[status] = number
        counted[title] = table
    return counted


async def edited(database: Database, project_id: str | None) -> int:
    """How many captures were approved in other words."""
    rows = await database.rows(
        "SELECT count(DISTINCT c.id) FROM implicit_captures c JOIN events e"
        " ON e.subject = 'capture' AND e.subject_id = CAST(c.id AS TEXT) AND e.action = 'edited'"
        " WHERE c.status = 'approved' AND (?1 IS NULL OR c.project_id = ?1)",
        (project_id,),
    )
    return int(rows[0][0])


async def surfaces(database: Database, project_id: str | None) -> dict[str, int]:
    """How many memories were given, to how many sessions, and how many of them an answer used."""
    rows = await database.rows(
        "SELECT count(*) AS given, count(DISTINCT session_id) AS sessions, count(DISTINCT memory_id) AS memories,"
        " count(*) FILTER (WHERE EXISTS"
        "  (SELECT 1 FROM surface_outcomes WHERE surface_id = surfaces.id AND used)) AS used"
        " FROM surfaces WHERE (?1 IS NULL OR project_id = ?1) AND event <> 'fork'",
        (project_id,),
    )
    return dict(rows[0])
