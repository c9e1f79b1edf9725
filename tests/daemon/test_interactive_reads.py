"""Hooks and searches read through their own views of the database, not on the connection that upkeep uses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from daemon.spool import Spool
from subconscious.app import App
from subconscious.context.entry import Entry, parse_entry
from subconscious.hook_responses import Answers
from subconscious.memories.api import Memories, Search

NUMBERS = count(1)

LONG_QUERIES = ("memories_fts MATCH", "SELECT content ||")
"""Parts of the queries of a search that grow with the store: full text, and the words for spelling corrections."""


@pytest.fixture
def shared(app: App, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that run on the shared connection."""
    queries: list[str] = []
    fetch = app.database.reader.execute_fetchall

    async def noted(sql: str, values: Sequence[Any] = ()) -> Any:
        queries.append(sql)
        return await fetch(sql, values)

    monkeypatch.setattr(app.database.reader, "execute_fetchall", noted)
    return queries


def entry(folder: Path, event: str, **payload: str) -> Entry:
    said = {"session_id": "s", "transcript_path": str(folder / "s.jsonl"), "cwd": str(folder), **payload}
    header = f"subconscious 1\t{event}\t1\t{folder}\t\t0.1.0\t\n"
    return parse_entry(f"{next(NUMBERS):020d}-1-00000000.entry", (header + json.dumps(said)).encode())


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Which amounts do we store?", "prompt_id": "p"}),
    ],
)
async def test_a_hook_runs_no_query_on_the_shared_connection(
    app: App, tmp_path: Path, shared: list[str], event: str, payload: dict[str, str]
) -> None:
    await Answers(app, Spool(app).sweep).answer(entry(tmp_path, event, **payload), "")
    assert shared == []


async def test_a_command_waits_for_upkeep_instead_of_delaying_hooks(
    app: App, tmp_path: Path, shared: list[str]
) -> None:
    prompt = entry(tmp_path, "UserPromptSubmit", prompt="/subconscious:recall integer cents", prompt_id="p")
    await Answers(app, Spool(app).sweep).answer(prompt, "")
    assert shared


async def test_a_search_runs_only_long_queries_on_the_shared_connection(
    app: App, tmp_path: Path, shared: list[str]
) -> None:
    await Memories(app).cmd_search(Search(query="integer cents", cwd=str(tmp_path)))
    assert [sql for sql in shared if not any(part in sql for part in LONG_QUERIES)] == []
    shared.clear()
    await Memories(app).cmd_list(Search(cwd=str(tmp_path)))
    assert shared


async def test_what_a_hook_changes_in_the_app_is_changed_for_all(app: App) -> None:
    view = app.on(app.database.interactive)
    await view.calibrate()
    assert view.calibration is app.calibration
    view.settings = view.settings.model_copy(update={"surface": False})
    assert not app.settings.surface
    assert view.database is app.database.interactive
    assert app.database is not view.database
