"""The events that a session produces reach the spool and, once there is a daemon, the store."""

import pytest

from tests.client.fake_api import FakeApi, says, uses
from tests.client.machine import Machine
from tests.support.hook_calls import SESSION_EVENTS

pytestmark = [pytest.mark.client, pytest.mark.timeout(90, func_only=True)]


@pytest.fixture
def eventful(machine: Machine, api: FakeApi) -> Machine:
    """A machine on which the next prompt "Tidy up" uses every tool that a hook matches."""
    ledger = str(machine.project / "ledger.py")
    api.when(
        "Tidy up",
        uses("Read", file_path=ledger),
        uses("Edit", file_path=ledger, old_string="cents", new_string="amounts", replace_all=True),
        uses("Write", file_path=str(machine.project / "notes.md"), content="Tidied.\n"),
        says("Tidied up."),
    )
    return machine


def test_every_hook_hands_over_without_a_daemon(eventful: Machine) -> None:
    eventful.break_environment()
    eventful.talk("Tidy up", "/compact keep the names", "We decided to name amounts in cents.")
    assert set(eventful.spool()) >= SESSION_EVENTS
    assert eventful.spool().count("PostToolUse") == 3


def test_spool_is_worked_off_once_a_daemon_comes(eventful: Machine) -> None:
    eventful.break_environment()
    session = eventful.talk("Tidy up", "We decided to name amounts in cents.")
    eventful.mend_environment()
    eventful.talk("Good morning.")
    eventful.drain()
    assert eventful.spool() == []
    assert session.id in {row["id"] for row in eventful.rows("sessions")}
    assert len(eventful.remembered("name amounts in cents")) == 1


def test_end_of_session_is_known(eventful: Machine) -> None:
    session = eventful.talk("Tidy up")
    eventful.drain()
    rows = [row for row in eventful.rows("sessions") if row["id"] == session.id]
    assert [row["status"] for row in rows] == ["ended"]
