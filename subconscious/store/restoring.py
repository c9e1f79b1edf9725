"""Putting a kept copy in the database's place, while nobody has it open."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

from subconscious.safe_files import is_missing, require_regular
from subconscious.store.backups import STAMP, Copy, duplicate, listing, older_copies
from subconscious.store.check import Health, check, reading

REPLACED = re.compile(r"memory\.db-(\d{8}-\d{6})")


def aside(database: Path) -> Path:
    """Where what was replaced lies."""
    return database.parent / "broken"


def candidates(database: Path) -> list[Copy]:
    """What can be put back, the latest first: copies that were made, then databases that were replaced."""
    older = [Copy(path, path.stat().st_mtime, int(path.stem[-15:-11])) for path in older_copies(database)]
    found = [(path, REPLACED.fullmatch(path.name)) for path in aside(database).glob(f"{database.name}-*")]
    replaced = [Copy(path, path.stat().st_mtime, 0) for path, match in found if match]
    return [*listing(database), *sorted([*older, *replaced], key=lambda copy: -copy.at)]


def accepted_settings(database: Path) -> dict[str, Any] | None:
    """Return the guarded settings that a person accepted last, from the database or else from its latest copy."""
    sql = "SELECT after FROM events WHERE subject = 'settings' AND subject_id = 'guarded' ORDER BY id DESC LIMIT 1"
    for path in (database, *(copy.path for copy in listing(database))):
        with suppress(sqlite3.Error, OSError, ValueError, TypeError), reading(path) as connection:
            values: dict[str, Any] = json.loads(connection.execute(sql).fetchone()[0])
            return values
    return None


def begin_afresh(database: Path) -> list[Path]:
    """Move the database, and what was derived from it, out of the way; return where it lies now. Copies stay."""
    moved = [kept] if (kept := _set_aside(database)) else []
    database.unlink(missing_ok=True)
    stamp = f"{datetime.fromtimestamp(time(), UTC):{STAMP}}"
    rendered = database.with_name("rendered")
    if rendered.exists():
        aside(database).mkdir(mode=0o700, exist_ok=True)
        moved.append(rendered.replace(aside(database) / f"rendered-{stamp}"))
    for index in database.parent.glob("vectors*.db*"):
        index.unlink(missing_ok=True)
    return moved


def put_back(database: Path, copy: Path) -> tuple[Health, Path | None]:
    """Let a copy be the database; what it replaces is kept. Return what the copy holds, and where the other lies.

    Raises NewerStoreError or StoreError where the copy is not fit for it; then nothing was changed.
    """
    health = check(copy)
    draft = database.with_name(f".{database.name}.restoring")
    duplicate(copy, draft)
    _note(draft, copy.name)
    kept = _set_aside(database)
    # In one step: whoever looks finds the one or the other, and never none.
    draft.replace(database)
    for index in database.parent.glob("vectors*.db*"):
        index.unlink(missing_ok=True)
    return health, kept


def _note(draft: Path, name: str) -> None:
    """Put on record, in the copy, that it was put back."""
    event = "INSERT INTO events (at, actor, action, subject, subject_id) VALUES (?, 'user', 'restore', 'store', ?)"
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute(event, (time(), name))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _set_aside(database: Path) -> Path | None:
    """Keep what is there under another name, with the WAL that belongs to it."""
    kept = aside(database) / f"{database.name}-{datetime.fromtimestamp(time(), UTC):{STAMP}}"
    aside(database).mkdir(mode=0o700, exist_ok=True)
    # Not of an empty file: SQLite would delete the WAL that is beside it.
    with suppress(sqlite3.Error, OSError):
        if require_regular(database).st_size:
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for part in ("-wal", "-shm"):
        # First: beside another database, a WAL that is left behind would be taken for its own.
        with suppress(FileNotFoundError):
            database.with_name(database.name + part).replace(kept.with_name(kept.name + part))
    if is_missing(database):
        return None
    try:
        os.link(database, kept)
    except OSError:
        shutil.copy2(database, kept)
    return kept
