"""What the migrations make is what migrations/schema.sql shows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from subconscious.settings.home import Home
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from tests.support.schema import FILE, schema


async def test_the_schema_on_file_is_what_the_migrations_make(home: Home) -> None:
    database = await open_database(home.database)
    await migrate(database)
    made = await schema(database)
    await database.close()
    assert FILE.read_text(encoding="utf-8") == made, "run: python -m tests.support.schema"


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "by-hand.db")
    yield connection
    connection.close()


def test_the_schema_on_file_is_whole(by_hand: sqlite3.Connection) -> None:
    by_hand.executescript(FILE.read_text(encoding="utf-8"))
    names = {name for (name,) in by_hand.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"memories", "implicit_captures", "events", "schema_migrations"} <= names
