"""Links between stored memories."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Link
from subconscious.store import links
from subconscious.store.connect import Database
from tests.support.values import NOON


async def connect(
    database: Database, source: int, target: int, type_: str = "SUPPORTS", status: str = "active", **changes: Any
) -> Link:
    """Store a link."""
    values: dict[str, Any] = {"confidence": 0.8, "created_by": "rules", "evidence": "", "created_at": NOON}
    async with database.write() as tx:
        made = await links.add(tx, Link(0, source, target, type_, status, **values | changes), "daemon")
    assert made is not None
    return made
