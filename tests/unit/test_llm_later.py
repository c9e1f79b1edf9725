"""Questions that can wait: batches, their deaths, and answers that are used exactly once."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiosqlite
import pytest
from pydantic import BaseModel

from bench.tuned import tuned
from subconscious.domain.errors import BadRequestError, KeyRefusedError, UnavailableError
from subconscious.llm.answers import Purpose
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredRequests
from subconscious.llm.providers import Access, Provider, Reply, Request, Usage
from subconscious.llm.providers.scripted import ScriptedProvider
from subconscious.store import llm_requests
from subconscious.store.connect import Database
from subconscious.store.llm_requests import StoredRequest


class Word(BaseModel):
    word: str


def said(request: Request) -> Reply:
    return Reply(Word(word=request.text).model_dump_json(), Usage(10, 5, cost=0.01), "m")


class Singly:
    """The scripted provider without its batches."""

    name = "main"
    model = "m"

    def __init__(self, inner: ScriptedProvider) -> None:
        self.ask, self.check, self.close = inner.ask, inner.check, inner.close


class World:
    """A database with its questions, and a provider that a restart doesn't end."""

    def __init__(self, database: Database, **settings: Any) -> None:
        self.database = database
        self.used: list[tuple[str, str]] = []
        self.given_up: list[tuple[str, str]] = []
        self.answer: Callable[[Request], Any] = said
        self.batches = True
        self.running = 0
        self.keys: dict[str, dict[str, str]] = {}
        """Sessions' own keys."""
        options = {"script": self._answer, "running": 0}
        self.provider = ScriptedProvider(Access("m", options=options))
        self.settings = tuned(**{"provider": "main", "native_batch_seconds": 1e-9, "provider_attempts": 1, **settings})
        self.start()

    def _answer(self, request: Request) -> Any:
        return self.answer(request)

    def start(self) -> None:
        """As a new process over the same database."""
        client = LLMClient(self.database, self.settings, self._open, lambda session: self.keys.get(session, {}))
        self.later = DeferredRequests(self.database, client)
        self.later.register("test", Purpose(Word, self._use, self._give_up))

    def _open(self, name: str, access: Access) -> Provider:
        return self.provider if self.batches else Singly(self.provider)

    async def _use(self, tx: aiosqlite.Connection, question: StoredRequest, answer: Word) -> None:
        self.used.append((question.key, answer.word))

    async def _give_up(self, tx: aiosqlite.Connection, question: StoredRequest, reason: str) -> None:
        self.given_up.append((question.key, reason))

    async def ask(self, *words: str, session: str = "") -> None:
        async with self.database.write() as tx:
            for word in words:
                await self.later.put(tx, f"key-{word}", Request("test", "Say it.", word, Word), {"for": word}, session)

    async def spent(self) -> list[tuple[str, float | None, int]]:
        rows = await self.database.rows("SELECT outcome, cost, batch FROM llm_calls ORDER BY id")
        return [tuple(row) for row in rows]


@pytest.fixture
async def world(database: Database) -> World:
    return World(database)


WORDS = [("key-a", "a"), ("key-b", "b"), ("key-c", "c")]


async def test_waiting_requests_are_sent_as_one_batch(world: World) -> None:
    await world.ask("a", "b", "c")
    await world.later.round()
    assert len(world.provider.batches) == 1
    assert world.used == []
    await world.later.round()
    assert sorted(world.used) == WORDS
    assert await world.spent() == [("answered", 0.01, 1)] * 3
    await world.later.round()
    assert sorted(world.used) == WORDS


async def test_a_key_is_asked_once_for_all_times(world: World) -> None:
    await world.ask("a", "b", "a")
    for _ in range(3):
        await world.later.round()
    await world.ask("a")
    await world.later.round()
    assert sorted(world.used) == WORDS[:2]


async def test_words_go_when_they_are_answered(world: World) -> None:
    await world.ask("a", "b")
    for _ in range(2):
        await world.later.round()
    rows = await world.database.rows("SELECT system, text, payload FROM llm_requests")
    assert [tuple(row) for row in rows] == [("", "", "{}")] * 2


async def test_a_new_process_reads_the_batch_of_an_old_one(world: World) -> None:
    await world.ask("a", "b", "c")
    await world.later.round()
    world.start()
    await world.later.round()
    assert sorted(world.used) == WORDS


