"""What the terminal shows of upkeep, and asks the daemon for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.__main__ import main
from subconscious.settings.home import Home
from subconscious.store import backups
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from tests.support.stub_daemon import StubDaemon
from tests.support.values import NOON

RUN: dict[str, Any] = {
    "id": 1,
    "job": "nightly",
    "state": "done",
    "phase": "stats",
    "started_at": NOON,
    "finished_at": NOON + 2,
    "told": "backup: copy memory-1.db",
}
JOB = {"job": "nightly", "phases": ["orphans", "backup"], "due_since": NOON, "waits": True, "last": RUN}
ONE, OTHER = ({"id": number, "content": text} for number, text in ((3, "Cents are stored."), (7, "We store cents.")))
REPLIES: dict[str, Any] = {
    "repeats": {"pairs": [{"gone": ONE, "stays": OTHER, "cosine": 0.93}]},
    "maintenance_status": {"on": True, "jobs": [JOB, JOB | {"job": "weekly", "last": None, "waits": False}]},
    "maintenance_log": {"runs": [RUN, RUN | {"finished_at": None}]},
    "maintenance_run": {"run": RUN},
    "backup": {"copy": "memory-1.db", "dropped": 0, "copies": [{"name": "memory-1.db", "at": NOON, "schema": 15}]},
}
SAID = {
    ("maintenance",): ("waits for a quiet moment", "has not run yet", "orphans, backup"),
    ("maintenance", "log"): ("nightly, 2.0 s", "cut short in stats", "copy memory-1.db"),
    ("maintenance", "run", "weekly"): ("nightly, 2.0 s",),
    ("maintenance", "repeats"): ("Cents are stored.", "into 7: We store cents."),
    ("backup",): ("Copied to memory-1.db (1 copy in all).",),
}


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_it_is_said_in_words_and_in_json(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    with StubDaemon(home, REPLIES) as daemon:
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert all(said in shown for said in SAID[words]), shown
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
        asked = [request for request in daemon.requests if request.cmd == "maintenance_run"]
        assert all(request.args["job"] == "weekly" for request in asked)


async def test_copies_are_listed_without_a_daemon(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    assert main(["restore"]) == 0
    assert "There is no copy yet" in capsys.readouterr().out
    database = await open_database(home.database)
    await migrate(database)
    await database.close()
    copy = backups.create_copy(home.database, 15)
    assert main(["restore"]) == 0
    shown = capsys.readouterr().out
    assert copy.name in shown
    assert "0 memories" in shown
    assert main(["restore", "--json"]) == 0
    assert [row["fault"] for row in json.loads(capsys.readouterr().out)] == [""]


def test_the_model_puts_nothing_back(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (["restore", "latest", "--yes"], ["undo", "--yes"]):
        assert main(words) == 1
        assert "only a person may" in capsys.readouterr().err
