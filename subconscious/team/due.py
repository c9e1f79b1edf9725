"""Decides, from the local store alone, whether a project's exchange with a team's store is due."""

from __future__ import annotations

from time import time

from subconscious.app import App
from subconscious.store import events, memories, shares
from subconscious.store.rows import content_hash
from subconscious.store.team import queue
from subconscious.store.team.queue import Joined


async def is_due(app: App, joined: Joined, pause: float) -> bool:
    """Return whether something waits to be sent, or the last exchange is more than ``pause`` seconds ago."""
    if joined.synced_at is None or not 0 <= time() - joined.synced_at < pause:
        return True
    if (await queue.counts(app.database, joined.project_id)).waiting:
        return True
    newest = await events.latest_id(app.database)
    return newest != joined.checked and bool(await changed_here(app, joined))


async def changed_here(app: App, joined: Joined) -> list[str]:
    """Return the uids of shared memories whose text, kind or state differs from what was published last."""
    chosen = [one for one in await shares.of_project(app.database, joined.project_id) if one.withdrawn_at is None]
    after = await shares.replacements(app.database, [one.memory_id for one in chosen])
    found = await memories.get_many(app.database, sorted(set(after.values())))
    changed = []
    for one in chosen:
        memory = found.get(after[one.memory_id])
        if memory is not None:
            said = f"{content_hash(memory.content)} {memory.kind} {memory.archived_at is None}"
            if said != one.statement:
                changed.append(one.uid)
    return changed
