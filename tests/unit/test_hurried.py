"""What hooks read is read where all of them are answered: nothing may be that takes long with many memories."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from subconscious.store import claude_notes, events, fading, full_text, jobs, losses, memories, sessions
from subconscious.store.connect import Database, open_database
from subconscious.store.filters import Filter
from subconscious.store.migrate import migrate
from subconscious.store.vectors.scan import NumpyIndex
from subconscious.store.vectors.table import Table

LONG = 5.0
"""Seconds that a question waits for everybody else to be heard, in vain where they can't be."""

LONG_ONES = ("memories_fts MATCH", "LIKE 'faded%'")
"""What is in the questions that look through all that is remembered, or that was archived."""


class Slow:
    """Connections whose long questions are answered only once somebody else was heard."""

    def __init__(self) -> None:
        self.heard = Event()
        self.waited: list[bool] = []

    def connect(self, path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.set_trace_callback(self._trace)
        return connection

    def _trace(self, sql: str) -> None:
        if any(part in sql for part in LONG_ONES) and sql.startswith("SELECT"):
            self.waited.append(self.heard.wait(LONG))


async def test_others_are_heard_while_a_hook_has_everything_looked_through(tmp_path: Path) -> None:
    slow = Slow()
    database = await open_database(tmp_path / "memory.db", slow.connect)
    try:
        await migrate(database)
        view = database.interactive
        asked: Sequence[Awaitable[Any]] = (
            full_text.search(view, ["cents"], ["p"], 5),
            full_text.naming(view, "ledger.py", ["p"], 5),
            fading.count_faded(view, "p", 0.0),
        )
        for question in asked:
            slow.heard.clear()
            answer = asyncio.ensure_future(question)
            await asyncio.sleep(0)
            slow.heard.set()
            assert not await answer
    finally:
        await database.close()
    assert slow.waited == [True, True, True]


async def test_a_searchs_short_questions_are_read_at_once_and_its_long_ones_with_everybody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await open_database(tmp_path / "memory.db")
    try:
        await migrate(database)
        view = database.for_search
        shared: list[str] = []
        fetch = database.reader.execute_fetchall

        async def noted(sql: str, values: Sequence[Any] = ()) -> Any:
            shared.append(sql)
            return await fetch(sql, values)

        monkeypatch.setattr(database.reader, "execute_fetchall", noted)
        await events.latest_id(view)
        await memories.by_session(view, [1], "p")
        assert shared == []
        table = Table(view, "m")
        narrow = Filter("p", tags=("t",))
        long = (
            memories.ids_of(view, Filter(kinds=("lesson",))),
            full_text.search(view, ["cents"], ["p"], 5),
            memories.get_many(view, [1], narrow),
            memories.latest(view, Filter(), 5),
            memories.latest(view, narrow, 5),
            table.of_project("p"),
            table.projects(),
        )
        for question in long:
            await question
        assert len(shared) == len(long)
    finally:
        await database.close()


async def test_a_hooks_short_queries_run_at_once_and_use_no_other_connection(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database.reader, "execute_fetchall", None)
    view = database.interactive
    assert await events.latest_id(view) == 0
    assert await memories.ids_of(view, Filter(kinds=("lesson",))) == []
    assert view.interactive is not database
    async with view.write() as tx:
        assert tx is database.writer


async def test_an_index_reads_through_the_view_of_the_request(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = NumpyIndex(database, "m")
    monkeypatch.setattr(database.reader, "execute_fetchall", None)
    assert await index.on(database.interactive).vectors([1]) == {}
    with pytest.raises(TypeError):
        await index.vectors([1])


async def test_what_every_start_asks_passes_over_what_is_long_done(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Sequence[Any]]] = []
    rows = database.rows

    async def noted(sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        asked.append((sql, values))
        return await rows(sql, values)

    monkeypatch.setattr(database, "rows", noted)
    await jobs.busy_lanes(database, ["one", "two"], ["Stop", "SessionEnd"])
    await sessions.listing(database, "p", 5)
    await losses.unreported(database)
    await claude_notes.without_file(database, "p")
    plans = [row[3] for sql, values in asked for row in await rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert [plan for plan in plans if "jobs" in plan and "INDEX" not in plan] == []
    assert [plan for plan in plans if "sessions" in plan and "INDEX sessions_project" not in plan] == []
    assert [plan for plan in plans if "events" in plan and "INDEX events_subject (subject=" not in plan] == []
    assert [plan for plan in plans if "memories" in plan and "INDEX memories_notes" not in plan] == []
