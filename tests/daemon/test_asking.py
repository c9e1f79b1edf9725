"""Models from a real daemon and real processes, over real SDKs, against a server on loopback."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.fake_models import FakeModel
from bench.sessions import ROOT, Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import client_stub, terminal
from tests.support.daemons import configure, eventually, new_session

KEY = "sk-test-for-the-fake-model-only"


@pytest.fixture
def model() -> FakeModel:
    """A model that answers, with batches that end when they are told to."""
    return FakeModel()


def asker(home: Home, url: str, count: int) -> subprocess.Popen[bytes]:
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    command = [sys.executable, "-m", "tests.daemon.asker", str(home.root), url, str(count)]
    return subprocess.Popen(command, cwd=ROOT, env=environ | {"SUBCONSCIOUS_HOME": str(home.root)})


def rows(home: Home, sql: str) -> list[Any]:
    with sqlite3.connect(f"file:{home.database}?mode=ro", uri=True) as store:
        found = store.execute(sql).fetchall()
    store.close()
    return found


def answered(home: Home) -> list[str]:
    return sorted(row[0] for row in rows(home, "SELECT subject_id FROM events WHERE action = 'answered'"))


def finish(home: Home, url: str, count: int) -> None:
    process = asker(home, url, count)
    assert process.wait(60) == 0
    assert answered(home) == sorted(f"q{number}" for number in range(count))


def recorded(home: Home) -> float:
    return float(rows(home, "SELECT coalesce(sum(cost), 0) FROM llm_calls")[0][0])


@pytest.mark.slow
def test_killed_while_a_batch_runs_each_answer_is_used_once(home: Home, model: FakeModel) -> None:
    model.ended = False
    with model.serving() as url:
        process = asker(home, url, 30)
        assert eventually(lambda: rows_of_running(home) == 2, 30)
        process.kill()
        process.wait()
        model.ended = True
        finish(home, url, 30)
    assert len(model.books.batches) == 2
    assert recorded(home) == pytest.approx(model.books.charged)


def rows_of_running(home: Home) -> int:
    try:
        return int(rows(home, "SELECT count(*) FROM llm_batches WHERE state = 'running'")[0][0])
    except sqlite3.Error:
        return 0


@pytest.mark.slow
def test_killed_before_it_knows_the_batchs_name_nothing_is_lost_or_hidden(home: Home, model: FakeModel) -> None:
    model.submit_seconds = 1.0
    with model.serving() as url:
        process = asker(home, url, 10)
        assert model.submitting.wait(30)
        process.kill()
        process.wait()
        model.submit_seconds = 0.0
        orphan = model.books.charged
        finish(home, url, 10)
    # The orphan was charged and is never read: on record as unknown, counted for more than it cost.
    assert recorded(home) == pytest.approx(model.books.charged - orphan)
    ((lost, reserved),) = rows(home, "SELECT count(*), sum(reserved) FROM llm_calls WHERE outcome = 'lost'")
    assert lost == 10
    assert reserved >= orphan > 0


@pytest.mark.slow
def test_killed_again_and_again_each_answer_is_used_once(home: Home, model: FakeModel) -> None:
    chance = random.Random(7)
    with model.serving() as url:
        for _ in range(6):
            process = asker(home, url, 60)
            try:
                process.wait(chance.uniform(0.9, 2.2))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        finish(home, url, 60)
    ((unknown,),) = rows(home, "SELECT coalesce(sum(reserved), 0) FROM llm_calls WHERE cost IS NULL")
    assert recorded(home) <= model.books.charged <= recorded(home) + unknown + 1e-9


def everything(home: Home) -> bytes:
    files = [path for path in home.root.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


def test_a_key_of_the_plugin_reaches_the_daemon_and_no_disk(stopped: Home, tmp_path: Path, model: FakeModel) -> None:
    model.key = KEY
    with model.serving() as url:
        configure(stopped, provider='"anthropic"', anthropic_url=f'"{url}"')
        wire.ensure_daemon(stopped)
        missing = wire.call(stopped, "provider", {"check": True}, 30)["providers"][0]
        assert (missing["reachable"], missing["error"]["code"]) == (False, "E050")
        speaker = session_with(stopped, tmp_path / "project", ANTHROPIC_KEY=KEY)
        typed(stopped, speaker, "good morning")
        assert wire.call(stopped, "provider", {"check": True}, 30)["providers"][0]["reachable"]
        wire.call(stopped, "drain", {"timeout": 20}, 25)
        status = wire.call(stopped, "status", {"cwd": str(tmp_path)})
        assert KEY not in str(status)
        assert KEY.encode() not in everything(stopped)
        assert model.books.keys == {KEY}
        # Whoever takes the key away in the plugin's options has taken it from the daemon too.
        typed(stopped, session_with(stopped, tmp_path / "other"), "again")
        assert not wire.call(stopped, "provider", {"check": True}, 30)["providers"][0]["reachable"]


def session_with(home: Home, folder: Path, **options: str) -> Speaker:
    speaker = new_session(home, folder)
    for name, value in options.items():
        speaker.environment[f"CLAUDE_PLUGIN_OPTION_{name}"] = value
    return speaker


def typed(home: Home, speaker: Speaker, words: str) -> None:
    """Type a prompt in a person's client."""
    payload = speaker.payload("UserPromptSubmit", prompt=words)
    client_stub.submit(payload, terminal.environment(home) | speaker.environment, speaker.project)


def test_the_plugin_may_choose_the_provider(running: Home, tmp_path: Path) -> None:
    assert wire.call(running, "provider", {})["providers"] == []
    speaker = session_with(running, tmp_path / "project", PROVIDER="openai")
    speaker.hook("ask", "UserPromptSubmit", prompt="handed over by nobody's client")
    assert wire.call(running, "provider", {})["providers"] == []
    typed(running, speaker, "hello")
    (provider,) = wire.call(running, "provider", {})["providers"]
    assert (provider["name"], provider["open"]) == ("openai", False)


def test_a_wrong_key_is_told_and_is_no_fault_of_the_daemon(stopped: Home, model: FakeModel) -> None:
    model.key = KEY
    with model.serving() as url:
        configure(stopped, provider='"anthropic"', anthropic_url=f'"{url}"', anthropic_key='"sk-wrong"')
        (stopped.root / "config.toml").chmod(0o600)
        wire.ensure_daemon(stopped)
        wire.call(stopped, "provider", {"check": True}, 30)
    status = wire.call(stopped, "status", {"cwd": "/"})
    assert any("E050" in warning for warning in status["warnings"])
    assert "sk-wrong" not in str(status)
    assert b"sk-wrong" not in (stopped.log / "daemon.log").read_bytes()


@pytest.mark.process
def test_no_sdk_is_loaded_before_the_first_question(running: Home) -> None:
    """Nor is one when the status is asked for: what is never used must cost nothing."""
    wire.call(running, "status", {"cwd": "/"})
    wire.call(running, "provider", {"check": True}, 30)
    pid = wire.call(running, "status", {"cwd": "/"})["pid"]
    loaded = Path(f"/proc/{pid}/maps").read_text()
    assert "pydantic_core" in loaded
    assert "jiter" not in loaded
