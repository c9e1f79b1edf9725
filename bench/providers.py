"""1,000 jobs that call a model through each provider, against a server that fails one time in ten.

    python -m bench.providers [--jobs 1000] [--failing 0.1] [--claude COMMAND] [anthropic openai ollama ...]

The providers are the real ones, with their SDKs, the client above them and the durable queue. The loopback server's
records are compared with ours: jobs lost or done twice, calls and tokens in any window against the limits, dollars
charged against dollars recorded. Calls that the server cut off in the middle of an answer have an unknown cost and are
counted separately. Limits are 30 calls and 20,000 tokens a second, instead of 60 and 100,000 a minute. ``--claude``
adds some jobs through the real Claude Code, one child process at a time.

Then the same small requests are sent one by one, joined ten to a call, and as a native batch: calls and dollars.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, time
from typing import Any

import aiosqlite
from pydantic import BaseModel, SecretStr

from bench.fake_models import Books, FakeModel
from bench.tuned import tuned
from subconscious.domain.errors import ProviderError
from subconscious.llm.answers import Purpose
from subconscious.llm.bounds import pause_of
from subconscious.llm.channel import Opener
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredRequests
from subconscious.llm.providers import Access, Provider, Request, open_provider
from subconscious.settings.settings import Settings
from subconscious.store import events, jobs, llm_requests
from subconscious.store.connect import Database, open_database
from subconscious.store.jobs import Job
from subconscious.store.llm_requests import StoredRequest
from subconscious.store.migrate import migrate
from tests.client import fake_api

WORKERS = 24
WINDOW = 1.0
REQUESTS = 30
TOKENS = 20_000
SMALL = 200
"""Small requests: sent one by one, joined, and as a batch."""

SYSTEM = "You read what was said in a programming session and say which of it is worth remembering. " * 12
TEXT = "We decided to keep amounts as integer cents because floats drift when they are summed. " * 4
PATHS = {"openai": "/v1"}


class Word(BaseModel):
    """The requested answer: a repetition of the text."""

    word: str


@dataclass(frozen=True, slots=True)
class Tally:
    """The results of one provider's jobs."""

    provider: str
    seconds: float
    done: Counter[str]
    books: Any
    recorded: float
    unknown: int
    calls: int

    def failures(self) -> str:
        return ", ".join(f"{number} {kind}" for kind, number in sorted(self.books.failures.items()))

    def most(self) -> tuple[int, int]:
        """The most requests and tokens that the server saw in any window."""
        arrivals = sorted(self.books.arrivals)
        most_requests = most_tokens = first = tokens = 0
        for last, (at, weight) in enumerate(arrivals):
            tokens += weight
            while at - arrivals[first][0] > WINDOW:
                tokens -= arrivals[first][1]
                first += 1
            most_requests = max(most_requests, last - first + 1)
            most_tokens = max(most_tokens, tokens)
        return most_requests, most_tokens


def settings(provider: str, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "provider": provider,
        "requests_per_minute": REQUESTS,
        "tokens_per_minute": TOKENS,
        "rate_window_seconds": WINDOW,
        "cost_per_day": 1000,
        "native_batch_seconds": 0.2,
        "anthropic_key": SecretStr("bench"),
        "openai_key": SecretStr("bench"),
    }
    return tuned(**values | changes)


def opener(url: str) -> Opener:
    """Open the provider with our server's address; the settings have the original one, so that its prices apply."""

    def opened(name: str, access: Access) -> Provider:
        return open_provider(name, replace(access, base_url=url + PATHS.get(name, "")))

    return opened


