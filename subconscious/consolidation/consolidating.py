"""Summarizes memories that overlap, weekly or on request.

Each summary is stored in one transaction: the capture, its sources and, unless a person must approve it, the memory
with its links. Memories that have a summary, even a proposed or rejected one, are not summarized again, so an
interrupted run can be repeated. If a provider is configured, its model writes the summary later; otherwise the summary
consists of the sources' own sentences.
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

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep
from subconscious.consolidation import gate, summary_text, synthesis
from subconscious.consolidation.gate import clash
from subconscious.consolidation.summary_text import SummaryText
from subconscious.consolidation.synthesis import Synthesis
from subconscious.domain.errors import NotFoundError
from subconscious.domain.model import Memory, Scope
from subconscious.llm.answers import Purpose
from subconscious.store import consolidations, memories
from subconscious.store.capture_rows import SessionRef
from subconscious.store.llm_requests import StoredRequest

if TYPE_CHECKING:
    from subconscious.consolidation.clusters import Cluster

DAY = 86_400.0

LOOKED_AT = 500
"""The maximum number of memories of one kind and project that are compared, the most recently active first."""

AGENT = "consolidation"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of memories to summarize, the most central first, and the lowest cosine between two of them."""

    sources: tuple[Memory, ...]
    cohesion: float


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run: ids of new memories and proposed captures; counts of model requests and postponed groups."""

    made: tuple[int, ...] = ()
    proposed: tuple[int, ...] = ()
    asked: int = 0
    left: int = 0


def cursor_of(project: str) -> str:
    """Return the cursor of a project: cursors sort like project ids, with "" (user-wide memories) first."""
    return f"={project}"


async def following(app: App, cursor: str) -> str | None:
    """Return the id of the project after a cursor ("" means user-wide memories); None at the end."""
    names = await consolidations.projects(app.database)
    return next((name for name in names if cursor_of(name) > cursor), None)


async def find(app: App, project_id: str | None) -> list[Group]:
    """Return the groups to summarize, the most similar first; none if there are no vectors.

    The groups are from one project, or from user-wide memories if ``project_id`` is None.
    """
    index = app.embedding.index
    if index is None:
        return []
    free = await consolidations.candidates(app.database, project_id, LOOKED_AT * 4)
    found: list[Group] = []
    for _, group in groupby(sorted(free, key=lambda one: one.kind), key=lambda one: one.kind):
        found += await _of_kind(app, list(group)[:LOOKED_AT])
    fresh = [
        one for one in found if not await consolidations.is_known(app.database, summary_text.identity(one.sources))
    ]
    return sorted(fresh, key=lambda one: (-one.cohesion, one.sources[0].id))


async def _of_kind(app: App, free: Sequence[Memory]) -> list[Group]:
    index = app.embedding.index
    known = {memory.id: memory for memory in free}
    vectors = await index.vectors(list(known)) if index is not None else {}
    opposed = await consolidations.conflicting(app.database, list(known))

    def apart(one: int, other: int) -> bool:
        return frozenset((one, other)) in opposed or clash(known[one].content, known[other].content)

    least = app.config.current.consolidation_likeness
    from subconscious.consolidation.clusters import clusters  # imports numpy, which the vectors have loaded anyway

    found = await asyncio.to_thread(clusters, vectors, apart, least)
    return [group for one in found if (group := _group(known, one)) is not None]


def _group(known: dict[int, Memory], cluster: Cluster) -> Group | None:
    sources = summary_text.fitting([known[number] for number in cluster.members])
    return Group(tuple(sources), cluster.cohesion) if len(sources) > 1 else None


async def consolidate(app: App, project_id: str | None) -> Report:
    """Summarize groups of one project, or of user-wide memories if ``project_id`` is None, up to the daily limit."""
    settings = app.config.current
    report = Report()
    for group in await find(app, project_id):
        if await consolidations.count_since(app.database, time() - DAY) >= settings.consolidation_daily:
            report = replace(report, left=report.left + 1)
        elif app.llm.has_key() and settings.refine:
            report = replace(report, asked=report.asked + await _ask(app, group))
        else:
            report = _with(report, await _store_composed(app, group))
        await asyncio.sleep(0)
    app.embedding.wake()
    return report


async def _store_composed(app: App, group: Group) -> tuple[int, Memory | None] | None:
    text = await asyncio.to_thread(summary_text.compose, group.sources)
    async with app.database.write() as tx:
        return await store(app, tx, group, text)


def _with(report: Report, stored: tuple[int, Memory | None] | None) -> Report:
    if stored is None:
        return report
    if stored[1] is None:
        return replace(report, proposed=(*report.proposed, stored[0]))
    return replace(report, made=(*report.made, stored[1].id))


async def store(
    app: App, tx: aiosqlite.Connection, group: Group, text: SummaryText
) -> tuple[int, Memory | None] | None:
    """Store a summary; return its capture id and its memory (None if it waits); None if the sources have changed."""
    home = await consolidations.project_of(app.database, [source.id for source in group.sources])
    project = group.sources[0].project_id or home
    if project is None or not await _are_unchanged(tx, group.sources):
        return None
    candidate = summary_text.draft(group.sources, text, group.cohesion)
    ctx = app.recall_context()
    ctx = replace(ctx, settings=ctx.settings.model_copy(update={"review_expiry_days": gate.EXPIRY_DAYS}))
    admission = gate.admit(candidate, group.sources, group.cohesion, ctx.settings)
    where = Provenance(SessionRef(project, None), agent=AGENT)
    for capture_id, memory in await keep(ctx, tx, [(candidate, admission)], where):
        await consolidations.save_sources(tx, capture_id, group.sources)
        if memory is not None:
            await consolidations.link(tx, capture_id, memory.id, "daemon")
        return capture_id, memory
    return None


async def _are_unchanged(tx: aiosqlite.Connection, sources: Sequence[Memory]) -> bool:
    """Whether the sources have not changed since they were read."""
    for source in sources:
        try:
            now = await memories.require(tx, source.id)
        except NotFoundError:
            return False  # purged meanwhile
        if now.archived_at is not None or (now.content_hash, now.kind, now.project_id, now.pinned) != (
            *(source.content_hash, source.kind, source.project_id, False),
        ):
            return False
    return True


async def _ask(app: App, group: Group) -> int:
    """Queue a request to the model for a summary; return 1 if the request was stored, else 0."""
    first = group.sources[0]
    payload = {
        "memory": first.id,
        "others": [source.id for source in group.sources[1:]],
        "cohesion": group.cohesion,
        "hashes": [source.content_hash for source in group.sources],
    }
    key, request = summary_text.identity(group.sources), synthesis.request(group.sources)
    project = first.project_id if first.scope is Scope.PROJECT else None
    async with app.database.write() as tx:
        put = await app.later.put(tx, key, request, payload, "", project or "")
    app.signals.questioned.set()
    return int(put)


def register(app: App) -> None:
    """Register the handlers of the model's answers.

    If no answer comes, or the answer fails the checks, the summary is composed from the sources' own sentences.
    """

    async def apply(tx: aiosqlite.Connection, asked: StoredRequest, answer: Synthesis) -> None:
        group = await _group_of(tx, asked.payload)
        if group is not None:
            text = synthesis.checked(answer, group.sources) or summary_text.compose(group.sources)
            await store(app, tx, group, text)

    async def give_up(tx: aiosqlite.Connection, asked: StoredRequest, reason: str) -> None:
        del reason
        group = await _group_of(tx, asked.payload)
        if group is not None:
            await store(app, tx, group, summary_text.compose(group.sources))

    app.later.register(synthesis.PURPOSE, Purpose(Synthesis, apply, give_up, app.embedding.wake))


async def _group_of(tx: aiosqlite.Connection, payload: Any) -> Group | None:
    """Return the group of memories that a request is about; None if one of them has changed."""
    ids = [payload["memory"], *payload["others"]] if payload else []
    sources: list[Memory] = []
    for number in ids:
        with suppress(NotFoundError):
            sources.append(await memories.require(tx, number))
    if not sources or [source.content_hash for source in sources] != payload["hashes"]:
        return None
    return Group(tuple(sources), float(payload["cohesion"]))


async def tidy(app: App) -> int:
    """Archive summaries with a source that was later reworded or superseded, so that new summaries can be made."""
    from subconscious.store import vectors  # imports numpy

    changed = await consolidations.outdated_sources(app.database, LOOKED_AT)
    if not changed:
        return 0
    async with app.database.write() as tx:
        gone = await consolidations.archive_dependents(tx, changed, "daemon", "it was reworded or superseded")
        await vectors.activate(tx, gone, False)
    await app.embedding.refresh(gone)
    return len(gone)
