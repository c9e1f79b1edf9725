"""The client above the providers: who is asked, how often, at what cost, and what stays on record."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from bench.tuned import tuned
from subconscious.domain.errors import (
    BadAnswerError,
    BadRequestError,
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm import channel
from subconscious.llm.client import LLMClient
from subconscious.llm.providers import Access, Provider, Reply, Request, Usage
from subconscious.llm.providers.scripted import ScriptedProvider, Step
from subconscious.settings.settings import Settings
from subconscious.store import spend
from subconscious.store.connect import Database
from tests.support.llm_stage import Stage


class Word(BaseModel):
    word: str


REQUEST = Request("test", "Say a word.", "any", Word)
FINE = Word(word="fine")


def said(word: str = "fine", *, cost: float | None = 0.01) -> Reply:
    return Reply(Word(word=word).model_dump_json(), Usage(100, 20, cost=cost), "m")


@pytest.fixture(autouse=True)
def swift(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries are noted instead of waited for."""
    pauses: list[float] = []
    rest = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await rest(0)

    monkeypatch.setattr("asyncio.sleep", sleep)
    return pauses


def made(database: Database, stage: Stage, **settings: Any) -> LLMClient:
    return LLMClient(database, tuned(**{"provider": "main", **settings}), stage)


async def calls(database: Database) -> list[dict[str, Any]]:
    return [dict(row) for row in await database.rows("SELECT * FROM llm_calls ORDER BY id")]


async def test_an_answer_with_its_cost(database: Database) -> None:
    client = made(database, Stage(main=[said()]))
    assert await client.ask(REQUEST, "s", "p") == FINE
    (call,) = await calls(database)
    assert (call["outcome"], call["cost"], call["session_id"], call["project_id"]) == ("answered", 0.01, "s", "p")
    assert (call["input_tokens"], call["output_tokens"], call["purpose"]) == (100, 20, "test")
    await client.close()


async def test_nothing_is_opened_before_the_first_question(database: Database) -> None:
    stage = Stage(main=[said()])
    client = made(database, stage)
    assert client.on
    await client.state()
    assert not stage.opened
    await client.ask(REQUEST)
    await client.close()
    await client.close()
    assert stage.opened["main"].closed


async def test_a_request_without_a_provider_fails_with_a_remedy(database: Database) -> None:
    client = made(database, Stage(), provider="none", provider_fallback=("main",))
    assert not client.on
    with pytest.raises(ProviderError) as caught:
        await client.ask(REQUEST)
    assert "provider" in caught.value.remedy


@pytest.mark.slow
async def test_what_may_pass_is_tried_again_with_jitter(database: Database, swift: list[float]) -> None:
    stage = Stage(main=[UnavailableError("500"), RateLimitedError("429", "", 3.0), UnavailableError("cut"), said()])
    assert await made(database, stage).ask(REQUEST) == FINE
    assert stage.asked("main") == 4
    assert len(swift) == 3
    assert swift[0] <= 1
    assert 3 <= swift[1] <= 3.3
    assert swift[2] <= 4


async def test_a_long_retry_after_is_not_slept_through(database: Database, swift: list[float]) -> None:
    stage = Stage(main=[RateLimitedError("429", "", 600.0), said()])
    client = made(database, stage)
    for _ in range(2):
        with pytest.raises(RateLimitedError) as caught:
            await client.ask(REQUEST)
        assert caught.value.retry_after is not None
        assert 590 < caught.value.retry_after <= 600
    assert stage.asked("main") == 1
    assert swift == []


async def test_the_fallback_is_asked_when_the_first_can_not_be(database: Database) -> None:
    stage = Stage(main=lambda _: UnavailableError("down"), other=[said("other")])
    client = made(database, stage, provider_fallback=("other",), provider_attempts=2)
    assert await client.ask(REQUEST) == Word(word="other")
    assert [call["provider"] for call in await calls(database)] == ["main", "main", "other"]


