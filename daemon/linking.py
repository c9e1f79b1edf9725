"""Looks for links in the background: once a memory is embedded, among what is near it by words and meaning.

What is found of one memory and the note that it was searched are one transaction, so a daemon that dies in between
finds the same again and stores it once. Nobody waits for it: it pauses as long as it works, and while a prompt is
answered it does nothing.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, time
from typing import TYPE_CHECKING
from uuid import uuid4

import aiosqlite

from subconscious.embeddings import FALLBACK, NONE, model_of
from subconscious.errors import NotFoundError
from subconscious.failures.wording import is_observed
from subconscious.links import gate
from subconscious.links.judge import VERSION, Found, judge
from subconscious.links.reading import Note, Reading, read
from subconscious.model import Link, Memory
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import full_text, link_searches, links, memories

from . import link_model
from .aside import QUIET, aside
from .busy import Busy
from .core import Core

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

log = logging.getLogger("subconscious.daemon")

NEIGHBOURS = 10
"""Memories that each way of searching brings."""

A_ROUND = 20
"""Memories that are taken up at once."""

NEIGHBOURS_ODDS = -1.3
"""What is added to the log odds: of a score of neighbours fewer are linked than of the pairs the model learned from."""

A_SEARCH = 3
"""Links that one search brings, the surest: what one memory is about is not two dozen others."""

BY_HAND = ("user", "assistant")
"""Who makes links one by one; they count for no limit."""

RULES = "rules"
"""Who found it: ``created_by`` of what no model has looked at."""

LONGEST_REST = 300.0
"""Seconds after which it is looked for work without a signal."""

WORLD_PAUSE = 5.0
"""Seconds to wait when the database can't be used at all."""

REST = 9.0
"""How much longer than a search it is rested after it: a tenth of one processor is taken."""

LONGEST_PAUSE = 5.0
"""Seconds that such a rest takes at most."""


@dataclass(frozen=True, slots=True)
class Near:
    """A neighbour, and what was found of it and the memory that it is near to."""

    memory: Memory
    found: Found


class Linking:
    """The loop over the memories whose links are still to be looked for. It can be cancelled at any point."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._busy = Busy()

    @property
    def idle(self) -> bool:
        """Whether nothing is being looked for."""
        return not self._busy

    async def run(self) -> None:
        """Work off whatever waits, until cancelled; not before there is an index to look for neighbours in."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._core.embedding.settled.wait(), LONGEST_REST)
            self._core.embedding.settled.clear()
            with self._busy:
                try:
                    while await self.round():
                        pass
                except sqlite3.Error as error:
                    log.error("links can't be looked for: %s", error)  # noqa: TRY400 - a full disk, again and again
                    await asyncio.sleep(WORLD_PAUSE)

    async def round(self) -> int:
        """Search for some memories; how many waited."""
        core = self._core
        if not core.in_force(core.settings).links:
            return 0
        embedded = core.embedding.name != NONE and core.embedding.state != "failed"
        batch = await link_searches.waiting(core.database, VERSION, A_ROUND, embedded=embedded)
        for memory in batch:
            await aside(self._core, QUIET)
            begun = monotonic()
            try:
                await search(core, memory)
            except sqlite3.Error:
                raise
            except Exception:
                # No error with one memory may keep the others from their links, and it is not tried again.
                log.exception("links of memory %d can't be looked for", memory.id)
                async with core.database.write() as tx:
                    await link_searches.note(tx, memory.id, VERSION, time())
            await asyncio.sleep(min(REST * (monotonic() - begun), LONGEST_PAUSE))
        return len(batch)


async def search(core: Core, memory: Memory) -> int:
    """Look for the links of one memory and store them; how many are new."""
    settings = core.in_force(core.settings)
    near = {} if is_observed(memory.extractor) else await neighbours(core, memory)
    known = await memories.get_many(core.database, list(near))
    # Sentences of one template differ in what they name alone: they are not about each other.
    known = {number: one for number, one in known.items() if not is_observed(one.extractor)}
    found = await asyncio.to_thread(
        compare,
        memory,
        [(known[one], cosine) for one, cosine in near.items() if one in known and not _of_one(memory, known[one])],
    )
    bearing = [one for one in found if one.found.linked >= settings.link_proposal_threshold]
    bearing.sort(key=lambda one: (-one.found.linked, one.memory.id))
    async with core.database.write() as tx:
        first = await link_searches.version_of(tx, memory.id) is None
        kept = await _keep(tx, memory, bearing, settings)
        if first and kept:
            await link_model.ask(core, tx, memory, kept)
        await link_searches.note(tx, memory.id, VERSION, time())
    if kept:
        core.questioned.set()
    return len(kept)


