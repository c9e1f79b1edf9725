"""Copies are whole, their owner's alone, as many as are wanted, and fit to be put back."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.lock import Lock
from subconscious.domain.errors import DaemonError, NewerStoreError, NotFoundError, StoreError
from subconscious.settings.home import Home
from subconscious.store import backups, memories
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.upkeep import restore
from tests.support.values import make_memory

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
async def stored(home: Home) -> Home:
    """A state folder with a memory, which no daemon has open."""
    database = await open_database(home.database)
    await migrate(database)
    async with database.write() as tx:
        await memories.insert(tx, make_memory())
    await database.close()
    return home


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])


def forget_all(home: Home) -> None:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        connection.execute("DELETE FROM memories")


def test_a_copy_is_whole_and_its_owners(stored: Home) -> None:
    copy = backups.create_copy(stored.database, 15)
    assert count(copy) == 1
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert [one.schema for one in backups.listing(stored.database)] == [15]
    assert len(list(copy.parent.iterdir())) == 1


def test_of_a_damaged_database_none_is_kept(stored: Home) -> None:
    stored.database.write_bytes(b"no database" * 999)
    with pytest.raises(StoreError, match="no sound copy"):
        backups.create_copy(stored.database, 15)
    assert list((stored.root / "backups").iterdir()) == []


def test_on_a_full_disk_the_oldest_go_and_the_latest_stays(stored: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = backups.folder_of(stored.database)
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"memory-2026010{day}-030000-schema0015.db").touch()
    left = iter([0, 0, 10**12])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, next(left, 10**12)))
    made = backups.create_copy(stored.database, 15)
    assert [one.path.name[7:15] for one in backups.listing(stored.database)] == [made.name[7:15], "20260103"]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 5))
    with pytest.raises(StoreError, match="no disk space"):
        backups.create_copy(stored.database, 15)
    assert backups.listing(stored.database)[0].path == made


@given(ages=st.sets(st.integers(0, 90), min_size=1), daily=st.integers(1, 9), weekly=st.integers(0, 9))
def test_so_many_days_and_weeks_are_kept(
    tmp_path_factory: pytest.TempPathFactory, ages: set[int], daily: int, weekly: int
) -> None:
    database = tmp_path_factory.mktemp("rotation") / "memory.db"
    backups.folder_of(database).mkdir()
    today = datetime(2026, 11, 22, 3, tzinfo=UTC)
    days = sorted((today - timedelta(days=age) for age in ages), reverse=True)
    for day in days:
        (backups.folder_of(database) / f"memory-{day:%Y%m%d-%H%M%S}-schema0015.db").touch()
    backups.rotate(database, daily, weekly)
    kept = {datetime.fromtimestamp(copy.at, UTC) for copy in backups.listing(database)}
    assert set(days[:daily]) <= kept
    weeks = list(dict.fromkeys(f"{day:%G-%V}" for day in days))[:weekly]
    assert {f"{day:%G-%V}" for day in kept} >= set(weeks)
    assert len(kept) <= daily + weekly
    assert backups.rotate(database, daily, weekly) == []


@pytest.mark.parametrize("fate", ["sound", "damaged", "missing"])
def test_a_copy_is_restored_over_any_state_of_the_database(stored: Home, fate: str) -> None:
    copy = backups.create_copy(stored.database, 15)
    (stored.root / "vectors-aa.db").touch()
    if fate == "sound":
        forget_all(stored)
    elif fate == "damaged":
        stored.database.write_bytes(b"no database" * 999)
        stored.database.with_name("memory.db-wal").write_bytes(b"rubbish")
    else:
        stored.database.unlink()
        stored.database.with_name("memory.db-wal").write_bytes(b"rubbish")
    before = stored.database.read_bytes() if fate != "missing" else b""
    health, kept = restore.put_back(stored, restore.find(stored, "latest"))
    assert (health.memories, count(stored.database)) == (1, 1)
    assert stored.database.stat().st_mode & 0o777 == 0o600
    assert (kept.read_bytes() if kept else b"") == before
    assert not (stored.root / "vectors-aa.db").exists()
    assert copy.exists()
    assert not list(stored.root.glob(".memory*"))
    if fate == "sound":
        assert kept is not None
        restore.put_back(stored, restore.find(stored, kept.name))
        assert count(stored.database) == 0


def test_an_unusable_copy_changes_nothing(stored: Home, tmp_path: Path) -> None:
    newer = backups.create_copy(stored.database, 15)
    with closing(sqlite3.connect(newer, isolation_level=None)) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (999, 'future', 0)")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 999)
    before = stored.database.read_bytes()
    with pytest.raises(NewerStoreError, match="newer version"):
        restore.put_back(stored, newer)
    with pytest.raises(StoreError, match="not a database"):
        restore.put_back(stored, broken)
    with pytest.raises(NotFoundError):
        restore.find(stored, "nothing")
    with pytest.raises(NotFoundError, match="no undamaged copy"):
        restore.find(stored, "latest")
    assert stored.database.read_bytes() == before
    assert [bool(choice.fault) for choice in restore.choices(stored)] == [True]


def test_only_a_copy_of_ours_is_found_by_its_path(stored: Home, tmp_path: Path) -> None:
    moved = backups.create_copy(stored.database, 15).rename(tmp_path / "moved.db")
    assert restore.find(stored, str(moved)) == moved
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE places (url TEXT)")
    for path in (other, Path("/etc/passwd"), tmp_path / "none.db"):
        with pytest.raises(NotFoundError, match=r"no copy|not a copy"):
            restore.find(stored, str(path))


def test_nothing_is_restored_while_a_daemon_runs(stored: Home) -> None:
    copy = backups.create_copy(stored.database, 15)
    lock = Lock(stored.lock)
    assert lock.take()
    with pytest.raises(DaemonError, match="uses the database"):
        restore.put_back(stored, copy)
    lock.release()
    restore.put_back(stored, copy)
