"""A lost or damaged database: refused or reported, never replaced, and its copies are kept."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli.holder import await_end
from daemon import lifecycle
from subconscious import wire
from subconscious.app import App
from subconscious.context import damage
from subconscious.context.approval import accept, accepted
from subconscious.domain.errors import SubconsciousError, UnsoundStoreError
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import backups, maintenance, memories, purge
from subconscious.upkeep import phases, restore
from tests.support.daemons import new_session
from tests.support.values import make_memory


async def remembered(app: App) -> None:
    async with app.database.write() as tx:
        await memories.insert(tx, make_memory())


async def flipped(app: App) -> None:
    async with app.database.write() as tx:
        await tx.execute("UPDATE memories SET content = 'Amounts are integer cants.'")


async def integrity(app: App) -> str:
    async with app.database.write() as tx:
        run = await maintenance.begin(tx, "nightly", "integrity")
    return str((await phases.integrity(app, run)).done["verdict"])


async def test_a_night_reports_a_flipped_byte_until_it_is_gone(app: App) -> None:
    await remembered(app)
    await phases.copy(app)
    assert await integrity(app) == "ok"
    assert app.damage.message(app.home.database) == ""
    await flipped(app)
    assert "does not match its hash" in await integrity(app)
    assert "subconscious restore latest" in app.damage.message(app.home.database)
    later = await damage.at_start(app.home)
    assert later.problems == app.damage.problems != []
    async with app.database.write() as tx:
        await tx.execute("UPDATE memories SET content = ?", (make_memory().content,))
    assert await integrity(app) == "ok"
    assert (await damage.at_start(app.home)).message(app.home.database) == ""


async def test_of_a_damaged_database_no_copy_is_kept_unless_a_person_says_so(app: App) -> None:
    await remembered(app)
    await phases.copy(app)
    before = backups.listing(app.home.database)
    async with app.database.write() as tx:
        await tx.execute("UPDATE memories SET evidence = 'flipped'")
    with pytest.raises(UnsoundStoreError, match="older copies were kept"):
        await phases.copy(app)
    assert backups.listing(app.home.database) == before
    assert app.damage.problems
    (backups.folder_of(app.home.database) / before[0].path.name).rename(
        backups.folder_of(app.home.database) / "memory-20260101-030000-schema0019.db"
    )
    await phases.copy(app, as_is=True)
    assert app.damage.message(app.home.database) == ""
    assert await integrity(app) == "ok"


async def test_a_part_that_meets_damage_leaves_word_for_the_next_start(app: App) -> None:
    async def fails() -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    await lifecycle._run_part(app, fails)
    assert app.signals.stopping.is_set()
    assert "malformed" in (await damage.at_start(app.home)).message(app.home.database)


def test_the_daemon_refuses_until_it_is_restored(running: Home, tmp_path: Path) -> None:
    wire.call(running, "backup")
    wire.call(running, "stop")
    assert await_end(running, 20)
    running.database.unlink()
    with pytest.raises(SubconsciousError, match="is missing, but memories were stored here") as caught:
        wire.ensure_daemon(running)
    assert (caught.value.code, "restore latest" in caught.value.remedy) == ("E023", True)
    assert not running.database.exists()
    printed = new_session(running, tmp_path / "project").hook("ask", "SessionStart", source="startup")
    assert "subconscious restore latest" in json.loads(printed)["systemMessage"]
    restore.put_back(running, restore.find(running, "latest"))
    wire.ensure_daemon(running)
    assert not running.refusal.exists()


def test_an_empty_config_is_refused_and_told(stopped: Home, tmp_path: Path) -> None:
    (stopped.root / "config.toml").write_bytes(b"")
    with pytest.raises(SubconsciousError, match=r"config.toml is empty"):
        wire.ensure_daemon(stopped)
    printed = new_session(stopped, tmp_path / "project").hook("ask", "SessionStart", source="startup")
    assert "config.toml is empty" in json.loads(printed)["systemMessage"]


def test_accepted_settings_outlive_a_fresh_start(running: Home) -> None:
    wire.call(running, "stop")
    assert await_end(running, 20)
    _raise_accepted_threshold(running.database)
    moved = restore.start_empty(running)
    assert [path.parent.name for path in moved][:1] == ["broken"]
    wire.ensure_daemon(running)
    # config.toml says nothing of it: the default is lower, and needs a person's word.
    assert wire.call(running, "status")["settings"]["auto_threshold"] == 0.97


def _raise_accepted_threshold(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE events SET after = json_set(after, '$.auto_threshold', 0.97) WHERE subject = 'settings'"
        )


async def test_accepted_settings_outlive_a_full_purge(app: App) -> None:
    await accept(app.database, Settings(embedder="none", auto_threshold=0.97), "")
    async with app.database.write() as tx:
        await purge.empty(tx)
    assert (await accepted(app.database, Settings(embedder="none")))["auto_threshold"] == 0.97
