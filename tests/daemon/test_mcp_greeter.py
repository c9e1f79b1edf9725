"""What greets in the MCP server's place, and becomes it: held to the server's own words."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from bench.sessions import Speaker
from cli.tools.server import BY_NAME
from hooks.environment import fingerprint
from subconscious.settings.home import Home
from tests.support.daemons import configure, eventually
from tests.support.hook_calls import CHECKOUT, copy_plugin
from tests.support.mcp_client import connected, failure, remembered, server, told

__all__ = ["remembered"]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def environment(home: Home) -> Path:
    """An environment that runs this checkout, known by its fingerprint as the plugin's own."""
    folder = home.env / f"{fingerprint()}-cpython-3"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    face = folder / "bin" / "subconscious"
    face.write_text(f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -P -m cli "$@"\n')
    face.chmod(0o755)
    (folder / ".complete").write_text("0.1.0\n")
    return folder


def greeter(home: Home, folder: Path, session: str = "", **environ: str) -> StdioServerParameters:
    """The script that the plugin starts."""
    folder.mkdir(exist_ok=True)
    place = {"SUBCONSCIOUS_HOME": str(home.root), "CLAUDE_CODE_SESSION_ID": session}
    script = str(CHECKOUT / "hooks" / "mcp")
    return StdioServerParameters(command="/bin/sh", args=[script], env={**place, **environ}, cwd=folder)


async def test_switched_off_it_offers_nothing(stopped: Home, tmp_path: Path, environment: Path) -> None:
    off: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({"SUBCONSCIOUS_OFF": "1"}, {}),
        ({"SUBCONSCIOUS_MCP": "false"}, {}),
        ({}, {"mcp": False}),
        ({}, {"off": True}),
    ]
    for environ, values in off:
        configure(stopped, **values)
        for started in (server(stopped, tmp_path / "p", **environ), greeter(stopped, tmp_path / "p", **environ)):
            async with connected(started) as session:
                assert session.server_capabilities.tools is None
    configure(stopped)
    async with connected(greeter(stopped, tmp_path / "p", CLAUDE_PLUGIN_OPTION_MCP="false")) as session:
        assert session.server_capabilities.tools is None
    async with connected(greeter(stopped, tmp_path / "p", CLAUDE_PLUGIN_OPTION_MCP="")) as session:
        assert (await session.list_tools()).tools


async def test_the_greeter_greets_as_the_server_does(stopped: Home, tmp_path: Path) -> None:
    answers = []
    for started in (server(stopped, tmp_path / "p"), greeter(stopped, tmp_path / "p")):
        async with connected(started) as session:
            listing = await session.list_tools()
            answers.append(
                (
                    session.protocol_version,
                    session.server_capabilities.model_dump(exclude_none=True),
                    session.server_info,
                    session.instructions,
                    [tool.model_dump(exclude_none=True) for tool in listing.tools],
                )
            )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "1999-01-01"])
def test_the_greeters_words_are_the_servers(stopped: Home, tmp_path: Path, version: str) -> None:
    said = [hello(version), {"jsonrpc": "2.0", "method": "notifications/initialized"}, ping(1), listing(2)]
    greeted, served = (spoken(one(stopped, tmp_path / "p"), said) for one in (greeter, server))
    assert greeted == served


