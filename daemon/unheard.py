"""Which entries that no daemon could hear may have been written by a command of another session.

While no daemon listens nobody vouches for a hook, and a command can write a session that never was: its transcript and
its entries, in the right order and over time. It can't choose when the kernel last changed a file, nor undo that hooks
have spoken for its own session. So an entry is doubted that was written while such a session went on, unless hooks
spoke for the entry's session too. Nothing is lost: what the doubted session said waits for review, and once a hook
speaks for the session it is believed like any other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from subconscious.store import events

from .core import Core
from .entry import BrokenEntryError, read_entry
from .peers import process_began, running_clients
from .vouching import KNOWN


@dataclass(frozen=True, slots=True)
class Lying:
    """An entry that lies in the spool: whose it claims to be, and when the kernel wrote it."""

    name: str
    session_id: str
    written: float


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a client is known to have run, and the sessions that its hooks spoke for."""

    since: float
    until: float
    sessions: frozenset[str]


async def doubted(core: Core, names: Iterable[str], folder: Path) -> set[str]:
    """The names of the entries that a command of another session may have written."""
    lying = await asyncio.to_thread(_read, [folder / name for name in names])
    if not lying:
        return set()
    told = {one: await events.history(core.database, "prompt", one) for one in {one.session_id for one in lying}}
    spans = await _running(core)
    for session_id, known in told.items():
        if since := [event["at"] for event in known if event["action"] == KNOWN and event["reason"]]:
            until = max(one.written for one in lying if one.session_id == session_id)
            spans.append(Span(min(since), until, frozenset({session_id})))
    began = await asyncio.to_thread(process_began, os.getpid())
    return {one.name for one in lying if not told[one.session_id] and _may_be_anothers(one, spans, began)}


async def _running(core: Core) -> list[Span]:
    """The clients that run now and whose hooks have spoken; others may be anybody's, such as the entry's own."""
    clients = await asyncio.to_thread(running_clients, core.home.root)
    spoken = await events.subjects_by_reason(core.database, KNOWN, "prompt", list(clients))
    return [Span(clients[client], inf, frozenset(sessions)) for client, sessions in spoken.items()]


def _may_be_anothers(entry: Lying, spans: Collection[Span], began: float) -> bool:
    """Whether an entry was written in the time of a session that is not its own.

    This daemon, which ``began`` then, takes other users' rights to files off. Hooks never give any, but of a file that
    had some it is not known any more when it was written.
    """
    anothers = [span for span in spans if entry.session_id not in span.sessions and span.since < entry.written]
    return any(entry.written < span.until or entry.written >= began for span in anothers)


def _read(paths: Sequence[Path]) -> list[Lying]:
    """The entries that can be read; the others name no session."""
    found = []
    for path in paths:
        try:
            written = path.lstat().st_ctime
            found.append(Lying(path.name, read_entry(path).payload.session_id, written))
        except (OSError, BrokenEntryError):
            continue
    return found
