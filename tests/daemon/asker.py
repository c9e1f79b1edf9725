"""A process of its own that asks what can wait until all is answered: ``asker.py HOME URL COUNT``. Made to be killed.

Each answer is written down as an event, in the transaction that uses it.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

import aiosqlite
from pydantic import BaseModel, SecretStr

from bench.tuned import tuned
from subconscious.llm.answers import Purpose
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredRequests
from subconscious.llm.providers import Request, open_provider
from subconscious.settings.home import Home
from subconscious.store import events, llm_requests
from subconscious.store.connect import Database, open_database
from subconscious.store.llm_requests import StoredRequest
from subconscious.store.migrate import migrate


class Word(BaseModel):
    word: str


async def use(tx: aiosqlite.Connection, question: StoredRequest, answer: Word) -> None:
    await events.record(tx, "answered", "question", question.key, reason=answer.word)


async def main(home: Home, url: str, count: int) -> None:
    database = await open_database(home.database)
    await migrate(database)
    settings = tuned(
        provider="anthropic",
        anthropic_key=SecretStr("test"),
        native_batch_seconds=0.05,
        native_batch_size=20,
    )
    # The settings name Anthropic itself, so that its prices hold; what is opened speaks to the fake.
    client = LLMClient(database, settings, lambda name, access: open_provider(name, replace(access, base_url=url)))
    later = DeferredRequests(database, client)
    later.register("test", Purpose(Word, use))
    await ask_all(database, later, count)
    while await unanswered(database):
        await later.round()
        await asyncio.sleep(0.05)
    await client.close()
    await database.close()


async def unanswered(database: Database) -> int:
    counts = await llm_requests.counts(database)
    return counts["waiting"] + counts["sent"]


async def ask_all(database: Database, later: DeferredRequests, count: int) -> None:
    """Put every question on record; those that are, whatever became of them, stay as they are."""
    async with database.write() as tx:
        for number in range(count):
            await later.put(tx, f"q{number}", Request("test", "Repeat it.", f"word {number}", Word))


if __name__ == "__main__":
    from pathlib import Path

    asyncio.run(main(Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])))
