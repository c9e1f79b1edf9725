"""What people know things by that events are about: a memory's summary, a session's title."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from subconscious.store.connect import Database
from subconscious.store.rows import marks
from subconscious.store.subjects import SUBJECTS

PORTION = 500


async def of_events(database: Database, told: Iterable[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """The titles of what these events are about, by subject and id; nothing for what has none, or is gone."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for event in told:
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
        f' WHERE "{subject.key}" IN ({marks(ids)})',
        ids,
    )
    return {(name, str(row[0])): str(row[1]) for row in rows}
