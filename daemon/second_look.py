"""Asks for the second look at what a model found in a session, when that is over and read."""

from __future__ import annotations

from subconscious.capture.second_look import Looks
from subconscious.flow import second_look
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Provenance
from subconscious.store import second_looks, sessions
from subconscious.store.capture_rows import Place

from . import unconfirmed
from .core import Core

INTENT_LENGTH = 500


async def look(core: Core, mind: Mind, session_id: str) -> None:
    """Ask once about all that a session brought, and let it count. Raises ProviderError."""
    where = await _provenance(mind, session_id)
    found = await second_look.gather(mind, session_id, where.place.project_id)
    if not found.awaited and not found.record:  # a person has decided on all of it meanwhile, or purged it
        async with mind.database.write() as tx:
            await second_looks.done(tx, session_id, {})
        return
    answered = await core.llm.answer(second_look.ask(found), session_id, where.place.project_id)
    assert isinstance(answered.value, Looks)  # noqa: S101 - the request's schema
    await second_look.apply(mind, found, answered.value, where, f"model:{answered.provider}/{answered.model}")
    await _settled(core, mind, session_id)


async def release(core: Core, mind: Mind, session_id: str) -> None:
    """Nobody will look at a session a second time: what waits for that waits for a person."""
    await second_look.release(mind, session_id, await _provenance(mind, session_id))
    await _settled(core, mind, session_id)


async def _settled(core: Core, mind: Mind, session_id: str) -> None:
    await unconfirmed.settle(core, mind, session_id)
    core.embedding.wake()


async def _provenance(mind: Mind, session_id: str) -> Provenance:
    session = await sessions.get(mind.database, session_id)
    if session is None:
        return Provenance(Place("", session_id))
    return Provenance(Place(session.project_id, session_id), intent=session.first_prompt[:INTENT_LENGTH])
