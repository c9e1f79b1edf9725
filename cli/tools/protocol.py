"""The part of the Model Context Protocol that a tool server over stdio needs: JSON-RPC requests and responses.

Protocol versions up to 2025-11-25 start with ``initialize``. Since 2026-07-28 the protocol is stateless: each request
names the protocol version, and each result includes the server's name and version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from subconscious import __version__

NAME = "subconscious"
GREETED_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that start with ``initialize``, the oldest first."""
STATELESS_VERSIONS = ("2026-07-28",)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

PREFIX = "io.modelcontextprotocol/"
VERSION_KEY, SERVER_KEY = f"{PREFIX}protocolVersion", f"{PREFIX}serverInfo"
ABOUT = {"name": NAME, "version": __version__}
NOT_CACHED = {"cacheScope": "private", "ttlMs": 0}
"""The cache hint of stateless results: lists change with an update of the plugin, so they are not cached."""

Message = dict[str, Any]
Call = Callable[[str, Message], Message]


class ProtocolError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


@dataclass(frozen=True, slots=True)
class Offer:
    """The instructions and tools of a server, and the function that calls a tool (name, arguments -> result)."""

    instructions: str = ""
    tools: list[Message] = field(default_factory=list)
    call: Call | None = None

    @property
    def capabilities(self) -> Message:
        """The server's capabilities."""
        return {"tools": {"listChanged": False}} if self.call else {}


def answer(offer: Offer, message: Message) -> Message:
    """Return the response to a request."""
    try:
        body = {"result": _result(offer, message)}
    except ProtocolError as error:
        body = {"error": error.error}
    return {"jsonrpc": "2.0", "id": message.get("id"), **body}


def _result(offer: Offer, message: Message) -> Message:
    params = message.get("params") or {}
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    handler = _handlers(offer).get(str(message.get("method")))
    if handler is None:
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found")
    stateless = _is_stateless(params)
    result = handler(params)
    return _enveloped(result) if stateless else result


def _handlers(offer: Offer) -> dict[str, Callable[[Message], Message]]:
    handlers: dict[str, Callable[[Message], Message]] = {
        "initialize": lambda params: _greeting(offer, params),
        "server/discover": lambda _: _discovery(offer),
        "ping": lambda _: {},
    }
    if offer.call:
        handlers |= {"tools/list": partial(_listing, offer), "tools/call": partial(_called, offer.call)}
    return handlers


def _is_stateless(params: Message) -> bool:
    """Return whether a request names a protocol version. Raises ProtocolError for an unsupported one."""
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if version is not None and version not in STATELESS_VERSIONS:
        data = {"supported": list(STATELESS_VERSIONS), "requested": str(version)}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return version is not None


def _enveloped(result: Message) -> Message:
    return {"resultType": "complete", **result, "_meta": {SERVER_KEY: ABOUT}}


def _greeting(offer: Offer, params: Message) -> Message:
    wanted = params.get("protocolVersion")
    version = wanted if wanted in GREETED_VERSIONS else GREETED_VERSIONS[-1]
    return {"protocolVersion": version, "serverInfo": ABOUT, **_described(offer)}


def _discovery(offer: Offer) -> Message:
    return {"supportedVersions": list(STATELESS_VERSIONS), **NOT_CACHED, **_described(offer)}


def _described(offer: Offer) -> Message:
    return {"capabilities": offer.capabilities} | ({"instructions": offer.instructions} if offer.instructions else {})


def _listing(offer: Offer, params: Message) -> Message:
    return {"tools": offer.tools} | (NOT_CACHED if _is_stateless(params) else {})


def _called(call: Call, params: Message) -> Message:
    name, arguments = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "a call needs the name of a tool, and an object of arguments")
    return call(name, arguments)
