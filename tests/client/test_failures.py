"""A way out of a failure in the real client: learned from two sessions, given in the third when the same fails."""

from __future__ import annotations

import pytest

from tests.client.fake_api import FakeApi, says, uses
from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.timeout(240, func_only=True)]

FAILS = "cat --number-nothing notes.txt"
TOLD = "`cat --number-nothing <path>` failed here in 2 sessions; `cat <path>` then worked."


def test_the_third_session_is_given_the_way_out(machine: Machine, api: FakeApi) -> None:
    (machine.state / "config.toml").write_text("start_memories = 0\n")
    (machine.project / "notes.txt").write_text("The kiln fires at noon.\n")
    tries = uses("Bash", command=FAILS, description="read")
    api.when("Read the notes", tries, uses("Bash", command="cat notes.txt", description="read"), says("At noon."))
    api.when("And once more", tries, says("It failed."))
    machine.talk("Good morning.")  # which starts the daemon
    for _ in range(2):
        machine.talk("Read the notes", tools="Bash")
        machine.drain()
    known = [row for row in machine.rows("memories") if row["archived_at"] is None]
    assert [row["content"] for row in known] == [TOLD.replace(" in 2 sessions", "")]
    machine.talk("And once more", tools="Bash")
    assert TOLD in api.asked("And once more")[-1].given
