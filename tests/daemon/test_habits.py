"""Habits of a project: what two sessions show of how it is worked in is kept without a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import drained, new_session
from tests.support.failing import Call, bash, lived, rows

LINT_AND_TEST = (bash("mise run lint"), bash("mise run test"))
TOLD = (
    "The project uses `mise` as its task runner: `mise run lint` lints, `mise run test` runs the test suite. These are"
    " the standard commands to verify changes after edits, before committing."
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def stored(home: Home) -> list[dict[str, Any]]:
    return rows(home, "SELECT * FROM memories WHERE extractor = 'practised-1' AND archived_at IS NULL ORDER BY id")


def asked(home: Home) -> list[str]:
    """What still waits for a person."""
    waits = "extractor = 'practised-1' AND status = 'review' AND memory_id IS NULL"
    return [row["content"] for row in rows(home, f"SELECT content FROM implicit_captures WHERE {waits}")]


def learned(home: Home, project: Path, *calls: Call, sessions: int = 2) -> list[str]:
    for _ in range(sessions):
        lived(home, project, *calls)
    return [row["content"] for row in stored(home)]


def test_what_two_sessions_show_is_kept_and_nobody_is_asked(running: Home, project: Path) -> None:
    assert learned(running, project, *LINT_AND_TEST, sessions=1) == []
    assert asked(running) == [TOLD]
    assert learned(running, project, *LINT_AND_TEST, sessions=1) == [TOLD]
    assert asked(running) == []
    learned(running, project, *LINT_AND_TEST, sessions=1)
    (memory,) = stored(running)
    assert (memory["origin"], memory["kind"], memory["recurrence"]) == ("assistant", "pattern", 2)


def test_a_habit_is_one_memory_whatever_else_was_run(running: Home, project: Path) -> None:
    learned(running, project, *LINT_AND_TEST)
    assert learned(running, project, *LINT_AND_TEST, bash("mise run build")) == [TOLD]
    assert asked(running) == []


def test_what_a_person_archived_is_not_kept_again(running: Home, project: Path) -> None:
    learned(running, project, *LINT_AND_TEST)
    assert "result" in terminal.ask(running, "archive", ids=[stored(running)[0]["id"]])
    assert learned(running, project, *LINT_AND_TEST) == []


def test_a_command_that_a_person_must_decide_about_waits(running: Home, project: Path) -> None:
    fetching = tuple(bash(f"docker git {what}") for what in ("status", "diff", "log"))
    assert learned(running, project, *fetching, sessions=3) == []
    assert asked(running)


def test_a_reply_to_a_review_is_a_habit_though_it_has_placeholders(running: Home, project: Path) -> None:
    reply = bash("gh api repos/acme/shop/pulls/12/comments/3456/replies -f body='Done in 1a2b3c.'")
    (told,) = learned(running, project, reply)
    assert "`gh api repos/acme/shop/pulls/<number>/comments/<comment id>/replies -f body=...`" in told


def test_stale_diagnostics_are_remembered_when_two_sessions_met_them(running: Home, project: Path) -> None:
    for _ in range(2):
        assert stored(running) == []
        speaker = new_session(running, project)
        speaker.say("Merge the branch of the exporter.")
        speaker.say("The gopls diagnostics are stale, the build is fine. Everything is merged now.", "assistant")
        speaker.hook("drop", "SessionEnd", reason="other")
        drained(running)
    (memory,) = stored(running)
    assert memory["content"].startswith("Diagnostics of the language server (gopls) are often stale here")
