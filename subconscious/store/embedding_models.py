"""The embedding models: which models have vectors, and which model is in use.

One model is in use at a time: it embeds the queries, and queries are compared only with its vectors. At the same time,
vectors of another model can be made; the switch to that model only changes flags. So search works during a change of
model, and an interrupted change continues.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.store.connect import Database

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

SAME_MODEL_COSINE = 0.98
"""The minimum cosine at which two vectors of the same text count as made by the same model.

If the vectors differ only by rounding, the cosine is higher; if the models differ, it is lower.
"""

PORTION = 500
"""Vectors deleted per transaction, so that other writes don't wait long."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A known embedding model, with or without vectors.

    ``base`` is the name that the embedder reports. ``name`` is unique: different models may have the same ``base``.
    """

    name: str
    base: str
    dim: int


async def identify(tx: aiosqlite.Connection, base: str, canary: Vector) -> EmbeddingModel:
    """Return the model of an embedder, recognised by its name and its vector of a fixed text; if it is new, store it.

    The name alone is not enough: an embedder can change its model under the same name.
    """
    import numpy as np

    rows = list(
        await tx.execute_fetchall(
            "SELECT name, dim, canary FROM embedding_models WHERE base = ? ORDER BY length(name), name", (base,)
        )
    )
    for row in rows:
        known = None if row["canary"] is None else np.frombuffer(row["canary"], "<f4")
        if row["dim"] == len(canary) and (known is None or float(known @ canary) >= SAME_MODEL_COSINE):
            if known is None:
                await tx.execute("UPDATE embedding_models SET canary = ? WHERE name = ?", (_bytes(canary), row["name"]))
            return EmbeddingModel(row["name"], base, row["dim"])
    taken = {row["name"] for row in rows}
    names = (base if number == 1 else f"{base}#{number}" for number in range(1, len(taken) + 2))
    made = EmbeddingModel(next(name for name in names if name not in taken), base, len(canary))
    await tx.execute(
        "INSERT INTO embedding_models (name, base, dim, canary, wanted_at) VALUES (?, ?, ?, ?, ?)",
        (made.name, made.base, made.dim, _bytes(canary), time()),
    )
    return made


def _bytes(vector: Vector) -> bytes:
    return vector.astype("<f4").tobytes()


async def in_use(database: Database) -> EmbeddingModel | None:
    """Return the model in use; None if no model has been used yet."""
    rows = await database.rows("SELECT name, base, dim FROM embedding_models WHERE serving")
    return EmbeddingModel(*rows[0]) if rows else None


async def get(database: Database, name: str) -> EmbeddingModel | None:
    """Return the model with this unique name; None if it is unknown."""
    rows = await database.rows("SELECT name, base, dim FROM embedding_models WHERE name = ?", (name,))
    return EmbeddingModel(*rows[0]) if rows else None


async def put_in_use(tx: aiosqlite.Connection, name: str) -> None:
    """Put a model in use, in place of the model that was in use before."""
    await tx.execute("UPDATE embedding_models SET serving = 0 WHERE serving AND name <> ?", (name,))
    await tx.execute("UPDATE embedding_models SET serving = 1 WHERE name = ?", (name,))


async def delete_others(database: Database, kept: tuple[str, ...]) -> int:
    """Delete the vectors and records of all models except ``kept``, in portions; return how many vectors."""
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
