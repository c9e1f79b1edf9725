"""Serves JSON-RPC over stdin and stdout, one message per line, until the client closes stdin.

Calls run in threads, so that a slow call delays neither a ping nor another call.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from .protocol import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, Message, Offer, answer

CALLS_AT_ONCE = 8
CHUNK = 65536
MAX_MESSAGE_BYTES = 16 << 20
"""The maximum size of a message in bytes; no tool call is as long."""

log = logging.getLogger(__name__)


class Wire:
    """Stdin and stdout of this process. Other output goes to stderr, since stdout is for the protocol."""

    def __init__(self, handed: int | None) -> None:
        self._sources = [0] if handed is None else [handed, 0]
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._writing = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Yield the client's messages: first those that hooks/greet.py has read already, then those on stdin."""
        read = b""
        for source in self._sources:
            while chunk := os.read(source, CHUNK):
                *whole, read = (read + chunk).split(b"\n")
                yield from whole
                read = b"" if len(read) > MAX_MESSAGE_BYTES else read
        if read:
            yield read

    def send(self, message: Message) -> None:
        """Write one message. Raises OSError if the client has closed the pipe."""
        line = memoryview(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        with self._writing:
            while line:
                line = line[os.write(self._out, line) :]


class Connection:
    """The connection to one client; with ``greeted``, hooks/greet.py has answered its ``initialize`` already."""

    def __init__(self, offer: Offer, wire: Wire, *, greeted: bool) -> None:
        self._offer = offer
        self._wire = wire
        self._greeted = greeted
        self._cancelled: set[Any] = set()
        self._running: set[Any] = set()

    def serve(self) -> None:
        """Answer requests until the client closes stdin."""
        with ThreadPoolExecutor(CALLS_AT_ONCE) as calls, suppress(OSError, KeyboardInterrupt):
            for line in filter(bytes.strip, self._wire.lines()):
                message = _parsed(line)
                if message.get("method") == "tools/call" and "id" in message:
                    self._running.add(_key(message["id"]))
                    calls.submit(self._call, message)
                else:
                    self._handle(message)

    def _handle(self, message: Message) -> None:
        if "error" in message:
            self._wire.send(message)
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message.get("params"))
        elif message.get("method") == "initialize" and self._greeted:
            self._greeted = False
        elif "id" in message and "method" in message:
            self._wire.send(answer(self._offer, message))

    def _cancel(self, params: Any) -> None:
        key = _key(params.get("requestId")) if isinstance(params, dict) else None
        if key in self._running:
            self._cancelled.add(key)

    def _call(self, message: Message) -> None:
        """Answer a tool call, unless the client has cancelled it."""
        key = _key(message["id"])
        try:
            response = answer(self._offer, message)
        except Exception:  # an error in one tool must not end the server
            log.exception("a tool call failed")
            response = _error(INTERNAL_ERROR, "Internal error", message["id"])
        self._running.discard(key)
        if key in self._cancelled:
            self._cancelled.discard(key)
            return
        with suppress(OSError):  # the client has gone; the end of stdin then ends the server
            self._wire.send(response)


def _parsed(line: bytes) -> Message:
    """Return the message in a line; for an invalid one, the error response."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(PARSE_ERROR, "Parse error", None)
    if not isinstance(message, dict):
        return _error(INVALID_REQUEST, "a message must be an object", None)
    return {name: value for name, value in message.items() if name != "error"}


def _error(code: int, message: str, number: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _key(number: Any) -> str:
    """Return a hashable key of an id; 1 and "1" are different ids."""
    return json.dumps(number)


def was_greeted(handed: int | None) -> bool:
    """Return whether the file ``handed`` begins with ``initialize``, a request that hooks/greet.py has answered."""
    return handed is not None and b'"initialize"' in os.pread(handed, CHUNK, 0).partition(b"\n")[0]
