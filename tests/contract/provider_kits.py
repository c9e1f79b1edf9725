"""Each provider with something real to ask, behind one face, so that one suite runs over all of them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from subconscious.domain.errors import BadAnswerError
from subconscious.llm.providers import Access, Provider, Request, open_provider
from subconscious.llm.providers.scripted import Pause, ScriptedProvider, Step
from subconscious.llm.providers.wire import failure, garbled, out_of_time, unreachable
from subconscious.settings.provider_table import provider_row
from tests.client import fake_api
from tests.contract.provider_servers import (
    KEY,
    MODEL,
    REASONS,
    AnthropicServer,
    FakeServer,
    OllamaServer,
    OpenAIServer,
)

SERVERS: dict[str, Callable[[], FakeServer]] = {
    "anthropic": AnthropicServer,
    "ollama": OllamaServer,
    "openai": OpenAIServer,
    "openai-compatible": lambda: OpenAIServer(compatible=True),
}
"""The fake of each provider's API; "openai-compatible" is another server that speaks OpenAI's."""

OVER_HTTP = tuple(SERVERS)
WITH_KEY = tuple(name for name in SERVERS if provider_row(name).key != "optional")
"""Providers that need a key at the address that the tests open them at."""

WITH_BATCHES = ("scripted", *(name for name in SERVERS if provider_row(name.partition("-")[0]).batch != 1))

KITS = frozenset({"claude_code", "scripted", *SERVERS})
"""The providers that the contract tests can ask."""

SECONDS = 0.5
"""Time-out of a provider that is asked something that will not come."""

HTTP_FAULTS = frozenset(
    {"stall", "stall_mid_body", "trickle", "cut", "cut_mid_body", "malformed", "not_json", "wrong_shape", "redirect"}
)
STATUSES = frozenset(str(status) for status in REASONS)
ANSWERS = frozenset({"empty", "max_tokens"})
REQUESTS = frozenset({"unknown_model", "too_long"})


class Kit(Protocol):
    """What the suite needs of each."""

    name: str
    opened: list[Provider]
    """What was opened, to be closed at the end."""

    def access(self, **changes: Any) -> Access:
        """What opens the provider towards its server."""
        ...

    def open(self, **changes: Any) -> Provider:
        """Open the provider."""
        ...

    def say(self, *texts: str) -> None:
        """Let the model say these next; else it says the question's text as the word."""
        ...

    def fail(self, *faults: str) -> None:
        """Let the next calls go wrong."""
        ...

    def asked(self) -> list[tuple[str, str]]:
        """System prompt and text of the questions that arrived."""
        ...

    def shapes(self) -> list[Any]:
        """The schemas that arrived, each from the place where its API takes it."""
        ...

    async def busy(self) -> int:
        """Connections or children that are held."""
        ...

    def finish(self, faults: dict[str, str]) -> None:
        """End the batches; these items of theirs fail so."""
        ...

    def lose(self) -> None:
        """Forget the batches."""
        ...


def whole(word: str) -> str:
    """An answer with every field of the suite's shape: Claude Code refuses any other by itself."""
    return json.dumps({"word": word, "kind": "plain", "items": [], "best": None})


class Spoken:
    """What a model says: what was queued, then the question itself."""

    def __init__(self) -> None:
        self._next: deque[str] = deque()

    def say(self, *texts: str) -> None:
        """Queue texts."""
        self._next.extend(texts)

    def __call__(self, text: str) -> str:
        return self._next.popleft() if self._next else whole(text)


class HttpKit:
    """A provider and a fake server of its API."""

    def __init__(self, name: str, server: FakeServer, path: str = "") -> None:
        self.name = name
        self.opened: list[Provider] = []
        self.server = server
        self.own_address = False
        """Whether the provider's own base URL is the server's, so that none need be given."""
        self._path = path
        self._spoken = Spoken()
        server.says = self._spoken
        self.say = self._spoken.say

    def access(self, **changes: Any) -> Access:
        base_url = "" if self.own_address else self.server.url + self._path
        values: dict[str, Any] = {"model": MODEL, "key": KEY, "base_url": base_url, "timeout": 20.0}
        return Access(**values | changes)

    def open(self, **changes: Any) -> Provider:
        self.opened.append(open_provider(self.name, self.access(**changes)))
        return self.opened[-1]

    def fail(self, *faults: str) -> None:
        self.server.faults.extend(faults)

    def asked(self) -> list[tuple[str, str]]:
        return [_question(seen.body) for seen in self.server.asked]

    def shapes(self) -> list[Any]:
        return [_shape(seen.body) for seen in self.server.asked]

    async def busy(self) -> int:
        return len(self.server.connections)

    def finish(self, faults: dict[str, str]) -> None:
        self.server.batch_faults = faults
        for batch in self.server.batches.values():
            batch["running"] = False

    def lose(self) -> None:
        self.server.batches.clear()


def _question(body: dict[str, Any]) -> tuple[str, str]:
    said = {message["role"]: message["content"] for message in body["messages"]}
    return body.get("system", said.get("system", "")), said["user"]


def _shape(body: dict[str, Any]) -> Any:
    if "response_format" in body:
        return body["response_format"].get("json_schema", {}).get("schema")
    return body["format"] if "format" in body else body.get("output_config", {}).get("format", {}).get("schema")


class ScriptedKit:
    """The shipped fake, held to the same contract."""

    name = "scripted"
    faults = (HTTP_FAULTS - {"trickle", "stall_mid_body"}) | STATUSES | ANSWERS | REQUESTS | {"refusal", "credit"}

    def __init__(self, folder: Path) -> None:
        self.opened: list[Provider] = []
        self._folder = folder
        self._spoken = Spoken()
        self._faults: deque[str] = deque()
        self._provider: ScriptedProvider | None = None
        self.say = self._spoken.say

    def access(self, **changes: Any) -> Access:
        options = {"script": self._step, "state": self._folder / "batches.json", "running": 1000}
        return Access(**{"model": MODEL, "options": options} | changes)

    def open(self, **changes: Any) -> Provider:
        opened = open_provider(self.name, self.access(**changes))
        assert isinstance(opened, ScriptedProvider)
        self.opened.append(opened)
        self._provider = self._provider or opened
        return opened

    def fail(self, *faults: str) -> None:
        self._faults.extend(faults)

    def asked(self) -> list[tuple[str, str]]:
        assert self._provider is not None
        return [(request.system, request.text) for request in self._provider.history]

    def shapes(self) -> list[Any]:
        return []

    async def busy(self) -> int:
        return 0

    def finish(self, faults: dict[str, str]) -> None:
        assert self._provider is not None
        for batch_id, requests in self._provider.batches.items():
            late = {key for key, fault in faults.items() if fault == "expired"}
            if late:
                self._provider.expire(batch_id, set(requests) - late)
            self._provider.end(batch_id)

    def lose(self) -> None:
        assert self._provider is not None
        for batch_id in self._provider.batches:
            self._provider.lose(batch_id)

    def _step(self, request: Request) -> Step:
        fault = self._faults.popleft() if self._faults else request.purpose
        return self._spoken(request.text) if fault == "test" else scripted_fault(fault)


def scripted_fault(fault: str) -> Step:
    """The step by which a script fails in a way."""
    if fault in {"errored", *STATUSES}:
        return failure(529 if fault == "errored" else int(fault), {}, "", "the script")
    named: dict[str, Callable[[], Step]] = {
        "stall": lambda: out_of_time("the script", SECONDS),
        "hang": lambda: Pause(3600),
        "redirect": lambda: failure(302, {}, "", "the script"),
        "unknown_model": lambda: failure(404, {}, "", "the script"),
        "too_long": lambda: failure(413, {}, "", "the script"),
        "credit": lambda: failure(402, {}, "", "the script"),
        "cut": lambda: unreachable("the script"),
        "cut_mid_body": lambda: unreachable("the script"),
    }
    if fault in {"malformed", "not_json", "wrong_shape"}:
        return garbled("the script")
    return named.get(fault, lambda: BadAnswerError("no answer", "ask again"))()


class ClaudeCodeKit:
    """The real Claude Code, against the fake API that the client tests use."""

    name = "claude_code"
    faults = STATUSES | {"unknown_model", "too_long", "stall"}

    def __init__(self, command: str, api: fake_api.FakeApi, folder: Path) -> None:
        self.opened: list[Provider] = []
        self._command = command
        self._api = api
        self._folder = folder
        self._spoken = Spoken()
        self._faults: deque[str] = deque()
        self._stalled = threading.Event()
        self.say = self._spoken.say
        api.answer_by(self._rule)

    def access(self, **changes: Any) -> Access:
        options = {"command": self._command, "config_dir": self._folder / "config", "folder": self._folder / "run"}
        values: dict[str, Any] = {
            "model": "haiku",
            "key": KEY,
            "base_url": self._api.url,
            "timeout": 40.0,
            "options": options,
        }
        return Access(**values | changes)

    def open(self, **changes: Any) -> Provider:
        self.opened.append(open_provider(self.name, self.access(**changes)))
        return self.opened[-1]

    def fail(self, *faults: str) -> None:
        for fault in faults:
            # The client asks twice for a model before it believes that there is none.
            self._faults.extend([fault] * (2 if fault == "unknown_model" else 1))

    def asked(self) -> list[tuple[str, str]]:
        return [(request.body["system"][-1]["text"], _typed(request)) for request in self._api.requests]

    def shapes(self) -> list[Any]:
        tools = [request.body["tools"] for request in self._api.requests]
        return [tool["input_schema"] for listed in tools for tool in listed if tool["name"] == "StructuredOutput"]

    async def busy(self) -> int:
        """Processes whose command line names our folder: children hold it as long as they run."""
        listed = await asyncio.to_thread(_command_lines)
        return sum(str(self._folder).encode() in line for line in listed)

    def finish(self, faults: dict[str, str]) -> None:
        raise NotImplementedError

    def lose(self) -> None:
        raise NotImplementedError

    def release(self) -> None:
        """Let stalled requests go, so that the server can stop."""
        self._stalled.set()

    def _rule(self, request: fake_api.Request) -> fake_api.Answer:
        fault = self._faults.popleft() if self._faults else ""
        if fault.isdigit():
            return fake_api.fails(int(fault), f"{REASONS[int(fault)]} {KEY} {_typed(request)}")
        if fault == "stall":
            self._stalled.wait(30)
        refusals = {"unknown_model": fake_api.fails(404, "no such model"), "too_long": fake_api.TOO_LONG}
        if fault in refusals:
            return refusals[fault]
        said = "" if fault == "empty" else self._spoken(_typed(request))
        if not said.startswith("{"):
            return fake_api.says(said)
        return fake_api.uses("StructuredOutput", **json.loads(said))


def _typed(request: fake_api.Request) -> str:
    """The question: what was typed without the context that the client puts before it."""
    return request.prompt.partition("</system-reminder>")[2].lstrip("\n") or request.prompt


def _command_lines() -> Iterable[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


@asynccontextmanager
async def open_kit(name: str, folder: Path, claude: Callable[[], str]) -> AsyncIterator[Kit]:
    """Make the kit of a provider in KITS."""
    if name == "scripted":
        yield ScriptedKit(folder)
    elif name == "claude_code":
        with fake_api.FakeApi() as api:
            kit = ClaudeCodeKit(claude(), api, folder)
            try:
                yield kit
            finally:
                kit.release()
    else:
        async with SERVERS[name]() as server:
            yield HttpKit(name.partition("-")[0], server, "/v1" if isinstance(server, OpenAIServer) else "")
