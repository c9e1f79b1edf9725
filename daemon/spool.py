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
from subconscious.safe_files import NotRegularError, TooLargeError, is_missing, replace_file
from subconscious.store import events, jobs, losses

from . import remains, unheard
from .aside import LONGEST, aside
from .core import Core
from .entry import MAX_BYTES, NAME_SUFFIX, Entry, read_entry
from .events import EVENTS
from .vouching import KNOWN

log = logging.getLogger("subconscious.daemon")

BATCH = 200
MOST_UNWRITTEN = 32 * 2**20
"""Bytes of entries that are kept in memory while the disk is full: some thousand events."""
SETTLED = 0.02
"""Seconds without a further entry after which those that came are worked on."""
CLEANED_AT_ONCE = 4096
"""Bytes of an entry that is set aside which are looked through for secrets while the sweep waits."""
MOST_NAMED = 20
"""Entries of one batch whose reason is logged each by itself; every reason stands in the queue."""
ENTRY_NAME = re.compile(r"[0-9a-z][0-9a-z.-]*\.entry")
DRAFT_NAME = re.compile(rf"\.({ENTRY_NAME.pattern})(?:-[0-9a-f]{{8}})?\.tmp")
"""An entry that is being written, by a hook or by ``replace_file``."""


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
        self._last_size: int | None = None
        # Entries that their hooks could not write, and that can't be written yet; by name, oldest first.
        self._unwritten: dict[str, bytes] = {}
        self._writing_out = asyncio.Lock()
        self.lost = 0
        self._half_written: dict[str, int] = {}

    async def note_unheard(self) -> None:
        """Note the entries that lie in the spool when a daemon begins to listen: none could hear their hooks.

        An entry that already has a job was found by a daemon before, so its hook could have been heard.
        """
        names = await asyncio.to_thread(entry_names, self._folder)
        known = await jobs.states(self._core.database, names)
        self._core.unheard.update(name for name in names if name not in known)
        self._core.unheard -= await unheard.doubted(self._core, self._core.unheard, self._folder)

    def path(self, name: str) -> Path:
        """Where an entry lies."""
        return self._folder / name

    async def sweep(self) -> int:
        """Make jobs of the entries that are new, oldest first; return how many."""
        async with self._sweeping:
            names = await asyncio.to_thread(entry_names, self._folder)
            self._known.intersection_update(names)
            self._stuck = {name for name in self._stuck if name in names or DRAFT_NAME.fullmatch(name)}
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
                    if name in self._core.unheard:
                        await events.record(tx, KNOWN, "prompt", found.payload.session_id)
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
        self._set_aside(self.path(name), name)

    def _set_aside(self, path: Path, name: str) -> None:
        """Clean an entry, then move it: who dies in between leaves it in the spool, to be set aside again.

        What is no file, or is larger than an entry may be, is moved as it is and not read.
        """
        try:
            self._core.home.buried.mkdir(mode=0o700, exist_ok=True)
            with contextlib.suppress(NotRegularError, TooLargeError):
                remains.rewrite_one(path, remains.in_parts(clean))
            path.replace(_free(self._core.home.buried, name))
        except FileNotFoundError:
            return
        except Exception as error:  # noqa: BLE001 - one entry that can't be set aside must not hold up the others
            self._leave(path.name, error)

    def _leave(self, name: str, error: Exception) -> None:
        """Let an entry lie that can't be moved or deleted, and say so once."""
        if name not in self._stuck:
            log.error("entry %s can't be moved or deleted: %s", name, error)
        self._stuck.add(name)

    @property
    def holding(self) -> int:
        """How many entries are in memory alone."""
        return len(self._unwritten)

    async def take(self, name: str, raw: bytes) -> None:
        """Keep an entry that its hook could not write: in the spool if there is room by now, else in memory."""
        if not ENTRY_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no entry's name")
        self._core.disk.note_reason("a hook could not write its entry")
        self._unwritten[name] = raw
        while sum(map(len, self._unwritten.values())) > MOST_UNWRITTEN:
            del self._unwritten[min(self._unwritten)]
            self.lost += 1
            log.error("the disk is full, and so is the memory for what hooks hand over: the oldest entry is dropped")
        with contextlib.suppress(OSError):
            await self.write_out()

    async def write_out(self) -> None:
        """Write what is in memory alone into the spool. Raises OSError when there is no room yet."""
        async with self._writing_out:
            for name in sorted(self._unwritten):
                await asyncio.to_thread(replace_file, self.path(name), self._unwritten[name])
                del self._unwritten[name]
                self._core.spooled.set()

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
        except Exception as error:
            # After any error the entries are still there for the next sweep, so the daemon goes on.
            if self._core.disk.note(error):
                log.error("the spool can't be swept: %s", error)  # noqa: TRY400 - a full disk, again and again
            else:
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

    async def keep_within_cap(self) -> int:
        """Drop the oldest entries beyond the cap, unless the spool is being worked off; return how many were dropped.

        Called again and again. After a long absence the daemon may find more than the cap allows: as long as the spool
        shrinks from one call to the next, nothing is dropped unread.
        """
        size = await asyncio.to_thread(_size_of, [self._folder, self._core.home.buried])
        shrinks = self._last_size is None or size < self._last_size
        self._last_size = size
        await self.adopt_half_written()
        return 0 if shrinks else await self.hold_cap()

    async def hold_cap(self) -> int:
        """Drop the oldest entries beyond the cap, and record it; return how many were dropped.

        Only size counts. An entry's name and modification time come from a clock that may have been years off, so age
        never deletes what nobody has read. Entries that were set aside hold unread words as well: they have a cap of
        the same size for themselves.
        """
        most = self._core.settings.spool_max_mb * 2**20
        over = await asyncio.to_thread(_over_cap, self._folder, most)
        aside = await asyncio.to_thread(_over_cap, self._core.home.buried, most)
        if over or aside:
            log.error("the spool reached its cap: %d entries dropped, oldest first", len(over) + len(aside))
            async with self._core.database.write() as tx:
                await losses.dropped(tx, [*over, *aside][0], _dropped(len(over), len(aside)))
                await jobs.forget(tx, over)
            await asyncio.to_thread(
                _remove, [*map(self.path, over), *(self._core.home.buried / name for name in aside)]
            )
        return len(over) + len(aside)

    async def adopt_half_written(self) -> int:
        """Take over what hooks that were killed left under a temporary name; return how many files that were.

        A file that did not change since the last look has no writer any more, even if the clock is wrong. A hook
        that was only suspended finds its file gone, and writes the entry again under the same name. A
        complete entry joins the spool; of an incomplete one the words are set aside.
        """
        sizes = await asyncio.to_thread(_half_written, self._folder)
        left = [name for name, size in sizes.items() if self._half_written.get(name) == size]
        self._half_written = sizes
        for draft in left:
            await aside(self._core, most=LONGEST)
            await asyncio.to_thread(self._adopt, draft)
        return len(left)

    def _adopt(self, draft: str) -> None:
        """Let a complete entry join the spool; set anything else aside, read as little as any entry that is broken."""
        path, name = self.path(draft), _entry_of(draft)
        if not isinstance(_try_read(path), Entry):
            self._set_aside(path, name)
            return
        try:
            path.rename(self.path(name))
        except FileNotFoundError:
            return  # its hook was only slow
        except OSError as error:
            self._leave(draft, error)


