"""What the scripted provider does beyond the contract that every provider keeps (tests/contract/test_providers.py)."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from subconscious.domain.errors import BadRequestError, RateLimitedError
from subconscious.llm.providers import Access, BatchProvider, BatchState, Reply, Request, Usage, open_provider
from subconscious.llm.providers.scripted import Pause, ScriptedProvider


class Said(BaseModel):
    word: str


def make_request(text: str = "say it") -> Request:
    return Request("test", "You are terse.", text, Said)


def make_provider(**options: object) -> ScriptedProvider:
    return ScriptedProvider(Access("model", options=options))


async def test_it_says_the_steps_in_order_and_remembers_what_was_asked() -> None:
    reply = Reply("whole", Usage(1, 2, cost=0.5), "other")
    provider = make_provider(script=[Said(word="yes"), Pause(0), "text", reply])
    said = [await provider.ask(make_request(text)) for text in ("a", "b", "c")]
    assert [each.text for each in said] == ['{"word":"yes"}', "text", "whole"]
    assert said[2] is reply
    assert [request.text for request in provider.history] == ["a", "b", "c"]


async def test_a_function_may_answer_at_once_or_later_or_raise() -> None:
    async def later(request: Request) -> str:
        return request.text.upper()

    def refuse(request: Request) -> str:
        raise RateLimitedError("slow down", retry_after=3)

    assert (await make_provider(script=lambda request: request.text).ask(make_request("a"))).text == "a"
    assert (await make_provider(script=later).ask(make_request("a"))).text == "A"
    with pytest.raises(RateLimitedError):
        await make_provider(script=refuse).ask(make_request())


async def test_a_script_that_has_ended_says_so() -> None:
    provider = make_provider()
    with pytest.raises(BadRequestError):
        await provider.ask(make_request())
    provider.queue("more")
    assert (await provider.ask(make_request())).text == "more"


async def test_a_later_process_finds_a_batch_with_the_errors_of_its_items(tmp_path: Path) -> None:
    state = tmp_path / "batches.json"
    first = make_provider(script=["one", RateLimitedError("slow", "wait", 7.0)], state=state, running=1)
    batch_id = await first.submit({"a": make_request(), "b": make_request()})
    later = make_provider(state=str(state))
    assert [await later.poll(batch_id) for _ in range(3)] == [BatchState.RUNNING, BatchState.ENDED, BatchState.ENDED]
    found = {key: result async for key, result in later.results(batch_id)}
    assert isinstance(found["a"], Reply)
    assert found["a"].text == "one"
    assert isinstance(found["b"], RateLimitedError)
    assert (found["b"].message, found["b"].remedy, found["b"].retry_after) == ("slow", "wait", 7.0)


async def test_batches_can_be_ended_expired_and_lost() -> None:
    provider = make_provider(script=lambda request: request.text, running=1000)
    ended, expired, lost = [await provider.submit({"a": make_request(), "b": make_request()}) for _ in range(3)]
    provider.end(ended)
    provider.expire(expired, answered=["b"])
    provider.lose(lost)
    states = [await provider.poll(batch_id) for batch_id in (ended, expired, lost, "batch-99")]
    assert states == [BatchState.ENDED, BatchState.EXPIRED, BatchState.LOST, BatchState.LOST]
    assert [key async for key, _ in provider.results(expired)] == ["b"]
    assert [key async for key, _ in provider.results(lost)] == []
    assert await provider.submit({}) not in {ended, expired, lost}


def test_the_table_opens_it_as_a_batch_provider() -> None:
    assert isinstance(open_provider("scripted", Access("model")), BatchProvider)
