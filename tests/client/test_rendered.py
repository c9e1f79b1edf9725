"""A session that begins while the daemon is deaf or dead starts with what was rendered, and only that once."""

import signal
from collections.abc import Iterator

import pytest

from tests.client.fake_api import FakeApi
from tests.client.machine import Machine
from tests.client.snapshots import Snapshots

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."
WORDS = "amounts in integer cents"


@pytest.fixture
def learned(snapshots: Snapshots, api: FakeApi) -> Iterator[Machine]:
    """A machine that heard the decision, and has rendered it."""
    with snapshots.after(DECISION, api) as machine:  # a daemon renders at the latest when it leaves
        assert _rendered(machine)
        yield machine


def _rendered(machine: Machine) -> bool:
    return any(WORDS in path.read_text() for path in machine.state.glob("rendered/p*/start"))


def test_wedged_at_the_start(learned: Machine, api: FakeApi) -> None:
    learned.signal_daemon(signal.SIGSTOP)
    with learned.session() as session:
        session.say("Where were we?")
        given = api.asked("Where were we?")[0].given
        learned.signal_daemon(signal.SIGCONT)
        session.say("And now?")
        again = api.asked("And now?")[0].given
        session.end()
        learned.assert_untroubled(session)
    assert given.count(WORDS) == 1
    assert "did not answer" in given
    assert again.count(WORDS) == 1
    learned.drain()
    assert [row["event"] for row in learned.rows("surfaces") if row["session_id"] == session.id] == ["start/rendered"]


def test_killed_before_the_start(learned: Machine, api: FakeApi) -> None:
    """The wake hook may be quick enough to start another one; either way it is told once."""
    learned.signal_daemon(signal.SIGKILL)
    learned.talk("Where were we?", "And now?")
    assert api.asked("Where were we?")[0].given.count(WORDS) == 1
    assert api.asked("And now?")[0].given.count(WORDS) == 1


def test_another_project_is_given_nothing(learned: Machine, api: FakeApi) -> None:
    other = learned.make_project(learned.root / "other")
    learned.signal_daemon(signal.SIGSTOP)
    learned.talk("Where were we?", cwd=other)
    learned.signal_daemon(signal.SIGCONT)
    assert WORDS not in api.asked("Where were we?")[0].given
