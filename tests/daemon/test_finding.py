"""Presets, modes and budgets of a search, through the socket."""

from __future__ import annotations

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support.daemons import drained


def test_a_search_takes_preset_mode_and_budget(running: Home, speaker: Speaker) -> None:
    speaker.say("We decided to keep the ledger in integer cents, because floats lost a cent.")
    speaker.hook("drop", "Stop")
    drained(running)
    where = {"cwd": str(speaker.project), "query": "ledger integer cents floats"}
    plain = wire.call(running, "search", where)
    assert (plain["mode"], len(plain["hits"])) == ("any", 1)
    for manner in ({"preset": "rrf"}, {"preset": "nexus", "mode": "any"}, {"budget": "lean"}, {"budget": "deep"}):
        assert len(wire.call(running, "search", where | manner)["hits"]) == 1
    assert wire.call(running, "search", where | {"preset": "nexus"})["mode"] == "execution"
    unsure = wire.call(running, "recall", {"cwd": str(speaker.project), "query": "cents", "mode": "execution"})
    assert (unsure["mode"], unsure["hits"]) == ("execution", [])


def test_an_unknown_preset_is_refused(running: Home, speaker: Speaker) -> None:
    with pytest.raises(DaemonError, match="preset"):
        wire.call(running, "search", {"cwd": str(speaker.project), "query": "cents", "preset": "best"})