async def neighbours(core: Core, memory: Memory) -> dict[int, float | None]:
    """The memories near one, by meaning and by words, with their cosine where it is known.

    Of its project and the user's own; one that holds everywhere may bear on any.
    """
    found: dict[int, float | None] = {}
    projects = (memory.project_id,) if memory.project_id else ()
    asked = terms(f"{memory.summary} {memory.content} {' '.join(memory.tags)}")
    scopes = (*projects, full_text.USER_WIDE) if projects else ()
    for one, _ in await full_text.search(core.database, asked, scopes, NEIGHBOURS + 1):
        found[one] = None
    index = core.embedding.index
    vector = await _vector(core, memory)
    if index is not None and vector is not None:
        near = await index.search((*projects, "") if projects else (), vector, NEIGHBOURS + 1)
        found.update((one, cosine if _measured(core) else None) for one, cosine in near)
    found.pop(memory.id, None)
    return found


async def _vector(core: Core, memory: Memory) -> Vector | None:
    """The vector that a memory is found by; None while it has none."""
    if core.embedding.index is None:
        return None
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    return await vectors.vector_of(core.database, core.embedding.sense.model, memory.id)


def _measured(core: Core) -> bool:
    """Whether cosines are those of the model that the rules were trained with; others have another scale."""
    known = model_of(FALLBACK)
    return known is not None and core.embedding.sense.model == known.name


def _of_one(memory: Memory, other: Memory) -> bool:
    """Whether both are parts of one utterance, a plan, say: they stand together as they were said, and say no more."""
    return bool(memory.turn_id) and memory.turn_id == other.turn_id


def compare(memory: Memory, near: Sequence[tuple[Memory, float | None]]) -> list[Near]:
    """Judge a memory and each of its neighbours."""
    own = reading_of(note_of(memory))
    return [Near(other, judge(own, reading_of(note_of(other)), cosine, odds=NEIGHBOURS_ODDS)) for other, cosine in near]


@lru_cache(maxsize=256)
def reading_of(note: Note) -> Reading:
    """A note, read; neighbours of one are those of the next."""
    return read(note)


def note_of(memory: Memory) -> Note:
    """What the rules see of a memory."""
    text = f"{memory.content}\n{memory.rationale}".strip()
    return Note(memory.summary, text, memory.said_at, memory.kind, frozenset(memory.files), frozenset(memory.tags))


async def _keep(tx: aiosqlite.Connection, memory: Memory, near: Sequence[Near], settings: Settings) -> list[Link]:
    """Store what was found, within the limits; nothing between two that a link, also a refused one, stands between."""
    kept: list[Link] = []
    act = uuid4().hex
    ids = [memory.id, *(one.memory.id for one in near)]
    counts = await link_searches.found(tx, ids, BY_HAND)
    now = await _held(tx, ids)
    for one in near:
        if not {memory.id, one.memory.id} <= now.keys():
            continue  # purged meanwhile
        ends = now[memory.id], now[one.memory.id]
        full = any(counts[end.id] >= settings.link_limit for end in ends)
        if full or any(end.archived_at for end in ends) or await links.between(tx, ends[0].id, ends[1].id):
            continue
        source, target = ends if one.found.forward else ends[::-1]
        link = await _add(tx, one.found, source, target, settings, act)
        if link is not None:
            kept.append(link)
            counts = {number: count + (number in (source.id, target.id)) for number, count in counts.items()}
        if len(kept) >= A_SEARCH:
            break
    return kept


async def _held(tx: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, Memory]:
    """Those of some memories that are still there, as the running transaction sees them."""
    found: dict[int, Memory] = {}
    for number in ids:
        with suppress(NotFoundError):
            found[number] = await memories.held(tx, number)
    return found


async def _add(
    tx: aiosqlite.Connection, found: Found, source: Memory, target: Memory, settings: Settings, act: str
) -> Link | None:
    status = gate.status(found, source, target, settings)
    if not status:
        return None
    confidence = round(found.confidence, 4)
    link = Link(0, source.id, target.id, found.type, status, confidence, RULES, found.evidence, time())
    return await links.add(tx, link, "daemon", act)
