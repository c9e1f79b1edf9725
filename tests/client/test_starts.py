"""What a session starts with in the real client: the last one's hand-over, told apart by the source of the start."""

from collections.abc import Iterator

import pytest

from tests.client.fake_api import FakeApi, says
from tests.client.machine import Machine
from tests.client.snapshots import Snapshots

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]

ASKED = "Make the upload worker give up earlier."
TOLD = "parks a chunk after two retries"
REPORT = (
    f"I changed the upload worker: it {TOLD}, since the proxy drops connections that stay open for long."
    " All 42 tests pass. The metrics endpoint still counts parked chunks twice, and the dashboard shows it."
)

FIXED = "Fixed the dashboard, which counts parked chunks once, and changed its tests. All 44 tests pass. " * 3


def work(machine: Machine) -> None:
    """Let a session do something."""
    machine.api.when(ASKED, says(REPORT))
    machine.talk(ASKED)
    machine.drain()


@pytest.fixture
def worked(snapshots: Snapshots, api: FakeApi) -> Iterator[Machine]:
    """A machine on which that session is over, with a running daemon."""
    with snapshots.restored("starts", work, api) as machine:
        machine.start_daemon()
        yield machine


def test_the_next_session_is_told_what_the_last_one_left(worked: Machine, api: FakeApi) -> None:
    session = worked.talk("Where were we?")
    given = api.asked("Where were we?")[0].given
    assert given.count(TOLD) == 1
    assert "Hand-over" in given
    shown = [line["attachment"] for line in worked.transcript_lines() if line["type"] == "attachment"]
    receipts = [str(one) for one in shown if one["type"] == "hook_system_message"]
    assert any("Subconscious: loaded the hand-over from today" in one for one in receipts), receipts
    worked.drain()
    assert [row["session_id"] for row in worked.rows("handovers")] == [session.id]


def test_resuming_and_compacting_need_none_and_a_prompt_after_clearing_brings_it(worked: Machine, api: FakeApi) -> None:
    api.when("Fix the dashboard too.", says(FIXED))
    with worked.session() as session:
        session.say("Where were we?")
        session.say("Fix the dashboard too.")
        worked.drain()  # a busy machine may need longer than a hook waits
        session.say("/clear")
        session.say("Go on with the dashboard.")
        session.end()
    assert api.asked("Where were we?")[0].given.count(TOLD) == 1
    assert "counts parked chunks once" in api.asked("Go on with the dashboard.")[0].given
    worked.drain()
    resumed = session.id
    worked.talk("Go on.", resume=resumed)
    assert api.asked("Go on.")[0].given.count("Hand-over") == 1  # that of its own start
