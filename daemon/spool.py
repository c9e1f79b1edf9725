"""The spool: every entry becomes one job, and is removed after the job's transaction has been committed.

An entry is deleted only after the transaction that finished its job. A crash in between leaves an entry whose job is
done: the next sweep deletes it. A crash before that transaction leaves a leased job, which the next daemon
runs again.
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

from subconscious.app import App
from subconscious.authorship import unheard_entries
from subconscious.authorship.attestation import EARLY, KNOWN, UNHEARD, record_spooled_prompt
from subconscious.context.entry import MAX_BYTES, NAME_SUFFIX, Entry, read_entry
from subconscious.context.priority import LONGEST, aside
from subconscious.redaction import remaining_copies
from subconscious.redaction.cleaning import clean
from subconscious.store import events, jobs, losses
from subconscious.system.safe_files import NotRegularError, TooLargeError, is_missing, replace_file

from .events import EVENTS

log = logging.getLogger("subconscious.daemon")

BATCH = 200
MOST_UNWRITTEN = 32 * 2**20
"""The most bytes of entries that are kept in memory while the disk is full; enough for some thousand events."""
PAUSE_SECONDS = 0.02
"""Seconds to wait for further entries before the entries are processed."""
CLEANED_AT_ONCE = 4096
"""The largest broken entry, in bytes, that is redacted during the sweep; larger ones are redacted in the background."""
MOST_NAMED = 20
"""The most broken entries per batch that are logged one by one; the queue stores the reason of every entry."""
ENTRY_NAME = re.compile(r"[0-9a-z][0-9a-z.-]*\.entry")
DRAFT_NAME = re.compile(rf"\.({ENTRY_NAME.pattern})(?:-[0-9a-f]{{8}})?\.tmp")
"""The name of a file to which a hook or ``replace_file`` is writing an entry."""


class Spool:
    """Turns the entries of the spool folder into jobs."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._folder = app.home.spool
        self._known: set[str] = set()
        self._stuck: set[str] = set()
        self._to_set_aside: dict[str, None] = {}
        self._large_task: asyncio.Task[None] | None = None
        self._sweeping = asyncio.Lock()
        self._last_size: int | None = None
        # Entries that neither their hooks nor we could write yet; by name, oldest first.
        self._unwritten: dict[str, bytes] = {}
        self._writing_out = asyncio.Lock()
        # Entries of sessions that no daemon had heard of when this one started.
        self._before_any_daemon: frozenset[str] = frozenset()
        self.lost = 0
        self._half_written: dict[str, int] = {}

    async def note_unheard(self) -> None:
        """Record the entries whose hooks could not be verified, because no daemon was listening when they were written.

        An entry with a job is not recorded: an earlier daemon found it, and could have verified its hook.
        """
        async with self._sweeping:  # a sweep at the same time would queue jobs for these entries first
            names = await asyncio.to_thread(entry_names, self._folder)
            known = await jobs.states(self._app.database, names)
            unheard = {name for name in names if name not in known}
            examined = await unheard_entries.examine(self._app, unheard, self._folder)
            self._app.sessions.unheard.update(unheard - examined.doubted)
            self._before_any_daemon = examined.unknown

    def path(self, name: str) -> Path:
        """Return the path of an entry."""
        return self._folder / name

    async def sweep(self) -> int:
        """Queue jobs for new entries, oldest first; return how many."""
        async with self._sweeping:
            names = await asyncio.to_thread(entry_names, self._folder)
            self._known.intersection_update(names)
            self._stuck = {name for name in self._stuck if name in names or DRAFT_NAME.fullmatch(name)}
            fresh = [name for name in names if name not in self._known]
            for start in range(0, len(fresh), BATCH):
                await self._enqueue(fresh[start : start + BATCH])
            if fresh:
                self._app.signals.heard()
                self._app.signals.queued.set()
            return len(fresh)

    async def _enqueue(self, names: list[str]) -> None:
        states = await jobs.states(self._app.database, names)
        for name in names:
            if states.get(name) == "done":
                self.remove(name)
        await self._set_aside_all([name for name in names if states.get(name) == "buried"])
        new = [name for name in names if name not in states]
        read = await asyncio.to_thread(lambda: [(name, _try_read(self.path(name))) for name in new])
        await self._record_early([(name, found) for name, found in read if name in self._app.sessions.unheard])
        async with self._app.database.write() as tx:
            for name, found in read:
                if isinstance(found, Entry):
                    if name in self._app.sessions.unheard:
                        await events.record(tx, KNOWN, "prompt", found.payload.session_id)
                    await jobs.enqueue(tx, name, found.event, found.payload.session_id, found.at)
                elif found:
                    await jobs.bury(tx, name, "", found, time())
        broken = {name: found for name, found in read if isinstance(found, str) and found}
        for name, reason in list(broken.items())[:MOST_NAMED]:
            log.warning("entry %s set aside: %s", name, reason)
        if len(broken) > MOST_NAMED:
            log.warning("%d more entries set aside", len(broken) - MOST_NAMED)
        await self._set_aside_all(list(broken))
        self._known.update(names)

    async def _record_early(self, found: Iterable[tuple[str, Entry | str]]) -> None:
        """Record prompts whose job has not run yet, before any job reads a transcript."""
        for name, one in found:
            if isinstance(one, Entry):
                mark = EARLY if name in self._before_any_daemon else UNHEARD
                await record_spooled_prompt(self._app, one, mark)

    def remove(self, name: str) -> None:
        """Delete an entry after its job has committed."""
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:  # the file is immutable, or was replaced by a folder
            self._mark_stuck(name, error)

    async def bury(self, name: str) -> None:
        """Redact an entry and move it to the folder of broken entries: a later version may be able to process it."""
        await self._set_aside_all([name])

    async def waiting(self) -> int:
        """Return how many entries wait to be processed, without those that can't be removed or will be set aside."""
        names = await asyncio.to_thread(entry_names, self._folder)
        return sum(name not in self._stuck and name not in self._to_set_aside for name in names)

    async def _set_aside_all(self, names: list[str]) -> None:
        """Set entries aside, large ones in the background: redacting a megabyte takes seconds."""
        large = await asyncio.to_thread(lambda: [name for name in names if not self._set_aside_if_small(name)])
        self._to_set_aside.update(dict.fromkeys(large))
        if self._to_set_aside and (self._large_task is None or self._large_task.done()):
            self._large_task = asyncio.create_task(self._set_aside_large())

    async def _set_aside_large(self) -> None:
        """Set large entries aside one by one, each in a thread; the next daemon continues if this one stops."""
        while self._to_set_aside:
            await aside(self._app.signals, most=LONGEST)
            name = next(iter(self._to_set_aside))
            await asyncio.to_thread(self._set_aside_entry, name)
            self._to_set_aside.pop(name)

    def _set_aside_if_small(self, name: str) -> bool:
        """Set an entry aside if it is small, or too large to be read; return False if a background task must do it."""
        with contextlib.suppress(OSError):
            if CLEANED_AT_ONCE < self.path(name).lstat().st_size <= MAX_BYTES:
                return False
        self._set_aside_entry(name)
        return True

    def _set_aside_entry(self, name: str) -> None:
        self._set_aside(self.path(name), name)

    def _set_aside(self, path: Path, name: str) -> None:
        """Redact an entry, then move it; after a crash in between it is still in the spool and is set aside again.

        An entry that is too large, or not a regular file, is moved without being read.
        """
        try:
            self._app.home.buried.mkdir(mode=0o700, exist_ok=True)
            with contextlib.suppress(NotRegularError, TooLargeError):
                remaining_copies.rewrite_one(path, remaining_copies.in_parts(clean))
            path.replace(_free(self._app.home.buried, name))
        except FileNotFoundError:
            return
        except Exception as error:  # noqa: BLE001 - one entry that can't be set aside must not hold up the others
            self._mark_stuck(path.name, error)

    def _mark_stuck(self, name: str, error: Exception) -> None:
        """Leave an entry that can't be moved or deleted, and log it once."""
        if name not in self._stuck:
            log.error("entry %s can't be moved or deleted: %s", name, error)
        self._stuck.add(name)

    @property
    def unwritten_count(self) -> int:
        """Return how many entries are only in memory."""
        return len(self._unwritten)

    async def accept(self, name: str, raw: bytes) -> None:
        """Store an entry that its hook could not write: in the spool if there is space now, else in memory."""
        if not ENTRY_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not an entry name")
        self._app.disk.note_reason("a hook could not write its entry")
        self._unwritten[name] = raw
        while sum(map(len, self._unwritten.values())) > MOST_UNWRITTEN:
            del self._unwritten[min(self._unwritten)]
            self.lost += 1
            log.error("the disk is full, and so is the memory for unwritten entries: the oldest entry is lost")
        with contextlib.suppress(OSError):
            await self.write_out()

    async def write_out(self) -> None:
        """Write entries that are only in memory to the spool. Raises OSError if there is no space yet."""
        async with self._writing_out:
            for name in sorted(self._unwritten):
                await asyncio.to_thread(replace_file, self.path(name), self._unwritten[name])
                del self._unwritten[name]
                self._app.signals.spooled.set()

    async def watch(self) -> None:
        """Sweep when the folder changes, and regularly in any case: shared folders report no changes."""
        watcher = asyncio.create_task(self._signal())
        try:
            while not self._app.signals.stopping.is_set():
                self._app.signals.spooled.clear()
                await self._try_sweep()
                if await self._arrival(self._app.settings.sweep_seconds):
                    await self._wait_for_pause()
        finally:
            watcher.cancel()

    async def _wait_for_pause(self) -> None:
        """Wait for the end of a burst of hooks before processing it: the last of them may be waiting for an answer."""
        until = monotonic() + LONGEST
        while (left := until - monotonic()) > 0 and not self._app.signals.stopping.is_set():
            self._app.signals.spooled.clear()
            if not await self._arrival(min(left, PAUSE_SECONDS)):
                break
        await aside(self._app.signals, most=LONGEST)

    async def _arrival(self, seconds: float) -> bool:
        """Whether an entry arrives within ``seconds``."""
        try:
            await asyncio.wait_for(self._app.signals.spooled.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _try_sweep(self) -> None:
        try:
            await self.sweep()
        except Exception as error:
            # After any error the entries are still there for the next sweep.
            if self._app.disk.note(error):
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
            stop_event=self._app.signals.stopping,
        )
        try:
            async for _ in changes:
                self._app.signals.spooled.set()
        except (OSError, RuntimeError) as error:  # no inotify watches are left, or the file system has none
            log.warning("the spool can't be watched, sweeping every few seconds instead: %s", error)

    async def keep_within_cap(self) -> int:
        """Drop the oldest entries beyond the cap, unless the spool is shrinking; return how many were dropped.

        This is called regularly. After a long absence the daemon may find more than the cap allows: at the first call,
        and while the spool shrinks from one call to the next, nothing is dropped unread.
        """
        size = await asyncio.to_thread(_size_of, [self._folder, self._app.home.buried])
        shrinks = self._last_size is None or size < self._last_size
        self._last_size = size
        await self.adopt_half_written()
        return 0 if shrinks else await self.hold_cap()

    async def hold_cap(self) -> int:
        """Drop the oldest entries beyond the cap, and record the loss; return how many were dropped.

        Only size counts. An entry's name and modification time come from a clock that may have been years off, so no
        unread data is deleted because of its age. Entries that were set aside contain unread data too: they have a
        separate cap of the same size.
        """
        most = self._app.settings.spool_max_mb * 2**20
        over = await asyncio.to_thread(_over_cap, self._folder, most)
        aside = await asyncio.to_thread(_over_cap, self._app.home.buried, most)
        if over or aside:
            log.error("the spool reached its size limit: the %d oldest entries were deleted", len(over) + len(aside))
            async with self._app.database.write() as tx:
                await losses.record_dropped(tx, [*over, *aside][0], _dropped(len(over), len(aside)))
                await jobs.delete(tx, over)
            await asyncio.to_thread(_remove, [*map(self.path, over), *(self._app.home.buried / name for name in aside)])
        return len(over) + len(aside)

    async def adopt_half_written(self) -> int:
        """Add unfinished files of killed hooks to the spool or set them aside; return how many there were.

        If a file has not changed since the last check, nothing writes it any more, even if the clock is wrong. A hook
        that was only suspended finds its file gone, and writes the entry again under the same name. A complete entry
        joins the spool; an incomplete one is set aside.
        """
        sizes = await asyncio.to_thread(_half_written, self._folder)
        left = [name for name, size in sizes.items() if self._half_written.get(name) == size]
        self._half_written = sizes
        for draft in left:
            await aside(self._app.signals, most=LONGEST)
            await asyncio.to_thread(self._adopt, draft)
        return len(left)

    def _adopt(self, draft: str) -> None:
        """Add a complete entry to the spool; set an incomplete one aside like a broken entry."""
        path, name = self.path(draft), _entry_of(draft)
        if not isinstance(_try_read(path), Entry):
            self._set_aside(path, name)
            return
        try:
            path.rename(self.path(name))
        except FileNotFoundError:
            return  # the hook was only slow, and renamed the file itself
        except OSError as error:
            self._mark_stuck(draft, error)


