"""What failed in tool calls and what then worked: one row a failure, by session."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import aiosqlite

from subconscious.model import Memory
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import alter, insertion, marks, memory_from, opened

MOST_ROWS = 500
"""Rows of one command or one trouble that are looked at, the latest first."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One row of ``failures``; see the migration for its columns."""

    run_id: str
    project_id: str
    session_id: str
    at: float
    command_key: str
    signatures: tuple[str, ...]
    sort: str = ""
    failed: str = ""
    way_out: str = ""
    dropped: str = ""
    way_out_key: str = ""
    trouble: str = ""
    doubt: str = ""
    evidence: str = ""
    branch: str = ""
    transcript: str = ""
    byte_start: int = 0
    byte_end: int = 0
    memory_id: int | None = None
    withdrawn: int = 0

    @property
    def slots(self) -> dict[str, str]:
        """What its sentence names."""
        return {"failed": self.failed, "way_out": self.way_out, "dropped": self.dropped}


_COLUMNS = ", ".join(Failure.__dataclass_fields__)
_FOUND_LATER = "sort failed way_out dropped way_out_key trouble doubt evidence byte_start byte_end".split()
"""What is known of a failure only when something has worked, which may be written down later."""


def _read(row: sqlite3.Row) -> Failure:
    values = {name: row[name] for name in Failure.__dataclass_fields__}
    return Failure(**values | {"signatures": tuple(json.loads(values["signatures"]))})


async def record(tx: aiosqlite.Connection, failure: Failure) -> bool:
    """Store a failure, or the way out of one that is stored without; whether that says anything new."""
    values = opened(failure) | {"signatures": json.dumps(failure.signatures)}
    sets = ", ".join(f"{name} = excluded.{name}" for name in _FOUND_LATER)
    conflict = f"ON CONFLICT (project_id, run_id) DO UPDATE SET {sets} WHERE failures.sort = '' AND excluded.sort <> ''"
    return bool((await tx.execute(*insertion("failures", values, conflict))).rowcount)


async def led_out(database: Database, session_id: str) -> set[str]:
    """The calls of a session whose way out is known."""
    rows = await database.rows("SELECT run_id FROM failures WHERE session_id = ? AND sort <> ''", (session_id,))
    return {row[0] for row in rows}


async def of_trouble(tx: aiosqlite.Connection, project_id: str, trouble: str) -> list[Failure]:
    """All failures of one trouble that still count, oldest first."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND trouble = ? AND NOT withdrawn"  # noqa: S608 - constant
        " ORDER BY at DESC, id DESC LIMIT ?",
        (project_id, trouble, MOST_ROWS),
    )
    return [_read(row) for row in reversed(list(rows))]


async def of_session(tx: aiosqlite.Connection, session_id: str) -> list[Failure]:
    """A session's failures with a way out that no memory tells of, oldest first."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE session_id = ? AND trouble <> '' AND memory_id IS NULL"  # noqa: S608
        " AND NOT withdrawn ORDER BY at, id LIMIT ?",
        (session_id, MOST_ROWS),
    )
    return [_read(row) for row in rows]


async def of_command(database: Database, project_id: str, command_key: str) -> list[Failure]:
    """The latest failures of one normalised command that still count, latest first."""
    rows = await database.rows(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND command_key = ? AND NOT withdrawn"  # noqa: S608 - constant
        " ORDER BY at DESC, id DESC LIMIT ?",
        (project_id, command_key, MOST_ROWS),
    )
    return [_read(row) for row in rows]


async def of_way_out(tx: aiosqlite.Connection, project_id: str, way_out_key: str) -> list[Failure]:
    """The failures, with a memory, of which a command is the way out."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND way_out_key = ? AND memory_id IS NOT NULL"  # noqa: S608
        " AND NOT withdrawn ORDER BY at, id",
        (project_id, way_out_key),
    )
    return [_read(row) for row in rows]


async def later_failures(
    tx: aiosqlite.Connection, project_id: str, command_key: str, since: float
) -> list[tuple[str, ...]]:
    """The signatures of a command's failures after a time."""
    rows = await tx.execute_fetchall(
        "SELECT signatures FROM failures WHERE project_id = ? AND command_key = ? AND at > ? AND NOT withdrawn",
        (project_id, command_key, since),
    )
    return [tuple(json.loads(row[0])) for row in rows]