class Queue:
    """Jobs in the durable queue, processed as by the daemon: failures wait, and each result is stored once."""

    def __init__(self, database: Database, client: LLMClient, count: int) -> None:
        self._database = database
        self._client = client
        self._count = count

    async def run(self) -> None:
        async with self._database.write() as tx:
            for number in range(self._count):
                await jobs.enqueue(tx, f"job-{number}", "Stop", f"lane-{number}", time())
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work())

    async def _work(self) -> None:
        while (await jobs.counts(self._database))["ready"]:
            async with self._database.write() as tx:
                job = await jobs.lease(tx, time(), 600)
            if job is None:
                await asyncio.sleep(0.05)
                continue
            await self._attempt(job)

    async def _attempt(self, job: Job) -> None:
        request = Request("capture", SYSTEM, f"{job.name}: {TEXT}", Word, max_tokens=200)
        try:
            answer = await self._client.ask(request, f"session-{job.id % 50}")
        except ProviderError as error:
            async with self._database.write() as tx:
                await jobs.retry(tx, job, time() + min(pause_of(error), 1.0), error.message)
            return
        assert isinstance(answer, Word)
        async with self._database.write() as tx:
            await events.record(tx, "captured", "job", answer.word.partition(":")[0])
            await jobs.finish(tx, job, time())


async def fresh(folder: Path, name: str) -> Database:
    database = await open_database(folder / f"{name}.db")
    await migrate(database)
    return database


async def one(database: Database, sql: str) -> Any:
    return (await database.rows(sql))[0][0]


async def ask_all(folder: Path, provider: str, count: int, failing: float) -> Tally:
    model = FakeModel(failing=failing, seed=11)
    model.dawdle = 0.05
    with model.serving() as url:
        return await work_off(folder, model.books, settings(provider), opener(url), count)


async def ask_claude_code(folder: Path, command: str, count: int, failing: float) -> Tally:
    """The same through the real Claude Code; it reports the cost of its calls, so there are no other records."""
    chance = random.Random(11)
    books = Books()
    counting = threading.Lock()  # requests are answered at the same time

    def rule(request: fake_api.Request) -> fake_api.Answer:
        with counting:
            if chance.random() < failing:
                books.failures["500"] = books.failures.get("500", 0) + 1
                return fake_api.fails(500, "broken")
        text = request.prompt.partition("</system-reminder>")[2].lstrip() or request.prompt
        return fake_api.uses("StructuredOutput", word=text)

    with fake_api.FakeApi() as api:
        api.answer_by(rule)
        options = {"command": command, "config_dir": str(folder / "config"), "folder": str(folder / "run")}

        def opened(name: str, access: Access) -> Provider:
            return open_provider(name, replace(access, base_url=api.url, key="bench", options=options))

        return await work_off(folder, books, settings("claude_code"), opened, count)


async def work_off(folder: Path, books: Books, chosen: Settings, opener: Opener, count: int) -> Tally:
    database = await fresh(folder, chosen.provider)
    client = LLMClient(database, chosen, opener)
    begun = monotonic()
    await Queue(database, client, count).run()
    seconds = monotonic() - begun
    await client.close()
    rows = await database.rows("SELECT subject_id FROM events WHERE action = 'captured'")
    tally = Tally(
        chosen.provider,
        seconds,
        Counter(row[0] for row in rows),
        books,
        await one(database, "SELECT coalesce(sum(cost), 0) FROM llm_calls"),
        await one(database, "SELECT count(*) FROM llm_calls WHERE cost IS NULL"),
        await one(database, "SELECT count(*) FROM llm_calls"),
    )
    await database.close()
    return tally


def tell(tally: Tally, count: int) -> bool:
    lost = count - len(tally.done)
    twice = sum(times > 1 for times in tally.done.values())
    requests, tokens = tally.most()
    books = tally.provider != "claude_code"
    exact = abs(tally.recorded - tally.books.charged) < 1e-9 or not books
    print(
        f"{tally.provider:<12}{count:>6}{lost:>6}{twice:>7}{tally.calls:>7}{requests:>6}/{REQUESTS}"
        f"{tokens:>8}/{TOKENS}{tally.recorded:>10.5f}{tally.books.charged if books else tally.recorded:>10.5f}"
        f"{tally.unknown:>5}/{tally.books.cut:<5}{tally.seconds:>6.1f}  {tally.failures()}"
    )
    # Ollama's answers cost nothing, cut off or not.
    told = tally.unknown == (0 if tally.provider == "ollama" else tally.books.cut)
    return lost == twice == 0 and requests <= REQUESTS and tokens <= TOKENS and exact and told


