"""Which prompts of Codex may be those of a command, by the transcripts that Codex has open."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from subconscious.authorship import open_turns, peers
from subconscious.authorship.open_turns import BUSY, UNKNOWN, doubt_of_turn

CODEX = 70
BEGAN = time.time() - 100


def event(kind: str, turn: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": "", "type": "event_msg", "payload": {"type": kind, "turn_id": turn, **more}}


def begun(turn: str, at: float = BEGAN + 10) -> dict[str, Any]:
    return event("task_started", turn, started_at=int(at))


def said(role: str, turn: str, source: str = "user") -> dict[str, Any]:
    about = {"turn_id": turn, "content_item_metadata": [{"provenance": {"type": source}}]}
    content = [{"type": "input_text", "text": "Words."}]
    payload = {"type": "message", "role": role, "content": content, "internal_chat_message_metadata_passthrough": about}
    return {"timestamp": "", "type": "response_item", "payload": payload}


OLD = [begun("t1"), said("user", "t1"), said("assistant", "t1")]
NEW = [begun("t2"), said("user", "t2", source="harness")]
Write = Callable[..., str]


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a transcript that Codex has open."""
    client = peers.Process(CODEX, 1, CODEX, 0, 0, 0, b"codex", b"", True, False, False, True)
    monkeypatch.setattr(peers, "client_process", lambda pid: client)
    monkeypatch.setattr(peers, "time_of", lambda process: BEGAN)
    monkeypatch.setattr(peers, "PROC", tmp_path)
    monkeypatch.setattr(open_turns, "WRITTEN_SECONDS", 0.0)
    (tmp_path / str(CODEX) / "fd").mkdir(parents=True)

    def write(*lines: dict[str, Any], name: str = "rollout-1.jsonl", opened: bool = True) -> str:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        if opened:
            (tmp_path / str(CODEX) / "fd" / name[8:9]).symlink_to(path)
        return str(path)

    return write


@pytest.mark.parametrize(
    "lines",
    [
        [],
        NEW,
        [*OLD, event("task_complete", "t1"), *NEW],
        [*OLD, event("turn_aborted", "t1"), *NEW],
        [begun("t0", BEGAN - 50), *NEW],
    ],
    ids=["nothing yet", "first", "after the end", "after an interruption", "after a client that was killed"],
)
def test_the_first_prompt_of_a_turn_is_not_doubted(codex: Write, lines: list[dict[str, Any]]) -> None:
    assert doubt_of_turn(1, "t2", codex(*lines)) == ""


@pytest.mark.parametrize(
    ("lines", "turn"),
    [
        (OLD, "t2"),
        (OLD, "t1"),
        ([*OLD, *NEW], "t2"),
        ([*OLD, event("task_complete", "t1"), event("task_complete", "t2")], "t2"),
        ([*OLD, event("task_complete", "t1")], "t1"),
    ],
    ids=["another turn", "the same turn", "begun in a turn", "ended already", "an old turn"],
)
def test_a_prompt_within_a_turn_is_doubted(codex: Write, lines: list[dict[str, Any]], turn: str) -> None:
    assert doubt_of_turn(1, turn, codex(*lines)) == BUSY


def test_a_turn_of_another_open_transcript_counts(codex: Write) -> None:
    codex(*OLD, name="rollout-2.jsonl")
    assert doubt_of_turn(1, "t2", codex(*NEW)) == BUSY


def test_a_transcript_that_codex_does_not_have_open_is_not_believed(codex: Write) -> None:
    codex(*OLD, event("task_complete", "t1"))
    assert doubt_of_turn(1, "t2", codex(*NEW, name="rollout-2.jsonl", opened=False)) == UNKNOWN


def test_broken_lines_say_nothing(codex: Write) -> None:
    path = Path(codex(*NEW))
    with path.open("a") as file:
        file.write('{"type":"event_msg","payload":{"type":"task_started"\n"type":"response_item"\n')
        file.write('[{"type":"response_item"}]\n{"a":{"type":"response_item"},"payload":{"type":"x"}}\n')
    assert doubt_of_turn(1, "t2", str(path)) == ""


def test_other_clients_are_not_asked(codex: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = codex(*OLD)
    monkeypatch.setattr(peers, "client_process", lambda pid: None)
    assert doubt_of_turn(1, "t2", path) == ""


def test_a_sub_agent_is_not_kept_waiting(codex: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_turns, "WRITTEN_SECONDS", 3600.0)
    codex(*OLD)
    assert doubt_of_turn(1, "", "") == UNKNOWN


def test_a_turn_that_ends_meanwhile_was_open(codex: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command's own turn, which goes on as soon as the command has ended."""
    monkeypatch.setattr(open_turns, "WRITTEN_SECONDS", 0.2)
    path = Path(codex(*OLD))

    def end(seconds: float) -> None:
        with path.open("a") as file:
            file.write(json.dumps(event("task_complete", "t1"), separators=(",", ":")) + "\n")

    monkeypatch.setattr(time, "sleep", end)
    assert doubt_of_turn(1, "t2", str(path)) == BUSY


def test_a_beginning_that_codex_writes_late_is_awaited(codex: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_turns, "WRITTEN_SECONDS", 60.0)
    path = Path(codex(*OLD))

    def begin(seconds: float) -> None:
        with path.open("a") as file:
            lines = [event("task_complete", "t1"), *NEW]
            file.write("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    monkeypatch.setattr(time, "sleep", begin)
    assert doubt_of_turn(1, "t2", str(path)) == ""