async def test_a_refused_key_is_never_papered_over(database: Database) -> None:
    stage = Stage(main=[KeyRefusedError("401", "get a key"), said()], other=[said()])
    client = made(database, stage, provider_fallback=("other",))
    for _ in range(3):
        with pytest.raises(KeyRefusedError) as caught:
            await client.ask(REQUEST)
        assert (caught.value.code, caught.value.remedy) == ("E050", "get a key")
    assert (stage.asked("main"), stage.asked("other")) == (1, 0)
    (first, _) = (await client.state())["providers"]
    assert first["refused"]
    assert first["error"]["code"] == "E050"
    # A person put it right: the check is at no cost, and lifts the refusal.
    assert await client.check() == {"main": None, "other": None}
    assert await client.ask(REQUEST) == FINE


async def test_a_refused_key_is_tried_again_after_a_while(database: Database) -> None:
    stage = Stage(main=[KeyRefusedError("401"), said()])
    client = made(database, stage, provider_recheck_minutes=1e-9)
    with pytest.raises(KeyRefusedError):
        await client.ask(REQUEST)
    assert await client.ask(REQUEST) == FINE


async def test_the_breaker_spares_a_dead_provider(database: Database) -> None:
    stage = Stage(main=lambda _: UnavailableError("down"), other=lambda _: said())
    client = made(database, stage, provider_fallback=("other",))
    for _ in range(10):
        assert await client.ask(REQUEST) == FINE
    assert stage.asked("main") == 5
    (main, _) = (await client.state())["providers"]
    assert (main["breaker"], main["error"]["message"]) == ("open", "down")


async def test_a_provider_that_says_nothing_is_left_in_time(database: Database, monkeypatch: Any) -> None:
    monkeypatch.setattr(channel, "GRACE_SECONDS", 0.0)
    hanging = asyncio.Event()

    async def hang(_: Request) -> Step:
        await hanging.wait()
        return FINE

    client = made(database, Stage(main=hang), provider_timeout_seconds=0.02, provider_attempts=1)
    with pytest.raises(UnavailableError):
        await client.ask(REQUEST)
    (call,) = await calls(database)
    assert (call["outcome"], call["cost"]) == ("E062", None)
    assert call["reserved"] > 0


async def test_waiting_for_a_child_process_does_not_use_its_time_limit(database: Database) -> None:
    """Calls of a provider with one child at a time come one after the other, each with the whole of its time."""
    under_way: list[int] = []

    async def slow(_: Request) -> Step:
        under_way.append(1)
        assert len(under_way) == 1
        await asyncio.sleep(0)
        under_way.pop()
        return FINE

    stage = Stage(claude_code=slow)
    client = made(database, stage, provider="claude_code", cost_per_day=1000)
    assert await asyncio.gather(*(client.ask(REQUEST) for _ in range(5))) == [FINE] * 5
    assert stage.asked("claude_code") == 5


async def test_a_repair_is_paid_for_too(database: Database) -> None:
    client = made(database, Stage(main=[Reply("no JSON", Usage(7, 3, cost=0.5), "m"), said()]))
    assert await client.ask(REQUEST) == FINE
    assert [call["cost"] for call in await calls(database)] == [0.5, 0.01]


async def test_an_answer_that_stays_invalid_after_the_repair(database: Database) -> None:
    client = made(database, Stage(main=["no", "never"]))
    with pytest.raises(BadAnswerError):
        await client.ask(REQUEST)
    assert len(await calls(database)) == 2


async def test_refused_calls_are_free_and_interrupted_ones_have_unknown_cost(database: Database) -> None:
    cut = UnavailableError("cut")
    broken = UnavailableError("500")
    broken.__cause__ = _StatusError(500)
    refused = UnavailableError("refused")
    refused.__cause__ = ConnectionRefusedError()
    stage = Stage(main=[cut, broken, refused, BadRequestError("too long")])
    with pytest.raises(BadRequestError):
        await made(database, stage).ask(REQUEST)
    assert [call["cost"] for call in await calls(database)] == [None, 0, 0, 0]


class _StatusError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__()
        self.status_code = status


async def test_an_unknown_price_is_never_nothing(database: Database) -> None:
    stage = Stage(main=[said(cost=None), Reply(FINE.model_dump_json(), Usage(), "m")])
    client = made(database, stage, cost_assumed=20)
    await client.ask(REQUEST)
    await client.ask(REQUEST)
    told, silent = await calls(database)
    assert (told["cost"], told["reserved"]) == (None, pytest.approx(120 * 20 / 1e6))
    assert silent["cost"] is None
    assert silent["reserved"] > told["reserved"]


