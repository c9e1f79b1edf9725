"""A daemon with a dead part would be a deaf one: whichever part fails, it leaves, and the next hook starts another."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from daemon import lifecycle, schedule, worker
from daemon.lock import Lock
from subconscious.capture.llm_extraction import refinement_worker
from subconscious.embeddings import background
from subconscious.llm import deferred
from subconscious.redaction.cleaning import clean
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import redactions
from subconscious.store.connect import open_database

PATIENCE = 30.0


async def fails(self: Any) -> None:
    raise RuntimeError("a fault of ours")


@pytest.mark.parametrize(
    "part",
    [
        deferred.DeferredWorker,
        refinement_worker.Refining,
        schedule.Schedule,
        worker.Workers,
        background.Embedding,
    ],
    ids=lambda part: part.__name__,
)
async def test_a_part_that_fails_takes_the_daemon_along(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: type
) -> None:
    monkeypatch.setattr(part, "run", fails)
    home.make()
    lock = Lock(home.lock)
    assert lock.take()
    try:
        await asyncio.wait_for(lifecycle.run(home, Settings(embedder="none"), lock), PATIENCE)
    finally:
        lock.release()
    assert "a part of the daemon failed" in caplog.text
    assert not home.socket.exists()


async def test_it_leaves_when_told_to_and_writes_down_what_was_taken_out(home: Home) -> None:
    home.make()
    lock = Lock(home.lock)
    assert lock.take()
    settings = Settings(embedder="none")
    running = asyncio.create_task(lifecycle.run(home, settings, lock))
    try:
        async with asyncio.timeout(PATIENCE):
            while not home.socket.exists():
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.2)  # the first round of upkeep is over
            clean("the key is AKIA" + "IOSFODNN7EXAMPLQ")
            os.kill(os.getpid(), signal.SIGTERM)
            await running
    finally:
        lock.release()
    database = await open_database(home.database)
    try:
        assert len(await redactions.listing(database, 9)) == 1
    finally:
        await database.close()


async def test_a_part_that_loses_a_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "CANCEL_SECONDS", 0.1)
    lost = 0

    async def stubborn() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost > 1:
                    raise

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await asyncio.wait_for(lifecycle.cancel({task}), 20)
    assert lost == 2
    assert task.cancelled()
