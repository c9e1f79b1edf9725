"""Asks for the second look at what a model found in a session, when that is over and read."""

from __future__ import annotations

from subconscious.app import App
from subconscious.capture import unconfirmed_upkeep
from subconscious.capture.admission import Provenance
from subconscious.capture.llm_extraction import reconciliation
from subconscious.capture.llm_extraction.second_look import Looks
from subconscious.recall.recall_context import RecallContext
from subconscious.store import second_looks, sessions
from subconscious.store.capture_rows import SessionRef

INTENT_LENGTH = 500


async def look(app: App, ctx: RecallContext, session_id: str) -> None:
    """Ask once about all that a session brought, and let it count. Raises ProviderError."""
    where = await _provenance(ctx, session_id)
    found = await reconciliation.gather(ctx, session_id, where.place.project_id)
    if not found.awaited and not found.record:  # a person has decided on all of it meanwhile, or purged it
        async with ctx.database.write() as tx:
            await second_looks.finish(tx, session_id, {})
        return
    answered = await app.llm.answer(reconciliation.ask(found), session_id, where.place.project_id)
    assert isinstance(answered.value, Looks)  # noqa: S101 - the request's schema
    by = f"model:{answered.provider}/{answered.model}"
    await app.embedding.refresh(await reconciliation.apply(ctx, found, answered.value, where, by))
    await _settled(app, ctx, session_id)


async def release(app: App, ctx: RecallContext, session_id: str) -> None:
    """Nobody will look at a session a second time: what waits for that waits for a person."""
    await reconciliation.release(ctx, session_id, await _provenance(ctx, session_id))
    await _settled(app, ctx, session_id)


async def _settled(app: App, ctx: RecallContext, session_id: str) -> None:
    await unconfirmed_upkeep.settle(app, ctx, session_id)
    app.embedding.wake()


async def _provenance(ctx: RecallContext, session_id: str) -> Provenance:
    session = await sessions.get(ctx.database, session_id)
    if session is None:
        return Provenance(SessionRef("", session_id))
    return Provenance(SessionRef(session.project_id, session_id), intent=session.first_prompt[:INTENT_LENGTH])
