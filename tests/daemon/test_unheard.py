"""Entries that no daemon could hear: whose word they are when the next daemon finds them."""

from __future__ import annotations

from pathlib import Path
from time import time

import pytest

from daemon import unheard
from daemon.core import Core
from daemon.entry import Entry, Payload
from daemon.vouching import KNOWN
from subconscious.store import events

CLIENT = "7-4711"


async def bind(core: Core, session_id: str, client: str = CLIENT) -> None:
    """Put on record that a client's hook spoke for a session."""
    async with core.database.write() as tx:
        await events.record(tx, KNOWN, "prompt", session_id, reason=client)


def lay(folder: Path, session_id: str) -> Entry:
    """An entry that lies in the spool, and claims to be of yesterday."""
    name = f"{session_id}.entry"
    (folder / name).write_text("")
    return Entry(name, "Stop", time() - 86_400, "/", "", "", {}, Payload(session_id))


async def doubted(core: Core, entry: Entry, folder: Path) -> bool:
    return entry.name in await unheard.doubted(core, [entry], await unheard.running_sessions(core), folder)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The clients that run, and since when: the process table of a test has none."""
    clients = {CLIENT: time() - 60}
    monkeypatch.setattr(unheard, "running_clients", lambda root: clients)
    return clients


@pytest.mark.usefixtures("running")
async def test_another_running_session_may_have_written_it(core: Core, tmp_path: Path) -> None:
    await bind(core, "a")
    assert await doubted(core, lay(tmp_path, "b"), tmp_path)
    assert not await doubted(core, lay(tmp_path, "a"), tmp_path)


@pytest.mark.usefixtures("running")
async def test_a_session_that_a_hook_spoke_for_is_believed(core: Core, tmp_path: Path) -> None:
    await bind(core, "a")
    await bind(core, "b", "8-4712")
    assert not await doubted(core, lay(tmp_path, "b"), tmp_path)


async def test_a_session_that_began_later_has_written_nothing(
    core: Core, tmp_path: Path, running: dict[str, float]
) -> None:
    await bind(core, "a")
    entry = lay(tmp_path, "b")
    running[CLIENT] = time() + 60
    assert not await doubted(core, entry, tmp_path)


@pytest.mark.usefixtures("running")
async def test_a_client_that_nobody_has_heard_may_be_its_own(core: Core, tmp_path: Path) -> None:
    """As on the first day, when sessions run before there is a daemon."""
    assert not await doubted(core, lay(tmp_path, "b"), tmp_path)


async def test_a_client_that_has_ended_is_not_looked_at(core: Core, tmp_path: Path, running: dict[str, float]) -> None:
    await bind(core, "a")
    running.clear()
    assert not await doubted(core, lay(tmp_path, "b"), tmp_path)
