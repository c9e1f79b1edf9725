"""Which entries that no daemon could hear may have been written by a command of another session.

While no daemon listens nobody vouches for a hook, and a command can write a session that never was: its transcript and
its entries, in the right order and over time. It can't have the kernel say that a file was last changed before it was
written, nor undo that hooks have spoken for its own session. So an entry is doubted where another session, which hooks
had spoken for before, still runs or has entries there too, unless hooks spoke for the entry's session as well. Nothing
is lost: what the doubted session said waits for review, and once a hook speaks for it, it is believed like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from subconscious.store import events

from .core import Core
from .entry import BrokenEntryError, read_entry
from .peers import running_clients
from .vouching import KNOWN


@dataclass(frozen=True, slots=True)
class Lying:
    """An entry that lies in the spool: whose it claims to be, and since when it is as it is, by the kernel's clock.

    That is no earlier than it was written, and later where its mode was changed: the daemon does that to what is open.
    """

    name: str
    session_id: str
    changed: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """The sessions of a client that hooks spoke for, and from when on its commands could have written entries."""

    since: float
    sessions: frozenset[str]


async def doubted(core: Core, names: Iterable[str], folder: Path) -> set[str]:
    """The names of the entries that a command of another session may have written."""
    lying = await asyncio.to_thread(_read, [folder / name for name in names])
    if not lying:
        return set()
    told = {one: await events.history(core.database, "prompt", one) for one in {one.session_id for one in lying}}
    others = await _running(core)
    for session_id, known in told.items():
        if since := [event["at"] for event in known if event["action"] == KNOWN and event["reason"]]:
            others.append(Spoken(min(since), frozenset({session_id})))
    return {one.name for one in lying if not told[one.session_id] and _may_be_anothers(one, others)}


async def _running(core: Core) -> list[Spoken]:
    """The clients that run now and whose hooks have spoken; others may be anybody's, such as the entry's own."""
    clients = await asyncio.to_thread(running_clients, core.home.root)
    spoken = await events.subjects_by_reason(core.database, KNOWN, "prompt", list(clients))
    return [Spoken(clients[client], frozenset(sessions)) for client, sessions in spoken.items()]


def _may_be_anothers(entry: Lying, others: Collection[Spoken]) -> bool:
    return any(one.since < entry.changed and entry.session_id not in one.sessions for one in others)


def _read(paths: Sequence[Path]) -> list[Lying]:
    """The entries that can be read; the others name no session."""
    found = []
    for path in paths:
        try:
            changed = path.lstat().st_ctime
            found.append(Lying(path.name, read_entry(path).payload.session_id, changed))
        except (OSError, BrokenEntryError):
            continue
    return found
