"""The memories that wait for an embedding, and the embedding status of each memory."""

from __future__ import annotations

from collections.abc import Sequence

import aiosqlite

from subconscious.domain.model import Memory
from subconscious.store.connect import Database
from subconscious.store.rows import memory_from, qmarks


async def waiting(database: Database, limit: int) -> list[Memory]:
    """Return memories that wait for an embedding, oldest first."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE embedding_status = 'pending' AND (archived_at IS NULL OR unconfirmed)"
        " ORDER BY id LIMIT ?",
        (limit,),
    )
    return [memory_from(row) for row in rows]


async def waiting_without(database: Database, model: str, limit: int) -> list[Memory]:
    """Return memories without a vector of ``model`` that wait for a vector of another model, latest first."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE embedding_status = 'pending' AND (archived_at IS NULL OR unconfirmed)"
        " AND id NOT IN (SELECT memory_id FROM embeddings WHERE model = ?) ORDER BY id DESC LIMIT ?",
        (model, limit),
    )
    return [memory_from(row) for row in rows]


async def retry(tx: aiosqlite.Connection) -> None:
    """Requeue all memories whose embedding failed."""
    await tx.execute("UPDATE memories SET embedding_status = 'pending' WHERE embedding_status = 'failed'")


async def counts(database: Database) -> dict[str, int]:
    """Return how many active and unconfirmed memories have each embedding status, except the status `done`."""
    rows = await database.rows(
        "SELECT embedding_status, count(*) FROM memories"
        " WHERE embedding_status <> 'done' AND (archived_at IS NULL OR unconfirmed) GROUP BY 1"
    )
    return {row[0]: row[1] for row in rows}


async def set_status(tx: aiosqlite.Connection, ids: Sequence[int], status: str) -> None:
    """Set the embedding status of memories: pending, done, failed or off."""
    await tx.execute(
        f"UPDATE memories SET embedding_status = ? WHERE id IN ({qmarks(ids)})",  # noqa: S608
        (status, *ids),
    )
