"""Checks in the background whether the files and branches that memories are bound to have changed."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import replace
from time import monotonic, time

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.store import memory_files
from subconscious.system.projects import Checkout, head
from subconscious.text.branch_scope import branch_of

log = logging.getLogger("subconscious.surfacing")

PAUSE = 60.0
"""Seconds within which the same commit of a checkout is not checked again."""

FRESH = 86_400.0
"""A memory's files count as unchanged at their first check if the memory is younger than this many seconds."""

MOST_MEMORIES = 2000
MOST_DIGESTS = 500
"""The maximum number of files of a project that are read in one check."""


class WorktreeWatch:
    """A background task that checks the checkouts of the projects in use."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._worktrees = app.worktrees
        self._looked: dict[tuple[str, str, str], tuple[str, float]] = {}

    async def run(self) -> None:
        """Check the folders that sessions work in, until cancelled."""
        while True:
            await self._worktrees.woken.wait()
            self._worktrees.woken.clear()
            while self._worktrees.wanted:
                try:
                    await self.look(*self._worktrees.wanted.popitem())
                except Exception:
                    # The marks of memories are optional, and the next check computes them again.
                    log.exception("files and branches can't be checked")

    async def look(self, project_id: str, folder: str) -> None:
        """Check the memories of one project, unless that was done for the same commit within the last minute."""
        branch, commit = await asyncio.to_thread(head, folder)
        place = (project_id, folder, branch)
        before, at = self._looked.get(place, ("", -math.inf))
        if before == commit and monotonic() - at < PAUSE:
            return
        chosen = self._app.recall_context().settings
        self._looked[place] = (commit, monotonic())
        bound = await memory_files.with_files(self._app.database, project_id, MOST_MEMORIES)
        checkout = await asyncio.to_thread(Checkout.at, folder)
        if checkout is None or not bound:
            return
        if branch:
            former = await asyncio.to_thread(checkout.former_names, branch)
            named = {memory.id: branch_of(memory.content) in former for memory in bound}
            self._worktrees.record_renames(branch, named)
        if chosen.mark_branches and branch:
            await self._look_at_branches(project_id, bound, checkout, branch)
        if chosen.mark_outdated:
            await self._look_at_files(bound, checkout)

    async def _look_at_branches(self, project_id: str, bound: list[Memory], checkout: Checkout, branch: str) -> None:
        elsewhere = [memory for memory in bound if memory.branch not in ("", branch)]
        origins = dict.fromkeys((memory.branch, memory.commit) for memory in elsewhere)
        merged = {origin: await asyncio.to_thread(checkout.has_merged, *origin) for origin in origins}
        of_memories = {memory.id: merged[memory.branch, memory.commit] for memory in elsewhere}
        self._worktrees.record_merges(project_id, branch, checkout.commit, of_memories)

    async def _look_at_files(self, bound: list[Memory], checkout: Checkout) -> None:
        with_files = [memory for memory in bound if memory.files]
        stamps = await memory_files.digests(self._app.database, [memory.id for memory in with_files])
        closed = await memory_files.outside_open_sessions(self._app.database, [memory.id for memory in with_files])
        found = await asyncio.to_thread(_compared, with_files, checkout, stamps, closed)
        outdated, fresh = found
        async with self._app.database.write() as tx:
            await memory_files.save_digests(tx, fresh)
        ids = {memory.id for memory in with_files}
        others = {number: files for number, files in self._worktrees.known.outdated.items() if number not in ids}
        self._worktrees.known = replace(self._worktrees.known, outdated=others | outdated)


Stamps = dict[tuple[int, str], str]


def _compared(
    bound: list[Memory], checkout: Checkout, stamps: Stamps, closed: set[int]
) -> tuple[dict[int, tuple[str, ...]], Stamps]:
    """Return the changed files by memory id, and the digests of files that have no stored digest yet.

    ``stamps`` are the stored digests, ``closed`` the ids of memories from sessions that are no longer open.
    """
    outdated: dict[int, tuple[str, ...]] = {}
    fresh: Stamps = {}
    digests: dict[str, str] = {}
    oldest = min((memory.said_at for memory in bound), default=0.0)
    for memory in bound:
        changed = []
        for file in memory.files:
            path = checkout.find(file)
            if not path:
                continue
            known = stamps.get((memory.id, file))
            young = time() - memory.said_at < FRESH
            if known is None and not young:
                if checkout.committed_at(path, oldest) > memory.said_at:
                    changed.append(file)
                continue
            if path not in digests and len(digests) >= MOST_DIGESTS:
                continue
            now = digests.setdefault(path, checkout.digest(path))
            if known is None and memory.id in closed:
                fresh[memory.id, file] = now
            elif known is not None and known != now:
                changed.append(file)
        if changed:
            outdated[memory.id] = tuple(changed)
    return outdated, fresh
