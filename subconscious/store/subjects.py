"""The subjects of events (memories, captures, links and so on): their tables, and how their creation is undone.

To make changes of another table undoable, record their events and add an entry to ``SUBJECTS``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from subconscious.store.connect import Database
from subconscious.store.rows import qmarks
from subconscious.wire.history import Event

Withdrawn = Callable[[float], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of subject: its table ("" if only events store it), and the table's id column.

    ``title`` is the column that identifies a row for people. ``withdrawn`` is a function that returns, for a time, the
    columns to set to undo a row's creation; if it is None, the row is deleted (only for rows that nothing
    refers to). ``free`` are columns that change without an event, because they are counters or derived. ``notes`` are
    actions of events that change nothing. ``lenient`` means that undo skips a deleted row that was recorded again.
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
    "project": Subject("projects", title="name"),
    "folder": Subject("project_paths", key="path"),
    "settings": Subject(""),
}

FINAL = frozenset({"purge", "redact"})
"""Actions that can't be undone."""

STORED_STATUS = {"quarantined": "discarded", "unconfirmed": "review"}
"""Statuses in events that the table stores as another status plus a flag."""


PORTION = 500


async def titles(database: Database, of_events: Iterable[Event]) -> dict[tuple[str, str], str]:
    """Return the titles of the subjects of events, by subject and id; subjects without a title are left out."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for event in of_events:
        wanted[event["subject"]].add(event["subject_id"])
    found: dict[tuple[str, str], str] = {}
    for subject, ids in wanted.items():
        found |= await _titles(database, subject, sorted(ids)[:PORTION])
    return found


async def _titles(database: Database, name: str, ids: list[str]) -> dict[tuple[str, str], str]:
    subject = SUBJECTS.get(name)
    if subject is None or not subject.title:
        return {}
    rows = await database.rows(
        f'SELECT "{subject.key}", "{subject.title}" FROM {subject.table}'  # noqa: S608 - names of our own
        f' WHERE "{subject.key}" IN ({qmarks(ids)})',
        ids,
    )
    return {(name, str(row[0])): str(row[1]) for row in rows}


MEMORY = ("memories", "id", "project_id")
OWNERS = {
    "memory": MEMORY,
    "decay": MEMORY,
    "capture": ("implicit_captures", "id", "project_id"),
    "link": ("memory_links JOIN memories m ON m.id = source_id", "memory_links.id", "m.project_id"),
    "lesson": (
        "poison_lessons JOIN implicit_captures c ON c.id = capture_id",
        "poison_lessons.id",
        "c.project_id",
    ),
    "session": ("sessions", "id", "project_id"),
    "failure": ("failures", "id", "project_id"),
    "project": ("projects", "id", "id"),
    "folder": ("project_paths", "path", "project_id"),
    "reading": ("model_readings", "id", "project_id"),
    "question": ("llm_requests", "id", "project_id"),
}
"""The table, the id column and the project column of each kind of subject that belongs to a project."""

Key = tuple[str, str]


async def events_of_project(database: Database, found: Iterable[Event], project_id: str) -> list[Event]:
    """Return the events that concern a project; settings and user-wide memories concern every project."""
    events = list(found)
    owners = await _owners(database, {_key(event) for event in events})
    return [event for event in events if owners.get(_key(event)) in (None, "", project_id)]


def _key(event: Mapping[str, Any]) -> Key:
    """Return the subject whose project an event belongs to: the memory for an event about a memory, such as a merge."""
    values = event["after"] or event["before"] or {}
    if event["subject"] not in OWNERS and values.get("memory_id") is not None:
        return "memory", str(values["memory_id"])
    return event["subject"], event["subject_id"]


async def _owners(database: Database, keys: Iterable[Key]) -> dict[Key, str | None]:
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for subject, number in keys:
        wanted[subject].append(number)
    found: dict[Key, str | None] = {}
    for subject in wanted.keys() & OWNERS.keys():
        table, key, owner = OWNERS[subject]
        rows = await database.rows(
            f"SELECT {key}, {owner} FROM {table} WHERE {key} IN ({qmarks(wanted[subject])})",  # noqa: S608
            wanted[subject],
        )
        found |= {(subject, str(row[0])): row[1] for row in rows}
    return found
