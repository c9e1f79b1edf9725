"""Finds links in the background: compares each memory with its nearest neighbours in full-text and vector search.

The links of a memory and the record of its search are written in one transaction. So after a crash the search is
repeated, and no link is stored twice. The loop sleeps after each search, and pauses while a prompt is answered.
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

from subconscious.app import App
from subconscious.context.priority import QUIET, Busy, aside
from subconscious.domain.errors import NotFoundError
from subconscious.domain.model import Link, Memory
from subconscious.domain.observed import is_observed
from subconscious.embeddings.embedder import FALLBACK, NONE, model_of
from subconscious.links import gate, model_review
from subconscious.links.judge import VERSION, PairVerdict, judge
from subconscious.links.reading import Note, Reading, read
from subconscious.settings.settings import Settings
from subconscious.store import full_text, links, memories
from subconscious.text.terms import terms

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

log = logging.getLogger("subconscious.links")

NEIGHBOURS = 10
"""How many neighbours each of the two searches (full-text and vector) contributes."""

BATCH = 20
"""How many memories one round searches."""

NEIGHBOURS_ODDS = -1.3
"""A correction of the log odds: neighbours are linked less often than the pairs in the model's training data."""

MOST_LINKS = 3
"""The most links that one search stores; the most likely come first. Few memories relate to many others."""

BY_HAND = ("user", "assistant")
"""Links by these creators don't count towards the limit of links per memory."""

RULES = "rules"
"""``created_by`` of links that no model has reviewed."""

LONGEST_REST = 300.0
"""The most seconds that the loop waits for a signal before it looks for work."""

WORLD_PAUSE = 5.0
"""Seconds to wait before a retry when the database can't be used."""

REST = 9.0
"""The pause after a search, as a multiple of the search's duration, so that a tenth of one processor is used."""

