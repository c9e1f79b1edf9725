"""Both indexes keep one contract: what a plain comparison with every vector would answer."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subconscious.store import vectors
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.vectors import NumpyIndex, Row, SqliteVecIndex, VectorIndex, open_index
from subconscious.store.vectors.table import Table
from subconscious.store.vectors.vec0 import file_of, sweep

MODEL, DIM = "toy", 8
Opener = Callable[[Database], Awaitable[VectorIndex]]


def extensible() -> ModuleType | None:
    """An SQLite that loads extensions: Python's own, or the one that tests bring along."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    try:
        import pysqlite3
    except ImportError:
        return None
    module: ModuleType = pysqlite3
    return module


async def open_numpy(database: Database) -> VectorIndex:
    return NumpyIndex(database, MODEL, capacity=4)


async def open_sqlite_vec(database: Database) -> VectorIndex:
    module = extensible()
    assert module is not None
    return await SqliteVecIndex.open(database, MODEL, DIM, connector=module.connect)


OPENERS = {
    "numpy": pytest.param(open_numpy, id="numpy"),
    "sqlite-vec": pytest.param(
        open_sqlite_vec,
        id="sqlite-vec",
        marks=pytest.mark.skipif(extensible() is None, reason="no SQLite here loads extensions"),
    ),
}
both = pytest.mark.parametrize("opener", OPENERS.values())


async def store(folder: Path) -> Database:
    database = await open_database(folder / "memory.db")
    await migrate(database)
    return database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await store(tmp_path)
    yield database
    await database.close()


