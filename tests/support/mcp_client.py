"""A client of the MCP server."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.text.quoting import OPENING
from tests.support.daemons import drained
from tests.support.hook_calls import CHECKOUT

FACT = "We decided to keep all amounts in integer cents, because floats lost a cent."


def listed(home: Home, speaker: Speaker) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.call(home, "list", {"cwd": str(speaker.project)})["memories"]
    return found


def server(home: Home, folder: Path, session: str = "", **environ: str) -> StdioServerParameters:
    """The server itself, as another client than Claude Code starts it."""
    folder.mkdir(exist_ok=True)
    place = {"SUBCONSCIOUS_HOME": str(home.root), "PYTHONPATH": str(CHECKOUT), "CLAUDE_CODE_SESSION_ID": session}
    return StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "cli", "mcp"], env={**place, **environ}, cwd=folder
    )


@asynccontextmanager
async def connected(started: StdioServerParameters, mode: str = "legacy") -> AsyncGenerator[Client]:
    async with Client(stdio_client(started), mode=mode) as session:
        yield session


async def told(session: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must not fail; the client library holds the answer against the tool's output schema."""
    answer = await session.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    assert answer.content[0].text.startswith(OPENING)  # type: ignore[union-attr]
    assert isinstance(answer.structured_content, dict)
    return answer.structured_content


async def failure(session: Client, name: str, **arguments: Any) -> str:
    answer = await session.call_tool(name, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


@pytest.fixture
def remembered(running: Home, speaker: Speaker) -> Speaker:
    """A project in which something was decided."""
    speaker.say(FACT)
    speaker.hook("drop", "Stop")
    drained(running)
    assert [memory["content"] for memory in listed(running, speaker)] == [FACT]
    return speaker
