"""A reproach of the user counts for the rule of which it reminds."""

from __future__ import annotations

from bench.sessions import Speaker
from subconscious.settings.home import Home
from tests.daemon.test_holding import contents, later
from tests.support.deciding import decide
from tests.support.purging import person

RULE = "Never use unwrap in lib code, use anyhow context."


def actions(home: Home) -> list[str]:
    found = person(home, "history", limit=50)["events"]
    return [event["action"] for event in found if event["subject"] == "memory" and event["action"] != "create"]


def test_a_reproach_in_a_session_without_the_rule_repeats_it(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, RULE)
    session = later(running, speaker, "jesus, unwrap AGAIN in server/lib.rs")
    assert contents(running, session) == [RULE]
    assert "recur" in actions(running)


def test_a_task_repeats_nothing(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, "Always run the tests with cargo nextest.")
    later(running, speaker, "run cargo nextest again")
    assert not {"recur", "violated"} & set(actions(running))
