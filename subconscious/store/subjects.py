"""What events are about: where each sort of thing is stored, and how one that was made is taken back.

To let changes of another table be undone, write their events and add a row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Withdrawn = Callable[[float], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A sort of thing: its table ("" where its history is all there is of it), and the column it is known by.

    ``title`` is the column that tells people which one is meant. ``withdrawn`` gives the columns by which one that was
    made is taken back at a time; None: its row is deleted, which is right only where nothing refers to it. ``free`` are
    columns that change without an event, for they count or are derived. ``notes`` are actions whose events tell of
    something and change nothing. ``lenient``: one that can't be put back, since it is on record anew, is left out.
    """

    table: str
    key: str = "id"
    title: str = ""
    withdrawn: Withdrawn | None = None
    free: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    lenient: bool = False


SUBJECTS = {
    "memory": Subject(
        "memories",
        title="summary",
        withdrawn=lambda now: {"archived_at": now},
        free=frozenset({"id", "uses", "last_used_at", "embedding_status", "content_hash"}),
    ),
    "capture": Subject(
        "implicit_captures",
        title="summary",
        withdrawn=lambda now: {"status": "discarded", "quarantined": 0, "decided_at": now},
        notes=frozenset({"edited", "renumbered"}),
    ),
    "link": Subject("memory_links", title="type", withdrawn=lambda _: {"status": "withdrawn"}),
    "lesson": Subject("poison_lessons", title="threat", withdrawn=lambda now: {"removed_at": now}),
    "decay": Subject("memory_decay", key="memory_id", free=frozenset({"memory_id", "touched_at"})),
    "correction": Subject("memory_corrections", title="way"),
    "merge": Subject("memory_merges", withdrawn=lambda now: {"undone_at": now}, free=frozenset({"id"})),
    "feedback": Subject("feedback", title="outcome"),
    "redaction": Subject("redactions_allowed", key="hash"),
    "session": Subject("sessions", title="title", notes=frozenset({"rollback", "rollback undone"})),
    "reading": Subject("model_readings", lenient=True),
    "question": Subject("llm_requests"),
    "failure": Subject("failures", title="failed"),
    "settings": Subject(""),
}

FINAL = frozenset({"purge", "redact"})
"""Actions that nothing takes back."""

TOLD_AS = {"quarantined": "discarded", "unconfirmed": "review"}
"""Statuses that events tell in other words than the table, which has a mark beside them."""