async def test_a_death_between_results_repeats_none(world: World) -> None:
    await world.ask("a", "b", "c")
    await world.later.round()
    steps = iter([None, KeyboardInterrupt()])
    use = world._use

    async def dying(tx: aiosqlite.Connection, question: StoredRequest, answer: Word) -> None:
        if (death := next(steps)) is not None:
            raise death
        await use(tx, question, answer)

    world.later.register("test", Purpose(Word, dying))
    with pytest.raises(KeyboardInterrupt):
        await world.later.round()
    assert len(world.used) == 1
    world.start()
    await world.later.round()
    assert sorted(world.used) == WORDS
    assert await world.spent() == [("answered", 0.01, 1)] * 3


async def test_a_crash_before_the_batch_id_is_stored_is_counted(world: World, caplog: Any) -> None:
    await world.ask("a", "b")

    async def die(*_: object) -> str:
        await ScriptedProvider.submit(world.provider, *_)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    world.provider.submit = die  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        await world.later.round()
    del world.provider.submit
    world.start()
    for _ in range(3):
        await world.later.round()
    assert sorted(world.used) == WORDS[:2]
    assert await world.spent() == [("lost", None, 1)] * 2 + [("answered", 0.01, 1)] * 2
    assert "possibly charged" in caplog.text


async def test_what_ran_out_of_time_is_asked_again(world: World) -> None:
    await world.ask("a", "b", "c")
    await world.later.round()
    (batch,) = world.provider.batches
    first = next(iter(world.provider.batches[batch]))
    world.provider.expire(batch, [first])
    for _ in range(3):
        await world.later.round()
    assert sorted(world.used) == WORDS
    assert len(world.provider.batches) == 2
    assert await world.spent() == [("answered", 0.01, 1)] * 3


async def test_a_batch_that_the_provider_forgot_is_asked_again(world: World) -> None:
    await world.ask("a", "b")
    await world.later.round()
    world.provider.lose(next(iter(world.provider.batches)))
    for _ in range(3):
        await world.later.round()
    assert sorted(world.used) == WORDS[:2]
    assert [outcome for outcome, _, _ in await world.spent()] == ["lost", "lost", "answered", "answered"]


async def test_a_failed_item_is_asked_alone_and_then_buried(world: World) -> None:
    world.answer = lambda request: BadRequestError("too odd") if request.text == "b" else said(request)
    await world.ask("a", "b", "c")
    for _ in range(5):
        await world.later.round()
    assert sorted(world.used) == [WORDS[0], WORDS[2]]
    assert world.given_up == [("key-b", "too odd")]
    assert await llm_requests.counts(world.database) == {"waiting": 0, "sent": 0, "buried": 1}
    assert [request.text for request in world.provider.history] == ["b", "b"]


async def test_an_unreadable_item_is_repaired_alone(world: World) -> None:
    world.answer = lambda request: "no JSON" if request.text == "b" and not world.provider.history else said(request)
    await world.ask("a", "b")
    for _ in range(3):
        await world.later.round()
    assert sorted(world.used) == WORDS[:2]
    assert sum(cost or 0 for _, cost, _ in await world.spent()) == pytest.approx(0.02)


async def test_an_answer_that_its_purpose_can_not_use_is_paid_and_buried(world: World) -> None:
    async def broken(tx: aiosqlite.Connection, question: StoredRequest, answer: Word) -> None:
        raise LookupError(question.key)

    world.later.register("test", Purpose(Word, broken, world._give_up))
    await world.ask("a", "b")
    for _ in range(3):
        await world.later.round()
    assert [key for key, _ in world.given_up] == ["key-a", "key-b"]
    assert await world.spent() == [("answered", 0.01, 1)] * 2


async def test_a_full_disk_leaves_the_answer_to_be_read_again(world: World) -> None:
    full = [sqlite3.OperationalError("disk is full")]
    use = world._use

    async def once(tx: aiosqlite.Connection, question: StoredRequest, answer: Word) -> None:
        if full:
            raise full.pop()
        await use(tx, question, answer)

    world.later.register("test", Purpose(Word, once))
    await world.ask("a", "b")
    await world.later.round()
    with pytest.raises(sqlite3.OperationalError):
        await world.later.round()
    await world.later.round()
    assert sorted(world.used) == WORDS[:2]


