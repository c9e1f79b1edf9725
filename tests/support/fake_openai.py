"""A server on loopback that speaks as OpenAI does, with a script for a model: what leaves a daemon is seen here."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Row = dict[str, Any]
Script = Callable[[str], list[Row] | Row]
"""From what is told of a session to the candidates that a model would see in it; or to a whole answer."""

SCORED = {"standing": "standing", "confirmed_by": "user", "true_at_end": True}
PARTS = ("relevance", "actionability", "novelty", "specificity", "coherence")


def candidate(turn: int, quote: str, *, sure: float = 0.95, **own: Any) -> Row:
    """A candidate as a model would answer it."""
    said = {"kind": "decision", "summary": quote[:100], "content": quote, "rationale": "", "tags": [], "files": []}
    return {"turn": turn, "quote": quote, **said, **SCORED, "keep": sure, **dict.fromkeys(PARTS, sure), **own}


def numbered(text: str, words: str) -> int:
    """The number of the turn that holds ``words``, as the text that a model is given tells it; 0 where none does."""
    turns = re.split(r"^\[(\d+)\] ", text, flags=re.MULTILINE)
    told = zip(turns[1::2], turns[2::2], strict=True)
    return next((int(number) for number, said in told if words in said), 0)


class FakeOpenAI:
    """Answers every question from its script, until it is told to be down."""

    def __init__(self, script: Script = lambda text: []) -> None:
        self.script = script
        self.bodies: list[bytes] = []
        """What arrived, byte by byte, whatever was answered."""
        self.requests: list[tuple[str, bytes]] = []
        """The same, each with the key that came with it."""
        self.answered = 0
        self.status = 200
        self.keys: set[str] = set()
        """Keys that are accepted; empty: any, or none."""
        self.held = threading.Event()
        """Cleared, it keeps whoever asks waiting."""
        self.held.set()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def told(self) -> list[str]:
        """The texts that it was asked about."""
        return [json.loads(body)["messages"][1]["content"] for body in self.bodies]

    @property
    def config(self) -> Row:
        """Settings under which a daemon asks it, and does not rest for long when it can't."""
        return {
            "provider": '"openai"',
            "openai_url": f'"{self.url}"',
            "openai_model": '"tiny"',
            "provider_attempts": 1,
            "breaker_seconds": 0.2,
            "refine_pause_seconds": 0.2,
        }

    def start(self) -> None:
        """Listen, at the same port as before."""
        server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler())
        server.daemon_threads = True
        self._port = server.server_address[1]
        self._server = server
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Be gone: connections are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.held.set()
        self.stop()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fake.bodies.append(body)
                key = self.headers.get("Authorization", "").removeprefix("Bearer ")
                fake.requests.append((key, body))
                fake.held.wait()
                status = 401 if fake.keys and key not in fake.keys else fake.status
                answer = fake.answer(body) if status == 200 else b'{"error": {"message": "no"}}'
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: object) -> None:
                pass

        return Handler

    def answer(self, body: bytes) -> bytes:
        """What is sent back."""
        self.answered += 1
        found = self.script(json.loads(body)["messages"][1]["content"])
        said = json.dumps(found if isinstance(found, dict) else {"candidates": found})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        whole = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [choice],
            "usage": usage,
        }
        return json.dumps(whole).encode()
