"""A fake Anthropic Messages API on loopback with scripted answers; it records every request.

What to answer is found from the request alone (its last typed prompt and the answers given since), so any
number of clients may talk to one server at once and a repeated request gets the same answer.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Block = dict[str, Any]

SUMMARY_REQUEST = "Your task is to create a detailed summary"
"""How the client's own request for a compaction summary begins."""

SUMMARY = "<analysis>scripted</analysis>\n<summary>The conversation so far, in short.</summary>"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says: content blocks, or an error of the API when ``status`` isn't 200."""

    blocks: tuple[Block, ...] = ()
    status: int = 200
    error: str = ""

    @property
    def stop_reason(self) -> str:
        """The turn goes on as long as the model asks for tools."""
        return "tool_use" if any(block["type"] == "tool_use" for block in self.blocks) else "end_turn"


def says(text: str) -> Answer:
    """Answer with text."""
    return Answer(({"type": "text", "text": text},))


def uses(tool: str, **tool_input: object) -> Answer:
    """Answer with a call of one tool."""
    return Answer(({"type": "tool_use", "name": tool, "input": tool_input},))


def fails(status: int, message: str) -> Answer:
    """Refuse the request, as the API does."""
    return Answer(status=status, error=message)


TOO_LONG = fails(400, "prompt is too long: 212000 tokens > 200000 maximum")
"""The refusal that makes the client compact by itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request for a message, as the client sent it."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, injected system messages included."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def given(self) -> str:
        """All text that the model was given, in order: system prompt, then messages."""
        texts = [*_texts(self.body.get("system", "")), *self.said("user", "system", "assistant")]
        return "\n".join(texts)

    @property
    def prompt(self) -> str:
        """The last message in which a person typed; tool results and injected messages aren't typed."""
        return "\n".join(_texts(self.messages[self._prompt_index()]["content"]))

    @property
    def step(self) -> int:
        """How many times the model has answered that prompt already."""
        return sum(message["role"] == "assistant" for message in self.messages[self._prompt_index() :])

    @property
    def wants_summary(self) -> bool:
        """Whether the client asks for the summary of a compaction."""
        return SUMMARY_REQUEST in self.prompt

    def said(self, *roles: str) -> list[str]:
        """The texts of the messages of these roles."""
        chosen = (message for message in self.messages if message["role"] in roles)
        return [text for message in chosen for text in _texts(message["content"])]

    def _prompt_index(self) -> int:
        typed = (i for i, message in reversed(list(enumerate(self.messages))) if _is_typed(message))
        return next(typed, 0)


Rule = Callable[[Request], Answer | None]


class FakeApi:
    """The server and its script; a context manager that listens while it is open."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._rules: list[Rule] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL must be."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def when(self, prompt: str, *answers: Answer) -> None:
        """Answer a prompt that contains ``prompt`` with these, one after the other; the last one repeats."""
        self._rules.append(
            lambda request: answers[min(request.step, len(answers) - 1)] if prompt in request.prompt else None
        )

    def once(self, prompt: str, answer: Answer) -> None:
        """Answer the next request whose prompt contains ``prompt`` with this, before any other rule, once."""
        left = [answer]

        def rule(request: Request) -> Answer | None:
            if prompt not in request.prompt:
                return None
            with suppress(IndexError):  # several requests may ask at once, and one of them gets it
                return left.pop()
            return None

        self._rules.insert(0, rule)

    def answer_by(self, rule: Rule) -> None:
        """Answer by this rule where no earlier one does."""
        self._rules.append(rule)

    def answer(self, request: Request) -> Answer:
        """Keep the request and find its answer."""
        with self._lock:
            self.requests.append(request)
        if request.wants_summary:
            return says(SUMMARY)
        # Without the lock: a rule may wait, and must not stall other requests.
        answers = (rule(request) for rule in self._rules)
        return next((answer for answer in answers if answer), says("Understood."))

    def next_id(self) -> str:
        """A number for messages and tool calls, unique in this server."""
        with self._lock:
            return f"{next(self._ids):06d}"

    def asked(self, prompt: str) -> list[Request]:
        """The requests whose last typed prompt contains ``prompt``, oldest first."""
        with self._lock:
            return [request for request in self.requests if prompt in request.prompt]

    @property
    def summaries(self) -> list[Request]:
        """The requests for a compaction summary, oldest first."""
        with self._lock:
            return [request for request in self.requests if request.wants_summary]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, api: FakeApi) -> None:
        super().__init__(("127.0.0.1", 0), _Endpoint)
        self.api = api

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed leaves its connection: nothing to tell."""


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        match self.path.partition("?")[0]:
            case "/v1/messages":
                self._message(body)
            case "/v1/messages/count_tokens":
                self._json(200, {"input_tokens": len(json.dumps(body)) // 4})
            case _:
                self._json(404, _error("not_found_error", f"no such path: {self.path}"))

    def do_GET(self) -> None:
        self._json(404, _error("not_found_error", f"no such path: {self.path}"))

    def do_HEAD(self) -> None:
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silence: the requests are kept, which says more than a log."""

    def _message(self, body: dict[str, Any]) -> None:
        answer = self.server.api.answer(Request(body))
        if answer.status != 200:
            self._json(answer.status, _error("invalid_request_error", answer.error))
            return
        message = _message(answer, body, self.server.api.next_id())
        if body.get("stream"):
            self._stream(message)
        else:
            self._json(200, message)

    def _stream(self, message: dict[str, Any]) -> None:
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _json(self, status: int, value: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, content_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _message(answer: Answer, body: dict[str, Any], number: str) -> dict[str, Any]:
    content = [
        {**block, "id": f"toolu_{number}_{place}"} if block["type"] == "tool_use" else block
        for place, block in enumerate(answer.blocks)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": len(json.dumps(content)) // 4},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Block) -> Iterator[dict[str, Any]]:
    start, delta = _opened(block)
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _opened(block: Block) -> tuple[Block, Block]:
    """A block as it is announced, empty, and the one delta that fills it."""
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _texts(content: str | list[Block]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for block in content for text in _block_texts(block)]


def _block_texts(block: Block) -> list[str]:
    if block["type"] == "text":
        return [block["text"]]
    return _texts(block.get("content") or "") if block["type"] == "tool_result" else []


def _is_typed(message: dict[str, Any]) -> bool:
    content = message["content"]
    if message["role"] != "user":
        return False
    return isinstance(content, str) or not any(block["type"] == "tool_result" for block in content)
