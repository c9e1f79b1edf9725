"""Snapshot of a store: every memory and capture, its source, and its outcome."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.replay.labels import Match, tells
from subconscious.store.connect import Database

STORED, UNCONFIRMED, WAITING, DISCARDED, NEVER = "stored", "unconfirmed", "waiting", "discarded", "never a candidate"
PLACES = (STORED, UNCONFIRMED, WAITING, DISCARDED, NEVER)
"""Where knowledge can be, the best place first."""

OF_STATUS = {"captured": STORED, "approved": STORED, "review": WAITING}
"""Places by the status of a capture; one of any other status was discarded, rejected, expired or set apart."""

NUMBER = re.compile(r"[\d.,]*\d")


@dataclass(frozen=True, slots=True)
class Item:
    """A memory, or a capture that is none: its words, its place, and the numbers of the sessions it came from."""

    id: int
    place: str
    text: str
    sources: tuple[int, ...]
    reason: str = ""
    confidence: float = 0.0

    def is_from_before(self, session: int) -> bool:
        """Whether an earlier session said it."""
        return any(source < session for source in self.sources)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All items of a store at one moment."""

    memories: Mapping[int, Item]
    captures: Sequence[Item]

    @property
    def known(self) -> list[Item]:
        """What may be given: stored, or unconfirmed."""
        return [one for one in (*self.memories.values(), *self.captures) if one.place in (STORED, UNCONFIRMED)]

    @property
    def waiting(self) -> list[Item]:
        """What waits for a person."""
        return [capture for capture in self.captures if capture.place == WAITING]

    def look_up(self, match: Match, session: int) -> tuple[str, str]:
        """The best place where something that an earlier session said can be found, and why it is no better one."""
        everything = (*self.memories.values(), *self.captures)
        found = [one for one in everything if one.is_from_before(session) and tells(one.text, match)]
        best = min(found, key=lambda one: (PLACES.index(one.place), one.id), default=None)
        return (NEVER, "") if best is None else (best.place, best.reason)


async def knowledge(database: Database, numbers: Mapping[str, int]) -> Knowledge:
    """Read a store; ``numbers`` are the places of sessions in their plan, by id."""
    captures = [dict(row) for row in await database.rows("SELECT * FROM implicit_captures ORDER BY id")]
    memories = [dict(row) for row in await database.rows("SELECT * FROM memories ORDER BY id")]
    sources = await _sources(database, memories, captures, numbers)
    apart = {row["memory_id"] for row in captures if row["quarantined"]}
    lasting = {row["memory_id"] for row in captures if row["status"] == "review"}
    merged = {into for one in await _merged(database) for into in one}
    return Knowledge(
        {row["id"]: _of_memory(row, sources[row["id"]], apart, merged, lasting) for row in memories},
        [_of_capture(row, numbers) for row in captures if row["memory_id"] is None],
    )


async def _merged(database: Database) -> list[tuple[int, int]]:
    """Pairs of memories: the one that was merged, and the one that says it now."""
    rows = await database.rows("SELECT memory_id, into_id FROM memory_merges WHERE undone_at IS NULL ORDER BY id")
    return [(row[0], row[1]) for row in rows]


async def _sources(
    database: Database, memories: Iterable[Row], captures: Iterable[Row], numbers: Mapping[str, int]
) -> dict[int, set[int]]:
    """The sessions that each memory came from: its own, those that said it again, and those of what it holds."""
    said: dict[int, set[int]] = defaultdict(set)
    bound = ((row["memory_id"], row["session_id"]) for row in captures)
    for memory_id, session in (*((row["id"], row["session_id"]) for row in memories), *bound):
        if memory_id is not None and session in numbers:
            said[memory_id].add(numbers[session])
    summed = await database.rows(
        "SELECT c.memory_id, i.memory_id FROM consolidations AS c JOIN implicit_captures AS i ON i.id = c.capture_id"
        " WHERE i.memory_id IS NOT NULL"
    )
    parts = [(row[0], row[1]) for row in summed] + await _merged(database)
    changed = True
    while changed:  # what holds a memory may itself be held by another
        changed = False
        for part, whole in parts:
            changed |= not said[part] <= said[whole]
            said[whole] |= said[part]
    return said


Row = dict[str, Any]


def _of_memory(
    row: Row, sources: set[int], apart: Collection[int], merged: Collection[int], lasting: Collection[int]
) -> Item:
    place, reason = STORED, ""
    if row["unconfirmed"] and row["id"] in lasting:
        place = UNCONFIRMED
    elif row["archived_at"] is not None:
        why = {"retired": row["unconfirmed"], "quarantined": row["id"] in apart, "merged": row["id"] in merged}
        place, reason = DISCARDED, next((name for name, is_so in why.items() if is_so), "archived")
    return Item(row["id"], place, _words(row), tuple(sorted(sources)), reason, row["confidence"])


def _of_capture(row: Row, numbers: Mapping[str, int]) -> Item:
    place = OF_STATUS.get(row["status"], DISCARDED)
    if row["quarantined"]:
        place = DISCARDED
    why = "quarantined" if row["quarantined"] else _reason(row)
    sources = (numbers[row["session_id"]],) if row["session_id"] in numbers else ()
    return Item(row["id"], place, _words(row), sources, why, row["confidence"])


def _reason(row: Row) -> str:
    """Why a capture is where it is, without the numbers that differ from one to the next."""
    why = NUMBER.sub("N", row["reason"])
    return f"{row['status']}: {why}" if row["status"] in ("rejected", "expired") else why


def _words(row: Row) -> str:
    known = not row["rationale"] or row["rationale"] in row["content"]
    return str(row["content"]) if known else f"{row['content']}\n{row['rationale']}"
