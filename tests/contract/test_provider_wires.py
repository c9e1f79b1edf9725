"""What goes over the wire to each API, and what has no say in it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel, Field

from subconscious.domain.errors import BadRequestError, KeyRefusedError, ProviderError
from subconscious.llm.providers import PROVIDERS, Access, BatchProvider, Request
from subconscious.llm.providers.openai import ChatCompletions
from subconscious.llm.providers.structured import answer
from tests.contract.provider_kits import OVER_HTTP, HttpKit
from tests.contract.provider_servers import KEY, AnthropicServer, FakeServer, OpenAIServer

over_http = pytest.mark.parametrize("kit", OVER_HTTP, indirect=True)


class Word(BaseModel):
    word: str = Field(max_length=2000)


def make_request(text: str = "question") -> Request:
    return Request("test", "You are terse.", text, Word, max_tokens=300)


@over_http
async def test_the_environment_has_no_say(kit: HttpKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, addresses, headers and proxies of the process environment neither go out nor decide where to."""
    async with FakeServer() as foreign:
        variables = {
            "ANTHROPIC_AUTH_TOKEN": "foreign-secret",
            "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: foreign-secret\nX-Foreign: foreign-secret\nhost: foreign-secret",
            "ANTHROPIC_LOG": "debug",
            "OPENAI_ADMIN_KEY": "foreign-secret",
            "OPENAI_ORG_ID": "foreign-secret",
            "OPENAI_PROJECT_ID": "foreign-secret",
            "OPENAI_CUSTOM_HEADERS": "authorization: Bearer foreign-secret\nX-Foreign: foreign-secret",
            "OPENAI_LOG": "debug",
            "OLLAMA_HOST": foreign.url,
            **{f"{name.upper()}_API_KEY": "foreign-secret" for name in PROVIDERS},
            **{f"{name.upper()}_BASE_URL": foreign.url for name in PROVIDERS},
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"), foreign.url),
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("NO_PROXY", raising=False)
        provider = kit.open()
        await provider.ask(make_request())
        await provider.check()
        if isinstance(provider, BatchProvider):
            await provider.submit({"a": make_request()})
        assert not foreign.seen
    for seen in kit.server.seen:
        assert "foreign" not in json.dumps(seen.headers)
        assert not [name for name in seen.headers if name.startswith(("x-stainless", "openai-", "traceparent"))]
        assert f"http://{seen.headers['host']}" == kit.server.url


@over_http
async def test_the_key_is_sent_to_no_other_address(kit: HttpKit) -> None:
    """A redirect is not followed, to whichever host."""
    async with FakeServer() as foreign:
        kit.server.redirect_to = f"{foreign.url}/v1/messages"
        kit.fail("redirect")
        with pytest.raises(BadRequestError):
            await kit.open().ask(make_request())
        assert not foreign.seen


@pytest.mark.parametrize("kit", ["anthropic"], indirect=True)
async def test_results_are_not_fetched_from_another_host(kit: HttpKit) -> None:
    assert isinstance(kit.server, AnthropicServer)
    async with AnthropicServer() as foreign:
        provider = kit.open()
        assert isinstance(provider, BatchProvider)
        batch_id = await provider.submit({"a": make_request()})
        kit.finish({})
        kit.server.results_at = foreign.url
        with pytest.raises(ProviderError):
            _ = [each async for each in provider.results(batch_id)]
        assert not foreign.seen


@over_http
async def test_nothing_of_a_question_is_logged(kit: HttpKit, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await kit.open().ask(make_request("words that nobody else may read"))
    logged = "\n".join(each.getMessage() for each in caplog.records if each.name != "asyncio")
    assert "nobody else" not in logged
    assert KEY not in logged


@pytest.mark.parametrize("kit", ["anthropic"], indirect=True)
async def test_anthropic_is_asked_for_a_format_else_by_a_tool_else_in_words(kit: HttpKit) -> None:
    provider = kit.open()
    await provider.ask(make_request())
    kit.server.refuses_shapes = frozenset({"format"})
    for _ in range(2):
        value, _ = await answer(provider, make_request())
        assert value == Word(word="question")
    kit.server.refuses_shapes = frozenset({"format", "tool"})
    assert await answer(provider, make_request())
    ways = [_way(seen.body) for seen in kit.server.asked]
    assert ways == ["format", "format", "tool", "tool", "tool", "words"], "what was refused isn't tried again"


def _way(body: dict[str, Any]) -> str:
    if "output_config" in body:
        return "format"
    return "tool" if "tools" in body else "words"


@pytest.mark.parametrize("kit", ["anthropic"], indirect=True)
async def test_an_answer_as_text_instead_of_a_tool_call_is_read(kit: HttpKit) -> None:
    """As llama.cpp's server does, which doesn't enforce the choice of a tool."""
    kit.server.refuses_shapes = frozenset({"format"})
    kit.say('Here you are: {"word": "said in text"}')
    value, _ = await answer(kit.open(), make_request())
    assert value == Word(word="said in text")


@pytest.mark.parametrize("kit", ["openai", "openai-compatible"], indirect=True)
async def test_openai_is_asked_for_a_schema_else_an_object_else_in_words(kit: HttpKit) -> None:
    provider = kit.open()
    kit.server.refuses_shapes = frozenset({"json_schema"})
    for _ in range(2):
        assert await answer(provider, make_request())
    kit.server.refuses_shapes = frozenset({"json_schema", "json_object"})
    assert await answer(provider, make_request())
    ways = [seen.body.get("response_format", {"type": "words"})["type"] for seen in kit.server.asked]
    assert ways == ["json_schema", "json_object", "json_object", "json_object", "words"]
    assert '"word"' in kit.server.asked[-1].body["messages"][0]["content"], "in words, the schema stands in the prompt"


@pytest.mark.parametrize("kit", ["openai"], indirect=True)
async def test_a_prompt_that_is_too_long_is_not_asked_in_other_ways(kit: HttpKit) -> None:
    kit.fail("too_long")
    with pytest.raises(BadRequestError):
        await kit.open().ask(make_request())
    assert len(kit.server.asked) == 1


@pytest.mark.parametrize("kit", ["openai"], indirect=True)
async def test_a_batch_that_is_refused_as_a_whole_says_so(kit: HttpKit) -> None:
    provider = kit.open()
    assert isinstance(provider, BatchProvider)
    batch_id = await provider.submit({"a": make_request()})
    kit.finish({})
    kit.server.batches[batch_id]["status"] = "failed"
    with pytest.raises(BadRequestError) as caught:
        await provider.poll(batch_id)
    assert "token_limit_exceeded" in caught.value.message
    assert KEY not in caught.value.message


async def test_a_server_of_ones_own_needs_no_key() -> None:
    async with OpenAIServer(compatible=True) as server:
        kit = HttpKit("openai", server, "/v1")
        provider = kit.open(key="")
        await provider.ask(make_request())
        await provider.close()
        assert "authorization" not in server.seen[0].headers


async def test_errors_name_the_seller_that_a_class_is_for() -> None:
    class Acme(ChatCompletions):
        name = "openai"
        server = "Acme"

    async with OpenAIServer(compatible=True) as server:
        provider = Acme(Access("small", "wrong", f"{server.url}/v1"))
        with pytest.raises(KeyRefusedError, match="Acme answered 401"):
            await provider.ask(make_request())
        await provider.close()


@pytest.mark.parametrize("kit", ["ollama"], indirect=True)
async def test_ollama_gets_a_context_large_enough_for_the_prompt(kit: HttpKit) -> None:
    """Its own default of some thousand tokens would cut the prompt off without a word."""
    provider = kit.open()
    await provider.ask(make_request())
    await provider.ask(make_request("word " * 20_000))
    small, large = (seen.body["options"]["num_ctx"] for seen in kit.server.asked)
    assert small == 4096
    assert large >= 20_000 * 5 // 4
    assert kit.server.asked[0].body["think"] is False


@pytest.mark.parametrize(
    ("name", "expected"),
    [("anthropic", {"thinking": {"type": "disabled"}}), ("openai", {"reasoning_effort": "none"})],
)
async def test_the_default_models_are_told_not_to_think_the_answer_away(
    name: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with OpenAIServer() if name == "openai" else AnthropicServer() as server:
        address = f"{server.url}/v1" if name == "openai" else server.url
        monkeypatch.setattr(f"subconscious.llm.providers.{name}.BASE_URL", address)
        kit = HttpKit(name, server)
        kit.own_address = True
        provider = kit.open(model="")
        with pytest.raises(BadRequestError):  # the fake doesn't have it
            await provider.ask(make_request())
        await provider.close()
        body = server.asked[0].body
        assert expected.items() <= body.items()
        assert "temperature" not in body


IMPORT = """
import sys
import daemon.__main__, subconscious.app, cli.__main__
import subconscious.llm.providers.prices
heavy = {"anthropic", "openai", "ollama", "httpx", "httpx2", "opentelemetry"} & set(sys.modules)
sys.exit(f"loaded: {sorted(heavy)}" if heavy else 0)
"""


def test_without_a_provider_no_sdk_is_loaded() -> None:
    run = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