async def test_calls_at_once_do_not_overshoot_the_cap(database: Database) -> None:
    """Each is answered for all that was reserved for it: a cap is met to the last call that fits."""
    spent = 0.0

    def dear(request: Request) -> Step:
        nonlocal spent
        spent += 0.02
        return said(cost=0.02)

    client = made(database, Stage(main=dear), cost_per_day=1.0, cost_assumed=14, requests_per_minute=10_000)
    asked = await asyncio.gather(*(client.ask(REQUEST) for _ in range(100)), return_exceptions=True)
    reached = [error for error in asked if isinstance(error, CapReachedError)]
    assert reached
    assert all(isinstance(answer, CapReachedError) or answer == FINE for answer in asked)
    assert spent <= 1.0
    rows = await database.rows("SELECT sum(cost) FROM llm_calls")
    assert rows[0][0] == pytest.approx(spent)
    assert reached[0].retry_at > 0
    assert (await client.state())["spending"]["spent_today"] == pytest.approx(spent)


async def test_spend_by_day_session_purpose_and_model(database: Database) -> None:
    client = made(database, Stage(main=[said(), said(), said(cost=None)]))
    await client.ask(REQUEST, "one", "p")
    await client.ask(replace(REQUEST, purpose="links"), "two", "p")
    await client.ask(REQUEST, "two", "q")
    tables = await spend.tables(database, None)
    assert {row["name"]: (row["calls"], row["cost"]) for row in tables["sessions"]} == {
        "one": (1, 0.01),
        "two": (2, 0.01),
    }
    assert {row["name"]: row["unknown"] for row in tables["purposes"]} == {"test": 1, "links": 0}
    assert [row["calls"] for row in tables["days"]] == [3]
    assert [row["name"] for row in tables["models"]] == ["main m"]
    assert (await spend.total(database, "p"))["cost"] == pytest.approx(0.02)
    whole = await spend.total(database, None)
    assert (whole["calls"], whole["unknown"], whole["input_tokens"]) == (3, 1, 300)
    assert whole["assumed"] > 0
    assert (await spend.total(database, "nowhere"))["calls"] == 0


async def test_a_session_has_its_own_cap(database: Database) -> None:
    client = made(database, Stage(main=lambda _: said(cost=0.9)), cost_per_session=1, cost_assumed=14)
    assert await client.ask(REQUEST, "one") == FINE
    assert await client.ask(REQUEST, "two") == FINE
    with suppress(CapReachedError):
        await client.ask(REQUEST, "one")
    with pytest.raises(CapReachedError, match="session"):
        await client.ask(REQUEST, "one")
    assert await client.ask(REQUEST) == FINE


async def test_a_free_fallback_continues_at_the_cap(database: Database) -> None:
    stage = Stage(main=lambda _: said(cost=1.0), ollama=lambda _: said("local", cost=None))
    client = made(database, stage, provider_fallback=("ollama",), cost_per_day=1.0, cost_assumed=14)
    assert await client.ask(REQUEST) == FINE
    assert await client.ask(REQUEST) == Word(word="local")
    assert stage.asked("main") == 1


async def test_the_warning_comes_once_a_day_and_session(database: Database) -> None:
    client = made(database, Stage(main=lambda _: said(cost=0.3)), cost_per_day=1, cost_assumed=1)
    for _ in range(3):
        await client.ask(REQUEST)
    await asyncio.gather(*(client.ask(REQUEST) for _ in range(5)), return_exceptions=True)
    rows = await database.rows("SELECT reason FROM events WHERE action = 'warned'")
    assert len(rows) == 1


async def test_a_call_that_a_death_cut_off_still_counts(database: Database) -> None:
    """What is on record before a call is made can't be forgotten by a kill between the call and its answer."""

    async def die(_: Request) -> Step:
        (row,) = await calls(database)
        assert row["outcome"] == "asked"
        assert row["cost"] is None
        assert row["reserved"] > 0
        return FINE

    await made(database, Stage(main=die)).ask(REQUEST)