LONGEST_PAUSE = 5.0
"""The longest pause after a search, in seconds."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """A neighbour of a memory, and the most likely link between the two."""

    memory: Memory
    found: PairVerdict


class LinkDiscovery:
    """The background loop over memories that have not been searched for links yet. It can be cancelled at any point."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._busy = Busy()

    @property
    def idle(self) -> bool:
        """Whether no search is running."""
        return not self._busy

    async def run(self) -> None:
        """Find links whenever new vectors are ready or ``LONGEST_REST`` seconds have passed, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._app.embedding.settled.wait(), LONGEST_REST)
            self._app.embedding.settled.clear()
            with self._busy:
                try:
                    while await self.round():
                        pass
                except sqlite3.Error as error:
                    log.error("the search for links failed: %s", error)  # noqa: TRY400 - a full disk would repeat it
                    await asyncio.sleep(WORLD_PAUSE)

    async def round(self) -> int:
        """Search for the links of a batch of memories; return the size of the batch."""
        app = self._app
        if not app.config.current.links:
            return 0
        embedded = app.embedding.name != NONE and app.embedding.state != "failed"
        batch = await links.unsearched(app.database, VERSION, BATCH, embedded=embedded)
        for memory in batch:
            await aside(self._app.signals, QUIET)
            begun = monotonic()
            try:
                await search(app, memory)
            except sqlite3.Error:
                raise
            except Exception:
                # An error with one memory must not block the others, and it is not retried.
                log.exception("the search for links of memory %d failed", memory.id)
                async with app.database.write() as tx:
                    await links.record_search(tx, memory.id, VERSION, time())
            await asyncio.sleep(min(REST * (monotonic() - begun), LONGEST_PAUSE))
        return len(batch)


async def search(app: App, memory: Memory) -> int:
    """Find the links of one memory and store them; return the number of new links."""
    settings = app.config.current
    near = {} if is_observed(memory.extractor) else await neighbours(app, memory)
    known = await memories.get_many(app.database, list(near))
    # Observed failures all have the wording of one template, so they look similar without being related.
    known = {number: one for number, one in known.items() if not is_observed(one.extractor)}
    found = await asyncio.to_thread(
        compare,
        memory,
        [(known[one], cosine) for one, cosine in near.items() if one in known and not _of_one_turn(memory, known[one])],
    )
    bearing = [one for one in found if one.found.linked >= settings.link_proposal_threshold]
    bearing.sort(key=lambda one: (-one.found.linked, one.memory.id))
    async with app.database.write() as tx:
        first = await links.searched_version(tx, memory.id) is None
        kept = await _keep(tx, memory, bearing, settings)
        if first and kept:
            await model_review.ask(app, tx, memory, kept)
        await links.record_search(tx, memory.id, VERSION, time())
    if kept:
        app.signals.questioned.set()
    return len(kept)


async def neighbours(app: App, memory: Memory) -> dict[int, float | None]:
    """Return the ids of a memory's neighbours in vector and full-text search, each with its cosine, None if unknown.

    Neighbours are memories of the same project or user-wide ones; a user-wide memory may have neighbours in all
    projects.
    """
    found: dict[int, float | None] = {}
    projects = (memory.project_id,) if memory.project_id else ()
    asked = terms(f"{memory.summary} {memory.content} {' '.join(memory.tags)}")
    scopes = (*projects, full_text.USER_WIDE) if projects else ()
    for one, _ in await full_text.search(app.database, asked, scopes, NEIGHBOURS + 1):
        found[one] = None
    index = app.embedding.index
    vector = await _vector(app, memory)
    if index is not None and vector is not None:
        near = await index.search((*projects, "") if projects else (), vector, NEIGHBOURS + 1)
        found.update((one, cosine if _is_calibrated(app) else None) for one, cosine in near)
    found.pop(memory.id, None)
    return found


async def _vector(app: App, memory: Memory) -> Vector | None:
    """Return the vector of a memory; None while it has none."""
    if app.embedding.index is None:
        return None
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    return await vectors.vector_of(app.database, app.embedding.current.model, memory.id)


def _is_calibrated(app: App) -> bool:
    """Whether vectors come from the embedding model that the weights were trained with."""
    known = model_of(FALLBACK)
    return known is not None and app.embedding.current.model == known.name


def _of_one_turn(memory: Memory, other: Memory) -> bool:
    """Whether two memories are parts of one message, such as a plan: a link between them would add nothing."""
    return bool(memory.turn_id) and memory.turn_id == other.turn_id


def compare(memory: Memory, near: Sequence[tuple[Memory, float | None]]) -> list[ComparedPair]:
    """Compare a memory with each of its neighbours."""
    own = reading_of(note_of(memory))
    return [
        ComparedPair(other, judge(own, reading_of(note_of(other)), cosine, odds=NEIGHBOURS_ODDS))
        for other, cosine in near
    ]


@lru_cache(maxsize=256)
def reading_of(note: Note) -> Reading:
    """Parse a note. Cached, because memories that are searched in a row share neighbours."""
    return read(note)


def note_of(memory: Memory) -> Note:
    """Return the parts of a memory that the rules compare."""
    text = f"{memory.content}\n{memory.rationale}".strip()
    return Note(memory.summary, text, memory.said_at, memory.kind, frozenset(memory.files), frozenset(memory.tags))


async def _keep(
    tx: aiosqlite.Connection, memory: Memory, near: Sequence[ComparedPair], settings: Settings
) -> list[Link]:
    """Store the found links within the limits, except between memories that already have a link, even a refused one."""
    kept: list[Link] = []
    act = uuid4().hex
    ids = [memory.id, *(one.memory.id for one in near)]
    counts = await links.count_found(tx, ids, BY_HAND)
    now = await _existing(tx, ids)
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
        if len(kept) >= MOST_LINKS:
            break
    return kept


async def _existing(tx: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, Memory]:
    """Return, by id, the memories that still exist in the running transaction."""
    found: dict[int, Memory] = {}
    for number in ids:
        with suppress(NotFoundError):
            found[number] = await memories.require(tx, number)
    return found


async def _add(
    tx: aiosqlite.Connection, found: PairVerdict, source: Memory, target: Memory, settings: Settings, act: str
) -> Link | None:
    status = gate.status(found, source, target, settings)
    if not status:
        return None
    confidence = round(found.confidence, 4)
    link = Link(0, source.id, target.id, found.type, status, confidence, RULES, found.evidence, time())
    return await links.add(tx, link, "daemon", act)
