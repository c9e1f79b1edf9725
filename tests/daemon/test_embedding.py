"""The chain of embedders and the change of models, against a real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from subconscious import wire
from subconscious.capture import judge
from subconscious.domain.errors import EmbedderError
from subconscious.embeddings import background, batches, embedder_fallback, model_switch
from subconscious.embeddings import query_embedder as sense
from subconscious.embeddings.background import MAX_FAILED_QUERIES, Embedding
from subconscious.embeddings.batches import text_of
from subconscious.embeddings.embedder import Access, Embedder, open_embedder
from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.query_embedder import EmbeddingBudget, RemoteOptions
from subconscious.settings.home import Home
from subconscious.store import embedding_models, embedding_queue, memories
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from tests.support.daemons import drained, eventually
from tests.support.embedding_server import EmbeddingServer, Failure, Vectors, embedding_server, mirrored, wide
from tests.support.remote_embedder import configure_remote
from tests.support.values import make_memory

pytestmark = pytest.mark.slow

LOCAL = LocalEmbedder.name


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        server.models["broad"] = wide
        yield server


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_fallback, "RETRIES", (0.0, 0.0))
    monkeypatch.setattr(batches, "RETRIES", (0.0, 0.0))
    monkeypatch.setattr(model_switch, "RETIREMENT", 0.5)


def access(server: EmbeddingServer, model: str = "toy", name: str = "openai") -> Access:
    return Access(model=model, key="dummy", base_url=server.url + ("/v1" if name == "openai" else ""), timeout=5)


@asynccontextmanager
async def embedded_by(
    database: Database, name: str, to: Access | None = None, manners: RemoteOptions | None = None
) -> AsyncIterator[Embedding]:
    """The daemon's loop, without the daemon around it."""
    loop = Embedding(name, database, to, manners)
    task = asyncio.create_task(loop.run())
    try:
        yield loop
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await loop.close()


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait for it; the test's own limit of time is the end of patience."""
    while not await true():
        await asyncio.sleep(0.01)


async def settled(loop: Embedding, model: str) -> None:
    """Wait until this model serves and nothing is pending."""

    async def there() -> bool:
        backlog = await embedding_queue.counts(loop._database)
        return loop.current.model == model and loop.state != "loading" and not backlog.get("pending")

    await until(there)


async def remember(database: Database, *contents: str) -> list[int]:
    async with database.write() as tx:
        return [(await memories.insert(tx, make_memory(content))).id for content in contents]


async def vectors_of(database: Database) -> dict[str, int]:
    return {row[0]: row[1] for row in await database.rows("SELECT model, count(*) FROM embeddings GROUP BY model")}


async def nearest(loop: Embedding, text: str) -> int | None:
    """What a search by meaning alone finds first."""
    sense = loop.current
    vector = await sense.search_vector(text)
    if vector is None or sense.index is None:
        return None
    found = await sense.index.search([], vector, 1)
    return found[0][0] if found else None


def words(count: int) -> list[str]:
    """Texts whose letters differ."""
    return [f"{'qjxzv'[n % 5] * (1 + n // 5)} {'bkwpf'[n // 5 % 5] * (1 + n % 7)} {n}" for n in range(count)]


@pytest.mark.parametrize("name", ["openai", "ollama"])
async def test_memories_are_embedded_from_afar(database: Database, server: EmbeddingServer, name: str) -> None:
    ids = await remember(database, *words(100))
    async with embedded_by(database, name, access(server, name=name)) as loop:
        await settled(loop, f"{name}:toy:32")
        assert loop.state == "ready"
        assert loop.tokens > 100
        assert await nearest(loop, words(100)[42]) == ids[42]
    assert await vectors_of(database) == {f"{name}:toy:32": 100}