async def test_without_batches_each_request_is_sent_separately(world: World) -> None:
    world.batches = False
    await world.ask("a", "b", "c")
    await world.later.round()
    assert sorted(world.used) == WORDS
    assert await world.spent() == [("answered", 0.01, 0)] * 3


@pytest.mark.parametrize("error", [UnavailableError("down"), KeyRefusedError("no key")])
async def test_a_provider_that_can_not_be_asked_drops_nothing(world: World, error: Exception) -> None:
    world.batches = False
    world.answer = lambda _: error
    await world.ask("a")
    for _ in range(5):
        await world.later.round()
    assert await llm_requests.counts(world.database) == {"waiting": 1, "sent": 0, "buried": 0}


async def test_a_corrected_key_resumes_at_once(world: World) -> None:
    world.batches = False
    world.answer = lambda _: KeyRefusedError("no key")
    await world.ask("a")
    await world.later.round()
    world.answer = said
    await world.later.round()
    assert world.used == []
    world.start()
    await world.later.round()
    assert world.used == WORDS[:1]


async def test_a_refused_batch_is_free_and_its_requests_are_sent_singly(world: World) -> None:
    async def refuse(_: object) -> str:
        raise BadRequestError("one of them is too long")

    world.provider.submit = refuse  # type: ignore[method-assign, assignment]
    await world.ask("a", "b")
    for _ in range(2):
        await world.later.round()
    assert sorted(world.used) == WORDS[:2]
    assert await world.spent() == [("answered", 0.01, 0)] * 2


async def test_a_batch_with_missing_results_was_not_free(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    results = world.provider.results

    async def missing(name: str) -> AsyncIterator[Any]:
        async for one in results(name):
            yield one
            raise BadRequestError("there is no such file")

    monkeypatch.setattr(world.provider, "results", missing)
    await world.ask("a", "b")
    for _ in range(3):
        await world.later.round()
    assert world.used == WORDS[:1]
    assert [outcome for outcome, _, _ in await world.spent()] == ["answered", "asked"]
    monkeypatch.undo()
    await world.later.round()
    assert world.used == WORDS[:2]
    assert await world.spent() == [("answered", 0.01, 1)] * 2
    assert len(world.provider.batches) == 1


async def test_at_the_cap_it_waits(database: Database) -> None:
    world = World(database, cost_per_day=0.03, cost_assumed=20)
    await world.ask("a", "b", "c")
    await world.later.round()
    (sent,) = [len(items) for items in world.provider.batches.values()] or [0]
    counts = await llm_requests.counts(database)
    assert counts["waiting"] == 3 - sent > 0
    assert counts["sent"] == sent


async def test_a_request_without_a_handler_is_rejected(world: World) -> None:
    with pytest.raises(KeyError):
        async with world.database.write() as tx:
            await world.later.put(tx, "k", Request("other", "", "", Word))


async def test_a_request_with_a_sessions_own_key_is_not_batched(world: World) -> None:
    world.keys = {"s": {"main_key": "k"}}
    await world.ask("a", "b", session="s")
    await world.ask("c", "d")
    await world.later.round()
    assert sorted(world.used) == WORDS[:2], "asked at once, each by itself"
    assert [sorted(batch) for batch in world.provider.batches.values()] == [["3", "4"]]


async def test_a_session_s_new_key_ends_its_own_waiting_and_no_other_s(world: World) -> None:
    world.batches = False
    world.answer = lambda _: KeyRefusedError("401")
    await world.ask("a", session="s")
    await world.ask("b", session="t")
    await world.later.round()
    world.answer = said
    world.keys = {"s": {"main_key": "k"}}
    world.later.retry_session("s")
    await world.later.round()
    assert world.used == WORDS[:1]


@pytest.mark.parametrize(("tokens", "tries"), [(100, 3), (9_000, 2), (20_000, 1)])
async def test_a_long_question_has_fewer_tries(world: World, tokens: int, tries: int) -> None:
    world.batches = False
    world.answer = lambda request: Reply("no JSON", Usage(tokens // 2, 0), "m")
    await world.ask("a")
    for _ in range(5):
        await world.later.round()
    assert len(world.given_up) == 1
    assert len(world.provider.history) == 2 * tries, "each try is the question and its repair"
