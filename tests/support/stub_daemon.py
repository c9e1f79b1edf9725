"""A Unix-socket server that speaks the protocol with canned answers, for tests of clients."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli import origin
from subconscious import __version__
from subconscious.domain.errors import RequestError, SubconsciousError
from subconscious.settings.home import Home
from subconscious.wire import Request, decode_request, encode_error, encode_result, frame
from tests.support.shapes import completed

Canned = dict[str, Any]


class StubDaemon:
    """Answers each request with a given result, error or raw bytes, or with what a function of its arguments returns.

    A result may be partial: the fields that a test does not care about are added, empty. Its fields and their types are
    checked, since an answer that no daemon gives proves nothing.
    """

    def __init__(self, home: Home, answers: Canned | None = None, *, version: str = __version__) -> None:
        self.home = home
        self.answers: Canned = answers or {}
        self.version = version
        self.silent = False
        self.requests: list[Request] = []
        self.wrong_answers: list[str] = []

    def __enter__(self) -> StubDaemon:
        self.home.make()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bind()
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def _bind(self) -> None:
        # By its bare name: the folders of tests can be longer than a socket's path may be.
        here = Path.cwd()
        os.chdir(self.home.run)
        try:
            self._socket.bind("daemon.sock")
            self.home.socket.chmod(0o600)
        finally:
            os.chdir(here)

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)
        self.home.socket.unlink(missing_ok=True)
        assert not self.wrong_answers, self.wrong_answers

    def _serve(self) -> None:
        held = []
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                break
            if self.silent:
                held.append(connection)
                continue
            with connection:
                connection.sendall(self._answer(connection.makefile("rb").readline()))
        for connection in held:
            connection.close()

    def _answer(self, line: bytes) -> bytes:
        if line.startswith(b"hello "):
            return frame(self.version.encode())
        request = decode_request(line)
        self.requests.append(request)
        answer = self.answers.get(request.cmd, RequestError(f"no {request.cmd}"))
        if callable(answer):
            answer = answer(request.args)
        if isinstance(answer, SubconsciousError):
            return encode_error(answer)
        if isinstance(answer, bytes):
            return answer
        try:
            return encode_result(completed(request.cmd, answer))
        except AssertionError as error:  # this thread is not the test's: the test fails when it leaves the stub
            self.wrong_answers.append(str(error))
            return encode_error(RequestError(str(error)))


@contextmanager
def answering(home: Home, monkeypatch: pytest.MonkeyPatch, answers: Canned, columns: int = 80) -> Iterator[StubDaemon]:
    """Such a daemon for the command line, and a person before a screen of so many columns."""
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    with StubDaemon(home, dict(answers)) as stub:
        yield stub
