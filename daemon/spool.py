"""The spool: every entry becomes one job, and goes when the job has committed.

An entry is deleted only after the transaction that finished its job. Dying in between leaves an entry whose job is
done: the next sweep deletes it. Dying before leaves a leased job, which the next daemon takes up again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path
from time import monotonic, time

from watchfiles import Change, awatch

from subconscious.flow.remembering import clean
from subconscious.safe_files import NotRegularError, TooLargeError, is_missing
from subconscious.store import events, jobs

from . import remains
from .aside import LONGEST, aside
from .core import Core
from .entry import MAX_BYTES, NAME_SUFFIX, Entry, read_entry
from .events import EVENTS

log = logging.getLogger("subconscious.daemon")

BATCH = 200
DAY = 86_400.0
HALF_WRITTEN_SECONDS = 3600.0
SETTLED = 0.02
"""Seconds without a further entry after which those that came are worked on."""
CLEANED_AT_ONCE = 4096
"""Bytes of an entry that is set aside which are looked through for secrets while the sweep waits."""
MOST_NAMED = 20
"""Entries of one batch whose reason is logged each by itself; every reason stands in the queue."""
ENTRY_NAME = re.compile(r"[0-9a-z][0-9a-z.-]*\.entry")


class Spool:
    """Sweeps the folder into the queue."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._folder = core.home.spool
        self._known: set[str] = set()
        self._stuck: set[str] = set()
        self._to_bury: dict[str, None] = {}
        self._burial: asyncio.Task[None] | None = None
        self._sweeping = asyncio.Lock()

    def path(self, name: str) -> Path:
        """Where an entry lies."""
        return self._folder / name

    async def sweep(self) -> int:
        """Make jobs of the entries that are new, oldest first; return how many."""
        async with self._sweeping:
            names = await asyncio.to_thread(entry_names, self._folder)
            self._known.intersection_update(names)
            self._stuck.intersection_update(names)
            fresh = [name for name in names if name not in self._known]
            for start in range(0, len(fresh), BATCH):
                await self._enqueue(fresh[start : start + BATCH])
            if fresh:
                self._core.heard()
                self._core.queued.set()
            return len(fresh)

    async def _enqueue(self, names: list[str]) -> None:
        states = await jobs.states(self._core.database, names)
        for name in names:
            if states.get(name) == "done":
                self.remove(name)
        await self._bury([name for name in names if states.get(name) == "buried"])
        new = [name for name in names if name not in states]
        read = await asyncio.to_thread(lambda: [(name, _try_read(self.path(name))) for name in new])
        async with self._core.database.write() as tx:
            for name, found in read:
                if isinstance(found, Entry):
                    await jobs.enqueue(tx, name, found.event, found.payload.session_id, found.at)
                elif found:
                    await jobs.bury(tx, name, "", found, time())
        broken = {name: found for name, found in read if isinstance(found, str) and found}
        for name, reason in list(broken.items())[:MOST_NAMED]:
            log.warning("entry %s set aside: %s", name, reason)
        if len(broken) > MOST_NAMED:
            log.warning("%d more entries set aside", len(broken) - MOST_NAMED)
        await self._bury(list(broken))
        self._known.update(names)

    def remove(self, name: str) -> None:
        """Delete an entry whose job has committed."""
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:  # immutable, or a folder by now
            self._leave(name, error)

    async def bury(self, name: str) -> None:
        """Set an entry aside, but keep its words, less what must not be kept: a later version may understand them."""
        await self._bury([name])

    async def waiting(self) -> int:
        """How many entries are still to be worked off: not those that were given up and only lie there."""
        names = await asyncio.to_thread(entry_names, self._folder)
        return sum(name not in self._stuck and name not in self._to_bury for name in names)

    async def _bury(self, names: list[str]) -> None:
        """Set entries aside, large ones in the background: to look a megabyte through for secrets takes seconds."""
        large = await asyncio.to_thread(lambda: [name for name in names if not self._bury_small(name)])
        self._to_bury.update(dict.fromkeys(large))
        if self._to_bury and (self._burial is None or self._burial.done()):
            self._burial = asyncio.create_task(self._bury_large())

    async def _bury_large(self) -> None:
        """One after the other, for each takes a thread; the daemon may leave meanwhile, and the next one goes on."""
        while self._to_bury:
            await aside(self._core, most=LONGEST)
            name = next(iter(self._to_bury))
            await asyncio.to_thread(self._bury_one, name)
            self._to_bury.pop(name)

    def _bury_small(self, name: str) -> bool:
        """Set an entry aside if that is quickly done; return whether it was."""
        with contextlib.suppress(OSError):
            if CLEANED_AT_ONCE < self.path(name).lstat().st_size <= MAX_BYTES:
                return False
        self._bury_one(name)
        return True

    def _bury_one(self, name: str) -> None:
        """Clean an entry, then move it: who dies in between leaves it in the spool, to be set aside again.

        What is no file, or is larger than an entry may be, is moved as it is and not read.
        """
        path = self.path(name)
        try:
            self._core.home.buried.mkdir(mode=0o700, exist_ok=True)
            with contextlib.suppress(NotRegularError, TooLargeError):
                remains.rewrite_one(path, remains.in_parts(clean))
            path.replace(_free(self._core.home.buried, name))
        except FileNotFoundError:
            return
        except Exception as error:  # noqa: BLE001 - one entry that can't be set aside must not hold up the others
            self._leave(name, error)

    def _leave(self, name: str, error: Exception) -> None:
        """Let an entry lie that can't be moved or deleted, and say so once."""
        if name not in self._stuck:
            log.error("entry %s can't be moved or deleted: %s", name, error)
        self._stuck.add(name)

    async def watch(self) -> None:
        """Sweep whenever the folder changes, and now and then all the same: shared folders report no changes."""
        watcher = asyncio.create_task(self._signal())
        try:
            while not self._core.stopping.is_set():
                self._core.spooled.clear()
                await self._try_sweep()
                if await self._arrival(self._core.settings.sweep_seconds):
                    await self._settle()
        finally:
            watcher.cancel()

    async def _settle(self) -> None:
        """Let a burst of hooks pass before its entries are worked on: the last of them may be waiting for an answer."""
        until = monotonic() + LONGEST
        while (left := until - monotonic()) > 0 and not self._core.stopping.is_set():
            self._core.spooled.clear()
            if not await self._arrival(min(left, SETTLED)):
                break
        await aside(self._core, most=LONGEST)

    async def _arrival(self, seconds: float) -> bool:
        """Whether something arrives within some seconds."""
        try:
            await asyncio.wait_for(self._core.spooled.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _try_sweep(self) -> None:
        try:
            await self.sweep()
        except Exception:
            # The entries lie where they lay, and the next sweep finds them: no reason for the daemon to leave.
            log.exception("the spool can't be swept")

    async def _signal(self) -> None:
        changes = awatch(
            self._folder,
            watch_filter=_is_arrival,
            debounce=20,
            step=10,
            recursive=False,
            stop_event=self._core.stopping,
        )
        try:
            async for _ in changes:
                self._core.spooled.set()
        except (OSError, RuntimeError) as error:  # no inotify watches left, or a file system without
            log.warning("the spool can't be watched, sweeping every few seconds instead: %s", error)

    async def hold_cap(self) -> int:
        """Keep the spool within its size and age, and say so when it was reached; returns how many entries went.

        What was set aside, and what hooks that were killed left half-written, holds a person's words as well: it goes
        when it is old.
        """
        chosen = self._core.settings
        oldest = time() - chosen.spool_max_days * DAY
        over = await asyncio.to_thread(_over_cap, self._folder, chosen.spool_max_mb * 2**20, oldest)
        await asyncio.to_thread(_remove_older, self._core.home.buried.glob("*"), oldest)
        await asyncio.to_thread(_remove_older, self._folder.glob(".*.tmp"), time() - HALF_WRITTEN_SECONDS)
        if over:
            log.error("the spool reached its cap: %d entries dropped, oldest first", len(over))
            async with self._core.database.write() as tx:
                await events.record(tx, "drop", "spool", over[0], reason=f"{len(over)} entries over the cap")
            for name in over:
                self.remove(name)
        return len(over)


def _free(folder: Path, name: str) -> Path:
    """A path in a folder at which nothing lies: what was set aside under the same name before is kept as well."""
    names = chain([name], (f"{number}.{name}" for number in count(1)))
    return next(folder / free for free in names if is_missing(folder / free))


def _is_arrival(change: Change, path: str) -> bool:
    """Whether a change is a new entry: our own deletions are no reason to look."""
    return change is not Change.deleted and path.endswith(NAME_SUFFIX)


def entry_names(folder: Path) -> list[str]:
    """The whole entries of a spool, oldest first; half-written ones begin with a dot, and others are not ours."""
    try:
        with os.scandir(folder) as files:
            return sorted(file.name for file in files if ENTRY_NAME.fullmatch(file.name))
    except FileNotFoundError:
        return []


def _remove_older(files: Iterable[Path], oldest: float) -> None:
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            if file.lstat().st_mtime < oldest:
                file.unlink()


def _try_read(path: Path) -> Entry | str:
    """Read an entry, or say why it can't be understood; "" if it is gone."""
    try:
        entry = read_entry(path)
    except FileNotFoundError:
        return ""
    except Exception as error:  # noqa: BLE001
        # Whatever is wrong with one entry, it is set aside with its reason and does not hold up the others.
        return f"broken entry: {error}"
    return entry if entry.event in EVENTS else f"unknown event {entry.event!r}"


def _over_cap(folder: Path, size: int, oldest: float) -> list[str]:
    """Names to drop: those older than ``oldest``, then the oldest until the rest is within ``size`` bytes."""
    sizes: list[tuple[str, int, float]] = []
    for name in entry_names(folder):
        with contextlib.suppress(FileNotFoundError):
            status = (folder / name).stat()
            sizes.append((name, status.st_size, status.st_mtime))
    total = sum(size for _, size, _ in sizes)
    dropped = []
    for name, length, modified in sizes:
        if modified >= oldest and total <= size:
            break
        dropped.append(name)
        total -= length
    return dropped
