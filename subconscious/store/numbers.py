"""The one sequence from which captures and memories take their numbers.

A capture that waits is shown by its number, and the memory that it becomes has the same one. No number is used twice,
also after a purge: both tables are AUTOINCREMENT, so SQLite keeps the highest number of each in `sqlite_sequence`.
"""

from __future__ import annotations

import aiosqlite

_NEXT = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name IN ('memories', 'implicit_captures')"


async def next_number(tx: aiosqlite.Connection) -> int:
    """Return a number that no capture and no memory has had. It is taken by inserting a row with it."""
    return int(next(iter(await tx.execute_fetchall(_NEXT)))[0])


async def free_number(tx: aiosqlite.Connection, table: str, wanted: int | None) -> int:
    """Return ``wanted``, or the next number where a row of ``table`` has it already or nothing is wanted."""
    if wanted is not None and not list(
        await tx.execute_fetchall(f"SELECT 1 FROM {table} WHERE id = ?", (wanted,))  # noqa: S608 - our own table
    ):
        return wanted
    return await next_number(tx)
