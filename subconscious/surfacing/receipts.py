"""Writes one line for the user: which memories were loaded at a session's start, or what was stored after a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from subconscious.domain.model import Session
from subconscious.store.receipts import Receipt
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


def remembered(stored: Sequence[Receipt]) -> str:
    """Return what was stored, e.g. 'Remembered: "Use tabs." (replaces "Use spaces."), "Dates are UTC." and 1 more'.

    To keep the line short, only one superseded memory is named; for others, only their number is shown.
    """
    if not stored:
        return ""
    named = next((one for one in stored if one.replaced), None)
    shown = ", ".join(
        within_quotes(one.summary, LONGEST) + _replaces(one, named=one is named) for one in stored[:MOST_SHOWN]
    )
    more = len(stored) - MOST_SHOWN
    return f"Remembered: {shown}" + (f" and {more} more" if more > 0 else "")


def _replaces(stored: Receipt, *, named: bool) -> str:
    if not stored.replaced:
        return ""
    return f" ({replaces(stored.replaced) if named else f'replaces {len(stored.replaced)} older'})"


def replaces(summaries: Sequence[str]) -> str:
    """Return which memories a new one supersedes, e.g. 'replaces "Use spaces." and 1 more'."""
    more = len(summaries) - 1
    return f"replaces {within_quotes(summaries[0], LONGEST)}" + (f" and {more} more" if more else "")


def day_of(at: float, now: float) -> str:
    """Return a day as "today", "yesterday" or a date. A time in the future, from a wrong clock, counts as now."""
    at = min(max(0.0, at), now)
    days = datetime.fromtimestamp(now).astimezone().date() - datetime.fromtimestamp(at).astimezone().date()
    names = {0: "today", 1: "yesterday"}
    return names.get(days.days) or datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
