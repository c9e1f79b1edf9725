"""Transcripts to import, and the import as a person runs it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from subconscious.settings.home import Home
from tests.support import terminal

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."
LONG_AGO = "2025-03-0{day}T10:00:00Z"


def transcript(
    folder: Path, *texts: str, cwd: str = "/gone/shop", name: str = "11111111-aaaa", session: str = "", day: int = 1
) -> Path:
    """A transcript of long ago, in a folder that may be gone."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.jsonl"
    lines = [
        {
            "type": "user",
            "isSidechain": name.startswith("agent-"),
            "message": {"role": "user", "content": text},
            "uuid": f"{name}-{number}",
            "timestamp": LONG_AGO.format(day=day + number),
            "cwd": cwd,
            "sessionId": session or name,
            "version": "2.1.50",
            "gitBranch": "main",
        }
        for number, text in enumerate(texts)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def imported(home: Home, path: Path, **args: Any) -> dict[str, Any]:
    found: dict[str, Any] = terminal.call(home, "import_file", transcript=str(path), **args)
    return found


BOOKS = ("redaction_state", "memory_checks", "link_searches")
"""How far the rounds that look through what is stored have come: they come by whenever they like."""


def dump(home: Home) -> list[str]:
    store = sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)
    try:
        return [line for line in store.iterdump() if not any(f'"{book}"' in line for book in BOOKS)]
    finally:
        store.close()