@pytest.mark.slow
async def test_a_change_of_model_leaves_no_gap(
    database: Database, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches go on all the while; each finds what it looks for, be it by the old model or the new one."""
    monkeypatch.setattr(model_switch, "RETIREMENT", 5.0)
    texts = words(300)
    ids = await remember(database, *texts)
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
    server.models["broad"] = leisurely
    async with embedded_by(database, "openai", access(server, "broad")) as loop:
        await until(lambda: _is(loop.state == "ready"))
        served: Counter[str] = Counter()
        late = 0
        while loop.current.model != "openai:broad:48" or served["openai:broad:48"] < 20:
            number = sum(served.values()) % len(texts)
            if sum(served.values()) == 5:
                late = (await remember(database, "a memory of the time between"))[0]
                loop.wake()
            served[loop.current.model] += 1
            assert await nearest(loop, texts[number]) == ids[number]
        assert late
        assert served["openai:toy:32"] > 5
        await settled(loop, "openai:broad:48")
        assert await nearest(loop, "a memory of the time between") == late
        await until(lambda: _only(database, {"openai:broad:48": 301}))
        # The file of the old index is deleted after its rows.
        await until(lambda: _is(len(list(database.path.parent.glob("vectors*.db"))) <= 1))


async def _is(value: bool) -> bool:
    return value


async def _only(database: Database, wanted: dict[str, int]) -> bool:
    return await vectors_of(database) == wanted


async def test_a_memory_stored_during_a_model_switch_is_found_at_once(
    database: Database, server: EmbeddingServer
) -> None:
    await remember(database, *words(200))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
    release = asyncio.Event()
    server.models["slow"] = lambda texts: _after(release, wide(texts), len(texts) > 1)
    async with embedded_by(database, "openai", access(server, "slow")) as loop:
        await until(lambda: _is(loop.status["coming"] == "openai:slow:48"))
        (fresh,) = await remember(database, "uuuuuuu mmmmm")
        loop.wake()
        release.set()
        await until(lambda: _is_found(loop, "uuuuuuu mmmmm", fresh))
        await settled(loop, "openai:slow:48")


def leisurely(texts: Sequence[str]) -> Vectors:
    """The broader model, which takes its time for more than a question."""
    time.sleep(0.4 if len(texts) > 1 else 0)
    return wide(texts)


def _after(event: asyncio.Event, found: Any, waits: bool) -> Any:
    """Hold a batch back, as a slow model would."""
    while waits and not event.is_set():
        time.sleep(0.01)
    time.sleep(0.05 * waits)
    return found


async def _is_found(loop: Embedding, text: str, wanted: int) -> bool:
    return await nearest(loop, text) == wanted


async def test_another_model_under_the_same_name_is_noticed(database: Database, server: EmbeddingServer) -> None:
    """The vectors of both have one length and one name; only what a known text becomes tells them apart."""
    ids = await remember(database, *words(20))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
    server.models[""] = mirrored
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32#2")
        assert await nearest(loop, words(20)[7]) == ids[7]
        await until(lambda: _only(database, {"openai:toy:32#2": 20}))


async def test_where_the_old_model_is_out_of_reach_the_new_one_serves_at_once(
    database: Database, server: EmbeddingServer
) -> None:
    await remember(database, *words(20))
    async with embedded_by(database, "ollama", access(server, name="ollama")) as loop:
        await settled(loop, "ollama:toy:32")
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        await until(lambda: _only(database, {"openai:toy:32": 20}))


async def test_a_refused_key_is_tried_once_and_the_local_model_serves(
    database: Database, server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.always = Failure(401)
    ids = await remember(database, "The queue lives in SQLite.", "The cat sleeps on the roof.")
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, LOCAL)
        assert await nearest(loop, "where are the jobs kept, in which database") == ids[0]
        assert (loop.state, loop.status["code"], loop.status["retry_at"]) == ("fallback", "E050", None)
        assert "embedder_key" in loop.error
        assert "local is used meanwhile" in loop.error
    assert len(server.asked) == 1
    assert "E050" in caplog.text
    assert "next: local" in caplog.text


async def test_a_key_that_comes_later_is_tried(database: Database, server: EmbeddingServer) -> None:
    server.always = Failure(401)
    await remember(database, *words(3))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, LOCAL)
        asked = len(server.asked)
        server.always = None
        loop.use_key("dummy")  # the same as before
        await asyncio.sleep(0.1)
        assert len(server.asked) == asked
        loop.use_key("another")
        await settled(loop, "openai:toy:32")
        assert server.asked[-1].headers["authorization"] == "Bearer another"
        assert loop.state == "ready"


async def test_rebuilt_indexes_find_the_remaining_memories(database: Database, server: EmbeddingServer) -> None:
    ids = await remember(database, *words(5))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        async with database.write() as tx:
            await tx.execute("DELETE FROM embeddings WHERE memory_id = ?", (ids[1],))
        await loop.rebuild()
        assert await nearest(loop, words(5)[1]) not in (ids[1], None)
        assert await nearest(loop, words(5)[2]) == ids[2]


async def test_without_any_embedder_words_answer(
    database: Database, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.always = Failure(403)
    monkeypatch.setattr("subconscious.embeddings.local.WEIGHTS_SHA256", "another")
    async with embedded_by(database, "openai", access(server)) as loop:
        await until(lambda: _is(loop.state == "failed"))
        assert await loop.current.search_vector("anything") is None
        assert loop.status["code"] == "E050"


async def test_an_outage_is_bridged_and_nothing_is_paid_for_twice(
    database: Database, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_fallback, "RECHECK", 0.5)
    texts = words(70)
    await remember(database, *texts[:60])
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        server.always = Failure(500)
        await remember(database, *texts[60:])
        loop.wake()
        await settled(loop, LOCAL)
        assert loop.state == "fallback"
        assert (await vectors_of(database))["openai:toy:32"] == 60
        server.always = None
        await settled(loop, "openai:toy:32")
        assert loop.state == "ready"
        await until(lambda: _only(database, {"openai:toy:32": 70, LOCAL: 70}))
    told = Counter(text for asked in server.asked for text in asked.texts)
    assert all(told[text] == 1 for text in texts[:60])


async def test_a_pause_that_is_asked_for_is_kept(database: Database, server: EmbeddingServer) -> None:
    """A long one is not waited for: others serve meanwhile."""
    await remember(database, *words(3))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        server.always = Failure(429, headers={"retry-after": "3600"})
        before = len(server.asked)
        await remember(database, "one more")
        loop.wake()
        await settled(loop, LOCAL)
        assert len(server.asked) == before + 1
        assert loop.status["code"] == "E052"
        assert loop.status["retry_at"] is not None


class Tight(EmbeddingBudget):
    """Pays for nothing until it is filled."""

    def __init__(self) -> None:
        self.seconds = 0.3
        self.bills: list[tuple[str, str, int]] = []

    async def wait(self, embedder: str, model: str, tokens: int) -> float:
        assert (embedder, model) == ("openai", "toy")
        return self.seconds

    async def spent(self, embedder: str, model: str, tokens: int) -> None:
        self.bills.append((embedder, model, tokens))


async def test_at_a_cap_memories_wait_and_the_local_model_serves(database: Database, server: EmbeddingServer) -> None:
    purse = Tight()
    await remember(database, *words(5))
    async with embedded_by(database, "openai", access(server), RemoteOptions(budget=purse)) as loop:
        await settled(loop, LOCAL)
        assert loop.state == "fallback"
        assert "cap" in loop.error
        assert not set(server.texts) & set(words(5))
        purse.seconds = 0.0
        await settled(loop, "openai:toy:32")
        assert sum(tokens for *_, tokens in purse.bills) == loop.tokens > 0


async def test_an_outage_that_is_shorter_than_the_loading_of_the_local_model_keeps_nothing_from_its_vector(
    database: Database, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(name: str, to: Access) -> Embedder | None:
        time.sleep(0.6 if name == "local" else 0)
        return open_embedder(name, to)

    monkeypatch.setattr("subconscious.embeddings.embedder_fallback.open_embedder", slowly)
    purse = Tight()
    await remember(database, *words(2))
    async with embedded_by(database, "openai", access(server), RemoteOptions(budget=purse)) as loop:
        await settled(loop, LOCAL)
        assert loop.state == "fallback"


async def test_one_refused_text_keeps_no_other_from_its_vector(database: Database, server: EmbeddingServer) -> None:
    server.refused = "poison"
    ids = await remember(database, *words(8), "a word of poison", *words(16)[8:])
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        assert loop.state == "ready"
        assert await nearest(loop, words(16)[12]) == ids[13]
        assert (await memories.get(database, ids[8])).embedding_status == "failed"
        server.refused = ""
        assert await loop.retry() == 1
        await until(lambda: _only(database, {"openai:toy:32": 17}))


async def test_a_server_that_refuses_everything_is_out_and_not_the_memories(
    database: Database, server: EmbeddingServer
) -> None:
    await remember(database, *words(30))
    server.refused = " "
    server.models[""] = lambda texts: wide([text.replace(" ", "") for text in texts])
    async with embedded_by(database, "openai", access(server)) as loop:
        server.refused = ""
        await settled(loop, "openai:toy:48")
        server.vectors = lambda found: [[0.0] * len(vector) for vector in found]
        await remember(database, *words(60)[30:])
        loop.wake()
        await settled(loop, LOCAL)
        assert loop.state == "fallback"


async def test_prompts_leave_the_machine_by_permission_alone_and_cleaned(
    database: Database, server: EmbeddingServer
) -> None:
    await remember(database, *words(3))
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    said = f"deploy with {secret} <private>for my eyes</private> tonight"
    for allowed in (False, True):
        async with embedded_by(
            database, "openai", access(server), RemoteOptions(prompts=allowed, prompt_seconds=5)
        ) as loop:
            await settled(loop, "openai:toy:32")
            server.asked.clear()
            assert (await loop.current.prompt_vector(said) is not None) is allowed
            assert len(server.texts) == int(allowed)
            # Who asks for a search has asked for it; what is secret in it is none of the maker's business either.
            assert await loop.current.search_vector(said) is not None
            assert len(server.texts) == 1  # the same question is not asked twice
            assert secret not in server.texts[0]
            assert "my eyes" not in server.texts[0]
            assert "tonight" in server.texts[0]


async def test_a_slow_embedder_makes_no_hook_wait(database: Database, server: EmbeddingServer) -> None:
    await remember(database, *words(3))
    async with embedded_by(
        database, "openai", access(server), RemoteOptions(prompts=True, prompt_seconds=0.01)
    ) as loop:
        await settled(loop, "openai:toy:32")
        server.delay = 0.5
        asked = len(server.asked)
        assert [await loop.current.prompt_vector(f"question {n}") for n in range(5)] == [None] * 5
        assert len(server.asked) - asked <= sense.MAX_CONCURRENT  # those that hang gather no crowd
        server.delay = 0.0
        await until(lambda: _came_late(loop))


async def _came_late(loop: Embedding) -> bool:
    """What was too late for its question is there for the next one."""
    return await loop.current.prompt_vector("question 0") is not None


async def test_questions_that_fail_bring_the_next_in_the_chain(database: Database, server: EmbeddingServer) -> None:
    await remember(database, *words(3))
    async with embedded_by(database, "openai", access(server), RemoteOptions(prompts=True, prompt_seconds=5)) as loop:
        await settled(loop, "openai:toy:32")
        server.always = Failure(401)
        assert await loop.current.prompt_vector("anything") is None
        await settled(loop, LOCAL)
        assert await loop.current.prompt_vector("anything") is not None


async def test_questions_that_fail_now_and_then_change_nothing(database: Database, server: EmbeddingServer) -> None:
    await remember(database, *words(3))
    async with embedded_by(database, "openai", access(server), RemoteOptions(prompts=True, prompt_seconds=5)) as loop:
        await settled(loop, "openai:toy:32")
        for number in range(2 * MAX_FAILED_QUERIES):
            server.always = Failure(500)
            assert await loop.current.prompt_vector(f"one that fails, {number}") is None
            server.always = None
            assert await loop.current.prompt_vector(f"one that is answered, {number}") is not None
        assert loop.current.model == "openai:toy:32"


async def test_who_holds_on_to_the_model_that_served_is_answered_by_it_and_then_by_words(
    database: Database, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_switch, "RETIREMENT", 3.0)  # long enough for a question on a busy machine
    await remember(database, *words(3))
    async with embedded_by(database, "openai", access(server)) as loop:
        await settled(loop, "openai:toy:32")
        old = loop.current
        await loop._switch.serve(await loop._switch.open_model(embedding_models.EmbeddingModel("other", "other", 48)))
        vector = await old.search_vector("anything")
        assert vector is not None
        assert old.index is not None
        assert len(await old.index.search([], vector, 1)) == 1
        await until(lambda: _is(old.embedder is None))
        assert await old.search_vector("anything") is None


@pytest.mark.process
def test_the_pieces_of_a_change_survive_a_kill(stopped: Home, server: EmbeddingServer) -> None:
    """kill -9 in the middle of a change of models: it goes on where it was, and pays for no batch but one twice."""
    texts = words(400)
    asyncio.run(_filled(stopped, texts))
    configure_remote(stopped, server, "toy")
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert _status(stopped)["model"] == "openai:toy:32"
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 20)
    server.asked.clear()
    server.delay = 0.1
    configure_remote(stopped, server, "broad")
    wire.ensure_daemon(stopped)
    assert eventually(lambda: len([asked for asked in server.asked if len(asked.texts) > 1]) >= 3)
    status = wire.call(stopped, "status")
    assert status["embedder"]["model"] == "openai:toy:32"
    assert status["embedder"]["coming"] == "openai:broad:48"
    os.kill(status["pid"], signal.SIGKILL)
    wire.await_absence(stopped, 20)
    server.delay = 0.0
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert eventually(lambda: _status(stopped)["model"] == "openai:broad:48")
    told = Counter(text for asked in server.asked if asked.body["model"] == "broad" for text in asked.texts)
    assert set(texts) <= set(told)
    assert sum(told[text] > 1 for text in texts) <= 64
    found = wire.call(stopped, "search", {"query": texts[7], "cwd": "/", "everywhere": True, "limit": 1})
    assert "vector" in [engine["engine"] for engine in found["hits"][0]["engines"]]


async def _filled(home: Home, texts: list[str]) -> None:
    database = await open_database(home.database)
    await migrate(database)
    assert [text_of(make_memory(text)) for text in texts] == texts
    await remember(database, *texts)
    await database.close()


def _status(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = wire.call(home, "status")["embedder"]
    return found


def test_the_key_is_shown_and_logged_nowhere(stopped: Home, server: EmbeddingServer) -> None:
    configure_remote(stopped, server, "toy")
    config = stopped.root / "config.toml"
    config.write_text(config.read_text().replace('"dummy"', '"sk-very-secret-key"'))
    server.always = Failure(401, b'{"error": {"message": "wrong key"}}')
    wire.ensure_daemon(stopped)
    assert eventually(lambda: _status(stopped)["state"] == "fallback")
    assert server.asked[0].headers["authorization"] == "Bearer sk-very-secret-key"
    assert "sk-very" not in str(wire.call(stopped, "status"))
    assert "sk-very" not in (stopped.log / "daemon.log").read_text()


async def test_a_prompt_that_waited_for_an_embedder_is_not_sent_to_a_remote_one(
    database: Database, server: EmbeddingServer
) -> None:
    """Which embedder it would be is known only once it is loaded."""
    index = sense.QueryEmbedder("openai:toy:32", None, RemoteOptions(prompts=False, prompt_seconds=5))
    async with embedded_by(database, "openai", access(server), RemoteOptions()) as loop:
        await remember(database, *words(3))
        loop.wake()
        await settled(loop, "openai:toy:32")
        server.asked.clear()
        asked = asyncio.create_task(index.prompt_vector("what was typed meanwhile"))
        await asyncio.sleep(0)
        index.set_embedder(loop.current.embedder)
        assert await asked is None
        assert server.texts == []


async def test_an_idle_model_is_unloaded_and_loaded_in_the_background(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.0)
    async with embedded_by(database, "local") as loop:
        await settled(loop, LOCAL)
        found = loop.current.found
        model = loop.current.embedder
        assert isinstance(model, LocalEmbedder)
        await loop.cool_down()
        assert not model.loaded
        found.put("the same question", found.version(1), [])
        assert await loop.current.search_vector("retries") is None  # words answer, and nobody waits
        await until(lambda: _is_loaded(model))
        assert await loop.current.search_vector("retries") is not None
        assert found.get("the same question", found.version(1)) is None


async def _is_loaded(model: LocalEmbedder) -> bool:
    return model.loaded


async def test_a_model_in_use_stays_loaded(database: Database) -> None:
    async with embedded_by(database, "local") as loop:
        await settled(loop, LOCAL)
        await loop.cool_down()
        assert await loop.current.search_vector("retries") is not None


async def test_storing_waits_for_an_unloaded_model(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.0)
    async with embedded_by(database, "local") as loop:
        await settled(loop, LOCAL)
        await loop.cool_down()
        assert await loop.current.local_vector("retries") is not None
        await loop.cool_down()
        said = judge.Spoken("all money is in cents, as integers")
        model = await loop.loaded_embedder()
        assert isinstance(model, LocalEmbedder)
        assert not model.loaded
        assert judge.opinions([said], model)[said] == judge.model().opinion(said, model)


async def test_captures_wait_while_the_daemon_loads_its_first_model(database: Database) -> None:
    async with embedded_by(database, "local") as loop:
        await asyncio.sleep(0)  # its loop has begun
        assert loop.current.embedder is None
        assert isinstance(await loop.loaded_embedder(), LocalEmbedder)


async def test_a_closed_model_is_not_loaded_again() -> None:
    model = LocalEmbedder()
    model.unload()
    assert model.embed(["retries"]).shape == (1, model.dim)
    model.close()
    with pytest.raises(EmbedderError, match="closed"):
        model.load()
    assert not model.loaded
