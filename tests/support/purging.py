"""Learn a statement, purge it as a person, and search for what is left of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import drained

MARK = "zirconium"
DECISION = f"We decided to keep the {MARK} ledger in integer cents, because floats lost a cent."
OTHER = "We decided to run the billing tests with pytest, because unittest was slow."
SECRET = "q8Zt3Lm9" + "Wx2Rk7Vb5Nc1"


def learned(home: Home, speaker: Speaker, text: str) -> int:
    """Let a decision be said and kept; the id of its memory."""
    speaker.say(text)
    speaker.hook("drop", "Stop")
    drained(home)
    found = wire.call(home, "captures", {"cwd": str(speaker.project)})["captures"]
    kept = [capture["memory_id"] for capture in found if capture["content"] == text]
    assert kept, found
    return int(kept[-1])


def knowing(home: Home, words: str) -> list[str]:
    """Files of the state folder that hold the words in any of the ways they may be written."""
    spelled = [words.encode(), words.upper().encode(), json.dumps(words)[1:-1].encode()]
    files = [path for path in home.root.rglob("*") if path.is_file() and "env" not in path.parts]
    assert home.database in files
    return [str(path) for path in files if any(each in _bytes(path) for each in spelled)]


def _bytes(path: Path) -> bytes:
    """What a file holds; nothing if it is gone by now, as the drafts of what is written whole are in a moment."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def person(home: Home, cmd: str, **args: object) -> dict[str, Any]:
    answer = terminal.ask(home, cmd, **args)
    assert answer["ok"], answer
    return dict(answer["result"])


def written(path: Path, change: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(change, values)
    connection.close()
