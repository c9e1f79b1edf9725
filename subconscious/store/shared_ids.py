"""The sequence of ids that captures and memories share.

A memory has the same id as the capture that it was made from. No id is reused, even after a purge: both tables are
AUTOINCREMENT, so SQLite keeps the highest id of each in `sqlite_sequence`.
"""

from __future__ import annotations

import aiosqlite

from subconscious.store import events

_CLASHING = """
SELECT c.id FROM implicit_captures AS c JOIN memories AS m ON m.id = c.id
 WHERE c.memory_id IS NULL AND (c.status = 'review' OR c.quarantined)
   AND (m.turn_id, m.evidence) <> (c.turn_id, c.evidence) ORDER BY c.id
"""
"""SQL: waiting captures with the id of an unrelated memory, from versions that numbered the two separately."""

REFERRING = ("consolidations", "poison_lessons", "second_looks")
"""Tables that refer to a capture in the column `capture_id`."""

_NEXT = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name IN ('memories', 'implicit_captures')"


async def next_id(tx: aiosqlite.Connection) -> int:
    """Return an id that no capture and no memory has had. Inserting a row with it reserves it."""
    return int(next(iter(await tx.execute_fetchall(_NEXT)))[0])


async def free_id(tx: aiosqlite.Connection, table: str, wanted: int | None) -> int:
    """Return ``wanted`` if no row of ``table`` has it, else the next id."""
    if wanted is not None and not list(
        await tx.execute_fetchall(f"SELECT 1 FROM {table} WHERE id = ?", (wanted,))  # noqa: S608 - our own table
    ):
        return wanted
    return await next_id(tx)


async def renumber_duplicates(tx: aiosqlite.Connection) -> int:
    """Give new ids to waiting captures that have the id of an unrelated memory; return how many.

    Events before the change keep the old id; one more event records the change.
    """
    found = [row[0] for row in await tx.execute_fetchall(_CLASHING)]
    if found:
        await tx.execute("PRAGMA defer_foreign_keys = ON")  # until the referring rows are updated
    for old in found:
        new = await next_id(tx)
        await tx.execute("UPDATE implicit_captures SET id = ? WHERE id = ?", (new, old))
        for table in REFERRING:
            await tx.execute(f"UPDATE {table} SET capture_id = ? WHERE capture_id = ?", (new, old))  # noqa: S608
        # Unlike an INSERT, an UPDATE does not raise the sequence.
        await tx.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'implicit_captures'", (new,))
        await events.record(tx, "renumbered", "capture", new, before={"id": old}, after={"id": new})
    return len(found)
