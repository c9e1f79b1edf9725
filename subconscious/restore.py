"""Restore: list the copies of the database, and put one in its place, under the daemon's lock and without it."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.errors import DaemonError, NewerStoreError, NotFoundError, StoreError, SubconsciousError
from subconscious.home import Home
from subconscious.store import events, restoring
from subconscious.store.backups import Copy, checksum, checksums
from subconscious.store.check import Health, check
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.verification import Loss, loss

__all__ = ["LATEST", "Choice", "Loss", "begin_afresh", "choices", "find", "put_back", "what_is_lost"]

LATEST = "latest"
"""The word for the newest undamaged copy."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A copy that can be put back, and what it holds; ``fault`` says why it can't be."""

    copy: Copy
    size: int
    memories: int
    fault: str = ""


LIST = "`subconscious restore` lists the copies"


def choices(home: Home) -> list[Choice]:
    """Every copy that is kept, looked through, the latest first."""
    known = checksums(home.database)
    return [_looked_through(copy, known.get(copy.path.name, "")) for copy in restoring.candidates(home.database)]


def _looked_through(copy: Copy, digest: str) -> Choice:
    size = copy.path.stat().st_size
    try:
        if digest and checksum(copy.path) != digest:
            return Choice(copy, size, 0, "it has changed since it was made")
        return Choice(copy, size, check(copy.path).memories)
    except SubconsciousError as error:
        return Choice(copy, size, 0, error.message)


def find(home: Home, name: str) -> Path:
    """The copy that is meant by its name, or by the path of one that was put elsewhere. Raises NotFoundError."""
    if name == LATEST:
        return _latest(home)
    known = {copy.path.name: copy.path for copy in restoring.candidates(home.database)}
    if name in known:
        return known[name]
    path = Path(name).expanduser()
    if not path.is_file():
        raise NotFoundError(f"there is no copy {name!r}", LIST)
    try:
        check(path)
    except NewerStoreError:
        pass  # it is one of ours all the same; putting it back says what to do
    except StoreError as error:
        raise NotFoundError(f"{name!r} is no copy of a memory database", LIST) from error
    return path


def _latest(home: Home) -> Path:
    for choice in choices(home):
        if not choice.fault and choice.copy.schema:
            return choice.copy.path
    raise NotFoundError("there is no sound copy", "transcripts can be read again: subconscious capture")


def put_back(home: Home, copy: Path) -> tuple[Health, Path | None]:
    """Let a copy be the database; return what it holds, and where what it replaced lies.

    Raises DaemonError while a daemon has it, StoreError where the copy is not fit for it.
    """
    home.make()
    with _locked(home):
        done = restoring.put_back(home.database, copy)
        _forget_findings(home)
        return done


def begin_afresh(home: Home) -> list[Path]:
    """Create an empty database on a person's word; return where what was there lies now. The copies stay.

    Raises DaemonError while a daemon has the database.
    """
    home.make()
    with _locked(home):
        settings = restoring.accepted_settings(home.database)
        moved = restoring.begin_afresh(home.database)
        asyncio.run(_create(home.database, settings))
        _forget_findings(home)
        return moved


async def _create(path: Path, settings: dict[str, Any] | None) -> None:
    """Create a database that knows who emptied it, and which guarded settings had been accepted."""
    database = await open_database(path)
    try:
        await migrate(database)
        async with database.write() as tx:
            # On record, so that nobody wonders why it has less than its copies.
            await events.record(tx, "restore", "store", "fresh", actor="user")
            if settings is not None:
                # Else the first start would accept the config.toml of that time.
                await events.record(tx, "accept", "settings", "guarded", reason="kept", after=settings)
    finally:
        await database.close()


def _forget_findings(home: Home) -> None:
    """What was found wrong with the database that was there is not true of this one."""
    home.refusal.unlink(missing_ok=True)
    home.damage.unlink(missing_ok=True)


def what_is_lost(home: Home, copy: Path) -> Loss:
    """What a restore of this copy would lose of the history that survives."""
    return loss(home.database, copy)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    """Be the one who may write the database: the lock that makes a process the daemon."""
    lock = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DaemonError("the daemon holds the database", "subconscious daemon stop; then try again") from None
    finally:
        os.close(lock)