async def test_a_cancelled_call_counts_and_frees_its_place(database: Database) -> None:
    under_way, answered = asyncio.Event(), asyncio.Event()

    async def hang(_: Request) -> Step:
        under_way.set()
        await answered.wait()
        return FINE

    client = made(database, Stage(main=hang), requests_per_minute=2)
    task = asyncio.create_task(client.ask(REQUEST))
    await under_way.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (call,) = await calls(database)
    assert (call["outcome"], call["cost"]) == ("cancelled", None)
    answered.set()
    assert await client.ask(REQUEST) == FINE


async def test_a_call_that_was_cancelled_before_it_was_made_leaves_no_record(database: Database) -> None:
    client = made(database, Stage(main=lambda _: FINE))
    for ticks in range(12):
        task = asyncio.create_task(client.ask(REQUEST))
        for _ in range(ticks):
            await asyncio.sleep(0.001)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert "asked" not in [call["outcome"] for call in await calls(database)]


async def test_secrets_are_gone_before_a_byte_leaves(database: Database) -> None:
    stage = Stage(main=[said()])
    key = "ghp_" + "a1B2" * 9
    long = "x " * 10_000
    await made(database, stage).ask(
        Request("test", f"Use {key}.", f"{long} {key} <private>my diary</private> fine", Word)
    )
    (sent,) = stage.opened["main"].history
    assert key not in sent.text + sent.system
    assert "diary" not in sent.text
    assert sent.text.endswith("fine")


async def test_keys_come_from_the_settings_alone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "ANTHROPIC_API_KEY", "lying about")
    settings = Settings(anthropic_key=SecretStr("ours"), anthropic_model="x", anthropic_url="http://127.0.0.1:1")
    found = channel.access("anthropic", settings)
    assert (found.key, found.model, found.base_url) == ("ours", "x", "http://127.0.0.1:1")
    assert channel.access("anthropic", Settings()).key == ""
    assert "ours" not in repr(found)
    assert "ours" not in settings.model_dump_json() + repr(settings)


class Accounts:
    """Opens a scripted provider for each key; knows which keys were used for what, and at which address."""

    def __init__(self, refused: str = "-") -> None:
        self.refused = refused
        self.asked: list[tuple[str, str, str]] = []
        self.opened: list[ScriptedProvider] = []

    def __call__(self, name: str, access: Access) -> Provider:
        def answer(request: Request) -> Step:
            self.asked.append((access.key, access.base_url, request.text))
            return KeyRefusedError("401") if access.key == self.refused else said()

        self.opened.append(ScriptedProvider(Access("m", access.key, options={"name": name, "script": answer})))
        return self.opened[-1]

    def client(self, database: Database, own: dict[str, str], **settings: Any) -> LLMClient:
        """A client of OpenAI whose sessions have keys of their ``own``."""
        chosen = tuned(**{"provider": "openai", "openai_model": "m", **settings})
        return LLMClient(database, chosen, self, lambda session: {"openai_key": own[session]} if session in own else {})


def about(session: str) -> Request:
    return replace(REQUEST, text=f"of {session}")


async def test_a_session_s_key_is_used_for_that_session_alone(database: Database) -> None:
    accounts = Accounts()
    client = accounts.client(database, {"a": "ka", "b": "kb", "c": "shared"}, openai_key=SecretStr("shared"))
    for session in ("a", "b", "c", "d", "a"):
        assert await client.ask(about(session), session) == FINE
    await client.ask(about(""))
    assert [(key, text) for key, _, text in accounts.asked] == [
        ("ka", "of a"),
        ("kb", "of b"),
        ("shared", "of c"),
        ("shared", "of d"),
        ("ka", "of a"),
        ("shared", "of "),
    ]
    assert len(accounts.opened) == 3
    assert "ka" not in str(await client.state())
    await client.close()
    assert all(provider.closed for provider in accounts.opened)


async def test_a_session_without_a_key_gets_no_other_session_s(database: Database) -> None:
    client = Accounts().client(database, {"a": "ka"})
    assert [client.has_key(session) for session in ("a", "b", "")] == [True, False, False]
    assert [client.asks_with_own_key(session) for session in ("a", "b", "")] == [True, False, False]
    assert client.channels_for("b") == client.channels
    assert client.channels[0].access.key == ""


