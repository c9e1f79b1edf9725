"""Sums up memories that say much of the same: weekly, or when a person wants it.

Each summing up is one transaction: the capture, what it rests on, and, where nobody has to be asked, the memory with
its links. What was summed up, is proposed or was refused is not taken up again, so a run that is cut short and done
anew changes nothing that it has done. With a provider its model words it, asked later; else it is made of the sources'
own sentences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from time import time
from typing import TYPE_CHECKING, Any

import aiosqlite

from subconscious.consolidate import gate, synthesis, telling
from subconscious.consolidate.apart import clash
from subconscious.consolidate.synthesis import Synthesis
from subconscious.consolidate.telling import Told
from subconscious.errors import NotFoundError
from subconscious.flow.remembering import Provenance, keep
from subconscious.llm.answers import Purpose
from subconscious.model import Memory, Scope
from subconscious.store import consolidations, memories
from subconscious.store.asked import Asked
from subconscious.store.capture_rows import Place

from .core import Core

if TYPE_CHECKING:
    from subconscious.consolidate.clusters import Cluster

DAY = 86_400.0

LOOKED_AT = 500
"""Memories of one kind and project that are compared, those that were alive last."""

AGENT = "consolidation"


@dataclass(frozen=True, slots=True)
class Found:
    """A cluster: its memories, the most central first, and the least cosine between two."""

    sources: tuple[Memory, ...]
    cohesion: float


@dataclass(frozen=True, slots=True)
class Done:
    """What a run did: memories made, captures proposed, clusters put to a model, clusters left for another day."""

    made: tuple[int, ...] = ()
    proposed: tuple[int, ...] = ()
    asked: int = 0
    left: int = 0


def cursor_of(project: str) -> str:
    """A project's place in the order in which they are gone through; the user's own memories come first."""
    return f"={project}"


async def following(core: Core, cursor: str) -> str | None:
    """The project that comes behind a cursor, "" for the user's own memories; None at the end."""
    names = await consolidations.projects(core.database)
    return next((name for name in names if cursor_of(name) > cursor), None)


async def find(core: Core, project_id: str | None) -> list[Found]:
    """The clusters of one project, or of the user's own memories, the closest first; none without vectors."""
    index = core.embedding.index
    if index is None:
        return []
    free = await consolidations.free(core.database, project_id, LOOKED_AT * 4)
    found: list[Found] = []
    for _, group in groupby(sorted(free, key=lambda one: one.kind), key=lambda one: one.kind):
        found += await _of_kind(core, list(group)[:LOOKED_AT])
    fresh = [one for one in found if not await consolidations.known(core.database, telling.identity(one.sources))]
    return sorted(fresh, key=lambda one: (-one.cohesion, one.sources[0].id))


async def _of_kind(core: Core, free: Sequence[Memory]) -> list[Found]:
    index = core.embedding.index
    known = {memory.id: memory for memory in free}
    vectors = await index.vectors(list(known)) if index is not None else {}
    opposed = await consolidations.opposed(core.database, list(known))

    def apart(one: int, other: int) -> bool:
        return frozenset((one, other)) in opposed or clash(known[one].content, known[other].content)

    least = core.in_force(core.settings).consolidation_likeness
    from subconscious.consolidate.clusters import clusters  # brings numpy, as vectors do

    found = await asyncio.to_thread(clusters, vectors, apart, least)
    return [fitted for one in found if (fitted := _fitted(known, one)) is not None]


def _fitted(known: dict[int, Memory], cluster: Cluster) -> Found | None:
    sources = telling.fitting([known[number] for number in cluster.members])
    return Found(tuple(sources), cluster.cohesion) if len(sources) > 1 else None


async def consolidate(core: Core, project_id: str | None) -> Done:
    """Sum up what there is in one project, or of the user's own, as far as the day's number goes."""
    settings = core.in_force(core.settings)
    done = Done()
    for found in await find(core, project_id):
        if await consolidations.made_since(core.database, time() - DAY) >= settings.consolidation_daily:
            done = replace(done, left=done.left + 1)
        elif core.llm.has_key() and settings.refine:
            done = replace(done, asked=done.asked + await _ask(core, found))
        else:
            done = _with(done, await _settle(core, found))
        await asyncio.sleep(0)
    core.embedding.wake()
    return done


