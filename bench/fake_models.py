"""A loopback server with the APIs of Anthropic, OpenAI and Ollama that fails on demand.

It keeps its own records: the time of each request, its tokens, and the charge. Batches are in its memory, so they
survive the daemons that submitted them.
"""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from typing import Any

INPUT_PRICE, OUTPUT_PRICE = 0.10e-6, 0.50e-6
"""Dollars a token of claude-haiku-5-5 and gpt-6-luna, as in models.toml; Ollama's answers are free."""

PASSED = {
    "entailed": True,
    "unsupported": [],
    "instruction_like": False,
    "known": False,
    "clear": True,
    "fate": "stands",
}
"""What a second look says of a note that nothing speaks against."""


@dataclass
class Books:
    """The server's records. ``charged``: dollars for complete answers; ``cut``: answers computed but not sent."""

    arrivals: list[tuple[float, int]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    charged: float = 0.0
    cut: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def echo(text: str) -> str:
    """The answer of a model that repeats its input."""
    found = re.findall(r'<item number="(\d+)">\n(.*?)\n</item>', text, re.DOTALL)
    if found:
        return json.dumps({"answers": [{"number": int(n), "answer": {"word": word}} for n, word in found]})
    return json.dumps({"word": text})


class FakeModel:
    """The server, listening from the start of the block to its end."""

    def __init__(self, failing: float = 0.0, seed: int = 1, answer: Callable[[str], str] = echo) -> None:
        self.books = Books()
        self.failing = failing
        self.answer = answer
        self.dawdle = 0.0
        self.key = ""
        self.ended = True
        self.submitting = threading.Event()
        self.submit_seconds = 0.0
        self._random = random.Random(seed)

    def failure(self) -> str:
        """Whether this request is to fail, and how."""
        with self.books.lock:
            if self._random.random() >= self.failing:
                return ""
            kind = self._random.choice(("429", "500", "cut"))
            self.books.failures[kind] = self.books.failures.get(kind, 0) + 1
            return kind

    def usage(self, text: str, said: str) -> dict[str, int]:
        return {"input_tokens": len(text) // 4 + 10, "output_tokens": len(said) // 4 + 5}

    def say(self, params: dict[str, Any], factor: float) -> tuple[str, dict[str, int]]:
        """Answer one request, and charge for it."""
        text = params["messages"][-1]["content"]
        said = self.answer(text)
        usage = self.usage(words_of(params), said)
        with self.books.lock:
            self.books.asked.append(text)
            self.books.charged += factor * cost(usage)
        return said, usage

    def completion(self, params: dict[str, Any]) -> dict[str, Any]:
        """As OpenAI answers."""
        said, usage = self.say(params, 1.0)
        told = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": params["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
            "usage": told | {"total_tokens": sum(told.values())},
        }

    def chat(self, params: dict[str, Any]) -> dict[str, Any]:
        """As Ollama answers."""
        said, usage = self.say(params, 0.0)
        return {
            "model": params["model"],
            "created_at": DATE,
            "message": {"role": "assistant", "content": said},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": usage["input_tokens"],
            "eval_count": usage["output_tokens"],
        }

    def message(self, params: dict[str, Any], factor: float = 1.0) -> dict[str, Any]:
        """As Anthropic answers."""
        said, usage = self.say(params, factor)
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": params["model"],
            "content": [{"type": "text", "text": said}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Listen; gives the base URL."""
        server = _Server(("127.0.0.1", 0), _Handler)
        server.model = self
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def words_of(params: dict[str, Any]) -> str:
    """All that a request says, wherever its API puts the system prompt."""
    return str(params.get("system", "")) + "".join(message["content"] for message in params["messages"])


def cost(usage: dict[str, int]) -> float:
    return usage["input_tokens"] * INPUT_PRICE + usage["output_tokens"] * OUTPUT_PRICE


class _Server(ThreadingHTTPServer):
    model: FakeModel
    request_queue_size = 256
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _json(self, status: int, body: Any, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _error(self, status: int, kind: str, **headers: str) -> None:
        self._json(status, {"type": "error", "error": {"type": kind, "message": kind}}, **headers)

    def _refused(self) -> bool:
        model, key = self.server.model, self.headers.get("x-api-key", "")
        model.books.keys.add(key)
        if model.key and key != model.key:
            self._error(401, "authentication_error")
            return True
        return False

    def do_GET(self) -> None:
        if self._refused():
            return
        model = self.server.model
        path = self.path.partition("?")[0]
        name = path.split("/")[4] if path.startswith("/v1/messages/batches/") else ""
        batch = model.books.batches.get(name)
        if path.startswith("/v1/models/"):
            self._json(200, {"id": path.split("/")[3], "type": "model", "display_name": "m", "created_at": DATE})
        elif batch is None:
            self._error(404, "not_found_error")
        elif path.endswith("/results"):
            self._json(200, "".join(json.dumps(line) + "\n" for line in batch["lines"]).encode())
        else:
            self._json(200, self._batch(name, model.ended))

    def _batch(self, name: str, ended: bool) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        host = f"http://{self.headers['host']}"
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": DATE,
            "expires_at": DATE,
            "ended_at": DATE if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{host}/v1/messages/batches/{name}/results" if ended else None,
        }

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self._refused():
            return
        if self.path.startswith("/v1/messages/batches"):
            self._submit(body)
        else:
            self._ask(body)

    def _submit(self, body: dict[str, Any]) -> None:
        model = self.server.model
        lines = [
            {
                "custom_id": item["custom_id"],
                "result": {"type": "succeeded", "message": model.message(item["params"], 0.5)},
            }
            for item in body["requests"]
        ]
        with model.books.lock:
            name = f"msgbatch_{len(model.books.batches) + 1}"
            model.books.batches[name] = {"lines": lines}
        model.submitting.set()
        sleep(model.submit_seconds)
        self._json(200, self._batch(name, ended=False))

    def _ask(self, body: dict[str, Any]) -> None:
        model = self.server.model
        arrived = monotonic()
        failure = model.failure()
        tokens = sum(model.usage(words_of(body), model.answer(body["messages"][-1]["content"])).values())
        with model.books.lock:
            model.books.arrivals.append((arrived, 0 if failure else tokens))
        sleep(model.dawdle)
        if failure == "429":
            self._error(429, "rate_limit_error", retry_after="0.05")
        elif failure == "500":
            self._error(500, "api_error")
        elif failure == "cut":
            self._cut()
        elif self.path.endswith("/chat/completions"):
            self._json(200, model.completion(body))
        elif self.path == "/api/chat":
            self._json(200, model.chat(body))
        else:
            self._json(200, model.message(body))

    def _cut(self) -> None:
        """Break off in the middle of an answer."""
        with self.server.model.books.lock:
            self.server.model.books.cut += 1
        self.send_response(200)
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"id": "msg_')
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


DATE = "2026-11-22T00:00:00Z"
