"""What a batch brought is one line of the log: counts and seconds, and nothing of what was said."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

from subconscious.app import App
from subconscious.capture.ingest import learn
from subconscious.capture.transcript_source import Source
from subconscious.store import sessions
from subconscious.store.projects import Project
from tests.support.values import NOON

SAID = (
    "We decided to keep all amounts in integer cents, because floats lost a cent.",
    "Maybe we should rename the worker. Please run the tests now!",
)


def write(path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(SAID):
            record = {
                "type": "user",
                "uuid": f"u{number}",
                "sessionId": "s",
                "timestamp": f"2026-09-21T12:00:{number:02}.000Z",
                "cwd": "/",
                "message": {"role": "user", "content": text},
            }
            file.write(json.dumps(record) + "\n")
    return path


async def test_a_batch_is_one_line_without_contents(
    app: App, project: Project, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "subconscious.daemon")
    path = write(tmp_path / "s.jsonl")
    async with app.database.write() as tx:
        await sessions.record_activity(tx, "s", project.id, NOON, transcript=str(path), cwd="")
    await learn(app, app.recall_context(), Source("s", project.id, str(path)), final=True)
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("session s: read")]
    assert len(lines) == 1
    assert re.fullmatch(
        r"session s: read 2 turns with 3 sentences; (\d+) new candidates \(1 stored, 0 waiting, 0 quarantined,"
        r" \d+ discarded\), 0 known before; \d+\.\d s",
        lines[0],
    )
    assert not [word for word in ("cents", "worker", "floats") if word in caplog.text]
    await learn(app, app.recall_context(), Source("s", project.id, str(path)), final=True)
    assert [record.getMessage() for record in caplog.records].count(lines[0]) == 1