def unit(numbers: Iterable[float]) -> vectors.Vector:
    vector = np.fromiter(numbers, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def random_rows(count: int, projects: Sequence[str] = ("p",), seed: int = 1) -> list[Row]:
    random = np.random.default_rng(seed)
    return [Row(i + 1, projects[i % len(projects)], unit(random.normal(size=DIM))) for i in range(count)]


async def put(database: Database, rows: Sequence[Row], model: str = MODEL) -> None:
    """Store rows, and the memories that they belong to, as far as these don't exist."""
    async with database.write() as tx:
        await tx.executemany(
            "INSERT OR IGNORE INTO memories (id, scope, kind, category, summary, content, origin, confidence,"
            " raw_confidence, extractor, created_at, said_at, content_hash)"
            " VALUES (?, 'user', 'learning', 'semantic', '', '', 'user', 1, 1, 'test', 0, 0, '')",
            [(row.memory_id,) for row in rows],
        )
        await vectors.save(tx, model, rows)


async def set_active(database: Database, ids: Sequence[int], active: bool) -> None:
    async with database.write() as tx:
        await vectors.activate(tx, ids, active)


def expected(rows: Iterable[Row], projects: Sequence[str], vector: vectors.Vector, k: int) -> list[tuple[int, float]]:
    scored = [
        (row.memory_id, float(np.dot(row.vector.astype(np.float64), vector)))
        for row in rows
        if not projects or row.project in projects
    ]
    return sorted(scored, key=lambda pair: (-round(pair[1], 12), pair[0]))[:k]


def same(found: Sequence[tuple[int, float]], wanted: Sequence[tuple[int, float]]) -> bool:
    return [pair[0] for pair in found] == [pair[0] for pair in wanted] and np.allclose(
        [pair[1] for pair in found], [pair[1] for pair in wanted], atol=1e-9
    )


@both
async def test_an_empty_index_finds_nothing(database: Database, opener: Opener) -> None:
    index = await opener(database)
    assert await index.search(["p"], unit([1] * DIM), 5) == []
    assert await index.search([], unit([1] * DIM), 5) == []
    await index.close()


@both
async def test_it_returns_the_vectors_of_active_memories(database: Database, opener: Opener) -> None:
    rows = random_rows(3)
    await put(database, rows)
    await put(database, [Row(9, "p", unit([1] * DIM))], model="another")
    await set_active(database, [2], False)
    index = await opener(database)
    found = await index.vectors([1, 2, 3, 9, 77])
    assert sorted(found) == [1, 3]
    assert all(np.array_equal(found[row.memory_id], row.vector) for row in (rows[0], rows[2]))
    assert await index.vectors([]) == {}
    await index.close()


@both
async def test_the_nearest_come_first(database: Database, opener: Opener) -> None:
    rows = random_rows(300)
    await put(database, rows)
    index = await opener(database)
    assert same(await index.search(["p"], rows[7].vector, 10), expected(rows, ["p"], rows[7].vector, 10))
    await index.close()


@both
@pytest.mark.parametrize("projects", [["a"], ["a", ""], ["a", "a"], ["none"], []])
async def test_only_the_projects_asked_for(database: Database, opener: Opener, projects: list[str]) -> None:
    rows = random_rows(60, ("a", "b", ""))
    await put(database, rows)
    index = await opener(database)
    assert same(await index.search(projects, rows[0].vector, 9), expected(rows, projects, rows[0].vector, 9))
    await index.close()


@both
@pytest.mark.parametrize("projects", [["a"], ["a", ""], []])
async def test_among_some_the_nearest_come_first(database: Database, opener: Opener, projects: list[str]) -> None:
    """Also where nearer ones are not meant, be they more than are ever looked at."""
    rows = random_rows(300, ("a", "b", ""))
    await put(database, rows)
    index = await opener(database)
    few = sorted(rows, key=lambda row: float(np.dot(row.vector, rows[0].vector)))[:20]
    found = await index.search(projects, rows[0].vector, 9, [row.memory_id for row in few])
    assert same(found, expected(few, projects, rows[0].vector, 9))
    assert await index.search(projects, rows[0].vector, 9, []) == []
    await index.close()


@both
async def test_equals_are_ordered_by_id(database: Database, opener: Opener) -> None:
    rows = [Row(memory_id, "p", unit([1] * DIM)) for memory_id in (5, 3, 9, 1, 7)]
    await put(database, rows)
    index = await opener(database)
    assert [found for found, _ in await index.search(["p"], rows[0].vector, 4)] == [1, 3, 5, 7]
    await index.close()


@both
async def test_a_vector_saved_later_takes_the_older_ones_place(database: Database, opener: Opener) -> None:
    first, second = random_rows(2)
    await put(database, [first])
    index = await opener(database)
    await index.search(["p"], first.vector, 1)
    moved = Row(first.memory_id, "q", second.vector)
    await put(database, [moved])
    await index.refresh([moved.memory_id])
    assert await index.search(["p"], second.vector, 1) == []
    assert same(await index.search(["q"], second.vector, 1), [(first.memory_id, 1.0)])
    await index.close()


@both
async def test_a_search_during_a_refresh_misses_nothing(database: Database, opener: Opener) -> None:
    rows = random_rows(60)
    await put(database, rows)
    index = await opener(database)
    await index.search(["p"], rows[0].vector, 1)

    async def refresh() -> None:
        for _ in range(20):
            await index.refresh([row.memory_id for row in rows])

    refreshing = asyncio.create_task(refresh())
    found = []
    while not refreshing.done():
        found.append([memory_id for memory_id, _ in await index.search(["p"], rows[7].vector, 1)])
        await asyncio.sleep(0)
    await refreshing
    await index.close()
    assert len(found) > 5
    assert all(ids == [rows[7].memory_id] for ids in found)


@both
async def test_an_archived_memory_leaves_and_comes_back(database: Database, opener: Opener) -> None:
    rows = random_rows(3)
    await put(database, rows)
    index = await opener(database)
    before = await index.search(["p"], rows[1].vector, 3)
    await set_active(database, [2], False)
    await index.refresh([2])
    assert 2 not in dict(await index.search(["p"], rows[1].vector, 3))
    await set_active(database, [2], True)
    await index.refresh([2])
    assert await index.search(["p"], rows[1].vector, 3) == before
    await index.close()


@both
async def test_other_models_vectors_are_not_compared(database: Database, opener: Opener) -> None:
    ours, theirs = random_rows(2)
    await put(database, [ours])
    await put(database, [theirs], model="another")
    index = await opener(database)
    assert [found for found, _ in await index.search(["p"], theirs.vector, 5)] == [ours.memory_id]
    await index.close()


async def test_a_memory_archived_while_it_was_embedded_stays_out(database: Database) -> None:
    rows = random_rows(2)
    await put(database, rows)
    await database.writer.execute("UPDATE memories SET archived_at = 1 WHERE id = 1")
    await put(database, rows)
    index = await open_numpy(database)
    assert [found for found, _ in await index.search([], rows[0].vector, 5)] == [2]


async def test_vectors_of_purged_memories_are_skipped(database: Database) -> None:
    async with database.write() as tx:
        await vectors.save(tx, MODEL, random_rows(1))
    assert await database.rows("SELECT * FROM embeddings") == []


async def test_another_model_makes_memories_wait_again(database: Database) -> None:
    await put(database, random_rows(3))
    await database.writer.execute("UPDATE memories SET embedding_status = 'done'")
    await put(database, random_rows(1), model="new")
    async with database.write() as tx:
        assert await vectors.requeue(tx, "new") == 2
        assert await vectors.requeue(tx, "new") == 0


async def test_a_memory_may_have_vectors_of_several_models(database: Database) -> None:
    """One serves while another is made; archiving and purging concern both."""
    ours, theirs = random_rows(2)
    await put(database, [ours])
    await put(database, [Row(ours.memory_id, "p", theirs.vector)], model="another")
    index = await open_numpy(database)
    assert same(await index.search(["p"], ours.vector, 5), [(ours.memory_id, 1.0)])
    await set_active(database, [ours.memory_id], False)
    assert await database.rows("SELECT 1 FROM embeddings WHERE active") == []


async def test_files_of_models_that_are_gone_are_deleted(database: Database) -> None:
    kept, gone = file_of(database, "kept"), file_of(database, "gone")
    for path in (kept, gone, gone.with_name(f"{gone.name}-wal"), database.path.with_name("vectors.db")):
        path.touch()
    sweep(database, ["kept"])
    assert [path.name for path in database.path.parent.glob("vectors*")] == [kept.name]
    assert database.path.exists()


async def test_the_numpy_index_stays_within_its_capacity(database: Database) -> None:
    rows = random_rows(30, ("a", "b", "c"))
    await put(database, rows)
    index = NumpyIndex(database, MODEL, capacity=25)
    for project in ("a", "b", "c", "a"):
        assert len(await index.search([project], rows[0].vector, 50)) == 10
        assert sum(len(shelf.ids) for shelf in index._shelves.values()) <= 25


async def test_the_numpy_index_reads_a_project_once_for_concurrent_queries(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten sessions that begin together would else read, and hold, ten times all that a project has."""
    rows = random_rows(9)
    await put(database, rows)
    index = NumpyIndex(database, MODEL)
    reads: list[str] = []
    read = Table.of_project

    async def slowly(table: Table, project: str) -> list[sqlite3.Row]:
        reads.append(project)
        found = await read(table, project)
        await asyncio.sleep(0)
        return found

    monkeypatch.setattr(Table, "of_project", slowly)
    answers = await asyncio.gather(*(index.search(["p"], rows[0].vector, 20) for _ in range(10)))
    assert [len(answer) for answer in answers] == [9] * 10
    assert reads == ["p"]


async def test_changes_during_a_read_are_in_the_cache(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    first, gone, late = random_rows(3)
    await put(database, [first, gone])
    index = NumpyIndex(database, MODEL)
    read = Table.of_project

    async def interrupted(table: Table, project: str) -> list[sqlite3.Row]:
        found = await read(table, project)
        await put(database, [late])
        await set_active(database, [gone.memory_id], False)
        await index.refresh([late.memory_id, gone.memory_id])
        return found

    monkeypatch.setattr(Table, "of_project", interrupted)
    for _ in range(2):
        found = {number for number, _ in await index.search(["p"], first.vector, 20)}
        assert found == {first.memory_id, late.memory_id}
        monkeypatch.setattr(Table, "of_project", read)


@pytest.mark.skipif(extensible() is None, reason="no SQLite here loads extensions")
async def test_a_broken_file_is_made_anew(database: Database) -> None:
    rows = random_rows(5)
    await put(database, rows)
    file_of(database, MODEL).write_bytes(b"no database at all, " * 500)
    module = extensible()
    assert module is not None
    if module is not sqlite3:
        pytest.skip("errors of another SQLite are not sqlite3's")
    index = await open_sqlite_vec(database)
    assert len(await index.search(["p"], rows[0].vector, 9)) == 5
    await index.close()


@pytest.mark.skipif(extensible() is None, reason="no SQLite here loads extensions")
async def test_a_file_of_another_model_is_made_anew(database: Database) -> None:
    module = extensible()
    assert module is not None
    await put(database, random_rows(5))
    await (await open_sqlite_vec(database)).close()
    index = await SqliteVecIndex.open(database, "other", 3, connector=module.connect)
    assert await index.search(["p"], unit([1, 1, 1]), 9) == []
    await index.close()


async def test_an_index_is_found_on_every_python(database: Database) -> None:
    rows = random_rows(5)
    await put(database, rows)
    index = await open_index(database, MODEL, DIM)
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    assert index.name == ("sqlite-vec" if loads else "numpy")
    assert file_of(database, MODEL).exists() is loads
    assert len(await index.search(["p"], rows[0].vector, 9)) == 5
    await index.close()


PROJECTS = ("", "a", "b")
numbers = st.integers(-3, 3)
a_vector = st.lists(numbers, min_size=DIM, max_size=DIM).filter(any).map(unit)
a_row = st.builds(Row, st.integers(1, 12), st.sampled_from(PROJECTS), a_vector)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(a_row, min_size=1, max_size=4, unique_by=lambda row: row.memory_id)),
        st.tuples(st.just("archive"), st.lists(st.integers(1, 12), min_size=1, max_size=3)),
        st.tuples(st.just("unarchive"), st.lists(st.integers(1, 12), min_size=1, max_size=3)),
        st.tuples(st.just("reopen"), st.sampled_from([name for name in OPENERS if name == "numpy" or extensible()])),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, a_vector, st.lists(st.sampled_from(PROJECTS), max_size=2))
async def test_results_always_equal_a_plain_comparison(
    steps: list[tuple[str, list[Row] | list[int] | str]], vector: vectors.Vector, projects: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        database = await store(Path(folder))
        index = await open_numpy(database)
        for step in steps:
            index = await take(database, index, *step)
            active = await database.rows("SELECT memory_id, project, vector FROM embeddings WHERE active")
            rows = [Row(row[0], row[1], np.frombuffer(row[2], np.float32)) for row in active]
            assert same(await index.search(projects, vector, 3), expected(rows, projects, vector, 3))
        await index.close()
        await database.close()


async def take(database: Database, index: VectorIndex, action: str, what: list[Row] | list[int] | str) -> VectorIndex:
    """Do one step; a reopening leaves the index it finds and goes on with the one that is named."""
    if isinstance(what, str):
        await index.close()
        opener: Opener = open_numpy if what == "numpy" else open_sqlite_vec
        return await opener(database)
    rows = [row for row in what if isinstance(row, Row)]
    ids = [item for item in what if isinstance(item, int)]
    if action == "put":
        await put(database, rows)
    else:
        await set_active(database, ids, action == "unarchive")
    await index.refresh([*ids, *(row.memory_id for row in rows)])
    return index
