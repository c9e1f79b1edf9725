"""What became of captures, read from the captures and events themselves, so that it is recorded only once."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.store.connect import Database

SOON_DAYS = 30.0
"""A memory that a person archives later than this after its capture has aged; it was not wrong."""

DAY = 86_400.0

# Decisions first, each with its event. Of what was captured without asking, a person's early archival counts as wrong,
# and having been given to sessions without objection as right, though only as silence. "told" extracts nothing: it was
# asked for. That an attack was refused says nothing of how well it was extracted.
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
class Row:
    """One outcome: ``silent`` when nobody said so, and it was only not objected to.

    ``reason`` and ``act`` are those of a person's decision; ``age`` is how many seconds old a memory was when it was
    forgotten, None for what was decided in the review.
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


async def rows(database: Database) -> list[Row]:
    """Every outcome there is."""
    found = await database.rows(_OUTCOMES, {"soon": SOON_DAYS * DAY})  # type: ignore[arg-type]
    return [
        Row(
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
