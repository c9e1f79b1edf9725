"""Has a provider's model review links that the rules found; requests are queued and sent in batches.

A request is stored with the ids of its memories. If a person decides on a link in the meantime, that decision is kept.
Until a model has reviewed a link, the verdict of the rules applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import time
from uuid import uuid4

import aiosqlite

from subconscious.app import App
from subconscious.domain.errors import NotFoundError
from subconscious.domain.model import Link, Memory
from subconscious.links import gate, opinions
from subconscious.links.opinions import BACKWARD, NONE, TRUST, Opinion, Opinions
from subconscious.llm.answers import Purpose
from subconscious.settings.settings import Settings
from subconscious.store import events, links, memories, takeovers
from subconscious.store.llm_requests import StoredRequest

IMPORT = "import"
"""The agent name of imported memories: a model reads them only if a person asks for it."""


async def ask(app: App, tx: aiosqlite.Connection, memory: Memory, found: Sequence[Link]) -> bool:
    """Store a review request in the transaction of the links; return False if none is allowed, or it exists already."""
    if not app.llm.on or not app.config.current.refine or memory.agent == IMPORT:
        return False
    others = [await memories.require(tx, link.other(memory.id)) for link in found]
    payload = {"memory": memory.id, "others": [one.id for one in others]}
    key = f"{memory.id}:{opinions.VERSION}"
    request = opinions.request(memory, others)
    return await app.later.put(tx, key, request, payload, memory.session_id or "", memory.project_id or "")


def register(app: App) -> None:
    """Register the handler of the model's answers."""

    async def apply(tx: aiosqlite.Connection, asked: StoredRequest, answer: Opinions) -> None:
        await use(tx, asked, answer, app.config.current)

    app.later.register(opinions.PURPOSE, Purpose(Opinions, apply))


async def use(tx: aiosqlite.Connection, asked: StoredRequest, answer: Opinions, settings: Settings) -> None:
    """Confirm, change or withdraw the links for which the answer has a valid entry."""
    try:
        memory = await memories.require(tx, int(asked.payload["memory"]))
    except NotFoundError:
        return  # purged meanwhile
    others: list[int] = list(asked.payload["others"])
    act = uuid4().hex
    for opinion in {one.number: one for one in answer.links}.values():
        if 1 <= opinion.number <= len(others):
            await _apply(tx, memory, others[opinion.number - 1], opinion, _Reviewer(asked.model, settings, act))


class _Reviewer:
    """The model that answered, the settings, and the act id that groups the recorded changes."""

    def __init__(self, model: str, settings: Settings, act: str) -> None:
        self.name = model or "model"
        self.settings = settings
        self.act = act


async def _apply(tx: aiosqlite.Connection, memory: Memory, other_id: int, opinion: Opinion, by: _Reviewer) -> None:
    existing = await links.between(tx, memory.id, other_id)
    if len(existing) != 1 or existing[0].status not in links.SHOWN or await _is_decided(tx, existing[0]):
        return
    other = await memories.require(tx, other_id)
    if memory.archived_at or other.archived_at or not opinions.valid(opinion, memory, other):
        return
    if opinion.type == NONE:
        why = "a model found no link"
        await links.change(tx, existing[0], by.name, why, by.act, status="withdrawn")
        return
    ends = (other, memory) if opinion.direction == BACKWARD else (memory, other)
    link = await _change(tx, existing[0], _corrected(existing[0], ends, opinion, by), by)
    if link is not None:
        await takeovers.record(tx, link, *ends, time())


def _corrected(link: Link, ends: tuple[Memory, Memory], opinion: Opinion, by: _Reviewer) -> Link:
    """Return the link with the type, direction and confidence that the model states."""
    confidence = round(min(opinion.confidence, TRUST), 4)
    return replace(
        link,
        source_id=ends[0].id,
        target_id=ends[1].id,
        type=opinion.type,
        status=gate.status_for(opinion.type, confidence, *ends, by.settings),
        confidence=confidence,
        created_by=by.name,
        evidence=" ".join(opinion.quote.split()),
    )


async def _change(tx: aiosqlite.Connection, before: Link, after: Link, by: _Reviewer) -> Link | None:
    """Apply a model's changes: update the link; if its source or target differs, withdraw it and add a new one.

    Return the resulting link; None if the new link exists already.
    """
    if (before.source_id, before.target_id) == (after.source_id, after.target_id):
        names = ("type", "status", "confidence", "created_by", "evidence")
        values = {name: getattr(after, name) for name in names}
        return await links.change(tx, before, by.name, "a model's opinion", by.act, **values)
    await links.change(tx, before, by.name, "a model found the opposite direction", by.act, status="withdrawn")
    return await links.add(tx, replace(after, id=0, created_at=time()), by.name, by.act)


async def _is_decided(tx: aiosqlite.Connection, link: Link) -> bool:
    """Whether a person made the link or has decided on it."""
    last = await events.latest(tx, "link", link.id)
    return link.created_by == "user" or (last is not None and last["actor"] == "user")