@pytest.mark.parametrize(("provider", "url", "has"), [("anthropic", "http://127.0.0.1:1", False), ("ollama", "", True)])
async def test_a_provider_without_keys_needs_none(database: Database, provider: str, url: str, has: bool) -> None:
    settings = Settings(provider=provider, anthropic_url=url, openai_url=url)
    assert LLMClient(database, settings).has_key() is has


async def test_a_refused_key_does_not_stop_other_sessions(database: Database) -> None:
    accounts = Accounts(refused="ka")
    client = accounts.client(database, {"a": "ka", "b": "kb"}, openai_key=SecretStr("shared"))
    for _ in range(2):
        with pytest.raises(KeyRefusedError):
            await client.ask(about("a"), "a")
    assert await client.ask(about("b"), "b") == FINE
    assert await client.ask(about("")) == FINE
    assert [key for key, _, _ in accounts.asked] == ["ka", "kb", "shared"]
    assert [client.may_ask(session) for session in ("a", "b", "")] == [False, True, True]
    (shared,) = (await client.state())["providers"]
    assert not shared["refused"]
    assert [one.state()["refused"] for one in client.accounts_of(["a", "b", "c"])] == [True, False]


async def test_a_key_is_sent_to_the_configured_address(database: Database) -> None:
    """Also when that has changed since the session spoke; what was opened for the old one is closed."""
    accounts = Accounts()
    client = accounts.client(database, {"a": "ka"}, openai_url="http://127.0.0.1:1/v1")
    await client.ask(about("a"), "a")
    client.reconfigure(Settings(provider="openai", openai_model="m", openai_url="http://127.0.0.1:2/v1"))
    await client.ask(about("a"), "a")
    assert [url for _, url, _ in accounts.asked] == ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    await client.close()
    assert [provider.closed for provider in accounts.opened] == [True, True]


async def test_another_key_for_all_leaves_a_session_s_account_as_it_is(database: Database) -> None:
    accounts = Accounts()
    client = accounts.client(database, {"a": "ka"}, openai_key=SecretStr("one"))
    await client.ask(about("a"), "a")
    client.reconfigure(Settings(provider="openai", openai_model="m", openai_key=SecretStr("two")))
    await client.ask(about("a"), "a")
    assert len(accounts.opened) == 1


async def test_accounts_of_unused_keys_are_closed(database: Database) -> None:
    accounts, own = Accounts(), {"a": "ka", "b": "kb"}
    client = accounts.client(database, own)
    for session in own:
        await client.ask(about(session), session)
    client.keep_accounts({"kb"})
    await asyncio.gather(*client._closing)
    own["a"] = "kc"
    await client.ask(about("a"), "a")
    await client.ask(about("b"), "b")
    assert [key for key, _, _ in accounts.asked] == ["ka", "kb", "kc", "kb"]
    assert [provider.closed for provider in accounts.opened] == [True, False, False]


@pytest.mark.slow
async def test_all_accounts_of_a_provider_share_its_minute_and_the_caps(database: Database) -> None:
    client = Accounts().client(database, {"a": "ka"}, requests_per_minute=1, rate_window_seconds=0.2, cost_per_day=1e9)
    begun = time.monotonic()
    await asyncio.gather(client.ask(about("a"), "a"), client.ask(about("b"), "b"))
    assert time.monotonic() - begun >= 0.2
    client.spending.settings = Settings(cost_per_day=0)
    with pytest.raises(CapReachedError):
        await client.ask(about("a"), "a")


async def test_the_check_tries_the_keys_that_there_are(database: Database) -> None:
    """Where only sessions have keys, that there is no other is no fault."""
    client = Accounts().client(database, {"a": "ka", "b": "kb"})
    client.channels[0].check = _never  # type: ignore[method-assign]
    assert await client.check(["a", "b"]) == {"openai": None}

    async def refuse() -> None:
        raise KeyRefusedError("401")

    client.accounts_of(["b"])[0].check = refuse  # type: ignore[method-assign]
    assert isinstance((await client.check(["a", "b"]))["openai"], KeyRefusedError)


async def _never() -> None:
    raise AssertionError("there is no key to be tried")
