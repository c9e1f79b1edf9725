"""Sessions of before, and notes: read through a real daemon, at their own dates, once."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session, processes_of
from tests.support.importing import DECISION, dump, imported, transcript

LINTER = "From now on, run the linter before every commit."
ROOT = Path(__file__).resolve().parents[2]
MARCH = 1_740_823_200.0
DAY = 86_400.0


def plan(home: Home, *paths: Path, **args: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.call(home, "import_plan", {"paths": [str(p) for p in paths], **args})["files"]
    return found


def test_old_sessions_keep_their_dates_and_are_over(running: Home, tmp_path: Path) -> None:
    file = transcript(tmp_path / "old", "Tidy the invoices.", DECISION)
    fate = imported(running, file)
    assert (fate["lines"], fate["turns"], fate["captured"], fate["more"]) == (2, 2, 1, False)
    (session,) = wire.call(running, "sessions", {"cwd": "/gone/shop"})["sessions"]
    assert (session["started_at"], session["last_event_at"], session["ended_at"]) == (MARCH, MARCH + DAY, MARCH + DAY)
    assert (session["status"], session["end_reason"], session["cwd"]) == ("ended", "imported", "/gone/shop")
    (memory,) = wire.call(running, "list", {"cwd": "/gone/shop"})["memories"]
    assert (memory["said_at"], memory["commit"]) == (MARCH + DAY, "")


def test_a_missing_folder_is_a_project_that_includes_its_worktrees(running: Home, tmp_path: Path) -> None:
    imported(running, transcript(tmp_path / "a", DECISION))
    imported(running, transcript(tmp_path / "b", LINTER, cwd="/gone/shop/.worktrees/fix", name="22222222-bbbb"))
    imported(running, transcript(tmp_path / "c", "Use tabs.", cwd="/gone/other", name="33333333-cccc"))
    assert wire.call(running, "list", {"cwd": "/gone/shop"})["total"] == 2
    assert len(wire.call(running, "sessions", {"cwd": "/gone/shop"})["sessions"]) == 2
    assert wire.call(running, "list", {"cwd": "/gone/other"})["total"] == 0


def test_a_second_run_changes_nothing(running: Home, tmp_path: Path) -> None:
    file = transcript(tmp_path / "old", DECISION, LINTER)
    note = tmp_path / "notes" / "docs" / "adr" / "0001-cents.md"
    note.parent.mkdir(parents=True)
    note.write_text("# 1. Cents\n\n## Decision\n\nWe keep integer cents.\n")
    imported(running, file)
    imported(running, note)
    before = dump(running)
    assert imported(running, file)["lines"] == imported(running, note)["lines"] == 0
    assert dump(running) == before
    planned = plan(running, tmp_path / "old", tmp_path / "notes", everywhere=True)
    assert [row["read"] == row["bytes"] for row in planned] == [True, True]


def test_an_import_is_undone_as_a_whole(running: Home, tmp_path: Path) -> None:
    note = tmp_path / "notes" / "0001-cents.md"
    note.parent.mkdir()
    note.write_text("# 1. Tests\n\n## Decision\n\nWe run all tests on every branch.\n")
    files = [
        transcript(tmp_path / "a", "Tidy the invoices.", DECISION),
        transcript(tmp_path / "b", LINTER, DECISION, "No, we keep amounts as floats.", name="22222222-bbbb", day=3),
        note,
    ]
    terminal.call(running, "remember", text="Use tabs in makefiles.", cwd="/gone/shop")
    before = memories_at(running, "/gone/shop")
    results = [imported(running, file, act="ab" * 16, cwd="/gone/shop") for file in files]
    assert sum(result["captured"] + result["queued"] for result in results) >= 3
    assert results[0]["event"] < results[-1]["event"]
    after = memories_at(running, "/gone/shop")
    assert after > before
    done = terminal.call(running, "undo_acts", ids=[results[-1]["event"]])
    assert len(done["acts"]) == 1
    assert memories_at(running, "/gone/shop") == before
    statuses = [capture["status"] for capture in wire.call(running, "captures")["captures"]]
    assert (statuses.count("captured"), set(statuses)) == (1, {"captured", "discarded"})
    terminal.call(running, "undo_acts", limit=1, cwd="/gone/shop")
    assert memories_at(running, "/gone/shop") == after


def test_any_number_of_acts_of_an_import_is_undone(running: Home, tmp_path: Path) -> None:
    imported(running, transcript(tmp_path / "a", "Tidy the invoices.", DECISION))
    imported(running, transcript(tmp_path / "b", LINTER, DECISION, name="22222222-bbbb", day=3))
    done = terminal.call(running, "undo_acts", limit=30, daemon=True, everywhere=True)
    assert len(done["acts"]) >= 2
    assert memories_at(running, "/gone/shop") == set()


def memories_at(home: Home, folder: str) -> set[str]:
    return {memory["content"] for memory in wire.call(home, "list", {"cwd": folder})["memories"]}


def test_what_grew_since_is_read_from_where_it_was_left(running: Home, tmp_path: Path) -> None:
    file = transcript(tmp_path / "old", DECISION)
    imported(running, file)
    transcript(tmp_path / "old", DECISION, LINTER)
    assert (imported(running, file)["lines"], len(wire.call(running, "captures")["captures"])) == (1, 2)
    (session,) = wire.call(running, "sessions", {"cwd": "/gone/shop"})["sessions"]
    assert session["last_event_at"] == MARCH + DAY


def test_lines_that_a_fork_repeats_are_counted_as_known(running: Home, tmp_path: Path) -> None:
    file = transcript(tmp_path / "old", DECISION)
    fork = file.with_name("22222222-bbbb.jsonl")
    fork.write_text(file.read_text().replace('"sessionId": "11111111-aaaa"', '"sessionId": "22222222-bbbb"'))
    imported(running, file)
    fate = imported(running, fork)
    assert (fate["captured"], fate["repeated"]) == (0, 1)


def test_a_sub_agents_file_belongs_to_its_session(running: Home, tmp_path: Path) -> None:
    main = transcript(tmp_path / "old", "Tidy the invoices.")
    agents = tmp_path / "old" / "11111111-aaaa" / "subagents"
    agent = transcript(agents, DECISION, name="agent-7", session="11111111-aaaa")
    assert [row["sort"] for row in plan(running, tmp_path / "old", everywhere=True)] == ["session", "agent"]
    imported(running, main)
    assert imported(running, agent)["captured"] == 0
    (session,) = wire.call(running, "sessions", {"cwd": "/gone/shop"})["sessions"]
    assert (session["transcript"], session["turns"]) == (str(main), 1)


def test_only_the_asked_projects_sessions_are_planned(running: Home, tmp_path: Path) -> None:
    here = transcript(tmp_path / "old", DECISION, cwd=str(tmp_path))
    transcript(tmp_path / "old", LINTER, name="22222222-bbbb")
    assert [row["path"] for row in plan(running, tmp_path / "old", cwd=str(tmp_path))] == [str(here)]
    assert len(plan(running, tmp_path / "old", cwd=str(tmp_path), everywhere=True)) == 2


def test_foreign_files_are_named_with_their_reason(running: Home, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"foo": 1}\n')
    (tmp_path / "b.jsonl").write_text("")
    (tmp_path / "c.jsonl").mkdir()
    os.mkfifo(tmp_path / "d.jsonl")
    (tmp_path / "e.txt").write_text("words")
    found = plan(running, tmp_path, tmp_path / "e.txt", everywhere=True)
    assert {row["sort"] for row in found} == {"foreign"}
    assert len(found) == 4
    assert all(row["reason"] for row in found)
    assert imported(running, tmp_path / "a.jsonl")["reason"]


def test_a_running_session_is_read_and_stays_open(running: Home, speaker: Speaker) -> None:
    speaker.ask("SessionStart", source="startup")
    speaker.say(DECISION)
    imported(running, speaker.transcript)
    (session,) = wire.call(running, "sessions", {"cwd": str(speaker.project)})["sessions"]
    assert session["status"] == "open"
    assert wire.call(running, "list", {"cwd": str(speaker.project)})["total"] == 1


def test_an_imported_session_that_goes_on_is_open_again_and_is_not_called_interrupted_before(
    running: Home, speaker: Speaker
) -> None:
    speaker.say(DECISION)
    imported(running, speaker.transcript)
    given = new_session(running, speaker.project).ask("SessionStart", source="startup").decode()
    assert DECISION in given
    assert "was interrupted" not in given
    speaker.ask("SessionStart", source="resume")
    drained(running)
    shown = wire.call(running, "sessions", {"cwd": str(speaker.project)})["sessions"]
    assert {session["id"]: session["status"] for session in shown}[speaker.id] == "open"


def test_the_assistant_may_not_import_words_that_a_file_claims_to_be_the_users(running: Home, tmp_path: Path) -> None:
    forged = transcript(tmp_path / "old", DECISION)
    for request in ("import_file", "capture"):
        for origin in ("assistant", "user"):  # whoever has no terminal is no person, whatever is claimed
            with pytest.raises(DaemonError, match="only a person may import"):
                wire.call(running, request, {"transcript": str(forged), "origin": origin})
    assert wire.call(running, "captures")["captures"] == []


RECORD = """---
status: {status}
date: 2024-05-06
---
# ADR-0007: Use SQLite

