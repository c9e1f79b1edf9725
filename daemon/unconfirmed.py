"""Unconfirmed memories in the daemon: made when a session is over, concluded when one that was given them is."""

from __future__ import annotations

from subconscious.flow import unconfirmed
from subconscious.flow.mind import Mind
from subconscious.store import unconfirmed as store

from . import feedback
from .aside import LONGEST, QUIET, aside
from .core import Core

A_ROUND = 20
"""Sessions that one round of upkeep settles: each may have a transcript to be read again."""


async def settle(core: Core, mind: Mind, session_id: str) -> None:
    """Make unconfirmed memories of the best of what waits of a session that is over."""
    if await unconfirmed.settle_session(mind, session_id):
        core.embedding.wake()


async def conclude(core: Core, mind: Mind, session_id: str) -> None:
    """Confirm or retire the unconfirmed memories that a session was given."""
    if confirmed := await feedback.conclude(mind, session_id):
        await core.embedding.refresh(confirmed)
        core.embedding.wake()


async def settle_all(core: Core) -> None:
    """Settle sessions that ended without it, and judge what has waited since before this was possible."""
    mind = core.mind()
    if not mind.settings.unconfirmed:
        return
    for session_id in await store.unweighed(core.database, A_ROUND):
        await aside(core, QUIET, LONGEST)
        if not await unconfirmed.examine(mind, session_id):
            await settle(core, mind, session_id)
        core.embedding.wake()
