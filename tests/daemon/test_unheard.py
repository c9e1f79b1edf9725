"""Entries that no daemon could hear: whose word they are when the next daemon finds them."""

from __future__ import annotations

import json
from pathlib import Path
from time import time

import pytest

from daemon.spool import Spool
from subconscious.app import App
from subconscious.authorship import unheard_entries
from subconscious.authorship.attestation import EARLY, KNOWN
from subconscious.store import events
from subconscious.store.rows import content_hash

CLIENT = "7-4711"


async def bind(app: App, session_id: str, client: str = CLIENT) -> None:
    """Put on record that a client's hook spoke for a session."""
    async with app.database.write() as tx:
        await events.record(tx, KNOWN, "prompt", session_id, reason=client)


def lay(folder: Path, session_id: str, event: str = "Stop") -> str:
    """Lay an entry into the spool that claims to be of long ago; return its name."""
    name = f"{len(list(folder.iterdir())):020d}-1-00000000.entry"
    head = f"subconscious 1\t{event}\t1000000000000000000\t/\t\t0.1.0\t\n"
    (folder / name).write_text(head + json.dumps({"session_id": session_id}))
    return name


async def doubted(app: App, *names: str) -> set[str]:
    return set((await unheard_entries.examine(app, names, app.home.spool)).doubted)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The clients that run, and since when: the process table of a test has none."""
    clients = {CLIENT: time() - 60}
    monkeypatch.setattr(unheard_entries, "running_clients", lambda root: clients)
    return clients


@pytest.mark.usefixtures("running")
async def test_a_running_session_may_have_written_it(app: App) -> None:
    await bind(app, "a")
    ours, forged = lay(app.home.spool, "a"), lay(app.home.spool, "b")
    assert await doubted(app, ours, forged) == {forged}


@pytest.mark.parametrize("last", [True, False])
async def test_a_session_that_has_entries_there_may_have_written_it(
    app: App, running: dict[str, float], last: bool
) -> None:
    """Its client has ended before a daemon could look for it. Which entry is older can't be told: modes change too."""
    running.clear()
    await bind(app, "a")
    names = [lay(app.home.spool, session) for session in (("b", "a") if last else ("a", "b"))]
    assert await doubted(app, *names) == {names[0 if last else 1]}


@pytest.mark.usefixtures("running")
async def test_a_session_that_a_hook_spoke_for_is_believed(app: App) -> None:
    await bind(app, "a")
    await bind(app, "b", "8-4712")
    assert await doubted(app, lay(app.home.spool, "b")) == set()


async def test_a_session_that_began_later_has_written_nothing(app: App, running: dict[str, float]) -> None:
    await bind(app, "a")
    entry = lay(app.home.spool, "b")
    running[CLIENT] = time() + 60
    assert await doubted(app, entry) == set()


@pytest.mark.usefixtures("running")
async def test_a_client_that_nobody_has_heard_may_be_its_own(app: App) -> None:
    """As on the first day, when sessions run before there is a daemon."""
    assert await doubted(app, lay(app.home.spool, "a"), lay(app.home.spool, "b")) == set()


async def test_a_broken_entry_names_no_session(app: App) -> None:
    name = lay(app.home.spool, "b")
    (app.home.spool / name).write_bytes(b"what?")
    assert await doubted(app, name, "gone.entry") == set()


async def test_entries_of_sessions_that_no_daemon_heard_of_are_unknown(app: App) -> None:
    await bind(app, "a", "")
    names = [lay(app.home.spool, session) for session in "ab"]
    assert (await unheard_entries.examine(app, names, app.home.spool)).unknown == {names[1]}


async def test_prompts_from_before_the_first_daemon_are_recorded(app: App) -> None:
    """And no prompt of a session that a daemon knows: one of its commands may have written the entry."""
    await bind(app, "a", "")
    for session in "ab":
        name = lay(app.home.spool, session, "UserPromptSubmit")
        head = (app.home.spool / name).read_text().partition("\n")[0]
        payload = {"session_id": session, "prompt": f"words of {session}", "prompt_id": "1"}
        (app.home.spool / name).write_text(f"{head}\n{json.dumps(payload)}")
    spool = Spool(app)
    await spool.note_unheard()
    await spool.sweep()
    recorded = {one: await events.reasons_of(app.database, EARLY, "prompt", f"{one}/") for one in "ab"}
    assert recorded == {"a": set(), "b": {content_hash("words of b")}}
