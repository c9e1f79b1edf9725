"""Import with a model: told what it costs before it begins, handed over once, and used once whatever dies."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.fake_models import FakeModel
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from subconscious.settings.provider_table import provider_rows
from tests.support import terminal
from tests.support.daemons import configure, eventually, processes_of
from tests.support.fake_openai import Row, candidate, numbered
from tests.support.importing import DECISION, dump, imported, transcript

HINTED = "hm, the bank seems to round half to even, what does kiln.py do with it"
PATIENCE = 60.0


def script(text: str) -> str:
    number = numbered(text, HINTED)
    return json.dumps({"candidates": [candidate(number, HINTED)] if number else []})


@pytest.fixture
def model() -> FakeModel:
    return FakeModel(answer=script)


@pytest.fixture
def priced(stopped: Home, model: FakeModel) -> Iterator[Home]:
    """A daemon that has a model with batches to ask."""
    with model.serving() as url:
        configure(
            stopped,
            provider='"anthropic"',
            anthropic_url=f'"{url}"',
            anthropic_key='"sk-test-for-the-fake-model-only"',
            native_batch_seconds=0.2,
            chunk_tokens=300,
        )
        (stopped.root / "config.toml").chmod(0o600)
        wire.ensure_daemon(stopped)
        yield stopped


def plan(home: Home, *paths: Path, **args: Any) -> Row:
    named = [str(path) for path in paths]
    found: Row = wire.call(home, "import_plan", {"paths": named, "everywhere": True, **args})
    return found


def read(home: Home, path: Path) -> Row:
    found: Row = terminal.call(home, "import_read", transcript=str(path))
    return found


def of_model(home: Home) -> list[Row]:
    found = wire.call(home, "captures", {"limit": 1000})["captures"]
    return [row for row in found if row["extractor"].startswith("model-")]


def session(folder: Path, name: str = "11111111-aaaa", turns: int = 12) -> Path:
    filling = [f"Turn {number} of {name} is about the glaze and the clay. " * 4 for number in range(turns)]
    return transcript(folder, *filling[:5], DECISION, HINTED + f" ({name})", *filling[5:], name=name)


def test_the_price_is_shown_for_every_provider_without_a_request(running: Home, tmp_path: Path) -> None:
    session(tmp_path / "old")
    before = dump(running)
    tags = plan(running, tmp_path / "old")["model"]
    assert (tags["sessions"], tags["calls"], tags["estimated"]) == (1, 1, False)
    assert tags["tokens"] > 1000
    offers = {offer["provider"]: offer for offer in tags["offers"]}
    assert set(offers) == {row.name for row in provider_rows().values() if row.about}
    assert not any(offer["configured"] for offer in offers.values())
    assert offers["anthropic"]["batch"] == pytest.approx(offers["anthropic"]["cost"] / 2)
    assert offers["anthropic"]["most"] > offers["anthropic"]["cost"] > 0
    assert (offers["ollama"]["cost"], offers["ollama"]["batch"]) == (0.0, None)
    assert offers["claude_code"]["cost"] is None
    assert dump(running) == before


def test_the_configured_provider_is_first_and_an_own_server_has_no_known_price(
    priced: Home, tmp_path: Path, model: FakeModel
) -> None:
    session(tmp_path / "old")
    found = plan(priced, tmp_path / "old", with_model=True)
    first = found["model"]["offers"][0]
    assert (first["provider"], first["configured"], first["cost"], first["most"]) == ("anthropic", True, None, None)
    (row,) = found["files"]
    assert row["model"]["calls"] == found["model"]["calls"] > 1
    assert model.books.asked == []


def test_without_a_provider_nothing_is_read(running: Home, tmp_path: Path) -> None:
    file = session(tmp_path / "old")
    imported(running, file)
    with pytest.raises(DaemonError, match="no provider is set"):
        read(running, file)


def test_an_import_alone_asks_no_model(priced: Home, tmp_path: Path, model: FakeModel) -> None:
    imported(priced, session(tmp_path / "old"))
    status = wire.call(priced, "status")
    assert (status["refining"]["due"], status["refining"]["gathering"]) == (0, 0)
    assert model.books.asked == []


def test_it_is_read_in_the_providers_batches_once(priced: Home, tmp_path: Path, model: FakeModel) -> None:
    files = [session(tmp_path / "old", name) for name in ("11111111-aaaa", "22222222-bbbb")]
    for file in files:
        imported(priced, file)
    orders = [read(priced, file) for file in files]
    assert all(order["calls"] > 1 for order in orders)
    assert eventually(lambda: len(of_model(priced)) == 2, PATIENCE)
    assert eventually(lambda: _left(priced) == 0, PATIENCE)
    assert len(model.books.asked) == sum(order["calls"] for order in orders)
    assert model.books.arrivals == []  # not one by one
    first, second = of_model(priced)
    assert (first["content"], first["status"], first["origin"]) == (HINTED, "captured", "user")
    assert first["extractor"].startswith("model-5:anthropic/claude-")
    assert (first["said_at"], first["session_id"]) != (second["said_at"], second["session_id"])
    assert {read(priced, file)["reason"] for file in files} == {"it has been read or queued already"}
    assert plan(priced, tmp_path / "old", with_model=True)["model"]["sessions"] == 0


def test_what_grew_since_is_read_from_where_it_was_left(priced: Home, tmp_path: Path, model: FakeModel) -> None:
    file = session(tmp_path / "old")
    imported(priced, file)
    read(priced, file)
    assert eventually(lambda: _left(priced) == 0 and bool(of_model(priced)), PATIENCE)
    asked = len(model.books.asked)
    more = transcript(tmp_path / "more", "A last word on the kiln.", name="last")
    with file.open("a") as grown:
        grown.write(more.read_text())
    imported(priced, file)
    assert read(priced, file)["calls"] == 1
    assert eventually(lambda: len(model.books.asked) == asked + 1, PATIENCE)
    text = model.books.asked[-1]
    assert "Turns 1 to 4 were read before" in text or "Turns 1 to 3 were read before" in text
    assert "A last word on the kiln." in text


@pytest.mark.process
def test_killed_while_the_batch_runs_its_answers_are_used_once(priced: Home, tmp_path: Path, model: FakeModel) -> None:
    model.ended = False
    file = session(tmp_path / "old")
    imported(priced, file)
    order = read(priced, file)
    assert eventually(lambda: bool(model.books.batches) and _left(priced) == order["calls"], PATIENCE)
    assert eventually(lambda: _rows(priced, "SELECT count(*) FROM llm_batches WHERE state = 'running'") == 1, PATIENCE)
    for pid in processes_of(priced):
        os.kill(pid, signal.SIGKILL)
    wire.await_absence(priced, 20)
    model.ended = True
    wire.ensure_daemon(priced)
    assert eventually(lambda: _left(priced) == 0, PATIENCE)
    assert len(of_model(priced)) == 1
    assert len(model.books.asked) == order["calls"]
    memories = wire.call(priced, "list", {"cwd": "/gone/shop"})["memories"]
    assert [memory["recurrence"] for memory in memories] == [1, 1]


def test_the_assistant_can_have_nothing_read_at_the_persons_cost(priced: Home, tmp_path: Path) -> None:
    file = session(tmp_path / "old")
    imported(priced, file)
    with pytest.raises(DaemonError, match="only a person may import"):
        wire.call(priced, "import_read", {"transcript": str(file), "origin": "assistant"})


def _rows(home: Home, sql: str) -> int:
    with sqlite3.connect(f"file:{home.database}?mode=ro", uri=True) as store:
        found = store.execute(sql).fetchone()[0]
    store.close()
    return int(found)


def _left(home: Home) -> int:
    return _rows(home, "SELECT count(*) FROM llm_requests WHERE state IN ('waiting', 'sent')")