def _entry_of(draft: str) -> str:
    """Return the name of the entry that a hook was writing to a draft file; "" if the file is not a draft."""
    found = DRAFT_NAME.fullmatch(draft)
    return found[1] if found else ""


def _free(folder: Path, name: str) -> Path:
    """Return an unused path in a folder, so that an entry set aside earlier under the same name is not replaced."""
    names = chain([name], (f"{number}.{name}" for number in count(1)))
    return next(folder / free for free in names if is_missing(folder / free))


def _is_arrival(change: Change, path: str) -> bool:
    """Whether a change is a new entry, not one of our own deletions."""
    return change is not Change.deleted and path.endswith(NAME_SUFFIX)


def entry_names(folder: Path) -> list[str]:
    """Return the names of the complete entries of a spool, oldest first.

    Unfinished entries begin with a dot; other files are not ours.
    """
    try:
        with os.scandir(folder) as files:
            return sorted(file.name for file in files if ENTRY_NAME.fullmatch(file.name))
    except FileNotFoundError:
        return []


def _half_written(folder: Path) -> dict[str, int]:
    """Return the sizes of the files that hooks have not finished, by name."""
    sizes = {}
    for file in folder.glob(f".*{NAME_SUFFIX}*.tmp"):
        with contextlib.suppress(FileNotFoundError):
            if _entry_of(file.name):
                sizes[file.name] = file.lstat().st_size
    return sizes


