"""The one sequence from which captures and memories take their numbers.

A capture that waits is shown by its number, and the memory that it becomes has the same one. No number is used twice,
also after a purge: both tables are AUTOINCREMENT, so SQLite keeps the highest number of each in `sqlite_sequence`.
"""

from __future__ import annotations

import aiosqlite

from subconscious.store import events

_CLASHING = """
SELECT c.id FROM implicit_captures AS c JOIN memories AS m ON m.id = c.id
 WHERE c.memory_id IS NULL AND (c.status = 'review' OR c.quarantined)
   AND (m.turn_id, m.evidence) <> (c.turn_id, c.evidence) ORDER BY c.id
"""
"""Captures that wait under a number that another memory has: those of versions that numbered the two apart."""

_REFERRING = ("consolidations", "poison_lessons")
"""Tables that name a capture, in the column `capture_id`."""

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


async def renumber_clashing(tx: aiosqlite.Connection) -> int:
    """Give captures new numbers that wait under another memory's; return how many. Later starts find none.

    Their older events keep the old number; one more event says which that was.
    """
    found = [row[0] for row in await tx.execute_fetchall(_CLASHING)]
    if found:
        await tx.execute("PRAGMA defer_foreign_keys = ON")  # until the rows that name them follow
    for old in found:
        new = await next_number(tx)
        await tx.execute("UPDATE implicit_captures SET id = ? WHERE id = ?", (new, old))
        for table in _REFERRING:
            await tx.execute(f"UPDATE {table} SET capture_id = ? WHERE capture_id = ?", (new, old))  # noqa: S608
        # An UPDATE does not raise the sequence as an INSERT does.
        await tx.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'implicit_captures'", (new,))
        await events.record(tx, "renumbered", "capture", new, before={"id": old}, after={"id": new})
    return len(found)