async def bind(tx: aiosqlite.Connection, project_id: str, trouble: str, memory_id: int) -> None:
    """Note the memory that tells of a trouble."""
    await tx.execute(
        "UPDATE failures SET memory_id = ? WHERE project_id = ? AND trouble = ? AND memory_id IS NOT ?",
        (memory_id, project_id, trouble, memory_id),
    )


async def worked(tx: aiosqlite.Connection, project_id: str, ran: Iterable[tuple[str, float]]) -> None:
    """Note when commands worked that had failed before."""
    for command_key, at in dict(ran).items():
        await tx.execute(
            "INSERT INTO recovered_commands (project_id, command_key, worked_at) SELECT ?1, ?2, ?3"
            " WHERE EXISTS (SELECT 1 FROM failures WHERE project_id = ?1 AND command_key = ?2)"
            " ON CONFLICT (project_id, command_key) DO UPDATE SET worked_at = max(worked_at, excluded.worked_at)",
            (project_id, command_key, at),
        )


async def worked_at(database: Database, project_id: str, command_key: str) -> float:
    """When a command that had failed before last worked; 0 for never."""
    rows = await database.rows(
        "SELECT worked_at FROM recovered_commands WHERE project_id = ? AND command_key = ?", (project_id, command_key)
    )
    return float(rows[0][0]) if rows else 0.0


async def outdated(tx: aiosqlite.Connection, project_id: str, sorts: Collection[str]) -> list[int]:
    """Return the memories of failures whose unchanged command has worked since."""
    rows = await tx.execute_fetchall(
        # Of a command with placeholders another one of its shape may have worked.
        "SELECT memory_id FROM failures LEFT JOIN recovered_commands AS later USING (project_id, command_key)"  # noqa: S608
        f" WHERE project_id = ? AND memory_id IS NOT NULL AND NOT withdrawn AND sort IN ({marks(sorts)})"
        " GROUP BY memory_id HAVING max(CASE WHEN instr(failed, '<') = 0 THEN worked_at END) > max(at)",
        (project_id, *sorts),
    )
    return [row[0] for row in rows]


async def recurring(database: Database, project_id: str, limit: int) -> list[Memory]:
    """The active memories of a project's failures: those that most sessions met first, then the latest."""
    rows = await database.rows(
        "SELECT memories.* FROM memories JOIN"
        " (SELECT memory_id, count(DISTINCT session_id) AS sessions, max(at) AS last FROM failures"
        " WHERE project_id = ? AND memory_id IS NOT NULL AND NOT withdrawn GROUP BY memory_id) AS met"
        " ON met.memory_id = memories.id WHERE archived_at IS NULL ORDER BY sessions DESC, last DESC, id LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def counting(tx: aiosqlite.Connection, session_id: str) -> int:
    """How many failures of a session count."""
    rows = await tx.execute_fetchall(
        "SELECT count(*) FROM failures WHERE session_id = ? AND NOT withdrawn", (session_id,)
    )
    return next(int(row[0]) for row in rows)


async def withdraw(tx: aiosqlite.Connection, session_id: str, reason: str, *, back: bool = False) -> None:
    """Let a session's failures count no more, or again; each with its event, so that it can be undone."""
    rows = await tx.execute_fetchall("SELECT id FROM failures WHERE session_id = ? ORDER BY id", (session_id,))
    for row in list(rows):
        before, after = await alter(tx, "failures", row[0], {"withdrawn": int(not back)})
        if after:
            await events.record(
                tx,
                "restore" if back else "withdraw",
                "failure",
                row[0],
                actor="user",
                session_id=session_id,
                reason=reason,
                before=before,
                after=after,
            )


class Fate(NamedTuple):
    """What became of a capture: its status, and the memory that it became."""

    status: str
    memory_id: int | None
    capture_id: int


async def decided(tx: aiosqlite.Connection, project_id: str, extractor: str, hashes: Collection[str]) -> list[Fate]:
    """What became of the captures with one of these wordings."""
    rows = await tx.execute_fetchall(
        "SELECT CASE WHEN quarantined THEN 'quarantined' ELSE status END, memory_id, id FROM implicit_captures"  # noqa: S608
        f" WHERE project_id = ? AND extractor = ? AND content_hash IN ({marks(hashes)}) ORDER BY id",
        (project_id, extractor, *hashes),
    )
    return [Fate(*row) for row in rows]
