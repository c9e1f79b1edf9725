"""Which project the thing is of that an event is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from subconscious.store.connect import Database
from subconscious.store.rows import marks

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
    "reading": ("model_readings", "id", "project_id"),
    "question": ("llm_requests", "id", "project_id"),
}
"""For each subject: where it is stored, the column it is known by, and the one that holds its project."""

Key = tuple[str, str]


async def here_or_everywhere(
    database: Database, found: Iterable[dict[str, Any]], project_id: str
) -> list[dict[str, Any]]:
    """The events that are not about another project's things; settings and memories for all projects count as here."""
    events = list(found)
    owners = await _owners(database, {_key(event) for event in events})
    return [event for event in events if owners.get(_key(event)) in (None, "", project_id)]


def _key(event: Mapping[str, Any]) -> Key:
    """What decides whose the event is: of a correction, a mark or a merge the memory that it is of."""
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
            f"SELECT {key}, {owner} FROM {table} WHERE {key} IN ({marks(wanted[subject])})",  # noqa: S608
            wanted[subject],
        )
        found |= {(subject, str(row[0])): row[1] for row in rows}
    return found
