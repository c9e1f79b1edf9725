"""History and undo through a real daemon, from a person's terminal and from elsewhere."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.app import App
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.model import Origin
from subconscious.history.api import Changes, ChangesArgs
from subconscious.settings.home import Home
from subconscious.store import memories
from subconscious.store.projects import Project
from tests.support import terminal
from tests.support.daemons import drained, new_session
from tests.support.purging import DECISION, OTHER, learned, person
from tests.support.values import make_memory


def shown(home: Home, speaker: Speaker, *words: str) -> str:
    code, text = terminal.run([sys.executable, "-m", "cli", *words], home, speaker.project)
    assert code == 0, text
    return text


def found(home: Home, speaker: Speaker, query: str) -> list[int]:
    hits = wire.call(home, "search", {"cwd": str(speaker.project), "query": query})["hits"]
    return [hit["memory"]["id"] for hit in hits]


def test_as_many_changes_are_listed_as_asked_for(running: Home, speaker: Speaker) -> None:
    for number in range(3):
        terminal.call(running, "remember", text=f"the {number}. rule is kept", cwd=str(speaker.project))
    for limit in (1, 2, 4):
        shown = wire.call(running, "history", {"cwd": str(speaker.project), "limit": limit})["events"]
        assert len(shown) == limit
        assert "bind" not in {event["action"] for event in shown}


def test_a_person_lists_changes_and_reverts_one(running: Home, speaker: Speaker) -> None:
    kept = [learned(running, speaker, text) for text in (OTHER, DECISION)]
    person(running, "archive", ids=kept, reason="out of date")
    assert found(running, speaker, "ledger pytest") == []
    assert "2 changes undone" in shown(running, speaker, "undo", "--yes")
    assert sorted(found(running, speaker, "ledger pytest")) == sorted(kept)
    assert "2 changes undone" in shown(running, speaker, "undo", "--yes")
    assert found(running, speaker, "ledger pytest") == []
    events = json.loads(shown(running, speaker, "history", str(kept[0]), "--json"))
    assert [event["action"] for event in events] == ["create", "archive", "undo", "undo"]
    assert events[0]["about"]
    listed = shown(running, speaker, "history")
    assert "changed back by you" in listed
    assert "archived by you" in listed


def test_the_changes_of_a_session_are_found_by_the_start_of_its_id(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    asked = {"cwd": str(speaker.project), "subject": "session", "about": speaker.id[:8]}
    listed = wire.call(running, "history", asked)["events"]
    assert ("create", number) in [(event["action"], int(event["subject_id"])) for event in listed]
    with pytest.raises(SubconsciousError, match="no session has an id that begins with 'nowhere'"):
        wire.call(running, "history", asked | {"about": "nowhere"})


@pytest.mark.parametrize("yes", [True, False])
def test_an_undo_is_shown_and_needs_confirmation(running: Home, speaker: Speaker, yes: bool) -> None:
    number = learned(running, speaker, OTHER)
    person(running, "archive", ids=[number])
    command = [sys.executable, "-m", "cli", "undo"]
    with terminal.Terminal(command, terminal.environment(running), speaker.project) as window:
        window.await_text("is brought back")
        window.await_text("[y/N]")
        window.press("y\n" if yes else "\n")
        assert window.end() == 0
    assert found(running, speaker, "pytest") == ([number] if yes else [])


def test_only_a_person_can_undo(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    for cmd in ("archive", "unarchive"):  # what a rollback took out of use must not come back by the model
        with pytest.raises(SubconsciousError, match="only a person may archive"):
            wire.call(running, cmd, {"ids": [number]})
    with pytest.raises(SubconsciousError, match="only a person may run maintenance"):
        wire.call(running, "maintenance_run", {"job": "weekly"})
    person(running, "pin", ids=[number])
    for origin in ("user", "assistant"):
        with pytest.raises(SubconsciousError, match="a person decides which changes are undone"):
            wire.call(running, "undo_acts", {"origin": origin})
    told: list[dict[str, Any]] = wire.call(running, "history", {"subject": "memory", "about": str(number)})["events"]
    assert {event["before"] for event in told} == {None}
    assert all(not event["about"] for event in told)


def test_a_script_can_undo_what_a_script_may_do(running: Home, speaker: Speaker) -> None:
    """To archive and to restore. It undoes nothing else with it, and the assistant undoes nothing at all."""
    number = learned(running, speaker, OTHER)
    wire.call(running, "archive", {"ids": [number], "origin": "user"})
    with pytest.raises(SubconsciousError, match="a person decides which changes are undone"):
        wire.call(running, "undo_acts", {"origin": "assistant"})
    for more in ({"limit": 2, "daemon": True}, {"daemon": True, "limit": 9}):
        with pytest.raises(SubconsciousError, match="a person decides which changes are undone"):
            wire.call(running, "undo_acts", {"origin": "user", **more})
    assert "1 change undone" in shown(running, speaker, "undo", "--yes")
    assert found(running, speaker, "pytest") == [number]
    assert "1 change undone" in shown(running, speaker, "undo", "--yes")  # the undo itself
    assert found(running, speaker, "pytest") == []


async def test_a_script_undoes_only_the_change_that_was_checked(app: App, project: Project) -> None:
    changes = Changes(app)
    asked = ChangesArgs(cwd=project.root, origin=Origin.USER)
    nothing = await changes.allowed_to_script("undo_acts", asked)
    assert nothing is not None
    async with app.database.write() as tx:
        one, other = [
            await memories.insert(tx, make_memory(text, project_id=project.id, turn_id=text))
            for text in ("One.", "Two.")
        ]
    async with app.database.write() as tx:
        await memories.archive(tx, one, "user", "")
    allowed = await changes.allowed_to_script("undo_acts", asked)
    assert isinstance(allowed, ChangesArgs)
    async with app.database.write() as tx:
        await memories.archive(tx, other, "user", "")
    assert not (await changes.cmd_undo_acts(cast("ChangesArgs", nothing)))["done"]
    assert (await changes.cmd_undo_acts(allowed))["done"]
    found = await memories.get_many(app.database, [one.id, other.id])
    assert [found[number].archived_at is None for number in (one.id, other.id)] == [True, False]


def test_what_came_since_the_preview_is_not_taken_back_unseen(running: Home, speaker: Speaker) -> None:
    one, other = learned(running, speaker, OTHER), learned(running, speaker, DECISION)
    person(running, "archive", ids=[one])
    seen = person(running, "undo_acts", preview=True)["acts"]
    person(running, "archive", ids=[other])
    person(running, "undo_acts", ids=[act["id"] for act in seen])
    assert found(running, speaker, "ledger pytest") == [one]


def test_what_other_projects_did_is_neither_shown_nor_counted_nor_taken_back(
    running: Home, speaker: Speaker, tmp_path: Path
) -> None:
    number = learned(running, speaker, OTHER)
    person(running, "archive", ids=[number])
    wire.call(running, "remember", {"cwd": str(speaker.project), "text": "Dates are UTC.", "origin": "assistant"})
    other = new_session(running, tmp_path / "other")
    assert "nothing to undo in this project" in shown(running, other, "undo", "--yes")
    assert "archived by you" not in shown(running, other, "history")
    assert "archived by you" in shown(running, other, "history", "--everywhere")
    status = shown(running, other, "status")
    assert "nothing waits; 1 in other projects" in status
    assert "1 capture waits" in shown(running, speaker, "status")
    elsewhere = shown(running, other, "review")
    assert "1 waits in other projects: subconscious review --everywhere" in elsewhere
    (act,) = json.loads(shown(running, speaker, "undo", "--json"))["acts"]
    assert [step["about"] for step in act["steps"]] == ["Dates are UTC."]
    assert "1 change undone" in shown(running, other, "undo", "--everywhere", "--yes")


def test_a_typed_memory_is_undone_like_a_captured_one(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    assert "--learned" in shown(running, speaker, "undo", "--yes")
    (act,) = json.loads(shown(running, speaker, "undo", "--learned", "--json"))["acts"]
    assert (act["actor"], act["speaker"]) == ("daemon", "user")
    assert found(running, speaker, "pytest") == [number]
    shown(running, speaker, "undo", "--learned", "--yes")
    assert found(running, speaker, "pytest") == []


def test_a_correction_is_undone_as_the_users_change(running: Home, speaker: Speaker) -> None:
    """The daemon's part in it, which archives the older memory, is its newest event."""
    number = learned(running, speaker, OTHER)
    shown(running, speaker, "correct", str(number), "--refined", "Integration tests run with pytest -n 4.")
    (act,) = json.loads(shown(running, speaker, "undo", "--json"))["acts"]
    assert act["actor"] == "user"
    shown(running, speaker, "undo", "--yes")
    assert found(running, speaker, "pytest") == [number]