def _entry_of(draft: str) -> str:
    """The name of the entry that a draft was to become, "" if it is no draft."""
    found = DRAFT_NAME.fullmatch(draft)
    return found[1] if found else ""


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


def _half_written(folder: Path) -> dict[str, int]:
    """The sizes of the files that hooks have not finished, by name."""
    sizes = {}
    for file in folder.glob(f".*{NAME_SUFFIX}*.tmp"):
        with contextlib.suppress(FileNotFoundError):
            if _entry_of(file.name):
                sizes[file.name] = file.lstat().st_size
    return sizes


def _size_of(folders: Iterable[Path]) -> int:
    """Bytes of all entries in some folders."""
    return sum(size for folder in folders for _, size in _sizes(folder))


def _sizes(folder: Path) -> list[tuple[str, int]]:
    """The entries of a folder with their sizes, oldest first."""
    sizes = []
    for name in entry_names(folder):
        with contextlib.suppress(FileNotFoundError):
            sizes.append((name, (folder / name).lstat().st_size))
    return sizes


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        with contextlib.suppress(OSError):  # taken meanwhile, or no file
            file.unlink()


def _dropped(entries: int, aside: int) -> str:
    """What was dropped, in words."""
    parts = [f"{entries} entries over the cap" if entries else "", f"{aside} set aside earlier" if aside else ""]
    return ", ".join(filter(None, parts))


def _try_read(path: Path) -> Entry | str:
    """Read an entry, or say why it can't be understood; "" if it is gone."""
    try:
        entry = read_entry(path)
    except FileNotFoundError:
        return ""
    except Exception as error:  # noqa: BLE001
        # An entry with any error is set aside with the reason, and does not delay the others.
        return f"broken entry: {error}"
    return entry if entry.event in EVENTS else f"unknown event {entry.event!r}"


def _over_cap(folder: Path, most: int) -> list[str]:
    """The oldest entries that have to go until the rest is within ``most`` bytes."""
    sizes = _sizes(folder)
    total = sum(size for _, size in sizes)
    dropped = []
    for name, size in sizes:
        if total <= most:
            break
        dropped.append(name)
        total -= size
    return dropped
