"""Replaces the database with a backup copy, while no process has the database open."""

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

from subconscious.store.backups import STAMP, Copy, copy_database, listing, older_copies
from subconscious.store.check import Health, check, open_readonly
from subconscious.system.safe_files import is_missing, require_regular

REPLACED = re.compile(r"memory\.db-(\d{8}-\d{6})")


def replaced_folder(database: Path) -> Path:
    """Return the folder for database files that were replaced."""
    return database.parent / "broken"


def restorable(database: Path) -> list[Copy]:
    """Return the files that can be restored: backup copies, then replaced databases and copies made by older versions.

    Each of the two groups is sorted latest first.
    """
    older = [Copy(path, path.stat().st_mtime, int(path.stem[-15:-11])) for path in older_copies(database)]
    found = [(path, REPLACED.fullmatch(path.name)) for path in replaced_folder(database).glob(f"{database.name}-*")]
    replaced = [Copy(path, path.stat().st_mtime, 0) for path, match in found if match]
    return [*listing(database), *sorted([*older, *replaced], key=lambda copy: -copy.at)]


def accepted_settings(database: Path) -> dict[str, Any] | None:
    """Return the guarded settings that a person accepted last; None if neither the database nor a copy contains any."""
    sql = "SELECT after FROM events WHERE subject = 'settings' AND subject_id = 'guarded' ORDER BY id DESC LIMIT 1"
    for path in (database, *(copy.path for copy in listing(database))):
        with suppress(sqlite3.Error, OSError, ValueError, TypeError), open_readonly(path) as connection:
            values: dict[str, Any] = json.loads(connection.execute(sql).fetchone()[0])
            return values
    return None


def start_fresh(database: Path) -> list[Path]:
    """Move the database and the rendered files to another folder, and delete the vector indexes; return the new paths.

    Backup copies stay.
    """
    moved = [kept] if (kept := _keep_replaced(database)) else []
    database.unlink(missing_ok=True)
    stamp = f"{datetime.fromtimestamp(time(), UTC):{STAMP}}"
    rendered = database.with_name("rendered")
    if rendered.exists():
        replaced_folder(database).mkdir(mode=0o700, exist_ok=True)
        moved.append(rendered.replace(replaced_folder(database) / f"rendered-{stamp}"))
    for index in database.parent.glob("vectors*.db*"):
        index.unlink(missing_ok=True)
    return moved


def restore(database: Path, copy: Path) -> tuple[Health, Path | None]:
    """Replace the database with a copy; return the copy's statistics, and the replaced file's new path (None if none).

    Raises NewerStoreError or StoreError if the copy is not usable; nothing is changed then.
    """
    health = check(copy)
    draft = database.with_name(f".{database.name}.restoring")
    copy_database(copy, draft)
    _record_restore(draft, copy.name)
    kept = _keep_replaced(database)
    # Atomic: a reader sees the old or the new file, never none.
    draft.replace(database)
    for index in database.parent.glob("vectors*.db*"):
        index.unlink(missing_ok=True)
    return health, kept


def _record_restore(draft: Path, name: str) -> None:
    """Record in a restored copy that it was restored, and from which file."""
    event = "INSERT INTO events (at, actor, action, subject, subject_id) VALUES (?, 'user', 'restore', 'store', ?)"
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute(event, (time(), name))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _keep_replaced(database: Path) -> Path | None:
    """Keep the current database in the folder of replaced files; return its new path (None if it is missing)."""
    kept = replaced_folder(database) / f"{database.name}-{datetime.fromtimestamp(time(), UTC):{STAMP}}"
    replaced_folder(database).mkdir(mode=0o700, exist_ok=True)
    # Skip this for an empty file: SQLite would delete the WAL beside it.
    with suppress(sqlite3.Error, OSError):
        if require_regular(database).st_size:
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for part in ("-wal", "-shm"):
        # The WAL first: if it were left behind, SQLite would apply it to the next database at this path.
        with suppress(FileNotFoundError):
            database.with_name(database.name + part).replace(kept.with_name(kept.name + part))
    if is_missing(database):
        return None
    try:
        os.link(database, kept)
    except OSError:
        shutil.copy2(database, kept)
    return kept
