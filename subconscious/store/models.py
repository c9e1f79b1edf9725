"""Which models vectors are of, and which of them serves.

One serves at a time: what is asked is embedded by it and compared with its vectors alone. Another one's may be made
meanwhile; that it serves from now on is one row that changes. So a change of model has no gap, and what is killed in
the middle goes on where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.store.connect import Database

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

SAME = 0.98
"""Cosine of two vectors of one text, from which on they are of one model; rounding leaves more, another model less."""

PORTION = 500
"""Vectors deleted in one transaction: nobody who writes waits long."""


@dataclass(frozen=True, slots=True)
class Known:
    """A model that there are, or may be, vectors of."""

    name: str
    base: str
    dim: int


async def recognise(tx: aiosqlite.Connection, base: str, canary: Vector) -> Known:
    """The model that an embedder of this name now is, by the vector of a known text; a new one is put on record."""
    import numpy as np

    rows = list(
        await tx.execute_fetchall(
            "SELECT name, dim, canary FROM embedding_models WHERE base = ? ORDER BY length(name), name", (base,)
        )
    )
    for row in rows:
        known = None if row["canary"] is None else np.frombuffer(row["canary"], "<f4")
        if row["dim"] == len(canary) and (known is None or float(known @ canary) >= SAME):
            if known is None:
                await tx.execute("UPDATE embedding_models SET canary = ? WHERE name = ?", (_bytes(canary), row["name"]))
            return Known(row["name"], base, row["dim"])
    taken = {row["name"] for row in rows}
    names = (base if number == 1 else f"{base}#{number}" for number in range(1, len(taken) + 2))
    made = Known(next(name for name in names if name not in taken), base, len(canary))
    await tx.execute(
        "INSERT INTO embedding_models (name, base, dim, canary, wanted_at) VALUES (?, ?, ?, ?, ?)",
        (made.name, made.base, made.dim, _bytes(canary), time()),
    )
    return made


def _bytes(vector: Vector) -> bytes:
    return vector.astype("<f4").tobytes()


async def serving(database: Database) -> Known | None:
    """The model that serves; None before the first."""
    rows = await database.rows("SELECT name, base, dim FROM embedding_models WHERE serving")
    return Known(*rows[0]) if rows else None


async def named(database: Database, name: str) -> Known | None:
    """The model of that name."""
    rows = await database.rows("SELECT name, base, dim FROM embedding_models WHERE name = ?", (name,))
    return Known(*rows[0]) if rows else None


async def serve(tx: aiosqlite.Connection, name: str) -> None:
    """Let this model serve from now on."""
    await tx.execute("UPDATE embedding_models SET serving = 0 WHERE serving AND name <> ?", (name,))
    await tx.execute("UPDATE embedding_models SET serving = 1 WHERE name = ?", (name,))


async def forget_others(database: Database, kept: tuple[str, ...]) -> int:
    """Delete the vectors and the records of all other models, a portion at a time; return how many vectors."""
    marks = ", ".join("?" * len(kept))
    gone = 0
    while True:
        async with database.write() as tx:
            cursor = await tx.execute(
                "DELETE FROM embeddings WHERE rowid IN"  # noqa: S608
                f" (SELECT rowid FROM embeddings WHERE model NOT IN ({marks}) LIMIT {PORTION})",
                kept,
            )
            if cursor.rowcount <= 0:
                await tx.execute(f"DELETE FROM embedding_models WHERE name NOT IN ({marks})", kept)  # noqa: S608
                return gone
        gone += cursor.rowcount
