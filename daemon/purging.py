"""Purging what a person wants gone for good: memories, a session, a project, everything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.errors import NotFoundError, RequestError
from subconscious.store import jobs, memories, purge, sessions
from subconscious.store.purge import Doomed

from . import remains, rendering
from .core import Core
from .redacting import leave_no_trace, write_down


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person points at: one of these."""

    ids: Sequence[int] = ()
    session: str = ""
    project_id: str = ""
    everything: bool = False


async def choose(core: Core, choice: Choice) -> Doomed:
    """What would go. Raises NotFoundError or RequestError where nothing is meant."""
    if choice.ids:
        for memory_id in choice.ids:
            await memories.get(core.database, memory_id)
        return await purge.of_memories(core.database, choice.ids)
    if choice.session:
        return await purge.of_sessions(core.database, [await _session(core, choice.session)])
    if choice.project_id or choice.everything:
        return await purge.of_project(core.database, None if choice.everything else choice.project_id)
    raise RequestError("the request does not say what to purge", "subconscious purge ID, --session, --project or --all")


async def _session(core: Core, beginning: str) -> str:
    found = await sessions.beginning(core.database, beginning)
    if len(found) != 1:
        many = "several sessions begin" if found else "no session begins"
        raise NotFoundError(f"{many} with {beginning!r}", "`subconscious sessions` lists them")
    return found[0].id


def counted(doomed: Doomed) -> dict[str, int]:
    """How much that is."""
    return {"memories": len(doomed.memories), "captures": len(doomed.captures), "sessions": len(doomed.whole)}


async def carry_out(core: Core, choice: Choice) -> dict[str, int]:
    """Delete it everywhere; there is no way back. Return how much went, and how many files were touched."""
    doomed = await choose(core, choice)
    await write_down(core)
    entries = await asyncio.to_thread(
        remains.drop_entries, core.home, doomed.whole, doomed.wordings.texts, everything=choice.everything
    )
    erase = (lambda _: "") if choice.everything else doomed.wordings.erase
    async with core.rendering:
        await asyncio.to_thread(rendering.clear, core)
        async with core.database.write() as tx:
            await jobs.forget(tx, entries)
            await purge.purge(tx, core.database, doomed, _named(choice))
            if choice.everything:
                await purge.empty(tx)
        files = await asyncio.to_thread(remains.rewrite, core.home, erase)
    core.lately.clear()
    core.rewording.clear()
    copies = await leave_no_trace(core)
    await core.calibrate()
    await rendering.anew(core)  # last: whatever hinders it, no word of what is purged is left
    return counted(doomed) | {"entries": len(entries), "files": files, "copies": copies}


def _named(choice: Choice) -> str:
    if choice.ids:
        return "memories " + ", ".join(map(str, choice.ids))
    return "a session" if choice.session else "everything" if choice.everything else "a project"
