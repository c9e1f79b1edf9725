"""How much of what the last sessions brought was stored without a person."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

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
class Automatic:
    """Counts over the candidates of the last sessions that had any.

    ``own`` are in the user's words. Of those, ``sure`` reach the threshold as stated, ``lowered`` do no longer after
    calibration, ``suspect`` were flagged; ``surest`` is the highest confidence as stated.
    """

    sessions: int
    candidates: int
    stored: int
    own: int
    sure: int
    lowered: int
    suspect: int
    surest: float


def of_last_sessions(connection: sqlite3.Connection, sessions: int, auto: float, now: float) -> Automatic:
    """Count what the last sessions with candidates brought; ``auto`` is the threshold of what is stored at once."""
    values = {"sessions": sessions, "auto": auto - 1e-9, "now": now}
    return Automatic(*connection.execute(_LATEST, values).fetchone())
