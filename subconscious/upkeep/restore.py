"""Restores a copy of the database, or starts with an empty one, while holding the daemon's lock."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.domain.errors import DaemonError, NewerStoreError, NotFoundError, StoreError, SubconsciousError
from subconscious.settings.home import Home
from subconscious.store import events, restoring
from subconscious.store.backups import Copy, checksum, checksums
from subconscious.store.check import Health, check
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.verification import Loss, loss

__all__ = ["LATEST", "Loss", "choices", "expected_loss", "find", "put_back", "start_empty"]

LATEST = "latest"
"""The word that names the newest undamaged copy on the command line."""


@dataclass(frozen=True, slots=True)
class RestorableCopy:
    """A copy with its size and number of memories; ``fault`` says why it can't be restored ("": it can)."""

    copy: Copy
    size: int
    memories: int
    fault: str = ""


LIST_HINT = "`subconscious restore` lists the copies"


def choices(home: Home) -> list[RestorableCopy]:
    """Return all copies with the result of their check, the latest first."""
    known = checksums(home.database)
    return [_examined(copy, known.get(copy.path.name, "")) for copy in restoring.restorable(home.database)]


def _examined(copy: Copy, digest: str) -> RestorableCopy:
    size = copy.path.stat().st_size
    try:
        if digest and checksum(copy.path) != digest:
            return RestorableCopy(copy, size, 0, "it has changed since it was made")
        return RestorableCopy(copy, size, check(copy.path).memories)
    except SubconsciousError as error:
        return RestorableCopy(copy, size, 0, error.message)


def find(home: Home, name: str) -> Path:
    """Return the path of a copy. ``name`` is its name or path, or `latest`. Raises NotFoundError if there is none."""
    if name == LATEST:
        return _latest(home)
    known = {copy.path.name: copy.path for copy in restoring.restorable(home.database)}
    if name in known:
        return known[name]
    path = Path(name).expanduser()
    if not path.is_file():
        raise NotFoundError(f"there is no copy {name!r}", LIST_HINT)
    try:
        check(path)
    except NewerStoreError:
        pass  # a valid copy of a newer version: restoring it reports what to do
    except StoreError as error:
        raise NotFoundError(f"{name!r} is not a copy of a memory database", LIST_HINT) from error
    return path


def _latest(home: Home) -> Path:
    for choice in choices(home):
        if not choice.fault and choice.copy.schema:
            return choice.copy.path
    raise NotFoundError("there is no undamaged copy", "to read a transcript again: subconscious capture TRANSCRIPT")


def put_back(home: Home, copy: Path) -> tuple[Health, Path | None]:
    """Replace the database with a copy; return the state of the new database, and the path of the old one.

    Raises DaemonError while a daemon holds the lock, StoreError for an unusable copy.
    """
    home.make()
    with _locked(home):
        done = restoring.restore(home.database, copy)
        _clear_findings(home)
        return done


def start_empty(home: Home) -> list[Path]:
    """Create an empty database; return the paths to which the old files were moved. The copies are kept.

    Raises DaemonError while a daemon holds the lock.
    """
    home.make()
    with _locked(home):
        settings = restoring.accepted_settings(home.database)
        moved = restoring.start_fresh(home.database)
        asyncio.run(_create(home.database, settings))
        _clear_findings(home)
        return moved


async def _create(path: Path, settings: dict[str, Any] | None) -> None:
    """Create an empty database with an event that records this, and with the guarded settings approved before."""
    database = await open_database(path)
    try:
        await migrate(database)
        async with database.write() as tx:
            # Explains to later checks why the database has less than its copies.
            await events.record(tx, "restore", "store", "fresh", actor="user")
            if settings is not None:
                # Otherwise the first start would approve everything in config.toml.
                await events.record(tx, "accept", "settings", "guarded", reason="kept", after=settings)
    finally:
        await database.close()


def _clear_findings(home: Home) -> None:
    """Delete the findings about the old database, which do not apply to the new one."""
    home.refusal.unlink(missing_ok=True)
    home.damage.unlink(missing_ok=True)


def expected_loss(home: Home, copy: Path) -> Loss:
    """Return the changes in the current database that a restore of this copy would lose."""
    return loss(home.database, copy)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    """Take the daemon's lock, so that no daemon can start. Raises DaemonError if one runs."""
    lock = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DaemonError(
            "the daemon is running and uses the database", "run `subconscious daemon stop`, then try again"
        ) from None
    finally:
        os.close(lock)
