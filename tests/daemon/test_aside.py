"""What can wait steps aside while somebody is being answered, and goes on in the end."""

from __future__ import annotations

import asyncio
from time import time

import pytest

from subconscious.app import App
from subconscious.context.priority import LOOK, aside
from subconscious.embeddings.background import Embedding
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database


@pytest.fixture
def app(home: Home, database: Database) -> App:
    return App(home, Settings(embedder="none"), database, Embedding("none", database))


async def done_in(app: App, looks: float, quiet: float = 0.0, most: float = 60.0) -> bool:
    """Whether the wait ends within some looks."""
    waiting = asyncio.create_task(aside(app.signals, quiet, most))
    done, _ = await asyncio.wait({waiting}, timeout=looks * LOOK)
    waiting.cancel()
    return bool(done)


async def test_it_waits_while_somebody_is_answered_and_no_longer(app: App) -> None:
    app.signals.last_heard = 0.0
    async with app.signals.answering["session"]:
        assert not await done_in(app, 5)
    assert await done_in(app, 50)


async def test_after_the_longest_wait_it_goes_on_though_hooks_never_end(app: App) -> None:
    async with app.signals.answering["session"]:
        assert await done_in(app, 100, most=2 * LOOK)


async def test_upkeep_waits_for_silence_and_trusts_no_clock_that_was_set_back(app: App) -> None:
    app.signals.last_heard = time()
    assert not await done_in(app, 5, quiet=60.0)
    app.signals.last_heard = time() + 3600
    assert await done_in(app, 50, quiet=60.0)


async def test_what_a_start_waits_for_does_not_step_aside(app: App) -> None:
    app.signals.awaited += 1
    async with app.signals.answering["session"]:
        assert await done_in(app, 50, quiet=60.0)
