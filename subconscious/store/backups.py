"""Copies of the database: made whole, looked through, and kept for some days and weeks (SPEC A16).

They lie in ``backups/`` beside it, are their owner's alone, and are named by time and schema. A purge replaces all.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time

from subconscious.errors import StoreError

NAME = re.compile(r"\w+-(\d{8}-\d{6})-schema(\d{4})\.db")
STAMP = "%Y%m%d-%H%M%S"
SKEW = 60.0
"""Seconds by which a copy's time may lie ahead of now: clocks are corrected a little."""
SPARE = 200 * 2**20
"""Bytes of the disk that no copy of every day takes: whoever works here needs them more."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the database as it was at a time."""

    path: Path
    at: float
    schema: int


def folder_of(database: Path) -> Path:
    """Where a database's copies lie."""
    return database.parent / "backups"


def listing(database: Path) -> list[Copy]:
    """The copies that are kept, the latest first; drafts of those that were cut short are none.

    A copy with a time ahead of now was made under a wrong clock. Its age is unknown: it counts as the oldest, so that
    it neither passes for the latest nor keeps a new one from being made.
    """
    found = [(path, NAME.fullmatch(path.name)) for path in folder_of(database).glob(f"{database.stem}-*.db")]
    copies = [Copy(path, _read(match[1]), int(match[2])) for path, match in found if match]
    now = time()
    return sorted(copies, key=lambda copy: (copy.at > now + SKEW, -copy.at, copy.path.name))


def _read(stamp: str) -> float:
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC).timestamp()


def keep_copy(database: Path, schema: int, spare: int = 0) -> Path:
    """Keep a verified copy of a database, by SQLite's own backup (it includes what is in the WAL); return its path.

    Raises StoreError when there is no room that leaves ``spare`` bytes, or when the copy is not sound; then nothing has
    been changed but that the oldest copies may have made room.
    """
    folder = folder_of(database)
    folder.mkdir(mode=0o700, exist_ok=True)
    _make_room(database, database.stat().st_size + spare)
    name = f"{database.stem}-{datetime.fromtimestamp(time(), UTC):{STAMP}}-schema{schema:04d}.db"
    draft = folder / f".{name}.tmp"
    duplicate(database, draft)
    return draft.replace(folder / name)


def _make_room(database: Path, needed: int) -> None:
    """Let the oldest copies go where the disk is short of room; the latest stays whatever happens."""
    for draft in folder_of(database).glob(".*.tmp*"):
        draft.unlink(missing_ok=True)
    copies = listing(database)
    while shutil.disk_usage(database.parent).free < needed and len(copies) > 1:
        copies.pop().path.unlink(missing_ok=True)
    free = shutil.disk_usage(database.parent).free
    if free < needed:
        raise StoreError(f"no room for a copy of {database}: {free // 2**20} MB are free", "make room on the disk")


def duplicate(database: Path, copy: Path) -> None:
    """Copy a database whole and look it through. Raises StoreError, and leaves nothing, when that is not sound."""
    copy.unlink(missing_ok=True)
    copy.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            verdict = str(target.execute("PRAGMA quick_check").fetchone()[0])
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        copy.unlink()
        raise StoreError(f"no sound copy of {database} could be made: {verdict}", "run `subconscious doctor`")


def rotate(database: Path, daily: int, weekly: int) -> list[Path]:
    """Keep the latest copy of each of the last days and weeks, of each schema; return those that went."""
    copies = listing(database)
    kept = {*copies[:1], *_latest(copies, "%Y%m%d", daily), *_latest(copies, "%G-%V", weekly)}
    gone = [copy.path for copy in copies if copy not in kept]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def _latest(copies: Sequence[Copy], span: str, number: int) -> list[Copy]:
    """The latest copy in each of so many spans of time, as strftime tells them apart; one for each schema."""
    spans: dict[str, dict[int, Copy]] = {}
    for copy in copies:
        spans.setdefault(datetime.fromtimestamp(copy.at, UTC).strftime(span), {}).setdefault(copy.schema, copy)
    return [copy for of_span in list(spans.values())[:number] for copy in of_span.values()]
