"""Looks, beside the hooks, at what has become of the files and branches that memories are bound to."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import replace
from time import monotonic, time
from typing import TYPE_CHECKING

from subconscious.model import Memory
from subconscious.projects import Checkout, head
from subconscious.store import memory_files
from subconscious.surfacing.marks import UNKNOWN, Standing

if TYPE_CHECKING:
    from .core import Core

log = logging.getLogger("subconscious.daemon")

PAUSE = 60.0
"""Seconds for which what was seen of a project holds."""

FRESH = 86_400.0
"""Seconds after its saying in which a memory's files, first looked at, count as they were when it was said."""

MOST_MEMORIES = 2000
MOST_DIGESTS = 500
"""Files of a project that are read in one look."""


class Standings:
    """What is known, and the loop that finds it out for projects that somebody works in."""

    def __init__(self) -> None:
        self.known: Standing = UNKNOWN
        self._wanted: dict[str, str] = {}
        self._looked: dict[tuple[str, str, str], float] = {}
        self._woken = asyncio.Event()

    def want(self, project_id: str, folder: str) -> None:
        """Somebody works in a folder: look at it soon."""
        self._wanted[project_id] = folder
        self._woken.set()

    async def run(self, core: Core) -> None:
        """Look whenever it is wanted, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._wanted:
                try:
                    await self.look(core, *self._wanted.popitem())
                except Exception:
                    # Marks are optional: after any error they are computed the next time.
                    log.exception("files and branches can't be looked at")

    async def look(self, core: Core, project_id: str, folder: str) -> None:
        """Find out about one project's memories, unless that was done a moment ago."""
        branch, _ = await asyncio.to_thread(head, folder)
        place = (project_id, folder, branch)
        if monotonic() - self._looked.get(place, -math.inf) < PAUSE:
            return
        chosen = core.mind().settings
        self._looked[place] = monotonic()
        bound = await memory_files.bound(core.database, project_id, MOST_MEMORIES)
        checkout = await asyncio.to_thread(Checkout.at, folder)
        if checkout is None or not bound:
            return
        if chosen.mark_branches and branch:
            await self._look_at_branches(bound, checkout, branch)
        if chosen.mark_outdated:
            await self._look_at_files(core, bound, checkout)

    async def _look_at_branches(self, bound: list[Memory], checkout: Checkout, branch: str) -> None:
        elsewhere = [memory for memory in bound if memory.branch not in ("", branch)]
        origins = {(memory.branch, memory.commit) for memory in elsewhere}
        here = {origin for origin in origins if await asyncio.to_thread(checkout.has_merged, *origin)}
        merged = {(memory.id, branch) for memory in elsewhere if (memory.branch, memory.commit) in here}
        apart = {(memory.id, branch) for memory in elsewhere} - merged
        self.known = replace(
            self.known,
            merged=frozenset((self.known.merged - apart) | merged),
            apart=frozenset((self.known.apart - merged) | apart),
        )

    async def _look_at_files(self, core: Core, bound: list[Memory], checkout: Checkout) -> None:
        with_files = [memory for memory in bound if memory.files]
        stamps = await memory_files.stamps(core.database, [memory.id for memory in with_files])
        closed = await memory_files.at_rest(core.database, [memory.id for memory in with_files])
        found = await asyncio.to_thread(_compared, with_files, checkout, stamps, closed)
        outdated, fresh = found
        async with core.database.write() as tx:
            await memory_files.keep(tx, fresh)
        ids = {memory.id for memory in with_files}
        others = {number: files for number, files in self.known.outdated.items() if number not in ids}
        self.known = replace(self.known, outdated=others | outdated)


Stamps = dict[tuple[int, str], str]


def _compared(
    bound: list[Memory], checkout: Checkout, stamps: Stamps, closed: set[int]
) -> tuple[dict[int, tuple[str, ...]], Stamps]:
    """Which files of which memories have changed since; what those are like that are seen for the first time."""
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