async def _settle(core: Core, found: Found) -> tuple[int, Memory | None] | None:
    told = await asyncio.to_thread(telling.tell, found.sources)
    async with core.database.write() as tx:
        return await store(core, tx, found, told)


def _with(done: Done, kept: tuple[int, Memory | None] | None) -> Done:
    if kept is None:
        return done
    if kept[1] is None:
        return replace(done, proposed=(*done.proposed, kept[0]))
    return replace(done, made=(*done.made, kept[1].id))


async def store(core: Core, tx: aiosqlite.Connection, found: Found, told: Told) -> tuple[int, Memory | None] | None:
    """Keep a summing up: the capture, and its memory where nobody has to be asked. None where nothing comes of it."""
    home = await consolidations.home_of(core.database, [source.id for source in found.sources])
    project = found.sources[0].project_id or home
    if project is None or not await _as_they_were(tx, found.sources):
        return None
    candidate = telling.draft(found.sources, told, found.cohesion)
    mind = core.mind()
    mind = replace(mind, settings=mind.settings.model_copy(update={"review_expiry_days": gate.EXPIRY_DAYS}))
    admission = gate.admit(candidate, found.sources, found.cohesion, mind.settings)
    where = Provenance(Place(project, None), agent=AGENT)
    for capture_id, memory in await keep(mind, tx, [(candidate, admission)], where):
        await consolidations.rest_on(tx, capture_id, found.sources)
        if memory is not None:
            await consolidations.link(tx, capture_id, memory.id, "daemon")
        return capture_id, memory
    return None


async def _as_they_were(tx: aiosqlite.Connection, sources: Sequence[Memory]) -> bool:
    """Whether nothing has become of the sources since they were looked at."""
    for source in sources:
        try:
            now = await memories.held(tx, source.id)
        except NotFoundError:
            return False  # purged meanwhile
        if now.archived_at is not None or (now.content_hash, now.kind, now.project_id, now.pinned) != (
            *(source.content_hash, source.kind, source.project_id, False),
        ):
            return False
    return True


async def _ask(core: Core, found: Found) -> int:
    """Put a cluster to a model; whenever that answers, its words are taken where they are covered."""
    first = found.sources[0]
    payload = {
        "memory": first.id,
        "others": [source.id for source in found.sources[1:]],
        "cohesion": found.cohesion,
        "hashes": [source.content_hash for source in found.sources],
    }
    key, request = telling.identity(found.sources), synthesis.request(found.sources)
    project = first.project_id if first.scope is Scope.PROJECT else None
    async with core.database.write() as tx:
        put = await core.later.put(tx, key, request, payload, "", project or "")
    core.questioned.set()
    return int(put)


def register(core: Core) -> None:
    """Say what becomes of a model's answers: they are used, or the sources' own words are."""

    async def apply(tx: aiosqlite.Connection, asked: Asked, answer: Synthesis) -> None:
        found = await _asked_about(tx, asked.payload)
        if found is not None:
            told = synthesis.told(answer, found.sources) or telling.tell(found.sources)
            await store(core, tx, found, told)

    async def give_up(tx: aiosqlite.Connection, asked: Asked, reason: str) -> None:
        del reason
        found = await _asked_about(tx, asked.payload)
        if found is not None:
            await store(core, tx, found, telling.tell(found.sources))

    core.later.register(synthesis.PURPOSE, Purpose(Synthesis, apply, give_up, core.embedding.wake))


async def _asked_about(tx: aiosqlite.Connection, payload: Any) -> Found | None:
    """The cluster that a question was about, if its memories still say the same."""
    ids = [payload["memory"], *payload["others"]] if payload else []
    sources: list[Memory] = []
    for number in ids:
        with suppress(NotFoundError):
            sources.append(await memories.held(tx, number))
    if not sources or [source.content_hash for source in sources] != payload["hashes"]:
        return None
    return Found(tuple(sources), float(payload["cohesion"]))


async def tidy(core: Core) -> int:
    """Archive what sums up memories that were worded anew or superseded since: it may be summed up anew."""
    from subconscious.store import vectors  # as above

    changed = await consolidations.undermined(core.database, LOOKED_AT)
    if not changed:
        return 0
    async with core.database.write() as tx:
        gone = await consolidations.fall(tx, changed, "daemon", "its wording has changed, or another took its place")
        await vectors.activate(tx, gone, False)
    await core.embedding.refresh(gone)
    return len(gone)
