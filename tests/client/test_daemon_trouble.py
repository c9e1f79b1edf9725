"""Whatever happens to the daemon, the session goes on and nothing is lost or doubled."""

import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.client.fake_api import FakeApi
from tests.client.machine import Machine, wait_for
from tests.client.snapshots import Snapshots

pytestmark = [pytest.mark.client, pytest.mark.timeout(90, func_only=True)]

FIRST = "We decided to send invoices as PDF, because clients print them."
SECOND = "We decided to store receipts in object storage, because disks filled up."
TURN_LIMIT = 4.0
"""Seconds a turn may take with a wedged daemon: the deadline of 0.3 s and a busy machine's own time."""


@pytest.fixture
def awake(snapshots: Snapshots, api: FakeApi) -> Iterator[Machine]:
    """A machine whose daemon runs."""
    with snapshots.after("Good morning.", api) as machine:
        yield machine


def test_stopped_between_sessions(awake: Machine) -> None:
    awake.talk(FIRST)
    awake.drain()  # as in the test below
    awake.stop_daemon()
    awake.talk(SECOND)
    _assert_each_once(awake)


def test_killed_between_sessions(awake: Machine) -> None:
    awake.talk(FIRST)
    awake.drain()  # entries of this session beside those of the next would have the next one's words doubted
    awake.signal_daemon(signal.SIGKILL)
    awake.talk(SECOND)
    _assert_each_once(awake)


def test_killed_during_a_session(awake: Machine) -> None:
    with awake.session() as session:
        session.say(FIRST)
        awake.signal_daemon(signal.SIGKILL)
        session.say(SECOND)
        session.say("Go on.")
        session.end()
        awake.assert_untroubled(session)
    _assert_each_once(awake, kept=1)


def test_the_first_daemon_comes_during_a_session_and_hears_a_command_first(machine: Machine) -> None:
    """As on the first day: a statement while the environment is made, then a look at the status."""
    machine.break_environment()
    with machine.session() as session:
        session.say(FIRST)
        session.say("Go on.")
        machine.mend_environment()
        machine.start_daemon()
        session.say("/subconscious:status")
        session.end()
    machine.drain()
    assert len(machine.remembered("invoices as PDF")) == 1


@pytest.mark.serial
def test_wedged_during_a_session(awake: Machine) -> None:
    with awake.session() as session:
        session.say("Good afternoon.")
        awake.signal_daemon(signal.SIGSTOP)
        for prompt in (FIRST, SECOND):
            begun = time.monotonic()
            session.say(prompt)
            assert time.monotonic() - begun < TURN_LIMIT
        session.end()
        awake.assert_untroubled(session)
    awake.signal_daemon(signal.SIGCONT)
    _assert_each_once(awake, kept=0)


@pytest.mark.serial
def test_wedged_before_a_session(awake: Machine) -> None:
    awake.signal_daemon(signal.SIGSTOP)
    begun = time.monotonic()
    awake.talk(FIRST, SECOND)
    assert time.monotonic() - begun < 3 * TURN_LIMIT
    awake.signal_daemon(signal.SIGCONT)
    # No daemon heard that session, and another one has entries beside it: a command of that one could have written it.
    _assert_each_once(awake, kept=0)


def test_client_killed_during_a_session(awake: Machine, api: FakeApi) -> None:
    with awake.session() as session:
        session.say(FIRST)
        session.say(SECOND)
        session.kill()
    # What hooks of the killed client have left is worked off first: it would make the session active again.
    awake.stop_daemon()
    awake.talk("Good afternoon.")
    awake.drain()
    # The client may not have written the last prompt down: it is learned from when the session counts as silent.
    # A daemon looks for silent sessions when it starts, and then every 30 s.
    awake.stop_daemon()
    _make_silent(awake)
    awake.talk("Good evening.")
    wait_for(lambda: len(_said(awake)) == 2, awake.last_words, 45)
    # On a busy machine a hook may miss the daemon, and then nothing vouches for its prompt: it waits for a person.
    _assert_each_once(awake, kept=len(awake.remembered("invoices as PDF") + awake.remembered("object storage")))


def _assert_each_once(machine: Machine, kept: int = 2) -> None:
    """Revive the daemon by a session, as a person would, and look.

    What was typed while a daemon that had vouched for the session's prompts did not answer waits for a person: a
    command could have written it. ``kept`` are stored without asking.
    """
    machine.talk("Good evening.")
    machine.drain()
    assert sorted(row["status"] for row in _said(machine)) == ["captured"] * kept + ["review"] * (2 - kept)
    stored = machine.remembered("invoices as PDF") + machine.remembered("object storage")
    assert [row["recurrence"] for row in stored] == [1] * kept
    assert machine.spool() == []


def _make_silent(machine: Machine) -> None:
    """Date the sessions' last events and transcripts an hour back."""
    before = time.time() - 3600
    with contextlib.closing(sqlite3.connect(machine.state / "memory.db")) as connection, connection:
        connection.execute("UPDATE sessions SET last_event_at = ?", (before,))
    for row in machine.rows("sessions"):
        with contextlib.suppress(FileNotFoundError):  # the client had written nothing yet
            os.utime(row["transcript"], (before, before))


def _said(machine: Machine) -> list[dict[str, Any]]:
    """Return the captures of both statements, whatever their status."""
    return [
        row for row in machine.rows("implicit_captures") if "invoices" in row["content"] or "object" in row["content"]
    ]
