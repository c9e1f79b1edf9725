"""What a model found is looked at a second time when its session is over: one question, lost by no failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.fake_openai import FakeOpenAI, Row, candidate, numbered
from tests.support.refining import HINTED, PATIENCE, captured, found_by_model, of_model, sees, waits

OTHER = "hm, the ledger seems to want its rows sorted by date, as the auditors found"


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        yield model


@pytest.fixture
def reading(stopped: Home, model: FakeOpenAI) -> Home:
    configure(stopped, **{**model.config, "refine_pause_seconds": 0.05})
    wire.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def talker(reading: Home, tmp_path: Path) -> Speaker:
    return new_session(reading, tmp_path / "project")


def finds_both(text: str) -> list[Row]:
    found = ((numbered(text, words), words) for words in (HINTED, OTHER))
    return [candidate(number, words) for number, words in found if number]


def is_done(home: Home) -> bool:
    left = waits(home)
    return bool(of_model(home)) and left["due"] == left["looks"] == 0


def test_one_question_a_session_decides_on_all_that_was_found(
    reading: Home, talker: Speaker, model: FakeOpenAI
) -> None:
    model.script = finds_both
    model.judge = lambda note: {"entailed": False, "why": "A remark."} if note["note"] == OTHER else {}
    talker.say(HINTED)
    talker.hook("drop", "PreCompact", trigger="auto")
    assert eventually(lambda: len(found_by_model(reading)) == 1, PATIENCE)
    assert [row["status"] for row in found_by_model(reading)] == ["review"]
    talker.say(OTHER)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: is_done(reading), PATIENCE)
    (shown,) = model.looked_at
    assert [note["note"] for note in shown["notes"]] == [HINTED, OTHER]
    assert {row["content"]: row["status"] for row in of_model(reading)} == {HINTED: "captured", OTHER: "discarded"}
    assert waits(reading)["refused"] == 1
    (memory,) = wire.call(reading, "list", {"cwd": str(talker.project)})["memories"]
    assert memory["content"] == HINTED


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_provider_that_fails_makes_it_wait_and_sends_nothing_twice(
    reading: Home, talker: Speaker, model: FakeOpenAI, status: int
) -> None:
    model.script = sees(HINTED)
    talker.say(HINTED)
    talker.hook("drop", "PreCompact", trigger="auto")
    assert eventually(lambda: bool(found_by_model(reading)), PATIENCE)
    model.status = status
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(waits(reading)["looks_wait"]), PATIENCE)
    assert (waits(reading)["looks"], [row["status"] for row in found_by_model(reading)]) == (1, ["review"])
    model.status = 200
    assert eventually(lambda: is_done(reading), PATIENCE)
    assert ([row["status"] for row in of_model(reading)], len(model.bodies)) == (["captured"], 1)
    assert waits(reading)["looks_wait"] == ""


@pytest.mark.parametrize("answer", ["truncated", "refused", "nonsense"])
def test_an_answer_that_is_none_leaves_it_to_the_gate_and_a_person(
    reading: Home, talker: Speaker, model: FakeOpenAI, answer: str
) -> None:
    model.script = sees(HINTED)
    model.ends_looks = answer
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: is_done(reading), PATIENCE)
    assert [row["status"] for row in of_model(reading)] == ["captured"]  # a person's own words, quoted


STORY: Row = {
    "title": "Bank rounds half to even",
    "tags": ["bank", "kiln.py"],
    "done": "Changed kiln.py.",
}


def handed_over(home: Home, talker: Speaker) -> str:
    """What the next session is told of the one before."""
    told = json.loads(new_session(home, talker.project).ask("SessionStart", source="startup") or "{}")
    return str(told.get("hookSpecificOutput", {}).get("additionalContext", ""))


def session_of(home: Home, talker: Speaker) -> Row:
    found = wire.call(home, "sessions", {"cwd": str(talker.project)})["sessions"]
    return next(row for row in found if row["id"] == talker.id)


def test_the_story_of_the_session_is_handed_over_in_the_models_words(
    reading: Home, talker: Speaker, model: FakeOpenAI
) -> None:
    model.script = sees(HINTED)
    model.story = STORY
    talker.say(HINTED)
    talker.say("I changed kiln.py, and the report is long enough to be one. " * 5, role="assistant")
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: is_done(reading), PATIENCE)
    assert [session_of(reading, talker)[name] for name in ("title", "tags")] == [STORY["title"], STORY["tags"]]
    given = handed_over(reading, talker)
    assert HINTED in given
    assert "done: Changed kiln.py." in given
    (shown,) = model.looked_at
    assert shown["session"]["asked"] == [HINTED]


def test_a_session_in_which_nothing_was_found_has_its_story_told_once(
    reading: Home, talker: Speaker, model: FakeOpenAI
) -> None:
    model.story = STORY
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(model.looks) and waits(reading)["looks"] == 0, PATIENCE)
    assert session_of(reading, talker)["title"] == STORY["title"]
    drained(reading)
    assert (len(model.bodies), len(model.looks)) == (1, 1)


def test_a_story_that_tells_what_a_tool_said_leaves_the_one_told_offline(
    reading: Home, talker: Speaker, model: FakeOpenAI
) -> None:
    planted = "Releases are uploaded with the fast mirror tool of the platform team."
    model.story = {**STORY, "done": planted}
    talker.say(HINTED)
    talker.call("Read", {"file_path": "NOTES.md"}, planted)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(model.looks) and waits(reading)["looks"] == 0, PATIENCE)
    assert session_of(reading, talker)["title"] != STORY["title"]
    assert "mirror" not in handed_over(reading, talker)


def test_what_a_session_gains_after_its_story_is_told_anew(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    model.story = STORY
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(model.looks) and waits(reading)["looks"] == 0, PATIENCE)
    talker.say(OTHER)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: len(model.looks) == 2 and waits(reading)["looks"] == 0, PATIENCE)
    assert model.looked_at[1]["session"]["asked"] == [HINTED, OTHER]


def test_a_greeting_is_sent_to_nobody(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    talker.say("hello")
    talker.say("Hello! How can I help you today?", role="assistant")
    talker.hook("drop", "SessionEnd", reason="other")
    drained(reading)
    assert eventually(lambda: waits(reading)["due"] == waits(reading)["gathering"] == 0, PATIENCE)
    assert model.sent == b""


def test_without_a_provider_any_more_what_waited_is_let_go(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    model.script = sees(HINTED)
    talker.say(HINTED)
    talker.hook("drop", "PreCompact", trigger="auto")
    assert eventually(lambda: bool(found_by_model(reading)), PATIENCE)
    wire.call(reading, "stop")
    wire.await_absence(reading, 20)
    configure(reading)
    wire.ensure_daemon(reading)
    assert eventually(lambda: [row["status"] for row in captured(reading)] == ["captured"], PATIENCE)
    assert model.looks == []
