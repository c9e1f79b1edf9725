"""Remote embeddings are paid for from the same purse as any model."""

from __future__ import annotations

from subconscious.embeddings.query_embedder import CappedBudget
from subconscious.llm.spending import Spending
from subconscious.settings.settings import Settings
from subconscious.store import spend
from subconscious.store.connect import Database

SMALL = ("openai", "text-embedding-3-small")


async def test_embeddings_are_recorded_with_their_price(database: Database) -> None:
    account = CappedBudget(Spending(database, Settings()), "")
    await account.spent(*SMALL, 1_000_000)
    assert await spend.since(database.reader, 0) == 0.02
    (row,) = await database.rows("SELECT purpose, input_tokens, cost FROM llm_calls")
    assert tuple(row) == ("embedding", 1_000_000, 0.02)


async def test_at_the_cap_embedding_waits_for_tomorrow(database: Database) -> None:
    account = CappedBudget(Spending(database, Settings(cost_per_day=0.01)), "")
    assert await account.wait(*SMALL, 400_000) == 0.0
    await account.spent(*SMALL, 400_000)
    assert 0 < await account.wait(*SMALL, 400_000) <= 25 * 3600


async def test_a_server_of_ones_own_counts_at_an_assumed_price_and_a_local_one_for_nothing(database: Database) -> None:
    settings = Settings(cost_per_day=0.01)
    assert await CappedBudget(Spending(database, settings), "http://127.0.0.1:1").wait(*SMALL, 1_000_000) > 0
    assert await CappedBudget(Spending(database, settings), "").wait("ollama", "nomic-embed-text", 10**9) == 0.0
