"""Failed tool calls and their way out (the command that worked afterwards): one row per failed call.

A *trouble* is a key that equal failures with the same way out share; all its rows belong to the same memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import field_values, insertion, qmarks, update_row

MOST_ROWS = 500
"""The maximum number of rows that one query reads for a command or a trouble; older rows are left out."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One row of the table ``failures``; the migration describes its columns."""

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
        """The values for the template of the memory's text."""
        return {"failed": self.failed, "way_out": self.way_out, "dropped": self.dropped}


_COLUMNS = ", ".join(Failure.__dataclass_fields__)
_FOUND_LATER = "sort failed way_out dropped way_out_key trouble doubt evidence byte_start byte_end".split()
"""Columns that are set when a way out is found, which may be after the failure was stored."""


def _read(row: sqlite3.Row) -> Failure:
    values = {name: row[name] for name in Failure.__dataclass_fields__}
    return Failure(**values | {"signatures": tuple(json.loads(values["signatures"]))})


async def record(tx: aiosqlite.Connection, failure: Failure) -> bool:
    """Store a failure, or add the way out to a failure that was stored without one; return whether anything changed."""
    values = field_values(failure) | {"signatures": json.dumps(failure.signatures)}
    sets = ", ".join(f"{name} = excluded.{name}" for name in _FOUND_LATER)
    conflict = f"ON CONFLICT (project_id, run_id) DO UPDATE SET {sets} WHERE failures.sort = '' AND excluded.sort <> ''"
    return bool((await tx.execute(*insertion("failures", values, conflict))).rowcount)


async def solved(database: Database, session_id: str) -> set[str]:
    """Return the ids of a session's failed calls for which a way out (a command that worked) is known."""
    rows = await database.rows("SELECT run_id FROM failures WHERE session_id = ? AND sort <> ''", (session_id,))
    return {row[0] for row in rows}


async def of_trouble(tx: aiosqlite.Connection, project_id: str, trouble: str) -> list[Failure]:
    """Return the failures of one trouble, oldest first, without withdrawn failures."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND trouble = ? AND NOT withdrawn"  # noqa: S608 - constant
        " ORDER BY at DESC, id DESC LIMIT ?",
        (project_id, trouble, MOST_ROWS),
    )
    return [_read(row) for row in reversed(list(rows))]


async def memory_of_trouble(database: Database, project_id: str, trouble: str) -> int | None:
    """Return the id of the memory about a trouble; None if there is none."""
    rows = await database.rows(
        "SELECT memory_id FROM failures WHERE project_id = ? AND trouble = ? AND memory_id IS NOT NULL"
        " AND NOT withdrawn ORDER BY at DESC LIMIT 1",
        (project_id, trouble),
    )
    return int(rows[0][0]) if rows else None


async def with_way_out(tx: aiosqlite.Connection, project_id: str, command_key: str) -> list[Failure]:
    """Return the failures of a normalised command whose way out is known, latest first, without withdrawn failures."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND command_key = ? AND trouble <> ''"  # noqa: S608
        " AND NOT withdrawn ORDER BY at DESC, id DESC LIMIT ?",
        (project_id, command_key, MOST_ROWS),
    )
    return [_read(row) for row in rows]