def test_status_says_that_a_broken_config_is_not_in_force(running: Home, speaker: Speaker) -> None:
    (running.root / "config.toml").write_text("auto_treshold = 0.5\n")
    told = " ".join(shown(running, speaker, "status").split())
    assert "config.toml has an error, so the old settings stay in use" in told
    assert "did you mean auto_threshold?" in told


def test_a_renamed_folder_is_offered_its_memories(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    old = str(speaker.project)
    speaker.project = speaker.project.rename(speaker.project.with_name("renamed"))
    assert f"subconscious attach {old}" in " ".join(shown(running, speaker, "status").split())
    with pytest.raises(SubconsciousError, match="a person decides which project"):
        wire.call(running, "attach", {"cwd": str(speaker.project), "root": old, "origin": "user"})
    assert "1 memory belongs to this folder now" in shown(running, speaker, "attach", old)
    assert found(running, speaker, "pytest") == [number]
    assert "attach" not in shown(running, speaker, "status")


def test_an_attached_folder_is_given_back_by_an_undo(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    old = str(speaker.project)
    speaker.project = speaker.project.rename(speaker.project.with_name("renamed"))
    other = new_session(running, speaker.project)
    other.say("Tidy the invoices.")
    other.hook("drop", "Stop")
    drained(running)
    assert found(running, speaker, "pytest") == []
    before = sessions_by_project(running)
    assert "To reverse this: subconscious undo" in shown(running, speaker, "attach", old)
    after = sessions_by_project(running)
    assert len(set(after.values())) == 1 < len(set(before.values()))
    assert "moved to another folder by you: project" in " ".join(shown(running, speaker, "history").split())
    shown(running, speaker, "undo", "--yes")
    assert found(running, speaker, "pytest") == []
    assert sessions_by_project(running) == before
    assert f"subconscious attach {old}" in " ".join(shown(running, speaker, "status").split())
    shown(running, speaker, "undo", "--yes")
    assert found(running, speaker, "pytest") == [number]
    assert sessions_by_project(running) == after


def test_an_attached_folder_keeps_its_archived_memories(running: Home, speaker: Speaker) -> None:
    learned(running, speaker, OTHER)
    old = str(speaker.project)
    speaker.project = speaker.project.rename(speaker.project.with_name("renamed"))
    here = str(speaker.project)
    said = "Invoices are rounded per line."
    terminal.call(running, "remember", text=said, cwd=here)
    (memory,) = wire.call(running, "list", {"cwd": here})["memories"]
    terminal.call(running, "archive", ids=[memory["id"]], cwd=here)
    shown(running, speaker, "attach", old)
    assert said in shown(running, speaker, "list", "--archived")
    shown(running, speaker, "unarchive", str(memory["id"]))
    assert said in shown(running, speaker, "list")
    assert memory["id"] in found(running, speaker, "invoices rounded")


def sessions_by_project(home: Home) -> dict[str, str]:
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as store:
        return dict(store.execute("SELECT id, project_id FROM sessions"))


def test_an_undo_withdraws_accepted_settings(running: Home) -> None:
    config = running.root / "config.toml"
    config.write_text(config.read_text() + "auto_threshold = 0.5\n")
    wire.call(running, "stop")
    wire.await_absence(running, 20)
    wire.ensure_daemon(running)
    assert person(running, "accept_settings")["changed"] == {"auto_threshold": [0.9, 0.5]}
    person(running, "undo_acts")
    status = wire.call(running, "status")
    assert status["settings"]["auto_threshold"] == 0.9
    assert status["unaccepted"] == ["auto_threshold"]


def test_a_rollback_is_taken_back_like_anything(running: Home, speaker: Speaker) -> None:
    number = learned(running, speaker, OTHER)
    person(running, "rollback", session_id=speaker.id)
    assert found(running, speaker, "pytest") == []
    person(running, "undo_acts")
    assert found(running, speaker, "pytest") == [number]
    captured = wire.call(running, "captures", {"cwd": str(speaker.project)})["captures"]
    assert [one["status"] for one in captured if one["memory_id"] == number] == ["captured"]


def test_a_limit_that_is_exceeded_is_named(running: Home, speaker: Speaker) -> None:
    for args in ({"limit": 1001}, {"limit": 0}, {"branch": "b" * 5000}):
        with pytest.raises(SubconsciousError, match=r"must be 1000 or less|must be 1 or more|is too long: 5000"):
            wire.call(running, "list", {"cwd": str(speaker.project), **args})


@pytest.mark.parametrize(
    ("cmd", "args", "unknown"), [("list", {"newest": True}, "argument 'newest'"), ("newest", {}, "request 'newest'")]
)
def test_what_only_newer_code_knows_needs_another_daemon(
    running: Home, speaker: Speaker, cmd: str, args: dict[str, Any], unknown: str
) -> None:
    with pytest.raises(SubconsciousError, match=f"the running daemon .* knows no {unknown}") as caught:
        wire.call(running, cmd, {"cwd": str(speaker.project), **args})
    assert "subconscious daemon stop" in caught.value.remedy


def test_what_no_memory_matches_is_not_called_an_empty_project(running: Home, speaker: Speaker) -> None:
    assert "No memories here yet." in shown(running, speaker, "list")
    number = learned(running, speaker, OTHER)
    assert "No memories with these options." in shown(running, speaker, "list", "--file", "nowhere.py")
    assert "There is only 1 memory; use a smaller --offset" in shown(running, speaker, "list", "--offset", "9")
    assert "perhaps it does not exist" in shown(running, speaker, "history", str(number + 999))


def test_what_a_statement_replaces_is_named_where_it_is_stored(running: Home, speaker: Speaker) -> None:
    ports = [f"We decided to run the staging database on port {port}." for port in (5432, 6543, 7654)]
    speaker.ask("SessionStart", source="startup")
    for text in ports[:2]:
        speaker.ask("UserPromptSubmit", prompt=text)
        speaker.say(text)
        speaker.hook("drop", "Stop")
        drained(running)
    told = json.loads(speaker.ask("UserPromptSubmit", prompt="thanks, go on"))["systemMessage"]
    assert f'"{ports[1]}" (replaces "{ports[0]}")' in told
    stored = shown(running, speaker, "remember", ports[2])
    told_ids = re.search(r"Stored as (\d+) .*\n  It replaces memory (\d+): (.*)", stored)
    assert told_ids is not None
    new, old = int(told_ids[1]), int(told_ids[2])
    assert told_ids[3] == ports[1]
    assert ports[0] not in stored
    history = shown(running, speaker, "show", str(old)).partition("History")[2]
    assert f"superseded by memory {new} (recorded by the daemon)" in history
    assert not wire.call(running, "show", {"id": new})["successions"]
