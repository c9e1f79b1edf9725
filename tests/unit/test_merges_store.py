"""What is asked about merges takes as long as what is asked about, however much is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from subconscious.domain.model import Level, Verdict
from subconscious.store import memories, merges, poison
from subconscious.store.connect import Database
from tests.support.values import make_memory


@pytest.fixture
def asked(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Sequence[Any]]]:
    """What the database is asked, by whoever it is."""
    found: list[tuple[str, Sequence[Any]]] = []
    for connection in (database.writer, database.reader):

        async def noted(sql: str, values: Sequence[Any] = (), plain: Any = connection.execute_fetchall) -> Any:
            found.append((sql, values))
            return await plain(sql, values)

        monkeypatch.setattr(connection, "execute_fetchall", noted)
    return found


async def plan(database: Database, asked: Sequence[tuple[str, Sequence[Any]]]) -> list[str]:
    sql, values = asked[-1]
    return [row[3] for row in await database.rows(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.parametrize("number", [1, 51])
async def test_what_may_be_merged_is_looked_up_by_id(
    database: Database, asked: list[tuple[str, Sequence[Any]]], number: int
) -> None:
    async with database.write() as tx:
        assert await merges.mergeable(tx, range(number)) == {}
    found = await plan(database, asked)
    assert found[0] == "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)"
    assert [line for line in found if "SCAN" in line or "implicit_captures_status" in line] == []


async def test_finding_uncompared_memories_uses_the_primary_key(
    database: Database, asked: list[tuple[str, Sequence[Any]]]
) -> None:
    assert await merges.unsearched(database, "m", 20, 7) == []
    found = await plan(database, asked)
    assert found[0] == "SEARCH m USING INTEGER PRIMARY KEY (rowid>?)"
    assert [line for line in found if "ORDER BY" in line] == []


async def test_what_a_later_look_flagged_is_merged_with_nothing(database: Database) -> None:
    async with database.write() as tx:
        memory = await memories.insert(tx, make_memory())
        assert list(await merges.mergeable(tx, [memory.id])) == [memory.id]
        await poison.record_check(tx, memory.id, Verdict(Level.MEDIUM, (), "2"))
        assert await merges.mergeable(tx, [memory.id]) == {}


@pytest.mark.parametrize(
    ("duplicate", "kept", "then"), [(None, 7.0, 7.0), (9.0, 7.0, 9.0), (7.0, None, 7.0), (None, None, None)]
)
async def test_a_merge_keeps_the_time_of_the_last_use(
    database: Database, duplicate: float | None, kept: float | None, then: float | None
) -> None:
    async with database.write() as tx:
        one, other = [await memories.insert(tx, make_memory(content=text)) for text in ("One.", "Other.")]
        for memory, at in ((one, duplicate), (other, kept)):
            if at is not None:
                await memories.touch(tx, [memory.id], at)
        one, other = [await memories.require(tx, memory.id) for memory in (one, other)]
        await merges.merge(tx, one, other, 0.99)
        merged = await memories.require(tx, other.id)
    assert (merged.last_used_at, merged.uses) == (then, sum(at is not None for at in (duplicate, kept)))
