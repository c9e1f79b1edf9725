"""A loopback embedding server with the APIs of OpenAI and Ollama that fails on demand.

The wire is ours, the vectors are those of the local model (or, for speed, made from letters): what is near in meaning
is near. It keeps what it was asked, so that tests can see what left the machine.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Vectors = Sequence[Sequence[float]]
Model = Callable[[Sequence[str]], Vectors]


def letters(texts: Sequence[str]) -> Vectors:
    """A toy model of 32 dimensions: how often each letter occurs."""
    return [[1.0 + text.lower().count(chr(96 + n)) * n for n in range(32)] for text in texts]


def mirrored(texts: Sequence[str]) -> Vectors:
    """Another toy model of as many dimensions: its vectors are no good to the first one's questions."""
    return [[(-1.0) ** n * number for n, number in enumerate(vector)] for vector in letters(texts)]


def wide(texts: Sequence[str]) -> Vectors:
    """A toy model of 48 dimensions."""
    return [[*vector, *[1.0] * 16] for vector in letters(texts)]


@dataclass(frozen=True)
class Failure:
    """An answer that is none: a status with headers and body, or a body that is cut or comes late."""

    status: int = 200
    body: bytes = b'{"error": {"message": "told to fail"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """What was to be embedded."""
        given = self.body["input"]
        return [given] if isinstance(given, str) else list(given)


class EmbeddingServer:
    """What tests arrange and look at. ``failures`` are given out one after the other, ``always`` to all."""

    def __init__(self) -> None:
        self.models: dict[str, Model] = {"": letters}
        self.failures: list[Failure] = []
        self.always: Failure | None = None
        self.asked: list[Asked] = []
        self.longest: int | None = None
        self.refused = ""
        self.delay = 0.0
        self.port = 0
        self.vectors: Callable[[Vectors], Any] = lambda found: found
        self._turn = threading.Lock()

    @property
    def url(self) -> str:
        """Where Ollama would be; OpenAI's address has /v1 in addition."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        """All that was asked for, in its order."""
        return [text for asked in self.asked for text in asked.texts]

    def failure(self, asked: Asked) -> Failure | None:
        """How this request fails, if it does."""
        with self._turn:
            self.asked.append(asked)
            if self.failures:
                return self.failures.pop(0)
        if self.longest is not None and max(map(len, asked.texts)) > self.longest:
            body = b'{"error": {"message": "this input exceeds the maximum context length"}}'
            return Failure(400, body)
        if self.refused and any(self.refused in text for text in asked.texts):
            return Failure(400, b'{"error": {"message": "no such words here"}}')
        return self.always

    def answer(self, asked: Asked) -> dict[str, Any]:
        """What either maker's server would say."""
        model = self.models.get(asked.body["model"], self.models[""])
        found = self.vectors([[float(number) for number in vector] for vector in model(asked.texts)])
        tokens = sum(len(text) // 4 + 1 for text in asked.texts)
        if asked.path == "/api/embed":
            return {"model": asked.body["model"], "embeddings": found, "prompt_eval_count": tokens}
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(found)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        # In another order than they were asked for: only the index counts.
        return {"object": "list", "data": rows[::-1], "model": asked.body["model"], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ours: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        failure = self.ours.failure(asked)
        time.sleep(failure.seconds if failure else self.ours.delay)
        if failure is None or (failure.status == 200 and failure.seconds and not failure.cut):
            self._send(200, json.dumps(self.ours.answer(asked)).encode(), {})
        else:
            self._send(failure.status, failure.body, failure.headers, cut=failure.cut)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) + 100 * cut))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or cut

    def handle(self) -> None:
        """A client that has given up is no failure of the server's."""
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server of one's own."""
    ours = EmbeddingServer()
    handler = type("Handler", (_Handler,), {"ours": ours})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    ours.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield ours
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_unit(vectors: Any) -> bool:
    """Whether all rows have length one."""
    return bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5))
