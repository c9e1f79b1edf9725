"""The web page's words for values: times, kinds, and who did what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from time import time
from typing import Any

from subconscious.domain.observed import IN_TOOL_CALLS, is_observed

DAY = 86_400.0
UNITS = (("year", 365 * DAY), ("month", 30 * DAY), ("day", DAY), ("hour", 3600.0), ("minute", 60.0))

SPEAKERS = {"user": "you", "assistant": "Claude", "teammate": "a teammate", "tool": "a tool"}
ACTORS = {"user": "you", "assistant": "Claude", "daemon": "Subconscious", "client": "Claude Code"}

ACTIONS: Mapping[tuple[str, str], str] = {
    ("memory", "create"): "Remembered",
    ("memory", "archive"): "Archived",
    ("memory", "unarchive"): "Brought back",
    ("memory", "correct"): "Corrected",
    ("memory", "relabel"): "Changed kind or tags of",
    ("memory", "recur"): "Said again",
    ("memory", "violated"): "Said again, although a session had it",
    ("memory", "pin"): "Pinned",
    ("memory", "unpin"): "Unpinned",
    ("memory", "vouched"): "Confirmed",
    ("memory", "unconfirmed"): "Noted, not confirmed yet",
    ("memory", "undo"): "Took back a change of",
    ("capture", "create"): "Found, waits for review",
    ("capture", "approved"): "Approved",
    ("capture", "edited"): "Approved in other words",
    ("capture", "rejected"): "Rejected",
    ("capture", "released"): "Released from quarantine",
    ("capture", "expired"): "Not decided in time",
    ("capture", "undone"): "Took back a decision on",
    ("capture", "undo"): "Took back a decision on",
    ("capture", "displace"): "Removed from a full review queue",
    ("link", "link"): "Linked",
    ("link", "undo"): "Took back a link of",
    ("feedback", "feedback"): "Rated",
    ("feedback", "undo"): "Took back a rating of",
    ("settings", "accept"): "Accepted settings",
    ("store", "purge"): "Purged",
    ("session", "rollback"): "Rolled back a session",
}

NEW = (
    ("memory", "create"),
    ("memory", "unarchive"),
    ("memory", "vouched"),
    ("capture", "approved"),
    ("capture", "edited"),
)
GONE = ("archive", "rejected", "purge", "expired", "rollback")
"""Actions that remove something; the timeline shows them in a special colour."""

OCCASIONS = (
    ("start", "given when it started"),
    ("prompt", "given with a prompt"),
    ("file", "given with a file"),
    ("error", "given after an error"),
    ("mcp", "looked up by Claude"),
    ("recall", "looked up by you"),
    ("why", "looked up by you"),
)

STATUSES = {
    "review": "waiting for review",
    "unconfirmed": "not confirmed yet",
    "quarantined": "in quarantine",
    "captured": "stored",
    "approved": "approved",
    "rejected": "rejected",
    "discarded": "discarded",
    "expired": "not decided in time",
}


def tone(event: Mapping[str, Any]) -> str:
    """Return the category of a change, which determines its colour: ``new``, ``gone`` (removed) or ``other``."""
    return "new" if (event["subject"], event["action"]) in NEW else "gone" if event["action"] in GONE else "other"


def actor(event: Mapping[str, Any]) -> str:
    """Return who made a change; if the daemon stored words from a session, return who said them."""
    if event["actor"] == "daemon" and event.get("speaker") in SPEAKERS:
        return f"from what {SPEAKERS[event['speaker']]} said"
    return f"by {ACTORS.get(event['actor'], event['actor'])}"


def source(origin: str, extractor: str) -> str:
    """Return who said a memory or capture, such as "said by you", or that it was observed in tool calls."""
    return IN_TOOL_CALLS if is_observed(extractor) else f"said by {SPEAKERS.get(origin, origin)}"


def occasion(event: str) -> str:
    """Describe when a session received a memory: ``given with a prompt`` for the event ``prompt``."""
    return next((words for name, words in OCCASIONS if event.startswith(name)), f"given ({event})")


def status(name: str) -> str:
    """Return the status of a capture."""
    return STATUSES.get(name, name)


PLAINER: Mapping[str, str] = {"SUPERSEDES": "replaces", "SUPERSEDED_BY": "replaced by"}
"""The page's words for some of the program's internal names."""


def plain(name: str) -> str:
    """Return the words for an internal name: ``dead end`` for ``dead_end``."""
    return PLAINER.get(name) or name.replace("_", " ").lower()


def ago(moment: float | None, now: float | None = None) -> str:
    """Return a time as ``3 days ago``."""
    if not moment:
        return "never"
    passed = (time() if now is None else now) - moment
    for unit, seconds in UNITS:
        if passed >= seconds:
            return f"{counted(int(passed // seconds), unit)} ago"
    return "just now" if passed >= -60 else f"on {date(moment)}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def date(moment: float) -> str:
    """Return a day as ``24 November 2026``, in the local time zone."""
    at = _local(moment)
    return f"{at.day} {at:%B %Y}"


def day(moment: float) -> str:
    """Return a day for a heading: ``Today``, ``Yesterday`` or ``Tuesday, 24 November 2026``."""
    at, now = _local(moment).date(), datetime.now().astimezone().date()
    name = {0: "Today", 1: "Yesterday"}.get((now - at).days)
    return name or f"{at:%A}, {date(moment)}"


def when(moment: float) -> str:
    """Return a moment in a sentence: ``yesterday at 14:03``, ``on 24 November 2026 at 14:03``."""
    name = day(moment)
    return f"{name.lower() if ',' not in name else f'on {date(moment)}'} at {clock(moment)}"


def clock(moment: float) -> str:
    """Return a time of day as ``14:03``."""
    return f"{_local(moment):%H:%M}"


def stamp(moment: float) -> str:
    """Return a moment in the form that <time> expects."""
    return _local(moment).isoformat(timespec="seconds")


def in_days(days: int) -> str:
    """Return a number of days as ``in 3 days``."""
    return "today" if days <= 0 else f"in {counted(days, 'day')}"


def as_json(value: object) -> str:
    """Return a value as JSON, for an attribute that a script reads."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _local(moment: float) -> datetime:
    # A wrong clock may have stored a time outside the range of datetime.
    return datetime.fromtimestamp(min(max(moment, 0.0), 32_503_680_000.0)).astimezone()


FILTERS = {
    "actor": actor,
    "ago": ago,
    "clock": clock,
    "counted": counted,
    "date": date,
    "day": day,
    "in_days": in_days,
    "json": as_json,
    "occasion": occasion,
    "plain": plain,
    "source": source,
    "stamp": stamp,
    "status": status,
    "tone": tone,
    "when": when,
}
"""The filters of the templates, by name."""
