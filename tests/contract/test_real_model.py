"""The providers before a small real model: SmolLM2-135M behind llama.cpp's OpenAI and Anthropic endpoints.

No Ollama server can be installed here: its wire format is a shim of ours before the same model, and named so.
What the model says is of no account; that it comes through the SDK, whole, with usage and of the shape asked for, is.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from subconscious.domain.errors import BadAnswerError
from subconscious.llm.providers import Access, Provider, Request, open_provider
from subconscious.llm.providers.structured import answer
from tests.contract.provider_servers import KEY, FakeServer, RefusedError, Seen, Sent

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ROOT = Path(__file__).resolve().parents[2]


class Decision(BaseModel):
    kind: Literal["decision", "question"]
    summary: str = Field(max_length=60)


REQUEST = Request(
    "test",
    'Say what the message is. Example: {"kind": "decision", "summary": "Use tabs."}',
    "We decided to keep the queue in SQLite.",
    Decision,
    max_tokens=100,
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the model's server. Without the model a person's run skips; CI must have it."""
    path = os.environ.get("SUBCONSCIOUS_TEST_MODEL", "")
    if not path or find_spec("xllamacpp") is None:
        reason = "no small model: name SmolLM2's GGUF file in SUBCONSCIOUS_TEST_MODEL (.ci/run fetches it)"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == SHA256
    command = [sys.executable, "-m", "tests.contract.small_model", path]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server didn't start"
        yield address
        process.kill()


async def test_openai_wire_gives_an_answer_of_the_shape(server: str) -> None:
    provider = open_provider("openai", Access("smollm2", base_url=f"{server}/v1", timeout=120))
    value, reply = await answer(provider, REQUEST)
    await provider.check()
    await provider.close()
    assert isinstance(value, Decision)
    assert reply.usage.input > 20
    assert 0 < reply.usage.output <= 200


async def test_anthropic_wire_gives_text_that_fits_or_an_honest_failure(server: str) -> None:
    """This server enforces neither the format nor the tool: reading and repair are all that there is."""
    provider = open_provider("anthropic", Access("smollm2", KEY, server, timeout=120))
    try:
        reply = await provider.ask(replace(REQUEST, system="Answer in one word.", text="Which colour is the sky?"))
        outcome = await _answered(provider)
    finally:
        await provider.close()
    assert reply.text.strip()
    assert reply.usage.input > 10
    assert reply.usage.output > 0
    if isinstance(outcome, BadAnswerError):
        assert outcome.usage is not None
        assert outcome.usage.output > 0
    else:
        assert isinstance(outcome, Decision)


async def _answered(provider: Provider) -> BaseModel | BadAnswerError:
    try:
        return (await answer(provider, REQUEST))[0]
    except BadAnswerError as error:
        return error


class OllamaShim(FakeServer):
    """Ollama's wire format, ours, before the real model."""

    def __init__(self, server: str) -> None:
        super().__init__()
        self._model = server

    def error(self, status: int, kind: str, message: str) -> Any:
        return {"error": message}

    def answer(self, seen: Seen) -> Sent:
        if seen.path != "/api/chat":
            raise RefusedError(404, "", "no such path")
        asked = seen.body
        schema = {"name": "answer", "strict": True, "schema": asked["format"]}
        said = self._complete(
            {
                "messages": asked["messages"],
                "max_tokens": asked["options"]["num_predict"],
                "response_format": {"type": "json_schema", "json_schema": schema},
            }
        )
        choice, usage = said["choices"][0], said["usage"]
        chat = {
            "model": asked["model"],
            "created_at": "2026-01-01T00:00:00Z",
            "message": choice["message"],
            "done": True,
        }
        chat |= {"done_reason": choice["finish_reason"], "prompt_eval_count": usage["prompt_tokens"]}
        return Sent(200, chat | {"eval_count": usage["completion_tokens"]})

    def _complete(self, body: dict[str, Any]) -> Any:
        """Ask the model's server; the loop waits, for nobody else is served meanwhile."""
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(f"{self._model}/v1/chat/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=120) as response:
            return json.load(response)


async def test_ollama_wire_of_our_shim_gives_an_answer_of_the_shape(server: str) -> None:
    async with OllamaShim(server) as shim:
        provider = open_provider("ollama", Access("smollm2", base_url=shim.url, timeout=120))
        value, reply = await answer(provider, REQUEST)
        await provider.close()
    assert isinstance(value, Decision)
    assert reply.usage.input > 20
    assert reply.usage.output > 0
