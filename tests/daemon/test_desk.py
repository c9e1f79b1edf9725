"""Review at a real pseudo-terminal: one key a decision."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, drained
from tests.support.reviewing import active, listed

REVIEW = [sys.executable, "-P", "-m", "cli", "review"]
SAID = [
    "Let's use pytest for the billing tests.",
    "Let's use ruff for the linting of scripts.",
    "Let's use tabs in the Makefiles of examples.",
]


@pytest.fixture
def running(stopped: Home) -> Home:
    """A daemon without an embedder, so that what a soft statement is worth does not depend on when it is loaded."""
    configure(stopped)
    wire.ensure_daemon(stopped)
    return stopped


def queue(home: Home, speaker: Speaker) -> None:
    for text in SAID:
        speaker.say(text)
    speaker.hook("drop", "Stop")
    drained(home)
    assert len(listed(home, speaker, "review")) == len(SAID)


def sit(home: Home, speaker: Speaker, **environment: str) -> terminal.Terminal:
    return terminal.Terminal(REVIEW, terminal.environment(home) | environment, speaker.project)


def test_each_key_decides(running: Home, speaker: Speaker) -> None:
    queue(running, speaker)
    with sit(running, speaker) as desk:
        desk.await_text("1 of 3")
        desk.await_text(SAID[0])
        desk.await_text("a approve")
        assert max(map(len, desk.shown.splitlines())) <= 80
        desk.press("a")
        desk.await_text("approved, memory 1")
        desk.await_text("2 of 3")
        desk.press("u")
        desk.await_text("1 of 3")
        desk.press("\x1b[A")
        desk.press("s")
        desk.await_text("2 of 3")
        desk.press("r")
        desk.await_text("why")
        desk.press("not settled\n")
        desk.await_text("rejected")
        desk.await_text("3 of 3")
        desk.press("e")
        desk.await_text("new words: ")
        desk.press("\x15Makefiles have tabs.\n")
        desk.await_text("approved, memory 3")
        desk.await_text("1 approved, 1 rejected, 1 left.")
        assert desk.end() == 0
    assert active(running, speaker) == ["Makefiles have tabs."]
    assert [capture["content"] for capture in listed(running, speaker, "review")] == [SAID[0]]


def test_keys_pressed_ahead_count_and_thoughts_change(running: Home, speaker: Speaker) -> None:
    queue(running, speaker)
    with sit(running, speaker) as desk:
        desk.press("u ae")
        desk.await_text("You have not reviewed any capture yet, so there is nothing to undo.")
        desk.await_text("2 of 3")
        desk.await_text("approved, memory 2")
        desk.await_text("new words: ")
        # A signal that comes just before readline listens is seen with the next key: as a person, press again.
        for _ in range(3):
            desk.press("\x03")
            with suppress(AssertionError):
                desk.await_text("3 of 3", 5)
                break
        desk.press("xq")
        desk.await_text("1 approved, 2 left.")
        assert desk.end() == 0


def test_another_width_is_used_at_once(running: Home, speaker: Speaker) -> None:
    queue(running, speaker)
    with sit(running, speaker) as desk:
        desk.await_text("q quit")
        desk.resize(50)
        desk.await_text("1 of 3")
        desk.await_text("q quit >")
        assert "\n" + "─" * 50 + "\n" in desk.shown
        desk.press("\x03")
        assert desk.end() == 130


def test_a_terminal_without_single_keys_takes_lines(running: Home, speaker: Speaker) -> None:
    queue(running, speaker)
    with sit(running, speaker, TERM="dumb") as desk:
        desk.await_text("q quit >")
        desk.press("a\n")
        desk.await_text("approved, memory 1")
        desk.press("\x04")
        desk.await_text("1 approved, 2 left.")
        assert desk.end() == 0


def test_what_nobody_can_decide_on_is_printed(running: Home, speaker: Speaker) -> None:
    queue(running, speaker)
    code, shown = terminal.run([*REVIEW, "--list"], running, speaker.project)
    assert code == 0
    assert all(text in shown for text in SAID)
    code, shown = terminal.run([*REVIEW, "approve", "--all"], running, speaker.project)
    assert (code, shown.count("approved")) == (0, 3)
    code, shown = terminal.run(REVIEW, running, speaker.project)
    assert shown.strip() == "Nothing waits for review."