async def small(folder: Path, way: str) -> tuple[int, float, float]:
    """Ask small questions in one way; the calls at the server, the dollars it charged, those we recorded."""
    model = FakeModel()
    database = await fresh(folder, way)
    words = [f"statement {number}: amounts are integer cents" for number in range(SMALL)]
    with model.serving() as url:
        limits = {"requests_per_minute": 10_000, "tokens_per_minute": 10_000_000}
        client = LLMClient(database, settings("anthropic", **limits), opener(url))
        found = await (later(database, client, words) if way == "native" else at_once(client, words, way == "joined"))
        await client.close()
    assert sorted(found) == sorted(words), f"{way}: {len(found)} of {SMALL}"
    calls = len(model.books.batches) or len(model.books.arrivals)
    recorded = await one(database, "SELECT sum(cost) FROM llm_calls")
    await database.close()
    return calls, model.books.charged, recorded


def question(word: str) -> Request:
    return Request("poisoning", SYSTEM, word, Word, max_tokens=60)


async def at_once(client: LLMClient, words: Sequence[str], join: bool) -> list[str]:
    ask = client.asker("s", "p", join=join)
    return [answer.word for answer in await asyncio.gather(*(ask(question(word)) for word in words))]  # type: ignore[attr-defined]


async def later(database: Database, client: LLMClient, words: Sequence[str]) -> list[str]:
    found: list[str] = []

    async def use(tx: aiosqlite.Connection, request: StoredRequest, answer: Word) -> None:
        del tx, request
        found.append(answer.word)

    waiting = DeferredRequests(database, client)
    waiting.register("poisoning", Purpose(Word, use))
    async with database.write() as tx:
        for number, word in enumerate(words):
            await waiting.put(tx, str(number), question(word), session_id="s", project_id="p")
    while (counts := await llm_requests.counts(database))["waiting"] + counts["sent"]:
        await waiting.round()
        await asyncio.sleep(0.1)
    return found


async def run(folder: Path, options: argparse.Namespace) -> bool:
    print(
        f"{'provider':<12}{'jobs':>6}{'lost':>6}{'twice':>7}{'calls':>7}{'most/window':>12}{'tokens/window':>15}"
        f"{'recorded':>10}{'charged':>10}{'unknown/cut':>11}{'s':>6}  failures"
    )
    count, failing = options.jobs, options.failing
    fine = [tell(await ask_all(folder, provider, count, failing), count) for provider in options.providers]
    if options.claude:
        few = options.claude_jobs
        fine.append(tell(await ask_claude_code(folder, options.claude, few, failing), few))
    print(f"\n{SMALL} small questions{'calls':>12}{'charged':>11}{'recorded':>11}")
    tallies = {way: await small(folder, way) for way in ("singly", "joined", "native")}
    for way, (calls, charged, recorded) in tallies.items():
        print(f"  {way:<18}{calls:>12}{charged:>11.5f}{recorded:>11.5f}")
        fine.append(abs(charged - recorded) < 1e-9)
    fewer = [1 - tallies[way][0] / tallies["singly"][0] for way in ("joined", "native")]
    cheaper = [1 - tallies[way][1] / tallies["singly"][1] for way in ("joined", "native")]
    print(f"fewer calls: joined {fewer[0]:.0%}, native {fewer[1]:.1%}; cheaper: {cheaper[0]:.0%}, {cheaper[1]:.0%}")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB at most, the server included")
    return all(fine) and min(fewer) >= 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("providers", nargs="*", default=["anthropic", "openai", "ollama"])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--failing", type=float, default=0.1)
    parser.add_argument("--claude", default="", metavar="COMMAND", help="the real Claude Code, to go through it too")
    parser.add_argument("--claude-jobs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="providers-") as folder:
        fine = asyncio.run(run(Path(folder), options))
    print("as promised" if fine else "NOT as promised")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
