"""Finds spool entries, written while no daemon was running, that a command of another session may have forged.

While no daemon runs, nothing confirms that the client itself ran a hook, and a command can forge a whole session: its
transcript and its entries, in the right order and over time. But the command can't set back the kernel's change time of
a file, and it can't undo that hooks have run for the session that it belongs to. So an entry of a session without hooks
is doubted if another session, for which hooks ran, is still running or has entries in the spool, too: a command of that
other session may have written the entry. Nothing is lost: statements of the doubted session wait for a review, and once
a hook runs for the doubted session, it is trusted like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from subconscious.app import App
from subconscious.authorship.attestation import KNOWN
from subconscious.authorship.peers import running_clients
from subconscious.context.entry import BrokenEntryError, read_entry
from subconscious.store import events


@dataclass(frozen=True, slots=True)
class SpoolEntry:
    """An entry in the spool: the session that it claims, and its change time by the kernel's clock in seconds.

    The entry was written at its change time, or earlier if the daemon then removed other users' access to the file.
    """

    name: str
    session_id: str
    changed: float


@dataclass(frozen=True, slots=True)
class ClientSessions:
    """The sessions of a client for which hooks ran, and the time from which on its commands could write entries."""

    since: float
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Examined:
    """The entries that a command of another session may have written, and the others that are of unknown sessions.

    Both are names of files. A session is unknown if none of its hooks ran while a daemon was running.
    """

    doubted: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()


async def examine(app: App, names: Iterable[str], folder: Path) -> Examined:
    """Return which of these entries are doubted, and which of the others belong to sessions with no recorded hook."""
    entries = await asyncio.to_thread(_read, [folder / name for name in names])
    if not entries:
        return Examined()
    history = {one: await events.history(app.database, "prompt", one) for one in {one.session_id for one in entries}}
    unknown = frozenset(one.name for one in entries if not history[one.session_id])
    others = await _running(app)
    for session_id, known in history.items():
        if since := [event["at"] for event in known if event["action"] == KNOWN and event["reason"]]:
            others.append(ClientSessions(min(since), frozenset({session_id})))
    doubted = frozenset(one.name for one in entries if one.name in unknown and _may_be_anothers(one, others))
    return Examined(doubted, unknown - doubted)


async def _running(app: App) -> list[ClientSessions]:
    """Return the running clients for which hooks ran. The examined entries may be those of other clients themselves."""
    clients = await asyncio.to_thread(running_clients, app.home.root)
    spoken = await events.subjects_by_reason(app.database, KNOWN, "prompt", list(clients))
    return [ClientSessions(clients[client], frozenset(sessions)) for client, sessions in spoken.items()]


def _may_be_anothers(entry: SpoolEntry, others: Collection[ClientSessions]) -> bool:
    return any(one.since < entry.changed and entry.session_id not in one.sessions for one in others)


def _read(paths: Sequence[Path]) -> list[SpoolEntry]:
    """Return the entries that can be read; the others name no session."""
    found = []
    for path in paths:
        try:
            changed = path.lstat().st_ctime
            found.append(SpoolEntry(path.name, read_entry(path).payload.session_id, changed))
        except (OSError, BrokenEntryError):
            continue
    return found
