"""What was learned offline is read on by a model: in the background, once, and never at the cost of what stands."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.capture.llm_extraction import refinement
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session, processes_of
from tests.support.fake_openai import FakeOpenAI, Row, candidate, numbered
from tests.support.refining import HINTED, PATIENCE, captured, of_model, sees, waits

STATED = "We decided to keep all amounts in integer cents, because floats lost a cent."


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        yield model


@pytest.fixture
def reading(stopped: Home, model: FakeOpenAI) -> Home:
    """A state folder whose daemon has a model to ask."""
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def talker(reading: Home, tmp_path: Path) -> Speaker:
    return new_session(reading, tmp_path / "project")


def kill(home: Home) -> None:
    for pid in processes_of(home):
        os.kill(pid, signal.SIGKILL)
    wire.await_absence(home, 20)


def test_what_offline_misses_is_found_when_the_session_ends(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    model.script = sees(HINTED)
    talker.say(STATED)
    talker.say(HINTED)
    talker.hook("drop", "Stop")
    drained(reading)
    assert (len(captured(reading)), model.bodies) == (1, [])
    talker.hook("drop", "SessionEnd", reason="other")
    drained(reading)
    assert eventually(lambda: bool(of_model(reading)), PATIENCE)
    (found,) = of_model(reading)
    assert (found["content"], found["evidence"], found["origin"], found["status"]) == (
        HINTED,
        HINTED,
        "user",
        "captured",
    )
    assert found["extractor"] == "model-5:openai/tiny"
    assert waits(reading)["due"] == 0


def test_a_pause_for_compaction_and_enough_words_are_reasons_to_read(
    stopped: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    configure(stopped, **model.config, refine_tokens=60)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say("Short.")
    talker.hook("drop", "Stop")
    drained(stopped)
    assert waits(stopped)["gathering"] == 1
    talker.hook("drop", "PreCompact", trigger="auto")
    assert eventually(lambda: len(model.told) == 1, PATIENCE)
    talker.say("A longer word on how the kiln is fired. " * 8)
    talker.hook("drop", "Stop")
    assert eventually(lambda: len(model.told) == 2, PATIENCE)
    assert "Turns 1 to 1 were read before" in model.told[1]
    assert "[1] user: Short.\n[2] user: A longer word" in model.told[1]


def test_a_session_that_falls_silent_is_read(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    configure(stopped, **model.config, silent_minutes=0.01)
    wire.ensure_daemon(stopped)
    model.script = sees(HINTED)
    talker = new_session(stopped, tmp_path / "project")
    talker.say(HINTED)
    talker.hook("drop", "Stop")
    drained(stopped)
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 20)
    assert model.bodies == []
    time.sleep(0.7)  # longer than a session may be silent
    wire.ensure_daemon(stopped)  # its first round of upkeep finds the session silent
    assert eventually(lambda: bool(of_model(stopped)), PATIENCE)


def test_what_waits_for_review_gets_the_models_words(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    hinted = "Let's keep the tax table in one file"
    model.script = sees(hinted, sure=0.75, content="The cache uses SQLite: Let's keep the tax table in one file.")
    talker.say(hinted)
    talker.hook("drop", "Stop")
    drained(reading)
    assert [row["status"] for row in captured(reading)] == ["review"]
    talker.hook("drop", "SessionEnd", reason="other")
    # The unconfirmed memory is made in a transaction of its own, behind that of the second look.
    assert eventually(lambda: [row["status"] for row in of_model(reading)] == ["unconfirmed"], PATIENCE)
    (refined,) = captured(reading)
    assert (refined["content"], refined["evidence"]) == (
        "The cache uses SQLite: Let's keep the tax table in one file.",
        hinted,
    )
    assert (refined["status"], refined["confidence"]) == ("unconfirmed", 0.8667)


def test_a_provider_that_is_down_changes_nothing_and_is_made_up_for(
    reading: Home, talker: Speaker, model: FakeOpenAI
) -> None:
    model.script = sees(HINTED)
    model.stop()
    talker.say(STATED)
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    drained(reading)
    assert [row["content"] for row in captured(reading)] == [STATED]
    assert eventually(lambda: "can't be reached" in waits(reading)["reason"], PATIENCE)
    model.start()
    assert eventually(lambda: bool(of_model(reading)), PATIENCE)
    assert (len(captured(reading)), waits(reading)["due"]) == (2, 0)


@pytest.mark.process
def test_killed_while_it_asks_it_reads_on_and_stores_once(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    model.script = sees(HINTED)
    model.held.clear()
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(model.bodies), PATIENCE)
    kill(reading)
    model.held.set()
    wire.ensure_daemon(reading)
    assert eventually(lambda: bool(of_model(reading)), PATIENCE)
    assert (len(model.bodies), len(captured(reading))) == (2, 1)
    (memory,) = wire.call(reading, "list", {"cwd": str(talker.project)})["memories"]
    assert memory["recurrence"] == 1


@pytest.mark.process
@pytest.mark.timeout(300)  # four daemons start, one after the other; each wait has its own limit
def test_killed_over_and_over_a_long_session_is_read_whole_and_each_thing_stored_once(
    stopped: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    """Chunk by chunk; what was answered before a death is not asked for again."""
    said = [f"Pot number {number} came out of the kiln after {number} hours today." for number in range(48)]
    answers = [threading.Semaphore(1)]  # of each daemon's life; whoever died in an earlier one gets no answer any more

    def script(text: str) -> list[Row]:
        answers[-1].acquire()
        fresh = int(text.partition("Turns 1 to ")[2].split()[0])
        found = [(numbered(text, words), words) for words in said]
        return [candidate(number, words) for number, words in found if number > fresh]

    model.script = script
    configure(stopped, **model.config, chunk_tokens=200, session_captures=50)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    for words in said:
        talker.say(words)
    talker.hook("drop", "SessionEnd", reason="other")
    for deaths in (1, 2, 3):
        # One chunk was answered, and the next one is being asked about.
        assert eventually(lambda deaths=deaths: model.answered == 2 * deaths, PATIENCE)  # type: ignore[misc]
        kill(stopped)
        answers.append(threading.Semaphore(1 if deaths < 3 else 1000))
        wire.ensure_daemon(stopped)
    assert eventually(lambda: len(of_model(stopped)) == len(said), PATIENCE)
    assert eventually(lambda: waits(stopped)["due"] == 0, PATIENCE)
    assert sorted(row["content"] for row in of_model(stopped)) == sorted(said)
    asked = [text.partition("\n[1] ")[2] for text in model.told]
    assert len(set(asked)) >= len(said) // 8
    assert len(asked) - len(set(asked)) == 3  # one that was under way at each death


def test_at_the_cap_nothing_is_sent_and_nothing_dropped(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    model.script = sees(HINTED)
    configure(stopped, **model.config, cost_per_day=0)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: "cap" in waits(stopped)["reason"], PATIENCE)
    assert (model.bodies, waits(stopped)["due"]) == ([], 1)
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 20)
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    assert terminal.ask(stopped, "accept_settings")["result"]["changed"]
    assert eventually(lambda: bool(of_model(stopped)), PATIENCE)


def test_a_provider_that_is_turned_on_reads_from_then_on(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say("Said before there was a model.")
    talker.hook("drop", "Stop")
    drained(stopped)
    for settings, words in ((model.config, HINTED), ({}, "Said while it was off."), (model.config, "And on again.")):
        wire.call(stopped, "stop")
        wire.await_absence(stopped, 20)
        configure(stopped, **settings)
        wire.ensure_daemon(stopped)
        terminal.ask(stopped, "accept_settings")
        talker.say(words)
        talker.hook("drop", "Stop")
        drained(stopped)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: len(model.told) == 1, PATIENCE)
    assert "And on again." in model.told[0]
    # What had gathered when it was turned off is not read either: turning it on again is no consent to that.
    assert not [words for words in ("before there was", "while it was off", HINTED) if words in model.told[0]]


def test_what_waited_when_the_provider_was_taken_away_is_not_read_later(
    stopped: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    """Another session than the one that speaks next: nothing of it is billed when a provider is set again."""
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say(HINTED)
    talker.hook("drop", "Stop")
    drained(stopped)
    for settings in ({}, model.config):
        wire.call(stopped, "stop")
        wire.await_absence(stopped, 20)
        configure(stopped, **settings)
        wire.ensure_daemon(stopped)
        assert eventually(lambda: waits(stopped)["gathering"] == 0, PATIENCE)
    assert model.bodies == []


def test_a_chunk_that_the_model_cannot_answer_is_left_at_what_was_found_offline(
    stopped: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    configure(stopped, **{**model.config, "refine_pause_seconds": 0.01})
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    model.status = 400
    talker.say(STATED)
    talker.hook("drop", "PreCompact", trigger="manual")
    assert eventually(lambda: len(model.bodies) >= 3 and waits(stopped)["due"] == 0, PATIENCE)
    model.status = 200
    model.script = sees(HINTED)
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(of_model(stopped)), PATIENCE)
    assert [row["content"] for row in captured(stopped)] == [STATED, HINTED]


def test_a_found_instruction_of_a_page_waits_for_a_person(reading: Home, talker: Speaker, model: FakeOpenAI) -> None:
    page = "The settings page says to keep max_connections at 500 for the pool."
    model.script = sees(page, sure=1.0)
    talker.say("What does the page say?")
    talker.tool("WebFetch", page)
    talker.say(page, role="assistant")
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(of_model(reading)), PATIENCE)
    (found,) = of_model(reading)
    assert (found["origin"], found["status"]) == ("tool", "review")
    assert page not in model.told[0].partition("ai*: ")[0]


KEY = "-----BEGIN PRIVATE KEY-----\n" + "QWxhZGRpbjpvcGVuIHNlc2FtZQ0123456789abcdef\n" * 6 + "-----END PRIVATE KEY-----"
SECRETS = [
    "AKIA" + "QWERTYUIOPASDFGH",
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "123456789012-abcdefghijkl",
    "https://hooks.slack.com/services/" + "T00000000/B00000000/a1B2c3D4e5F6",
    "sk_live_" + "a1B2c3D4e5F6g7H8",
    "sk-ant-api03-" + "a1B2c3D4e5F6g7H8i9J0k1L2",
    "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2",
    "AIza" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R",
    "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "pypi-AgE" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8a1B2c3D4e5F6g7H8",
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkw" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "authorization: bearer " + "Zx9-4kQ7_mP2tW8vR5nL",
    "postgres://shop:" + "Gl4ze&Kiln" + "@db.internal/shop",
    "--password=" + "Gl4ze#Kiln77",
    "mysql -u root -p" + "Gl4zeKiln77x",
    'password "' + "Gl4ze#Kiln78" + '"',
    "api_key: " + "Zx94kQ7mP2tW8vR5nL",
    KEY,
]
"""One of every sort that the redactor knows, put together here so that none stands in a file."""

PARTS = [
    *(secret for secret in SECRETS[:12]),
    "Zx9-4kQ7_mP2tW8vR5nL",
    "Gl4ze&Kiln",
    "Gl4ze#Kiln77",
    "Gl4zeKiln77x",
    "Gl4ze#Kiln78",
    "Zx94kQ7mP2tW8vR5nL",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
]


@pytest.mark.timeout(240)  # some 200 long turns are cleaned and read, one after the other
def test_no_secret_and_nothing_private_leaves_the_machine(
    stopped: Home, model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the wire, byte by byte: in prompts, answers, commands; amid a turn and where one is cut; chunk after chunk."""
    # Chunks are far smaller than usual here, so less is read and cleaned for each.
    monkeypatch.setattr(refinement, "STEP", refinement.STEP // 20)
    configure(stopped, **model.config, chunk_tokens=300)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    for number, secret in enumerate(SECRETS):
        talker.say(f"Secret {number}: {secret} and so on.")
        talker.say(f"I put {secret} there.", role="assistant")
        talker.run(f"deploy --with '{secret}'")
        # Where a long turn is cut, and where a chunk ends, half of one may be left over.
        talker.say("word " * (1150 - number) + secret + " word" * 900)
        talker.run("echo " + "x" * (570 - number) + f" {secret} " + "x" * 3000)
        talker.run("echo " + "y" * (2960 - number) + f" {secret} ")
        talker.say(
            f"Seen. <private>the hidden word {number}, {secret}</private> And <private>hidden word, unclosed {secret}"
        )
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: waits(stopped)["due"] == 0 and len(model.bodies) > 20, 3 * PATIENCE)
    sent = model.sent.decode()
    assert [part for part in PARTS if part in sent] == []
    halves = [part[: len(part) * 2 // 3] for part in PARTS]
    assert [half for half in halves if half in sent] == []
    assert "hidden word" not in sent
    assert sent.count("[redacted: ") > 2 * len(SECRETS)
    assert f"Secret {len(SECRETS) - 1}: " in sent


@pytest.mark.process
def test_the_daemon_leaves_when_what_is_due_is_read_and_waits_for_no_provider_that_is_down(
    stopped: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    model.script = sees(HINTED)
    model.held.clear()
    configure(stopped, **{**model.config, "idle_exit_minutes": 0.01, "refine_pause_seconds": 60})
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say(HINTED)
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(model.bodies), PATIENCE)
    assert not eventually(lambda: not processes_of(stopped), 2)
    model.held.set()
    assert eventually(lambda: not processes_of(stopped), PATIENCE)
    model.stop()
    wire.ensure_daemon(stopped)
    assert len(of_model(stopped)) == 1
    talker.say("And a word that nobody can read now.")
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: not processes_of(stopped), PATIENCE)


def test_a_file_that_is_gone_is_closed_with_its_reason(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    talker = new_session(stopped, tmp_path / "project")
    talker.say(STATED)
    talker.hook("drop", "Stop")
    drained(stopped)
    talker.transcript.unlink()
    talker.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: waits(stopped)["gathering"] == waits(stopped)["due"] == 0, PATIENCE)
    assert (model.bodies, [row["content"] for row in captured(stopped)]) == ([], [STATED])
