"""Fake model APIs on loopback for Codex (Responses) and Gemini (generateContent), with scripted answers."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from tests.client.fake_api import Answer, says

Body = dict[str, Any]


class AgentApi:
    """A server that answers by the last thing that was typed; a context manager that listens while it is open."""

    path: ClassVar[str]

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self._rules: list[tuple[str, tuple[Answer, ...]]] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._server = _Server(("127.0.0.1", 0), _Endpoint)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def when(self, prompt: str, *answers: Answer) -> None:
        """Answer a prompt that contains ``prompt`` with these, one after the other; the last one repeats."""
        self._rules.append((prompt, answers))

    @property
    def given(self) -> str:
        """All that the model was given, as JSON."""
        with self._lock:
            return "\n".join(json.dumps(body, ensure_ascii=False) for body in self.requests)

    def reply(self, body: Body) -> bytes:
        """Keep a request and return the stream that answers it."""
        with self._lock:
            self.requests.append(body)
            number = f"{next(self._ids):06d}"
        prompt, step = self.asked(body)
        found = next((answers for text, answers in self._rules if text in prompt), (says("Understood."),))
        block = self.waits(body) or found[min(step, len(found) - 1)].blocks[0]
        return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in self.events(block, number))

    def asked(self, body: Body) -> tuple[str, int]:
        """Return the last typed prompt, and how many times the model has called a tool since."""
        raise NotImplementedError

    def waits(self, body: Body) -> Body | None:
        """Return the call that waits for a command that still runs; None if none does."""
        return None

    def events(self, block: Body, number: str) -> Iterator[Body]:
        """Yield the events of a stream that says a block."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class CodexApi(AgentApi):
    """The Responses API.

    A command that takes more than 10 seconds goes on in the background, and Codex kills it when its turn ends. So the
    model asks for its output again until it has ended.
    """

    path = "/v1/responses"
    running: ClassVar[re.Pattern[str]] = re.compile(r"\A(?:.*\n){0,6}?Process running with session ID (\d+)")

    def asked(self, body: Body) -> tuple[str, int]:
        prompt, step = "", 0
        for item in body["input"]:
            if item.get("role") == "user":
                prompt, step = json.dumps(item["content"], ensure_ascii=False), 0
            called = item.get("type") in ("function_call", "custom_tool_call")
            step += called and item.get("name") != "write_stdin"
        return prompt, step

    def waits(self, body: Body) -> Body | None:
        last = body["input"][-1]
        found = self.running.match(str(last.get("output"))) if last.get("type") == "function_call_output" else None
        given = {"session_id": int(found[1]), "chars": "", "yield_time_ms": 30_000} if found else None
        return {"type": "tool_use", "name": "write_stdin", "input": given} if given else None

    def events(self, block: Body, number: str) -> Iterator[Body]:
        yield {"type": "response.created", "response": {"id": f"resp_{number}"}}
        if block["type"] == "tool_use":
            given = dict(block["input"])
            shell = block["name"] == "Bash"
            space = {"namespace": given.pop("namespace")} if "namespace" in given else {}
            named = {"name": "exec_command"} if shell else {"name": block["name"], **space}
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", **named}
            item["arguments"] = json.dumps({"cmd": given["command"]} if shell else given)
        else:
            content = [{"type": "output_text", "text": block["text"]}]
            item = Body(type="message", role="assistant", id=f"msg_{number}", content=content)
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        details = {"input_tokens_details": None, "output_tokens_details": None}
        yield {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage | details}}


class GeminiApi(AgentApi):
    """The API of generateContent."""

    path = "streamGenerateContent"

    def asked(self, body: Body) -> tuple[str, int]:
        prompt, step = "", 0
        for content in body["contents"]:
            parts = content["parts"]
            if content.get("role") == "user" and any("text" in part for part in parts):
                prompt, step = json.dumps(parts, ensure_ascii=False), 0
            step += any("functionCall" in part for part in parts)
        return prompt, step

    def events(self, block: Body, number: str) -> Iterator[Body]:
        part: Body = {"text": block.get("text", "")}
        if block["type"] == "tool_use":
            name = "run_shell_command" if block["name"] == "Bash" else block["name"]
            part = {"functionCall": {"name": name, "args": block["input"]}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": f"scripted-{number}"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: AgentApi

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed leaves its connection."""


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._send(b'{"models": [], "data": []}', "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.server.api.path in self.path:
            self._send(self.server.api.reply(body), "text/event-stream")
        else:
            self._send(b'{"totalTokens": 1}', "application/json")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
