"""Memories that wait for their embedding, and how far each one's is."""

from __future__ import annotations

from collections.abc import Sequence

import aiosqlite

from subconscious.model import Memory
from subconscious.store.connect import Database
from subconscious.store.rows import marks, memory_from


async def unembedded(database: Database, limit: int) -> list[Memory]:
    """Memories that wait for their embedding, oldest first."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE embedding_status = 'pending' AND (archived_at IS NULL OR unconfirmed)"
        " ORDER BY id LIMIT ?",
        (limit,),
    )
    return [memory_from(row) for row in rows]


async def unembedded_by(database: Database, model: str, limit: int) -> list[Memory]:
    """Memories that wait for another model's vector and have none of this one either, the latest first."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE embedding_status = 'pending' AND (archived_at IS NULL OR unconfirmed)"
        " AND id NOT IN (SELECT memory_id FROM embeddings WHERE model = ?) ORDER BY id DESC LIMIT ?",
        (model, limit),
    )
    return [memory_from(row) for row in rows]


async def retry(tx: aiosqlite.Connection) -> None:
    """Let memories wait again that could not be given a vector."""
    await tx.execute("UPDATE memories SET embedding_status = 'pending' WHERE embedding_status = 'failed'")


async def backlog(database: Database) -> dict[str, int]:
    """How many active memories wait for an embedding, and how many could not be given one."""
    rows = await database.rows(
        "SELECT embedding_status, count(*) FROM memories"
        " WHERE embedding_status <> 'done' AND (archived_at IS NULL OR unconfirmed) GROUP BY 1"
    )
    return {row[0]: row[1] for row in rows}


async def mark(tx: aiosqlite.Connection, ids: Sequence[int], status: str) -> None:
    """Say how far the embedding of some memories is: pending, done, failed or off."""
    await tx.execute(
        f"UPDATE memories SET embedding_status = ? WHERE id IN ({marks(ids)})",  # noqa: S608
        (status, *ids),
    )
