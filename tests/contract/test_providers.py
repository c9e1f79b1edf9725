"""Every provider in the table keeps the contract of ``Provider``, against a server or a client that really runs."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from subconscious.domain.errors import (
    BadAnswerError,
    BadRequestError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.providers import PROVIDERS, BatchProvider, BatchState, Provider, Reply, Request
from subconscious.llm.providers.openai import ChatCompletions, OpenAIProvider
from subconscious.llm.providers.structured import answer
from subconscious.settings.provider_table import provider_row
from tests.contract.provider_kits import (
    KITS,
    OVER_HTTP,
    SECONDS,
    WITH_BATCHES,
    WITH_KEY,
    ClaudeCodeKit,
    HttpKit,
    Kit,
    ScriptedKit,
    whole,
)
from tests.contract.provider_servers import KEY

NAMES = [name for name in (*PROVIDERS, "openai-compatible") if name in KITS]
PROMPT = "words that nobody else may read"

ERRORS: dict[str, type[ProviderError]] = {
    "401": KeyRefusedError,
    "403": KeyRefusedError,
    "credit": KeyRefusedError,
    "429": RateLimitedError,
    "500": UnavailableError,
    "503": UnavailableError,
    "529": UnavailableError,
    "stall": UnavailableError,
    "stall_mid_body": UnavailableError,
    "trickle": UnavailableError,
    "cut": UnavailableError,
    "cut_mid_body": UnavailableError,
    "malformed": UnavailableError,
    "not_json": UnavailableError,
    "wrong_shape": UnavailableError,
    "redirect": BadRequestError,
    "unknown_model": BadRequestError,
    "too_long": BadRequestError,
    "empty": BadAnswerError,
    "refusal": BadAnswerError,
    "max_tokens": BadAnswerError,
}
SLOW = {"stall", "stall_mid_body", "trickle"}


class Item(BaseModel):
    name: str = Field(description="what it is called", max_length=2_000_000)
    weight: float = Field(default=0.5, ge=0, le=1)


class Said(BaseModel):
    """A shape with all that a schema of ours may hold."""

    word: str = Field(max_length=2_000_000)
    kind: Literal["plain", "loud"] = "plain"
    items: list[Item] = Field(default_factory=list, max_length=5)
    best: Item | None = None


def make_request(text: str = PROMPT, **changes: Any) -> Request:
    return Request("test", "You are terse.", text, Said, **changes)


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.client] if name == "claude_code" else []


over_all = pytest.mark.parametrize("kit", [pytest.param(name, marks=_marks(name)) for name in NAMES], indirect=True)
over_batches = pytest.mark.parametrize("kit", WITH_BATCHES, indirect=True)
over_http = pytest.mark.parametrize("kit", OVER_HTTP, indirect=True)
over_keys = pytest.mark.parametrize("kit", WITH_KEY, indirect=True)


async def _raised(provider: Provider, request: Request) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await provider.ask(request)
    return caught.value


def test_every_provider_can_be_asked_in_these_tests() -> None:
    missing = ", ".join(set(PROVIDERS) - KITS)
    assert not missing, f"add a server that responds like the API of {missing} to SERVERS in provider_kits.py"


@over_all
async def test_an_answer_comes_with_its_usage_and_its_model(kit: Kit) -> None:
    provider = kit.open()
    reply = await provider.ask(make_request())
    assert json.loads(reply.text)["word"] == PROMPT
    assert reply.usage.input > 0
    assert reply.usage.output > 0
    assert reply.model
    assert provider.name == kit.name
    [(system, text)] = kit.asked()
    assert "You are terse." in system
    assert text == PROMPT


@over_all
async def test_the_schema_is_sent_in_the_form_of_the_api(kit: Kit) -> None:
    """The fakes refuse a schema beyond their API's dialect, so an answer says that it was one."""
    provider = kit.open()
    kit.say('{"word":"w","kind":"loud","items":[{"name":"n","weight":1}],"best":null}')
    value, _ = await answer(provider, make_request())
    assert value == Said(word="w", kind="loud", items=[Item(name="n", weight=1)])
    for shape in kit.shapes():
        assert set(shape["properties"]) == {"word", "kind", "items", "best"}
        assert shape["properties"]["kind"]["enum"] == ["plain", "loud"]
        assert shape["properties"]["items"]["items"]["additionalProperties"] is False
    assert kit.shapes() or isinstance(kit, ScriptedKit)


