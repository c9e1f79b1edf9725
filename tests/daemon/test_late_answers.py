"""An answer that is written after the end of its turn was reported is judged with the exchange that it belongs to."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from daemon import events
from subconscious.app import App
from subconscious.capture.ingest import learn
from subconscious.capture.transcript_source import Source
from subconscious.settings.home import Home
from subconscious.store import captures, sessions
from subconscious.store.projects import Project
from tests.support import terminal
from tests.support.daemons import drained, eventually
from tests.support.values import NOON

ASK = "Please move the check for an open ledger to a single place."
EDITS = {"file_path": "/repo/ledger/registry.py", "old_string": "pass", "new_string": "require_open_ledger(handler)"}
ANSWER = (
    "The check for an open ledger is in one place now: `register_handler` in ledger/registry.py calls"
    " `require_open_ledger` for every handler, because the six handlers checked it in six different ways."
)


def record(number: int, role: str, content: Any) -> str:
    said = {
        "type": role,
        "uuid": f"u{number}",
        "sessionId": "s",
        "timestamp": f"2026-09-21T12:00:{number:02}.000Z",
        "cwd": "/repo",
        "message": {"role": role, "content": content},
    }
    return json.dumps(said) + "\n"


LINES = [
    record(0, "user", ASK),
    record(1, "assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": EDITS}]),
    record(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "The file was updated."}]),
    record(3, "assistant", [{"type": "text", "text": ANSWER}]),
]


async def captured(app: App, project: Project, path: Path, batches: Sequence[Sequence[str]]) -> set[tuple[str, float]]:
    """What is captured of a transcript that is read after each batch of lines, and how sure it is."""
    path.touch()
    async with app.database.write() as tx:
        await sessions.record_activity(tx, path.stem, project.id, NOON, transcript=str(path), cwd="")
    for lines in batches:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(line.replace('"uuid": "', f'"uuid": "{path.stem}-') for line in lines)
        await learn(app, app.recall_context(), Source(path.stem, project.id, str(path)))
    found = await captures.listing(app.database, session_id=path.stem)
    return {(one["content"], one["confidence"]) for one in found}


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_a_late_answer_is_judged_as_if_it_had_been_written_at_once(
    app: App, project: Project, tmp_path: Path, cut: int
) -> None:
    whole = await captured(app, project, tmp_path / "whole.jsonl", [LINES])
    assert any("require_open_ledger" in content for content, _ in whole)
    assert await captured(app, project, tmp_path / "parted.jsonl", [LINES[:cut], LINES[cut:]]) == whole


async def test_a_new_prompt_begins_a_new_exchange(app: App, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    await captured(app, project, path, [LINES, [record(4, "user", "Thanks, now look at the tests.")]])
    running = app.sessions.running_exchanges.before(str(path), path.stat().st_size)
    assert [turn.text for turn in running] == ["Thanks, now look at the tests."]


async def test_what_was_read_without_new_turns_keeps_the_exchange(app: App, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    hook = json.dumps({"type": "system", "subtype": "stop_hook_summary", "sessionId": "s"}) + "\n"
    await captured(app, project, path, [LINES[:3], [hook]])
    assert len(app.sessions.running_exchanges.before(str(path), path.stat().st_size)) == 3


def test_a_turn_that_is_written_after_its_hook_is_read_without_another_event(
    speaker: Speaker, running: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "WRITING_SECONDS", 30.0)
    looks = threading.Semaphore(0)
    learn_turn = events._learn

    async def noted(*args: Any, **named: Any) -> Any:
        failure = await learn_turn(*args, **named)
        looks.release()
        return failure

    speaker.introduce()
    drained(running)
    monkeypatch.setattr(events, "_learn", noted)
    speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    assert looks.acquire(timeout=20)
    speaker.say("We decided to send invoices as PDF, because clients print them.")
    speaker.say("Noted.", role="assistant")
    assert eventually(lambda: terminal.call(running, "list", cwd=str(speaker.project))["memories"])