def hello(version: str = "2025-11-25") -> dict[str, Any]:
    about = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def ping(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def listing(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/list"}


def calling(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def spoken(started: StdioServerParameters, said: list[dict[str, Any]], answers: int = 0) -> list[dict[str, Any]]:
    """All that a server answers to what is said at once; it must leave quietly when nothing more comes."""
    place = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **(started.env or {})}
    talk = subprocess.Popen(
        [started.command, *started.args],
        cwd=started.cwd,
        env=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert talk.stdin
    assert talk.stdout
    with talk:
        talk.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in said))
        talk.stdin.flush()
        wanted = sum("id" in one for one in said)
        heard = [json.loads(talk.stdout.readline()) for _ in range(answers or wanted)]
        rest, errors = talk.communicate(timeout=60)
    assert (talk.returncode, rest, errors) == (0, b"", b"")
    return sorted(heard, key=lambda answer: int(answer["id"]))


async def test_the_greeter_becomes_the_server_with_the_first_call(
    running: Home, remembered: Speaker, environment: Path
) -> None:
    async with connected(greeter(running, remembered.project, remembered.id)) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == list(BY_NAME)
        assert processes(running, "greet.py")
        assert (await told(session, "memory_search", query="cents"))["memories"]
        assert not processes(running, "greet.py")
        assert len(processes(running, "mcp\0--handed")) == 1
        assert [tool.name for tool in (await session.list_tools()).tools] == list(BY_NAME)
    assert eventually(lambda: not processes(running, "mcp\0--handed"))


def processes(home: Home, words: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = f"SUBCONSCIOUS_HOME={home.root}\0".encode() in (folder / "environ").read_bytes()
            if ours and words.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_all_that_was_said_at_once_is_handed_over(running: Home, remembered: Speaker, environment: Path) -> None:
    calls = [calling(number, "memory_search", query="cents " * 1500) for number in range(2, 22)]
    said = [hello(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, listing(1), *calls]
    heard = spoken(greeter(running, remembered.project), said)
    assert [answer["id"] for answer in heard] == list(range(22))
    answers = [answer["result"]["structuredContent"] for answer in heard[2:]]
    # The server works on them at once, so any of them may be the first to be answered.
    full = [answer for answer in answers if answer["memories"]]
    assert len(full) == 1
    assert all("the same answer" in answer["again"] for answer in answers if answer is not full[0])


async def test_a_client_of_the_newest_protocol_is_served(running: Home, remembered: Speaker, environment: Path) -> None:
    """It does not greet: it asks what is offered, and the greeter leaves that to the server."""
    async with connected(greeter(running, remembered.project), mode="auto") as session:
        assert session.protocol_version == "2026-07-28"
        assert (await told(session, "memory_search", query="cents"))["memories"]


async def test_a_plugin_that_went_with_an_update_is_not_missed(
    running: Home, remembered: Speaker, environment: Path, tmp_path: Path
) -> None:
    (running.env / "current").symlink_to(environment.name)
    plugin = copy_plugin(tmp_path / "plugin")
    started = greeter(running, remembered.project)
    started.args = [str(plugin / "hooks" / "mcp")]
    async with connected(started) as session:
        assert (await session.list_tools()).tools
        shutil.rmtree(plugin)
        assert (await told(session, "memory_search", query="cents"))["memories"]


async def test_before_there_is_an_environment_a_call_says_so(stopped: Home, tmp_path: Path) -> None:
    async with connected(greeter(stopped, tmp_path / "p")) as session:
        assert (await session.list_tools()).tools
        assert "setting itself up" in await failure(session, "memory_status")
        failed = {"reason": "no space", "remedy": "Make room.", "fingerprint": fingerprint(), "time": 0, "attempts": 1}
        stopped.env.mkdir(exist_ok=True)
        (stopped.env / "failure").write_text(json.dumps(failed))
        assert "no space. Make room." in await failure(session, "memory_status")


@pytest.fixture
def no_python(tmp_path: Path) -> str:
    """A PATH without any Python."""
    programs = tmp_path / "programs"
    programs.mkdir()
    return str(programs)


def test_without_a_python_the_client_is_greeted_all_the_same(stopped: Home, tmp_path: Path, no_python: str) -> None:
    heard = spoken(greeter(stopped, tmp_path / "p", PATH=no_python), [hello(), ping(1), listing(2)])
    assert heard[0]["result"]["protocolVersion"] == "2025-11-25"
    assert heard[0]["result"]["capabilities"] == {}
    assert heard[1]["result"] == {}
    assert heard[2]["error"]["code"] == -32601


def test_a_signal_ends_it(stopped: Home, tmp_path: Path) -> None:
    started = greeter(stopped, tmp_path / "p")
    process = subprocess.Popen(
        [started.command, *started.args], env={**os.environ, **(started.env or {})}, stdin=subprocess.PIPE
    )
    with process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM
