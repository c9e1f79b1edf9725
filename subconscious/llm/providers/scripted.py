"""A provider that answers from a script, for tests and benchmarks, without network or waiting.

It implements the whole contract, with native batches, and records the requests in ``history`` and ``batches``, so that
a test can examine them.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from subconscious.domain import errors
from subconscious.domain.errors import BadRequestError, ProviderError, RateLimitedError, UnavailableError
from subconscious.llm.providers import Access, BatchState, Reply, Request, Usage

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Pause:
    """A step of a script: wait this long, then take the next step."""

    seconds: float


Step = str | BaseModel | Reply | ProviderError | Pause
"""A step of a script: an answer as text or as a model (its tokens are estimated), a reply, an error, or a pause."""

Script = Iterable[Step] | Callable[[Request], Step | Awaitable[Step]]
"""Steps in order, or a function that returns the step for each request."""


class ScriptedProvider:
    """Answers from the script in ``options["script"]``.

    Further options: ``name`` is the provider's name, to replace another provider. ``check`` is the error that a check
    raises. ``state`` is a file for batches, so that a process that starts later finds them. ``running`` is how often a
    batch is polled before it has ended (default 0).
    """

    def __init__(self, access: Access) -> None:
        self.name: str = access.options.get("name", "scripted")
        self.model = access.model
        self.history: list[Request] = []
        """The requests that were sent outside of batches, oldest first."""
        self.batches: dict[str, dict[str, Request]] = {}
        """The requests of each submitted batch, by the batch's id."""
        self.closed = False
        script: Script = access.options.get("script", ())
        self._answer = script if callable(script) else None
        self._steps = deque(() if callable(script) else script)
        self._check: ProviderError | None = access.options.get("check")
        self._running: int = access.options.get("running", 0)
        self._shelf = _BatchFile(access.options.get("state"))

    def queue(self, *steps: Step) -> None:
        """Append steps to the script. If the script is a function, they are used first."""
        self._steps.extend(steps)

    async def ask(self, request: Request) -> Reply:
        """Return the next answer of the script. Raises the script's error, or BadRequestError at its end."""
        if self.closed:
            raise ProviderError("the provider is closed")
        self.history.append(request)
        return await self._next(request)

    async def check(self) -> None:
        """Raise the error in the option ``check``, if there is one."""
        if self._check is not None:
            raise self._check

    async def close(self) -> None:
        """Reject further requests."""
        self.closed = True

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Compute all answers now; they can be read when the batch has ended."""
        items = {key: await self._item(request) for key, request in requests.items()}
        batch_id = self._shelf.add({"running": self._running, "state": BatchState.ENDED, "items": items})
        self.batches[batch_id] = dict(requests)
        return batch_id

    async def poll(self, batch_id: str) -> BatchState:
        """Return the batch's state: "running" for as many polls as the option ``running`` says, then the end state."""
        batch = self._shelf.get(batch_id)
        if batch is None:
            return BatchState.LOST
        if batch["running"] <= 0:
            return BatchState(batch["state"])
        self._shelf.put(batch_id, batch | {"running": batch["running"] - 1})
        return BatchState.RUNNING

    async def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield the answers; none for an unknown batch."""
        batch = self._shelf.get(batch_id) or {"items": {}}
        for key, item in batch["items"].items():
            yield key, _read_item(item)

    def end(self, batch_id: str) -> None:
        """End a batch now, regardless of remaining polls."""
        self._shelf.put(batch_id, self._batch(batch_id) | {"running": 0})

    def expire(self, batch_id: str, answered: Iterable[str] = ()) -> None:
        """Expire a batch; only the requests with the keys in ``answered`` keep their answers."""
        batch = self._batch(batch_id)
        kept = {key: batch["items"][key] for key in answered}
        self._shelf.put(batch_id, {"running": 0, "state": BatchState.EXPIRED, "items": kept})

    def lose(self, batch_id: str) -> None:
        """Forget a batch, as a provider that has lost it."""
        self._shelf.put(batch_id, None)

    def _batch(self, batch_id: str) -> dict[str, Any]:
        batch = self._shelf.get(batch_id)
        if batch is None:
            raise KeyError(batch_id)
        return batch

    async def _item(self, request: Request) -> dict[str, Any]:
        try:
            return {"reply": asdict(await self._next(request))}
        except ProviderError as error:
            kind = type(error).__name__
            after = getattr(error, "retry_after", None)
            return {"error": kind, "message": error.message, "remedy": error.remedy, "retry_after": after}

    async def _next(self, request: Request) -> Reply:
        step = await self._step(request)
        while isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            step = await self._step(request)
        if isinstance(step, ProviderError):
            raise step
        return step if isinstance(step, Reply) else self._reply(request, step)

    async def _step(self, request: Request) -> Step:
        if self._steps:
            return self._steps.popleft()
        if self._answer is None:
            raise BadRequestError("the script has no answer left", "queue more steps")
        made = self._answer(request)
        return await made if inspect.isawaitable(made) else made

    def _reply(self, request: Request, said: str | BaseModel) -> Reply:
        text = said if isinstance(said, str) else said.model_dump_json()
        asked = _tokens(request.system) + _tokens(request.text)
        return Reply(text, Usage(asked, _tokens(text)), self.model)


class _BatchFile:
    """Batches by id, in memory or, with a path, in a file that later processes read too."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = Path(path) if path else None
        self._batches: dict[str, dict[str, Any]] = {}

    def add(self, batch: dict[str, Any]) -> str:
        known = self._read()
        batch_id = next(name for number in itertools.count(1) if (name := f"batch-{number}") not in known)
        self.put(batch_id, batch)
        return batch_id

    def get(self, batch_id: str) -> dict[str, Any] | None:
        return self._read().get(batch_id)

    def put(self, batch_id: str, batch: dict[str, Any] | None) -> None:
        """Store a batch. For a lost batch None is stored, so that its id is not used again."""
        batches = self._read() | {batch_id: batch}
        if self._path is None:
            self._batches = batches
            return
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        part.write_text(json.dumps(batches), encoding="utf-8")
        part.replace(self._path)

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return self._batches
        if not self._path.exists():
            return {}
        batches: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        return batches


def _read_item(item: Mapping[str, Any]) -> Reply | ProviderError:
    if "reply" in item:
        reply = item["reply"]
        return Reply(reply["text"], Usage(**reply["usage"]), reply["model"])
    kind: type[ProviderError] = getattr(errors, item["error"])
    if issubclass(kind, RateLimitedError | UnavailableError):
        return kind(item["message"], item["remedy"], item["retry_after"])
    return kind(item["message"], item["remedy"])


def _tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN
