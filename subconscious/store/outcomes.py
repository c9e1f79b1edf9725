"""What became of captures, read from the captures and events themselves: there is no second truth (SPEC N3)."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.store.connect import Database

SOON_DAYS = 30.0
"""A memory that a person archives later than this after its capture has aged; it was not wrong."""

DAY = 86_400.0

# Decisions first. Of what was captured without asking, a person's early archival counts as wrong, and having been
# given to sessions without objection as right, though only as silence. "told" extracts nothing: it was asked for.
# That an attack was refused says nothing of how well it was extracted.
_OUTCOMES = """
SELECT extractor, raw_confidence AS stated, status = 'approved' AS right, 0 AS silent, decided_at AS at
  FROM implicit_captures WHERE status IN ('approved', 'rejected') AND extractor <> 'told'
   AND level NOT IN ('high', 'critical')
UNION ALL
SELECT c.extractor, c.raw_confidence, 0, 0, max(e.at)
  FROM implicit_captures c
  JOIN memories m ON m.id = c.memory_id AND m.archived_at IS NOT NULL
  JOIN events e ON e.subject = 'memory' AND e.subject_id = CAST(m.id AS TEXT)
   AND e.action IN ('archive', 'correct') AND e.actor = 'user' AND e.at < c.created_at + :soon
 WHERE c.status = 'captured' AND c.extractor <> 'told' GROUP BY c.id
UNION ALL
SELECT c.extractor, c.raw_confidence, 1, 1, max(s.at)
  FROM implicit_captures c
  JOIN memories m ON m.id = c.memory_id AND m.archived_at IS NULL
  JOIN surfaces s ON s.memory_id = m.id
 WHERE c.status = 'captured' AND c.extractor <> 'told' GROUP BY c.id
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One outcome: ``silent`` when nobody said so, and it was only not objected to."""

    extractor: str
    stated: float
    right: bool
    silent: bool
    at: float


async def rows(database: Database) -> list[Row]:
    """Every outcome there is."""
    found = await database.rows(_OUTCOMES, {"soon": SOON_DAYS * DAY})  # type: ignore[arg-type]
    return [Row(r["extractor"], r["stated"], bool(r["right"]), bool(r["silent"]), r["at"] or 0.0) for r in found]
