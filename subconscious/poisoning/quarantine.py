"""Refuses to show or restore memories that are in quarantine."""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.errors import QuarantinedError
from subconscious.store import captures
from subconscious.store.connect import Database

IN_QUARANTINE = "(in quarantine)"
"""The text that is shown instead of a memory in quarantine."""


async def refuse_held(database: Database, ids: Sequence[int]) -> None:
    """Raise QuarantinedError if one of the memories is in quarantine, because only a person may release or read it."""
    async with database.write() as tx:
        held = await captures.in_quarantine(tx, ids)
    if held:
        raise QuarantinedError(min(held))