async def of_session(tx: aiosqlite.Connection, session_id: str) -> list[Failure]:
    """Return a session's failures with a known way out (a command that worked) but no memory yet, oldest first."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE session_id = ? AND trouble <> '' AND memory_id IS NULL"  # noqa: S608
        " AND NOT withdrawn ORDER BY at, id LIMIT ?",
        (session_id, MOST_ROWS),
    )
    return [_read(row) for row in rows]


async def of_command(database: Database, project_id: str, command_key: str) -> list[Failure]:
    """Return the failures of a normalised command, latest first, without withdrawn failures."""
    rows = await database.rows(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND command_key = ? AND NOT withdrawn"  # noqa: S608 - constant
        " ORDER BY at DESC, id DESC LIMIT ?",
        (project_id, command_key, MOST_ROWS),
    )
    return [_read(row) for row in rows]


async def of_way_out(tx: aiosqlite.Connection, project_id: str, way_out_key: str) -> list[Failure]:
    """Return the failures that have a memory and whose way out is the command ``way_out_key``, oldest first."""
    rows = await tx.execute_fetchall(
        f"SELECT {_COLUMNS} FROM failures WHERE project_id = ? AND way_out_key = ? AND memory_id IS NOT NULL"  # noqa: S608
        " AND NOT withdrawn ORDER BY at, id",
        (project_id, way_out_key),
    )
    return [_read(row) for row in rows]


async def later_failures(
    tx: aiosqlite.Connection, project_id: str, command_key: str, since: float
) -> list[tuple[str, ...]]:
    """Return the error signatures of each failure of a command after ``since``."""
    rows = await tx.execute_fetchall(
        "SELECT signatures FROM failures WHERE project_id = ? AND command_key = ? AND at > ? AND NOT withdrawn",
        (project_id, command_key, since),
    )
    return [tuple(json.loads(row[0])) for row in rows]


async def bind(tx: aiosqlite.Connection, project_id: str, trouble: str, memory_id: int) -> None:
    """Store which memory the failures of a trouble belong to."""
    await tx.execute(
        "UPDATE failures SET memory_id = ? WHERE project_id = ? AND trouble = ? AND memory_id IS NOT ?",
        (memory_id, project_id, trouble, memory_id),
    )


async def record_recovered(tx: aiosqlite.Connection, project_id: str, ran: Iterable[tuple[str, float]]) -> None:
    """Record the times at which commands succeeded; commands without a recorded failure are ignored."""
    for command_key, at in dict(ran).items():
        await tx.execute(
            "INSERT INTO recovered_commands (project_id, command_key, worked_at) SELECT ?1, ?2, ?3"
            " WHERE EXISTS (SELECT 1 FROM failures WHERE project_id = ?1 AND command_key = ?2)"
            " ON CONFLICT (project_id, command_key) DO UPDATE SET worked_at = max(worked_at, excluded.worked_at)",
            (project_id, command_key, at),
        )


async def recovered_at(database: Database, project_id: str, command_key: str) -> float:
    """Return when a command last succeeded after an earlier failure, in seconds since the epoch; 0 if it never did."""
    rows = await database.rows(
        "SELECT worked_at FROM recovered_commands WHERE project_id = ? AND command_key = ?", (project_id, command_key)
    )
    return float(rows[0][0]) if rows else 0.0


async def outdated_memories(tx: aiosqlite.Connection, project_id: str, sorts: Collection[str]) -> list[int]:
    """Return the ids of memories about failed commands that have since worked without any change.

    Only failures whose column ``sort`` has a value in ``sorts`` are considered.
    """
    rows = await tx.execute_fetchall(
        # Not for a command with placeholders ("<"): a different command of the same form may have worked.
        "SELECT memory_id FROM failures LEFT JOIN recovered_commands AS later USING (project_id, command_key)"  # noqa: S608
        f" WHERE project_id = ? AND memory_id IS NOT NULL AND NOT withdrawn AND sort IN ({qmarks(sorts)})"
        " GROUP BY memory_id HAVING max(CASE WHEN instr(failed, '<') = 0 THEN worked_at END) > max(at)",
        (project_id, *sorts),
    )
    return [row[0] for row in rows]


async def count(tx: aiosqlite.Connection, session_id: str) -> int:
    """Return the number of failures of a session, without withdrawn failures."""
    rows = await tx.execute_fetchall(
        "SELECT count(*) FROM failures WHERE session_id = ? AND NOT withdrawn", (session_id,)
    )
    return next(int(row[0]) for row in rows)


async def withdraw(tx: aiosqlite.Connection, session_id: str, reason: str, *, back: bool = False) -> None:
    """Withdraw all failures of a session, or restore them if ``back``; each change is an event, so it can be undone."""
    rows = await tx.execute_fetchall("SELECT id FROM failures WHERE session_id = ? ORDER BY id", (session_id,))
    for row in list(rows):
        before, after = await update_row(tx, "failures", row[0], {"withdrawn": int(not back)})
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


class CaptureResult(NamedTuple):
    """The status of a capture, and the id of the memory that it became (None if it became none)."""

    status: str
    memory_id: int | None
    capture_id: int


async def capture_results(
    tx: aiosqlite.Connection, project_id: str, extractor: str, hashes: Collection[str]
) -> list[CaptureResult]:
    """Return the status and the memory of each capture with one of these content hashes."""
    rows = await tx.execute_fetchall(
        "SELECT CASE WHEN quarantined THEN 'quarantined' ELSE status END, memory_id, id FROM implicit_captures"  # noqa: S608
        f" WHERE project_id = ? AND extractor = ? AND content_hash IN ({qmarks(hashes)}) ORDER BY id",
        (project_id, extractor, *hashes),
    )
    return [CaptureResult(*row) for row in rows]
