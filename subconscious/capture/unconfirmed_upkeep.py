"""Makes unconfirmed memories when a session ends, and confirms or retires those that the session was given."""

from __future__ import annotations

from subconscious.app import App
from subconscious.capture import feedback, unconfirmed
from subconscious.capture.weighed_again import weigh_again
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.recall.recall_context import RecallContext
from subconscious.store import unconfirmed as store

A_ROUND = 20
"""Sessions that one round of upkeep settles, because each may need its transcript to be read again."""


async def settle(app: App, ctx: RecallContext, session_id: str) -> None:
    """Make unconfirmed memories of the best waiting captures of a finished session."""
    if await unconfirmed.settle_session(ctx, session_id):
        app.embedding.wake()


async def conclude(app: App, ctx: RecallContext, session_id: str) -> None:
    """Confirm or retire the unconfirmed memories that a session was given."""
    if confirmed := await feedback.conclude(ctx, session_id):
        await app.embedding.refresh(confirmed)
        app.embedding.wake()


async def settle_all(app: App) -> None:
    """Settle sessions that ended without it, and judge captures from before unconfirmed memories existed."""
    ctx = app.recall_context()
    if not ctx.settings.unconfirmed:
        return
    for session_id in await store.unexamined_sessions(app.database, A_ROUND):
        await aside(app.signals, QUIET, LONGEST)
        await weigh_again(app, ctx, session_id)
        if not await unconfirmed.examine(ctx, session_id):
            await settle(app, ctx, session_id)
        app.embedding.wake()