@over_all
async def test_an_answer_that_does_not_fit_is_repaired_once(kit: Kit) -> None:
    provider = kit.open()
    wrong = '{"word":"w","kind":"whispered","items":[],"best":null}'
    kit.say(wrong, whole("mended") if isinstance(kit, ClaudeCodeKit) else f"Sure!\n```json\n{whole('mended')}\n```")
    value, reply = await answer(provider, make_request())
    assert value == Said(word="mended")
    if isinstance(kit, ClaudeCodeKit):  # the client shows the model what is wrong itself, within one call
        assert wrong not in reply.text
        return
    first, second = kit.asked()
    assert wrong in second[1]
    assert "kind" in second[1]
    assert second[1].startswith(first[1])
    alone = (await provider.ask(make_request())).usage
    assert reply.usage.input >= 2 * alone.input
    assert reply.usage.output > 0


# Claude Code itself asks until the answer fits.
@pytest.mark.parametrize("kit", [name for name in NAMES if name != "claude_code"], indirect=True)
async def test_an_answer_that_can_not_be_repaired_is_an_error(kit: Kit) -> None:
    provider = kit.open()
    kit.say("I'd rather not say.", f"Still not. {PROMPT}")
    with pytest.raises(BadAnswerError) as caught:
        await answer(provider, make_request())
    assert len(kit.asked()) == 2
    assert PROMPT not in caught.value.message
    assert caught.value.usage is not None
    assert caught.value.usage.input > 0


def _failing() -> list[Any]:
    faults = {name: set(ERRORS) for name in NAMES}
    faults["ollama"] -= {"refusal", "credit"}
    faults["scripted"] = set(ScriptedKit.faults)
    faults["claude_code"] = set(ClaudeCodeKit.faults)
    return [
        pytest.param(name, fault, marks=_marks(name), id=f"{name}-{fault}")
        for name in NAMES
        for fault in ERRORS
        if fault in faults[name]
    ]


