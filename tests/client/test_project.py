"""A project of ten sessions in the real client: what is given when, why, and what is not (run with -s to read it)."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.client.fake_api import FakeApi, says, uses
from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.timeout(240, func_only=True)]

CENTS = "Amounts are integer cents, because floats lost a cent in the March invoices."
LEDGER = "The total in ledger.py must stay pure, because the audit replays it."
REFUSED = "ECONNREFUSED on port 5433 means that the test database is down: start it with make db."
UPGRADE = "When we upgrade to Python 3.13, the typing backport goes."
PORTS = "The staging gateway listens on port 8443 behind the proxy of the bank."
FAILING = "echo 'Error: connect ECONNREFUSED 127.0.0.1:5433' >&2; exit 1"


@pytest.fixture
def furnished(machine: Machine, api: FakeApi) -> Machine:
    """A machine whose sessions start with nothing, so that every other reason shows."""
    (machine.state / "config.toml").write_text("start_memories = 0\n")
    ledger = str(machine.project / "ledger.py")
    api.when("Tidy the ledger", uses("Read", file_path=ledger), says("It is tidy."))
    api.when("Tidy it again", uses("Read", file_path=ledger), says("It still is."))
    api.when("Run the tests", uses("Bash", command=FAILING, description="test"), says("Port 5433: make db starts it."))
    return machine


def test_ten_sessions(furnished: Machine, api: FakeApi) -> None:
    machine = furnished
    machine.talk("Good morning.")  # which starts the daemon
    machine.drain()
    for told in (CENTS, LEDGER, REFUSED, UPGRADE, PORTS):
        machine.talk(f"/subconscious:remember {told}")  # five sessions that teach
        machine.drain()
    machine.stop_daemon()  # the next one reads what the memories say of when they are due
    machine.talk("Good morning.")
    machine.drain()
    tools = "Read Edit Write Bash"
    on_file = machine.talk("Tidy the ledger", "Tidy it again", tools=tools)
    on_error = machine.talk("Run the tests", tools=tools)
    machine.drain()
    on_topic = machine.talk("Why are amounts integer cents and not floats in the invoices?", "Thanks, go on.")
    on_milestone = machine.talk("Let us upgrade the project to Python 3.13 today.", "And once more: Python 3.13!")
    on_nothing = machine.talk("Tell me a joke.", "Another one, please.")
    machine.drain()
    sessions = {
        "on_file": on_file,
        "on_error": on_error,
        "on_topic": on_topic,
        "on_milestone": on_milestone,
        "on_nothing": on_nothing,
    }
    seen = {name: given(machine, session.id) for name, session in sessions.items()}
    for name, surfaces in seen.items():
        sys.stdout.write("\n  ".join([f"\n{name}:", *(list(map(line, surfaces)) or ["silence"])]))

    assert [(one["event"], one["about"]) for one in seen["on_file"]] == [("file", "ledger.py")]
    assert [one["event"] for one in seen["on_error"]] == ["error"]
    assert "econnrefused" in seen["on_error"][0]["reason"]
    assert [one["event"] for one in seen["on_topic"]] == ["prompt"]
    assert seen["on_milestone"][0]["reason"].startswith("due now")
    assert seen["on_nothing"] == []
    reached = {"Tidy the ledger": LEDGER, "Run the tests": REFUSED, "Why are amounts": CENTS, "Let us upgrade": UPGRADE}
    for prompt, words in reached.items():
        last = api.asked(prompt)[-1].given
        assert last.count(words) == 1, f"{prompt}: {words}"
        assert PORTS not in last
    used = next(
        row["used"] for row in machine.rows("surface_outcomes") if row["surface_id"] == seen["on_error"][0]["id"]
    )
    assert used == 1, "the answer named the port and what to do"


def given(machine: Machine, session_id: str) -> list[dict[str, Any]]:
    """What a session was given, in order."""
    found: list[dict[str, Any]] = [row for row in machine.rows("surfaces") if row["session_id"] == session_id]
    return found


def line(surface: dict[str, Any]) -> str:
    limits = ", ".join(f"{name} {how}" for name, how in json.loads(surface["limits"]).items())
    about = f" ({surface['about']})" if surface["about"] else ""
    return f"{surface['event']}{about}: {surface['reason']}; relevance {surface['relevance']:.2f}; {limits}"
