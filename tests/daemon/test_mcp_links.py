"""The tools on links, with a daemon that knows links."""

from __future__ import annotations

from typing import Any

import pytest

from bench.sessions import Speaker
from cli.tools.server import BY_NAME
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemons import drained
from tests.support.mcp_client import FACT, connected, listed, server, told

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif("memory_links" not in BY_NAME, reason="the daemon does not know links yet"),
]

LATER = "We decided to round amounts half to even, because the auditors ask for it."


async def test_links_are_walked(running: Home, speaker: Speaker) -> None:
    speaker.say(FACT)
    speaker.say(LATER)
    speaker.hook("drop", "Stop")
    drained(running)
    ids = {memory["content"]: memory["id"] for memory in listed(running, speaker)}
    ends = {"source": ids[LATER], "type": "EXTENDS", "target": ids[FACT]}
    wire.call(running, "link", ends | {"origin": "assistant", "cwd": str(speaker.project)})
    asked: list[tuple[str, dict[str, Any]]] = [
        ("memory_links", {"id": ids[FACT], "types": ["EXTENDS"]}),
        ("memory_graph", {"id": ids[FACT], "depth": 1}),
    ]
    async with connected(server(running, speaker.project)) as session:
        for name, arguments in asked:
            answer = await told(session, name, **arguments)
            (edge,) = answer["links"]
            assert (edge["source"], edge["target"], edge["status"]) == (ids[LATER], ids[FACT], "proposed")
            assert {memory["id"] for memory in answer["memories"]} == set(ids.values())
        assert (await told(session, "memory_why", id=ids[FACT]))["memories"][0]["id"] == ids[FACT]
        assert (await told(session, "memory_why", query="why half to even?"))["memories"]
        assert (await told(session, "memory_conflicts"))["links"] == []
