"""A database with all migrations applied, made once in a test process and copied for each test."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from functools import cache
from pathlib import Path
from time import time

from subconscious.settings.settings import Settings
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.upkeep.maintenance import due_since


def copy_migrated(path: Path) -> None:
    """Put an empty, migrated database at ``path``."""
    path.touch(mode=0o600)
    path.write_bytes(_migrated(due_since("nightly", time(), Settings.maintenance_hour)))


@cache
def _migrated(night: float) -> bytes:
    """Return a database that was made after the time of a night's jobs: for an older one these are due at once."""
    del night
    # In a loop of its own, so that a synchronous fixture can ask for it while a test's loop runs.
    made: list[bytes] = []
    thread = threading.Thread(target=lambda: made.append(asyncio.run(_make())))
    thread.start()
    thread.join()
    return made[0]


async def _make() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        database = await open_database(path)
        await migrate(database)
        await database.close()  # folds the WAL into the file
        return path.read_bytes()
