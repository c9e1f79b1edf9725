"""Selects the rows to purge, and the texts that no other data may contain afterwards."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from subconscious.store.connect import Database
from subconscious.store.merges import MERGED
from subconscious.store.rows import qmarks

PORTION = 500

SHORTEST = 12
"""The minimum length in characters of a text that is searched for: shorter texts would match single words."""

PIECE = 20
"""The length in characters from which a common substring counts as a partial copy of a purged text."""

PURGED = "[purged]"


class Wordings:
    """The texts to purge. The methods find them, or parts of them, in a text, in time linear in the text's length."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted({text.strip() for text in texts if len(text.strip()) >= SHORTEST}, key=len))

    @cached_property
    def _beginnings(self) -> dict[str, list[str]]:
        """The purged texts by their first characters, longest text first."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for text in reversed(self.texts):
            found[text[:SHORTEST]].append(text)
        return dict(found)

    @cached_property
    def _pieces(self) -> frozenset[str]:
        return frozenset(text[at : at + PIECE] for text in self.texts for at in range(len(text) - PIECE + 1))

    def erase(self, text: str) -> str:
        """Return ``text`` with each complete purged text in it replaced by a mark."""
        kept: list[str] = []
        at = begin = 0
        while at <= len(text) - SHORTEST:
            whole = self._at(text, at)
            if whole:
                kept += [text[begin:at], PURGED]
                begin = at + len(whole)
            at += len(whole) or 1
        return "".join(kept) + text[begin:]

    def _at(self, text: str, at: int) -> str:
        """Return the longest purged text that starts at position ``at``; "" if there is none."""
        near = self._beginnings.get(text[at : at + SHORTEST], ())
        return next((wording for wording in near if text.startswith(wording, at)), "")

    def shares(self, text: str) -> bool:
        """Whether ``text`` contains ``PIECE`` adjacent characters of a purged text."""
        return any(text[at : at + PIECE] in self._pieces for at in range(len(text) - PIECE + 1))


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows to purge, with their texts (``wordings``).

    ``sessions`` are the sessions that the rows come from; ``whole`` are those of them that are purged completely.
    """

    memories: tuple[int, ...]
    captures: tuple[int, ...]
    sessions: tuple[str, ...]
    whole: tuple[str, ...] = ()
    wordings: Wordings = field(default=Wordings(()), repr=False)


async def of_memories(database: Database, ids: Sequence[int]) -> Selection:
    """Select memories, the memories merged into them, and the captures that became or repeat any of these."""
    ids = (*ids, *await _merged(database, ids))
    found = await database.rows(f"SELECT id FROM implicit_captures WHERE memory_id IN ({qmarks(ids)})", ids)  # noqa: S608
    return await _completed(database, tuple(ids), tuple(row[0] for row in found), ())


async def _merged(database: Database, ids: Sequence[int]) -> list[int]:
    """Return the ids of the memories that were merged into ``ids``, without ``ids`` themselves."""
    rows = await database.rows(f"SELECT memory_id FROM {MERGED} WHERE into_id IN ({qmarks(ids)})", ids)  # noqa: S608
    return [row[0] for row in rows if row[0] not in ids]


async def of_sessions(database: Database, sessions: Sequence[str]) -> Selection:
    """Select everything that was stored from sessions, and the sessions' summaries."""
    within = f"session_id IN ({qmarks(sessions)})"
    found = await database.rows(f"SELECT id FROM memories WHERE {within}", sessions)  # noqa: S608
    ids = tuple(row[0] for row in found)
    capture_ids = await database.rows(
        f"SELECT id FROM implicit_captures WHERE {within} OR memory_id IN ({qmarks(ids)})",  # noqa: S608
        (*sessions, *ids),
    )
    return await _completed(database, ids, tuple(row[0] for row in capture_ids), tuple(sessions))


async def of_project(database: Database, project_id: str | None) -> Selection:
    """Select everything of one project, or of all projects for None."""
    where, values = ("project_id = ?", (project_id,)) if project_id else ("TRUE", ())
    chosen = []
    for table in ("memories", "implicit_captures", "sessions"):
        rows = await database.rows(f"SELECT id FROM {table} WHERE {where}", values)  # noqa: S608
        chosen.append(tuple(row[0] for row in rows))
    ids, capture_ids, sessions = chosen
    return await _completed(database, ids, capture_ids, sessions)


async def _completed(
    database: Database, ids: tuple[int, ...], capture_ids: tuple[int, ...], whole: tuple[str, ...]
) -> Selection:
    """Return a selection of these rows and their summaries, with all current and former texts and the source sessions.

    ``whole`` are the ids of sessions that are purged completely.
    """
    ids, capture_ids = await _with_summaries(database, ids, capture_ids)
    wordings: set[str] = set()
    sessions: set[str] = set(whole)
    for table, numbers in (("memories", ids), ("implicit_captures", capture_ids)):
        for portion in portions(numbers):
            rows = await database.rows(
                f"SELECT session_id, summary, content, evidence, rationale FROM {table}"  # noqa: S608
                f" WHERE id IN ({qmarks(portion)})",
                portion,
            )
            sessions.update(row[0] for row in rows if row[0])
            wordings.update(text for row in rows for text in tuple(row)[1:])
    for subject, numbers in (("memory", ids), ("capture", capture_ids)):
        wordings.update(await _former_texts(database, subject, numbers))
    return Selection(ids, capture_ids, tuple(sorted(sessions)), whole, Wordings(wordings))


async def _with_summaries(
    database: Database, ids: tuple[int, ...], capture_ids: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Add the summaries of memories: a summary may repeat a memory in other words, which no comparison finds."""
    found: dict[int, int | None] = {}
    for portion in portions(ids):
        rows = await database.rows(
            "SELECT id, memory_id FROM implicit_captures WHERE id IN"  # noqa: S608
            f" (SELECT capture_id FROM consolidations WHERE memory_id IN ({qmarks(portion)}))",
            portion,
        )
        found.update((row[0], row[1]) for row in rows)
    sums = [number for number in found.values() if number is not None]
    return tuple(dict.fromkeys((*ids, *sums))), tuple(dict.fromkeys((*capture_ids, *found)))


async def _former_texts(database: Database, subject: str, numbers: Sequence[int]) -> set[str]:
    """Return earlier texts of rows, which only the history still contains."""
    found: set[str] = set()
    for portion in portions([str(number) for number in (*numbers, *await _old_numbers(database, subject, numbers))]):
        rows = await database.rows(
            f"SELECT before, after FROM events WHERE subject = ? AND subject_id IN ({qmarks(portion)})",  # noqa: S608
            (subject, *portion),
        )
        values = [json.loads(side) for row in rows for side in tuple(row) if side]
        found.update(str(value[name]) for value in values for name in ("summary", "content") if value.get(name))
    return found


async def _old_numbers(database: Database, subject: str, numbers: Sequence[int]) -> list[int]:
    """Return the ids that rows had before they were renumbered: older events still use the old ids."""
    found: list[int] = []
    for portion in portions([str(number) for number in numbers]):
        rows = await database.rows(
            "SELECT json_extract(before, '$.id') FROM events WHERE action = 'renumbered' AND subject = ?"  # noqa: S608
            f" AND subject_id IN ({qmarks(portion)})",
            (subject, *portion),
        )
        found += [row[0] for row in rows]
    return found


def portions(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Return parts of a list that are short enough to be the parameters of one SQL statement."""
    return [items[start : start + PORTION] for start in range(0, len(items), PORTION)]