@pytest.mark.parametrize(("kit", "fault"), _failing(), indirect=["kit"])
async def test_every_failure_has_its_error_and_leaks_nothing(
    kit: Kit, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fast = {"timeout": 3.0 if isinstance(kit, ClaudeCodeKit) else SECONDS} if fault in SLOW else {}
    provider = kit.open(**fast)
    kit.fail(fault)
    error = await _raised(provider, make_request())
    assert type(error) in {ERRORS[fault], *ERRORS[fault].__subclasses__()}
    assert error.remedy
    told = f"{error.message}{error.remedy}{''.join(traceback.format_exception(error))}{_logged(caplog)}"
    assert KEY not in told
    assert PROMPT not in told
    if ERRORS[fault] is BadAnswerError and not isinstance(kit, ScriptedKit):
        assert error.usage is not None, "what was charged must be known"
    # One failure spoils nothing for the next call.
    assert json.loads((await kit.open().ask(make_request("again"))).text)["word"] == "again"


def _logged(caplog: pytest.LogCaptureFixture) -> str:
    ours = [each for each in caplog.records if not each.name.startswith("asyncio")]
    return "\n".join(each.getMessage() for each in ours)


def test_each_fault_of_the_kits_has_its_error() -> None:
    assert ClaudeCodeKit.faults | ScriptedKit.faults <= set(ERRORS)


# Ollama's SDK hides the headers.
@pytest.mark.parametrize("kit", [name for name in OVER_HTTP if name != "ollama"], indirect=True)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5),
        ({"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_the_time_to_wait_is_returned(kit: HttpKit, headers: dict[str, str], seconds: float | None) -> None:
    provider = kit.open()
    kit.server.fault_headers = headers
    kit.fail("429", "503")
    limited, down = await _raised(provider, make_request()), await _raised(provider, make_request())
    assert isinstance(limited, RateLimitedError)
    assert isinstance(down, UnavailableError)
    assert (limited.retry_after, down.retry_after) == (seconds, seconds)


@over_http
async def test_a_refused_connection_is_unavailable(kit: HttpKit) -> None:
    provider = kit.open(base_url="http://127.0.0.1:9/v1")
    assert isinstance(await _raised(provider, make_request()), UnavailableError)


@over_http
async def test_an_address_that_is_none_is_refused_at_once(kit: HttpKit) -> None:
    with pytest.raises(BadRequestError):
        kit.open(base_url="127.0.0.1:8080")


@over_keys
@pytest.mark.parametrize("key", ["", "two words", "schlüssel", "line\nbreak"])
async def test_a_key_that_is_none_is_refused_before_anything_is_sent(kit: HttpKit, key: str) -> None:
    with pytest.raises(KeyRefusedError) as caught:
        kit.open(key=key)
    assert caught.value.code == "E050"
    assert caught.value.remedy
    assert not kit.server.seen


@over_all
async def test_check_accepts_a_working_provider(kit: Kit) -> None:
    provider = kit.open()
    await provider.check()
    assert not kit.asked(), "a check asks no question: it costs nothing"


@over_http
async def test_check_finds_a_model_that_is_not_there(kit: HttpKit) -> None:
    provider = kit.open(model="no-such-model")
    if isinstance(provider, ChatCompletions) and not kit.own_address:
        await provider.check()  # servers other than OpenAI's list what they like
        return
    with pytest.raises(BadRequestError) as caught:
        await provider.check()
    assert "model" in caught.value.message
    if kit.name == "ollama":
        assert "ollama pull no-such-model" in caught.value.remedy


@over_keys
async def test_check_finds_a_wrong_key(kit: HttpKit) -> None:
    provider = kit.open(key="wrong")
    with pytest.raises(KeyRefusedError):
        await provider.check()


@over_all
async def test_cancelling_a_call_releases_its_resources(kit: Kit) -> None:
    provider = kit.open()
    kit.fail("hang" if isinstance(kit, ScriptedKit) else "stall")
    call = asyncio.create_task(provider.ask(make_request()))
    async with asyncio.timeout(30):
        while not kit.asked():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while await kit.busy():
            await asyncio.sleep(0.01)
    if isinstance(kit, ClaudeCodeKit):
        kit.release()
    assert json.loads((await provider.ask(make_request("again"))).text)["word"] == "again"


@over_all
async def test_closing_twice_is_fine_and_then_nothing_can_be_asked(kit: Kit) -> None:
    provider = kit.open()
    await provider.ask(make_request())
    await provider.close()
    await provider.close()
    with pytest.raises(ProviderError):
        await provider.ask(make_request())
    async with asyncio.timeout(10):
        while await kit.busy():
            await asyncio.sleep(0.01)


@over_all
async def test_calls_at_the_same_time_keep_their_answers(kit: Kit) -> None:
    provider = kit.open()
    count = 3 if isinstance(kit, ClaudeCodeKit) else 20
    texts = [f"question {number}" for number in range(count)]
    replies = await asyncio.gather(*(provider.ask(make_request(text)) for text in texts))
    assert [json.loads(reply.text)["word"] for reply in replies] == texts
    if isinstance(kit, HttpKit):
        assert kit.server.at_once > 1


@over_all
async def test_any_text_can_be_asked(kit: Kit) -> None:
    provider = kit.open()
    odd = "名前 🙂 \u202e\u200b é \ud800 end"
    value, _ = await answer(provider, make_request(odd))
    assert isinstance(value, Said)
    assert value.word.startswith("名前 🙂")
    assert value.word.endswith(" end")
    assert value.word.encode()


@over_all
async def test_a_megabyte_can_be_asked(kit: Kit) -> None:
    provider = kit.open()
    kit.say(whole("read"))
    text = "wörd " * 200_000
    value, _ = await answer(provider, make_request(text))
    assert value == Said(word="read")
    assert len(kit.asked()[0][1]) >= len(text.strip())


@over_all
async def test_an_escaped_lone_surrogate_in_an_answer_is_no_failure(kit: Kit) -> None:
    provider = kit.open()
    kit.say(whole("a\ud800b"))
    value, _ = await answer(provider, make_request())
    assert isinstance(value, Said)
    assert value.word in {"a\ufffdb", "a\ufffd\ufffdb", "a\ufffd\ufffd\ufffdb"}


@over_http
async def test_a_provider_has_batches_if_the_table_has_their_price(kit: HttpKit) -> None:
    """By that price `subconscious import` offers batches; a provider with batches uploads prompts."""
    assert isinstance(kit.open(), BatchProvider) == (provider_row(kit.name).batch != 1)


def test_a_provider_that_derives_from_chat_completions_has_no_batches() -> None:
    assert not issubclass(ChatCompletions, BatchProvider)
    assert issubclass(OpenAIProvider, BatchProvider)


async def _submitted(kit: Kit, provider: Provider, **purposes: str) -> str:
    assert isinstance(provider, BatchProvider)
    requests = {key: Request(purpose, "You are terse.", f"ask {key}", Said) for key, purpose in purposes.items()}
    return await provider.submit(requests)


async def _results(provider: Provider, batch_id: str) -> dict[str, Reply | ProviderError]:
    assert isinstance(provider, BatchProvider)
    return {key: result async for key, result in provider.results(batch_id)}


@over_batches
async def test_a_batch_is_answered_and_found_by_a_later_process(kit: Kit) -> None:
    first = kit.open()
    batch_id = await _submitted(kit, first, a="test", b="test")
    assert isinstance(first, BatchProvider)
    assert await first.poll(batch_id) is BatchState.RUNNING
    await first.close()
    kit.finish({})
    later = kit.open()
    assert isinstance(later, BatchProvider)
    assert await later.poll(batch_id) is BatchState.ENDED
    results = await _results(later, batch_id)
    words = {key: json.loads(reply.text)["word"] for key, reply in results.items() if isinstance(reply, Reply)}
    assert words == {"a": "ask a", "b": "ask b"}
    assert all(isinstance(reply, Reply) and reply.usage.input > 0 for reply in results.values())
    assert await _results(later, batch_id) == results, "results can be read again"


@over_batches
async def test_one_failed_item_fails_alone(kit: Kit) -> None:
    provider = kit.open()
    batch_id = await _submitted(kit, provider, a="test", b="errored", c="refusal")
    kit.finish({"b": "errored", "c": "refusal"})
    results = await _results(provider, batch_id)
    assert isinstance(results["a"], Reply)
    assert isinstance(results["b"], UnavailableError)
    assert isinstance(results["c"], BadAnswerError)
    assert KEY not in results["b"].message


@over_batches
async def test_an_expired_batch_returns_the_answers_so_far(kit: Kit) -> None:
    provider = kit.open()
    batch_id = await _submitted(kit, provider, a="test", b="test")
    kit.finish({"b": "expired"})
    assert isinstance(provider, BatchProvider)
    assert await provider.poll(batch_id) is BatchState.EXPIRED
    assert set(await _results(provider, batch_id)) == {"a"}


@over_batches
async def test_an_unknown_batch_is_lost(kit: Kit) -> None:
    provider = kit.open()
    batch_id = await _submitted(kit, provider, a="test")
    kit.lose()
    assert isinstance(provider, BatchProvider)
    assert await provider.poll(batch_id) is BatchState.LOST


@pytest.mark.parametrize("kit", [name for name in WITH_BATCHES if name in OVER_HTTP], indirect=True)
async def test_a_failing_server_does_not_make_a_batch_lost(kit: HttpKit) -> None:
    provider = kit.open()
    batch_id = await _submitted(kit, provider, a="test")
    kit.fail("500")
    assert isinstance(provider, BatchProvider)
    with pytest.raises(UnavailableError):
        await provider.poll(batch_id)
    kit.finish({})
    kit.fail("cut_mid_body")
    with pytest.raises(UnavailableError):
        await _results(provider, batch_id)
    assert set(await _results(provider, batch_id)) == {"a"}
