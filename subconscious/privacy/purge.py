"""Deletes memories, a session, a project or everything for good, with every trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.app import App
from subconscious.domain.errors import NotFoundError, RequestError
from subconscious.knowledge import rendering
from subconscious.privacy.redacting import erase_traces
from subconscious.redaction import remaining_copies
from subconscious.redaction.active_policy import record_findings
from subconscious.store import jobs, memories, purge, purge_selection, sessions
from subconscious.store.purge_selection import Selection
from subconscious.store.team import queue
from subconscious.wire.privacy import PurgePlanResult, PurgeResult


@dataclass(frozen=True, slots=True)
class Choice:
    """What to delete: memories, a session, a project, or everything."""

    ids: Sequence[int] = ()
    session: str = ""
    project_id: str = ""
    everything: bool = False


async def choose(app: App, choice: Choice) -> Selection:
    """Return the rows to delete. Raises NotFoundError or RequestError if the choice selects nothing."""
    if choice.ids:
        for memory_id in choice.ids:
            await memories.get(app.database, memory_id)
        return await purge_selection.of_memories(app.database, choice.ids)
    if choice.session:
        return await purge_selection.of_sessions(app.database, [await _session(app, choice.session)])
    if choice.project_id or choice.everything:
        return await purge_selection.of_project(app.database, None if choice.everything else choice.project_id)
    raise RequestError(
        "nothing was selected to purge", "name memories (subconscious purge ID), or add --session, --project or --all"
    )


async def _session(app: App, beginning: str) -> str:
    found = await sessions.with_prefix(app.database, beginning)
    if len(found) != 1:
        many = "several session ids begin" if found else "no session id begins"
        raise NotFoundError(f"{many} with {beginning!r}", "`subconscious sessions` lists the sessions")
    return found[0].id


async def counted(app: App, doomed: Selection) -> PurgePlanResult:
    """Return how many memories, captures and sessions will be deleted, and how many of the memories are on a server."""
    return {
        "memories": len(doomed.memories),
        "captures": len(doomed.captures),
        "sessions": len(doomed.whole),
        "on_server": await queue.number_on_server(app.database, doomed.memories),
    }


async def carry_out(app: App, choice: Choice) -> PurgeResult:
    """Delete the chosen data everywhere; return how many rows were deleted and files rewritten. There is no undo."""
    doomed = await choose(app, choice)
    counts = await counted(app, doomed)
    await record_findings(app.database, app.settings.redaction_log)
    entries = await asyncio.to_thread(
        remaining_copies.drop_entries, app.home, doomed.whole, doomed.wordings.texts, everything=choice.everything
    )
    erase = (lambda _: "") if choice.everything else doomed.wordings.erase
    async with app.signals.rendering:
        await asyncio.to_thread(rendering.clear, app)
        async with app.database.write() as tx:
            await jobs.delete(tx, entries)
            await purge.purge(tx, app.database, doomed, _named(choice))
            if choice.everything:
                await purge.empty(tx)
        files = await asyncio.to_thread(remaining_copies.rewrite, app.home, erase)
    app.sessions.recent_turns.clear()
    app.sessions.running_exchanges.clear()
    app.rewording.clear()
    copies = await erase_traces(app)
    await app.calibrate()
    await rendering.render_everything(app)  # last, so that an error here leaves no purged text
    return {**counts, "entries": len(entries), "files": files, "copies": copies}


def _named(choice: Choice) -> str:
    if choice.ids:
        return "memories " + ", ".join(map(str, choice.ids))
    return "a session" if choice.session else "everything" if choice.everything else "a project"
