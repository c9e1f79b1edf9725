"""A loopback server with OpenAI's API and scripted answers; it records what leaves the daemon."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from bench.fake_models import PASSED

Row = dict[str, Any]
Script = Callable[[str], list[Row] | Row]
"""From what is told of a session to the candidates that a model would see in it; or to a whole answer."""

SCORED = {"standing": "standing", "confirmed_by": "user", "true_at_end": True}
PARTS = ("relevance", "actionability", "novelty", "specificity", "coherence")


def candidate(turn: int, quote: str, *, sure: float = 0.95, **own: Any) -> Row:
    """A candidate as a model would answer it."""
    said = {"kind": "decision", "summary": quote[:100], "content": quote, "rationale": "", "tags": [], "files": []}
    return {"turn": turn, "quote": quote, **said, **SCORED, "keep": sure, **dict.fromkeys(PARTS, sure), **own}


def passed(number: int, **own: Any) -> Row:
    """What a second look says of a note that nothing speaks against."""
    return {"number": number, **PASSED, "by": 0, "replaces": [], "wording": "", "why": "", **own}


def notes_of(text: str) -> Row:
    """What a request for a second look shows: its notes, and what is stored; {} where it is none."""
    found = re.search(r"^<<<(?P<nonce>[0-9a-f]{32})\n(?P<notes>.*)\n(?P=nonce)>>>$", text, re.DOTALL | re.MULTILINE)
    said = json.loads(found["notes"]) if found else {}
    return said if isinstance(said, dict) and "stored" in said and "notes" in said else {}


def numbered(text: str, words: str) -> int:
    """The number of the turn that holds ``words``, as the text that a model is given tells it; 0 where none does."""
    turns = re.split(r"^\[(\d+)\] ", text, flags=re.MULTILINE)
    told = zip(turns[1::2], turns[2::2], strict=True)
    return next((int(number) for number, said in told if words in said), 0)


class FakeOpenAI:
    """Answers every question from its script, until it is told to be down."""

    def __init__(self, script: Script = lambda text: []) -> None:
        self.script = script
        self.judge: Callable[[Row], Row] = lambda note: {}
        """What a second look says otherwise of a note than that nothing speaks against it."""
        self.story: Row = {}
        """The story that a second look tells of its session."""
        self.ends_looks = ""
        """How answers to these end where they are none: truncated, refused, nonsense."""
        self.ends_answers = ""
        """The same for what is asked about the session itself."""
        self.bodies: list[bytes] = []
        """What arrived, byte by byte, whatever was answered; second looks apart."""
        self.looks: list[bytes] = []
        """The requests for a second look."""
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
    def sent(self) -> bytes:
        """All that arrived."""
        return b"\n".join((*self.bodies, *self.looks))

    @property
    def looked_at(self) -> list[Row]:
        """What was shown for second looks: notes and what is stored."""
        return [notes_of(json.loads(body)["messages"][1]["content"]) for body in self.looks]

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
                is_look = bool(notes_of(json.loads(body)["messages"][1]["content"]))
                (fake.looks if is_look else fake.bodies).append(body)
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
        text = json.loads(body)["messages"][1]["content"]
        if shown := notes_of(text):
            looks = [passed(note["number"]) | self.judge(note) for note in shown["notes"]]
            return self._whole({"looks": looks, "story": self.story}, self.ends_looks)
        self.answered += 1
        return self._whole(self.script(text), self.ends_answers)

    def _whole(self, found: list[Row] | Row, ends: str = "") -> bytes:
        said = json.dumps(found if isinstance(found, dict) else {"candidates": found})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}} | _ended(
            said, ends
        )
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


def _ended(said: str, ends: str) -> Row:
    """How a choice ends that is no answer; {} for one that is."""
    message = {"role": "assistant", "content": said[: len(said) // 2] if ends == "truncated" else ends}
    endings: dict[str, Row] = {
        "truncated": {"finish_reason": "length", "message": message},
        "refused": {"message": {"role": "assistant", "content": None, "refusal": "I can't help with that."}},
        "nonsense": {"message": message},
    }
    return endings.get(ends, {})