## Context
We need a store that people can copy.

## Decision
We use **SQLite** in WAL mode, see [the docs](https://example.org).
"""


def note(folder: Path, text: str, place: str = "docs/adr/0007-use-sqlite.md") -> Path:
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_decision_record_waits_for_a_person_unless_one_vouches(running: Home, tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert imported(running, note(tmp_path, RECORD.format(status="accepted")), cwd=folder)["queued"] == 1
    (capture,) = wire.call(running, "captures", {"cwd": folder})["captures"]
    assert capture["content"] == "Use SQLite: We use SQLite in WAL mode, see the docs."
    assert (capture["kind"], capture["origin"], capture["status"]) == ("decision", "tool", "review")
    other = note(tmp_path, RECORD.format(status="accepted").replace("SQLite", "DuckDB"), "docs/adr/0008-b.md")
    assert imported(running, other, cwd=folder, vouched=True)["captured"] == 1
    (memory,) = wire.call(running, "list", {"cwd": folder})["memories"]
    assert (memory["origin"], memory["said_at"]) == ("user", 1_714_953_600.0)


@pytest.mark.parametrize("status", ["superseded by ADR-9", "Rejected", "deprecated"])
def test_what_a_record_no_longer_says_is_not_remembered(running: Home, tmp_path: Path, status: str) -> None:
    file = note(tmp_path, RECORD.format(status=status))
    assert imported(running, file, cwd=str(tmp_path), vouched=True)["discarded"] == 1


@pytest.mark.process
def test_an_import_continues_after_a_kill(running: Home, tmp_path: Path) -> None:
    """The daemon and the command die while files are read; the next run reads the rest, and nothing twice."""
    for number in range(60):
        transcript(tmp_path / "old", *(f"{DECISION} {number} {turn}" for turn in range(9)), name=f"{number:08d}-aaaa")
    command = [sys.executable, "-m", "cli", "import", str(tmp_path / "old"), "--yes", "--json"]

    def begun() -> bool:
        return any(row["read"] for row in plan(running, tmp_path / "old", everywhere=True))

    with terminal.Terminal(command, terminal.environment(running), ROOT) as first:
        assert eventually(begun)
        killed = set(processes_of(running))
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        first.press("\x03")
        first.end()
    assert eventually(lambda: killed.isdisjoint(processes_of(running)))  # until then their socket takes connections
    code, shown = terminal.run(command, running, ROOT)
    assert code == 0, shown
    assert json.loads(shown[shown.index("{") : shown.rindex("}") + 1])["lines"] < 60 * 9
    files = plan(running, tmp_path / "old", everywhere=True)
    assert all(row["read"] == row["bytes"] for row in files)
    sessions = wire.call(running, "sessions", {"cwd": "/gone/shop", "limit": 100})["sessions"]
    assert [session["turns"] for session in sessions] == [9] * 60


def test_nothing_is_read_while_learning_is_switched_off(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, capture=False)
    wire.ensure_daemon(stopped)
    file = transcript(tmp_path / "old", DECISION)
    with pytest.raises(DaemonError, match="switched off"):
        imported(stopped, file)
    assert plan(stopped, file)[0]["read"] == 0


def test_an_imported_session_gets_a_story(running: Home, tmp_path: Path) -> None:
    imported(running, transcript(tmp_path / "old", "Tidy the invoices in ledger.py.", DECISION))
    (session,) = wire.call(running, "sessions", {"cwd": "/gone/shop"})["sessions"]
    assert session["title"] == "Tidy the invoices in ledger.py"
    assert DECISION in session["summary"]


def test_the_status_says_whether_past_sessions_may_be_imported(running: Home, tmp_path: Path) -> None:
    def can_import() -> bool:
        return bool(wire.call(running, "status", {"cwd": "/gone/shop"})["can_import"])

    wire.call(running, "remember", {"cwd": "/gone/shop", "text": "Use tabs.", "origin": "user"})
    before = can_import()
    imported(running, transcript(tmp_path / "old", DECISION))
    assert (before, can_import()) == (True, False)


def test_a_project_without_past_sessions_offers_no_import(running: Home, speaker: Speaker) -> None:
    speaker.ask("SessionStart", source="startup")
    assert wire.call(running, "status", {"cwd": str(speaker.project)})["can_import"] is False
