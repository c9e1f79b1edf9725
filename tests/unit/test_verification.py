"""What a verification finds, and what it must not mistake for damage."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from subconscious.domain.errors import LostStoreError, NotFoundError, StoreError, UnsoundStoreError
from subconscious.settings.home import Home
from subconscious.store import backups, events, memories, presence, verification
from subconscious.store.backups import Copy
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from tests.support.values import make_memory


@pytest.fixture
async def store(home: Home) -> AsyncIterator[Database]:
    database = await open_database(home.database)
    await migrate(database)
    async with database.write() as tx:
        made = await memories.insert(tx, make_memory())
        await events.record(tx, "make", "memory", made.id, after={"content": made.content})
    yield database
    await database.close()


def copied(database: Database) -> Copy:
    backups.create_copy(database.path, 19, verify=lambda draft: verification.problems(draft))
    return backups.listing(database.path)[0]


def execute(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql, values)


async def test_a_sound_database_has_no_problem(store: Database) -> None:
    copy = copied(store)
    assert verification.problems(store.path, copy) == []
    assert verification.is_behind(store.path, copy) == []


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE memories SET content = 'Amounts are integer cants.'", "does not match its hash: 1"),
        ("UPDATE memories SET evidence = 'cants'", "rows of memories that differ"),
        ("UPDATE events SET after = '{}' WHERE subject = 'memory'", "rows of events that differ"),
        ("DELETE FROM memories", "rows of memories that are in the copy"),
        ("DELETE FROM events", "rows of events that are in the copy"),
        ("UPDATE schema_migrations SET name = 'x' WHERE version = 1", "rows of schema_migrations that differ: 1"),
        ("CREATE TRIGGER t AFTER INSERT ON memories BEGIN SELECT 1; END", ""),
        ("DROP INDEX memories_hash", "definitions that differ"),
    ],
)
@pytest.mark.slow
async def test_what_changed_without_an_event_is_a_problem(store: Database, damage: str, found: str) -> None:
    copy = copied(store)
    execute(store.path, damage)
    problems = " ".join(verification.problems(store.path, copy)).replace(f" from the copy {copy.path.name}", "")
    assert found in problems
    assert bool(found) == bool(problems)


async def test_what_an_event_explains_is_none(store: Database) -> None:
    copy = copied(store)
    async with store.write() as tx:
        await tx.execute("UPDATE memories SET evidence = 'other', uses = uses + 1")
        await events.record(tx, "edit", "memory", 1, before={"evidence": ""}, after={"evidence": "other"})
    assert verification.problems(store.path, copy) == []


async def test_a_purge_and_a_restore_explain_missing_rows(store: Database) -> None:
    copy = copied(store)
    async with store.write() as tx:
        await tx.execute("DELETE FROM memories")
    assert verification.is_behind(store.path, copy) == [f"it has 0 memories, its copy {copy.path.name} has 1"]
    async with store.write() as tx:
        await events.record(tx, "purge", "store", "everything")
    assert verification.is_behind(store.path, copy) == []
    assert verification.problems(store.path, copy) == []


async def test_a_problem_keeps_the_older_copies(store: Database) -> None:
    good = copied(store)
    execute(store.path, "UPDATE memories SET content = 'flipped'")
    with pytest.raises(UnsoundStoreError, match="older copies were kept"):
        backups.create_copy(store.path, 19, verify=lambda draft: verification.problems(draft, good))
    assert backups.listing(store.path) == [good]
    assert [path.name for path in good.path.parent.iterdir()] == [good.path.name]


async def test_a_changed_copy_is_found_by_its_checksum(store: Database) -> None:
    copy = copied(store)
    assert backups.altered_copies(store.path) == []
    raw = bytearray(copy.path.read_bytes())
    raw[-1] ^= 1
    copy.path.write_bytes(raw)
    assert backups.altered_copies(store.path) == [copy.path]
    assert backups.comparison_copy(store.path) is None


async def test_a_copy_with_more_history_outlives_the_rotation(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = backups.folder_of(store.path)
    copy = copied(store)
    longer = copy.path.rename(folder / "memory-20260101-030000-schema0019.db")
    execute(
        longer, "INSERT INTO events (id, at, actor, action, subject, subject_id) VALUES (999, 1, 'a', 'b', 'c', 'd')"
    )
    shorter = folder / "memory-20260102-030000-schema0019.db"
    shorter.write_bytes(store.path.read_bytes())
    copied(store)
    opened: list[Path] = []

    def head(path: Path, plain: Callable[[Path], int] = backups._head) -> int:
        opened.append(path)
        return plain(path)

    monkeypatch.setattr(backups, "_head", head)
    assert backups.rotate(store.path, 1, 0) == [shorter]
    assert len(opened) == len(set(opened)) == 3, "each copy is opened once"


async def test_a_restore_loses_changes_made_after_the_copy(store: Database) -> None:
    copy = copied(store)
    assert verification.loss(store.path, copy.path) == verification.Loss(0, 0)
    async with store.write() as tx:
        made = await memories.insert(tx, make_memory("Another."))
        await events.record(tx, "make", "memory", made.id)
    assert verification.loss(store.path, copy.path) == verification.Loss(2, 1)
    assert not verification.loss(store.path.with_name("nothing.db"), copy.path).known


def test_a_first_start_may_create_the_database(home: Home) -> None:
    presence.require_usable(home.database)
    home.database.touch()
    presence.require_usable(home.database)


@pytest.mark.parametrize("trace", ["rendered/p/start", "vectors-a.db", "backups/memory-20260101-030000-schema0019.db"])
def test_any_trace_of_memories_forbids_it(home: Home, trace: str) -> None:
    path = home.root / trace
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with pytest.raises(LostStoreError, match="is missing, but memories were stored here") as caught:
        presence.require_usable(home.database)
    assert ("restore latest" in caught.value.remedy) == trace.startswith("backups")


async def test_a_truncated_file_with_a_wal_is_found(home: Home, store: Database) -> None:
    await store.writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
    async with store.write() as tx:
        await memories.insert(tx, make_memory("Another."))
    home.database.write_bytes(home.database.read_bytes()[:4096])
    with pytest.raises(LostStoreError):
        presence.require_usable(home.database)


def test_only_damage_counts_as_damage(home: Home) -> None:
    def error(code: int) -> sqlite3.Error:
        made = sqlite3.OperationalError("x")
        made.sqlite_errorcode = code
        return made

    for code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_READ):
        assert isinstance(presence.as_damage(error(code), home.database), LostStoreError)
    assert presence.as_damage(error(sqlite3.SQLITE_IOERR_WRITE), home.database) is None, "the disk may be full"
    assert presence.as_damage(error(sqlite3.SQLITE_BUSY), home.database) is None
    assert presence.as_damage(ValueError(), home.database) is None
    told = StoreError("migration failed")
    assert presence.as_damage(told, home.database) is told
    wrapped = StoreError("can't be opened")
    wrapped.__cause__ = error(sqlite3.SQLITE_CORRUPT)
    assert isinstance(presence.as_damage(wrapped, home.database), LostStoreError)
    assert isinstance(presence.as_damage(NotFoundError("x"), home.database), NotFoundError)


def test_a_verification_is_bounded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE memories (id, content, content_hash)")
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)"
            " INSERT INTO memories SELECT i, 'x', 'y' FROM n"
        )
    assert verification.problems(home.database)
    monkeypatch.setattr(verification, "LONGEST", 0.0)
    monkeypatch.setattr(verification, "STEPS", 1000)
    begun = time.monotonic()
    assert verification.problems(home.database) == []
    assert time.monotonic() - begun < 30


def test_a_verification_that_ends_within_the_texts_is_no_problem(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE memories (id, content, content_hash)")
        connection.executemany("INSERT INTO memories VALUES (?, 'x', 'y')", ((number,) for number in range(300)))

    def end(connection: sqlite3.Connection) -> list[str]:
        connection.set_progress_handler(lambda: 1, 100)
        return []

    monkeypatch.setattr(verification, "_structure", end)
    assert verification.problems(home.database) == []
    assert "could not be verified" in caplog.text
