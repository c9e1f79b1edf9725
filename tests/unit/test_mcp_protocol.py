"""The MCP server's protocol, message by message; tests/daemon/test_mcp*.py use the official client."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.tools.protocol import Message, Offer, answer
from cli.tools.stdio import Connection, Wire

STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def echo(name: str, arguments: Message) -> Message:
    return {"content": [], "structuredContent": {name: arguments}, "isError": False}


OFFER = Offer("How to use it.", [{"name": "echo"}], echo)


def request(method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


class Heard(Wire):
    """A wire with given lines, which keeps what is sent."""

    def __init__(self, *lines: bytes) -> None:
        self._lines = lines
        self.sent: list[Message] = []

    def lines(self) -> Any:
        return iter(self._lines)

    def send(self, message: Message) -> None:
        self.sent.append(message)


def served(*messages: Message | bytes, offer: Offer = OFFER, greeted: bool = False) -> list[Message]:
    wire = Heard(*(one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages))
    Connection(offer, wire, greeted=greeted).serve()
    return wire.sent


def test_a_greeting_settles_the_version() -> None:
    assert (
        answer(OFFER, request("initialize", protocolVersion="2025-03-26"))["result"]["protocolVersion"] == "2025-03-26"
    )
    result = answer(OFFER, request("initialize", protocolVersion="1999-01-01"))["result"]
    assert (result["protocolVersion"], result["instructions"]) == ("2025-11-25", "How to use it.")


def test_a_request_that_names_its_version_gets_an_envelope() -> None:
    result = answer(OFFER, request("tools/call", name="echo", arguments={"a": 1}, _meta=STATELESS))["result"]
    assert result["resultType"] == "complete"
    assert result["structuredContent"] == {"echo": {"a": 1}}
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "subconscious"
    unknown = answer(OFFER, request("tools/list", _meta={next(iter(STATELESS)): "2099-01-01"}))["error"]
    assert unknown["code"] == -32022
    assert unknown["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("nothing/such"), -32601),
        (request("tools/call", name=3), -32602),
        (request("tools/call", name="echo", arguments=[1]), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
    ],
)
def test_a_wrong_request_gets_its_error(message: Message, code: int) -> None:
    (response,) = served(message)
    assert response["error"]["code"] == code


def test_without_tools_there_are_none() -> None:
    assert answer(Offer(), request("initialize"))["result"]["capabilities"] == {}
    assert answer(Offer(), request("tools/list"))["error"]["code"] == -32601


def test_lines_that_are_no_message_get_an_error_and_nothing_stops() -> None:
    heard = served(b"{", b"[1]", b"", request("notifications/initialized") | {"id": 0}, request("ping"))
    assert [one.get("error", {}).get("code") for one in heard] == [-32700, -32600, -32601, None]


def test_an_answer_and_a_notification_get_none() -> None:
    assert served({"id": 1, "result": {}}, {"method": "notifications/initialized"}, {"id": 1, "error": {}}) == []


def test_a_greeting_that_was_answered_is_not_answered_again() -> None:
    hello = request("initialize", protocolVersion="2025-11-25")
    assert len(served(hello, hello, greeted=True)) == 1


def test_a_cancelled_call_is_not_answered() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    def slow(name: str, arguments: Message) -> Message:
        begun.set()
        cancelled.wait(30)
        return {}

    class Cancelling(Heard):
        def lines(self) -> Any:
            yield json.dumps(request("tools/call", name="slow")).encode()
            begun.wait(30)
            yield json.dumps({"method": "notifications/cancelled", "params": {"requestId": 1}}).encode()
            cancelled.set()

    wire = Cancelling()
    Connection(Offer("", [], slow), wire, greeted=False).serve()
    assert wire.sent == []


def test_a_tool_that_breaks_is_answered_for() -> None:
    def broken(name: str, arguments: Message) -> Message:
        raise ZeroDivisionError

    (response,) = served(request("tools/call", name="x"), offer=Offer("", [], broken))
    assert response["error"]["code"] == -32603


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "method", "params", "_meta", "name", "error"]), inner, max_size=4)
        ),
        max_leaves=8,
    )
)
def test_any_json_gets_at_most_one_answer(value: Any) -> None:
    heard = served(json.dumps(value).encode(), request("ping"))
    assert heard[-1] == {"jsonrpc": "2.0", "id": 1, "result": {}} or len(heard) == 2
    assert len(heard) <= 2


def test_what_prints_does_not_get_between_the_messages() -> None:
    code = (
        "from cli.tools.protocol import Offer\n"
        "from cli.tools.stdio import Connection, Wire\n"
        "wire = Wire(None)\n"
        "print('a stray line', flush=True)\n"
        "Connection(Offer(), wire, greeted=False).serve()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(request("ping")).encode(),  # the last line may lack its end
        capture_output=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert json.loads(done.stdout)["result"] == {}
    assert b"a stray line" in done.stderr
