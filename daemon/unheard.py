"""Whether entries that no daemon could hear may have been written by a command of a session that runs.

While no daemon listens nobody vouches for a hook, and a command can write a session that never was: its transcript and
its entries, in the right order and over time. It can't choose when the kernel last changed a file, nor when the client
that runs it started. So an entry is doubted where a client was running before it, and hooks have spoken for that
client's other sessions but not for the entry's. Nothing is lost: the session is believed once a hook speaks for it, and
what it said waits for review until then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from subconscious.store import events

from .core import Core
from .entry import Entry
from .peers import running_clients
from .vouching import KNOWN


@dataclass(frozen=True, slots=True)
class Running:
    """A client that runs: since when, and the sessions that its hooks have spoken for."""

    since: float
    sessions: frozenset[str]


async def running_sessions(core: Core) -> list[Running]:
    """The clients that run now, without those whose hooks no daemon has heard: they may be anybody's."""
    clients = await asyncio.to_thread(running_clients, core.home.root)
    spoken = await events.subjects_by_reason(core.database, KNOWN, "prompt", list(clients))
    return [Running(clients[client], frozenset(sessions)) for client, sessions in spoken.items()]


async def doubted(core: Core, entries: Iterable[Entry], running: list[Running], folder: Path) -> set[str]:
    """The names of the entries that another session may have written."""
    names = set()
    for entry in entries if running else ():
        session_id = entry.payload.session_id
        written = await asyncio.to_thread(_written, folder / entry.name)
        others = [one for one in running if one.since < written and session_id not in one.sessions]
        if others and not await events.history(core.database, "prompt", session_id):
            names.add(entry.name)
    return names


def _written(path: Path) -> float:
    """When a file was last changed, by the kernel's clock; what is gone was written at no time."""
    try:
        return path.lstat().st_ctime
    except OSError:
        return 0.0