def _size_of(folders: Iterable[Path]) -> int:
    """Return the total bytes of the entries in some folders."""
    return sum(size for folder in folders for _, size in _sizes(folder))


def _sizes(folder: Path) -> list[tuple[str, int]]:
    """Return the names and sizes of the entries in a folder, oldest first."""
    sizes = []
    for name in entry_names(folder):
        with contextlib.suppress(FileNotFoundError):
            sizes.append((name, (folder / name).lstat().st_size))
    return sizes


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        with contextlib.suppress(OSError):  # already deleted, or not a file
            file.unlink()


def _dropped(entries: int, aside: int) -> str:
    """Return how many entries were dropped, as text."""
    parts = [
        f"{entries} entries beyond the size limit of the spool" if entries else "",
        f"{aside} set aside earlier" if aside else "",
    ]
    return ", ".join(filter(None, parts))


def _try_read(path: Path) -> Entry | str:
    """Return a parsed entry, or the reason why it can't be parsed; "" if the file no longer exists."""
    try:
        entry = read_entry(path)
    except FileNotFoundError:
        return ""
    except Exception as error:  # noqa: BLE001
        # An entry with any error is set aside with the reason, and does not delay the others.
        return f"broken entry: {error}"
    return entry if entry.event in EVENTS else f"unknown event {entry.event!r}"


def _over_cap(folder: Path, most: int) -> list[str]:
    """Return the names of the oldest entries, which must be removed so that the rest is within ``most`` bytes."""
    sizes = _sizes(folder)
    total = sum(size for _, size in sizes)
    dropped = []
    for name, size in sizes:
        if total <= most:
            break
        dropped.append(name)
        total -= size
    return dropped
