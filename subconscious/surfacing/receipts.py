"""Writes one line for the user: which memories were loaded at a session's start, or what was stored after a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from subconscious.domain.model import Session
from subconscious.text.quoting import within_quotes

NAMED = (("rule", "rule", "rules"), ("way out", "way out", "ways out"), ("decision", "decision", "decisions"))
"""Groups of memories that are counted separately, each with its name in the singular and in the plural."""

AS_RULES = ("pinned", "rule")

MOST_SHOWN = 2
LONGEST = 90
DAY = 86_400.0


def loaded(groups: Sequence[str], handed_over: Session | None, now: float) -> str:
    """Return what a session starts with, e.g. "Subconscious: loaded 5 memories (3 rules, hand-over from yesterday)"."""
    if not groups and handed_over is None:
        return ""
    counted = Counter("rule" if group in AS_RULES else group for group in groups)
    details = [f"{counted[name]} {one if counted[name] == 1 else many}" for name, one, many in NAMED if counted[name]]
    left = f"hand-over from {day_of(handed_over.last_event_at, now)}" if handed_over is not None else ""
    if not groups:
        return f"Subconscious: loaded the {left}"
    number = f"{len(groups)} {'memory' if len(groups) == 1 else 'memories'}"
    listed = ", ".join([*details, *filter(None, [left])])
    return f"Subconscious: loaded {number} ({listed})" if listed else f"Subconscious: loaded {number}"


def remembered(summaries: Sequence[str]) -> str:
    """Return what was stored, e.g. 'Remembered: "Use tabs.", "Dates are UTC." and 1 more'."""
    if not summaries:
        return ""
    shown = ", ".join(within_quotes(summary, LONGEST) for summary in summaries[:MOST_SHOWN])
    more = len(summaries) - MOST_SHOWN
    return f"Remembered: {shown}" + (f" and {more} more" if more > 0 else "")


def day_of(at: float, now: float) -> str:
    """Return a day as "today", "yesterday" or a date. A time in the future, from a wrong clock, counts as now."""
    at = min(max(0.0, at), now)
    days = datetime.fromtimestamp(now).astimezone().date() - datetime.fromtimestamp(at).astimezone().date()
    names = {0: "today", 1: "yesterday"}
    return names.get(days.days) or datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
