"""Has a model look at the links that were found offline, where there is one: asked later, in batches.

The question goes on record with what it is about. What a person has said of a link meanwhile stands; what no model has
seen yet keeps the word of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import time
from typing import Any
from uuid import uuid4

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.links import gate, opinions
from subconscious.links.opinions import BACKWARD, NONE, TRUST, Opinion, Opinions
from subconscious.llm.answers import Purpose
from subconscious.model import Link, Memory
from subconscious.settings import Settings
from subconscious.store import events, links, memories
from subconscious.store.asked import Asked

from .core import Core

IMPORT = "import"
"""The agent of what was imported: no model reads the past unless a person asks for it."""


async def ask(core: Core, tx: aiosqlite.Connection, memory: Memory, found: Sequence[Link]) -> bool:
    """Put the question on record, in the transaction that stores what was found; False where nobody is asked."""
    if not core.llm.on or not core.in_force(core.settings).refine or memory.agent == IMPORT:
        return False
    others = [await memories.held(tx, link.other(memory.id)) for link in found]
    payload = {"memory": memory.id, "others": [one.id for one in others]}
    key = f"{memory.id}:{opinions.VERSION}"
    request = opinions.request(memory, others)
    return await core.later.put(tx, key, request, payload, memory.session_id or "", memory.project_id or "")


def register(core: Core) -> None:
    """Say what becomes of the answers."""

    async def apply(tx: aiosqlite.Connection, asked: Asked, answer: Opinions) -> None:
        await use(tx, asked, answer, core.in_force(core.settings))

    core.later.register(opinions.PURPOSE, Purpose(Opinions, apply))


async def use(tx: aiosqlite.Connection, asked: Asked, answer: Opinions, settings: Settings) -> None:
    """Let each valid entry confirm, change or withdraw what the rules found of that pair."""
    try:
        memory = await memories.held(tx, int(asked.payload["memory"]))
    except NotFoundError:
        return  # purged meanwhile
    others: list[int] = list(asked.payload["others"])
    act = uuid4().hex
    for opinion in {one.number: one for one in answer.links}.values():
        if 1 <= opinion.number <= len(others):
            await _weigh(tx, memory, others[opinion.number - 1], opinion, _Judge(asked.model, settings, act))


class _Judge:
    """Who judges, by which settings, in which act."""

    def __init__(self, model: str, settings: Settings, act: str) -> None:
        self.name = model or "model"
        self.settings = settings
        self.act = act


async def _weigh(tx: aiosqlite.Connection, memory: Memory, other_id: int, opinion: Opinion, judge: _Judge) -> None:
    standing = await links.between(tx, memory.id, other_id)
    if len(standing) != 1 or standing[0].status not in links.SHOWN or await _touched(tx, standing[0]):
        return
    other = await memories.held(tx, other_id)
    if memory.archived_at or other.archived_at or not opinions.valid(opinion, memory, other):
        return
    if opinion.type == NONE:
        why = "a model sees no link"
        await links.change(tx, standing[0], judge.name, why, judge.act, status="withdrawn")
        return
    ends = (other, memory) if opinion.direction == BACKWARD else (memory, other)
    await _settle(tx, standing[0], _as_said(standing[0], ends, opinion, judge), judge)


def _as_said(link: Link, ends: tuple[Memory, Memory], opinion: Opinion, judge: _Judge) -> Link:
    """The link as the model has it."""
    confidence = round(min(opinion.confidence, TRUST), 4)
    return replace(
        link,
        source_id=ends[0].id,
        target_id=ends[1].id,
        type=opinion.type,
        status=gate.standing(opinion.type, confidence, *ends, judge.settings),
        confidence=confidence,
        created_by=judge.name,
        evidence=" ".join(opinion.quote.split()),
    )


async def _settle(tx: aiosqlite.Connection, before: Link, after: Link, judge: _Judge) -> None:
    """Change a link where its ends stay; else it is withdrawn, and another takes its place."""
    if (before.source_id, before.target_id) == (after.source_id, after.target_id):
        names = ("type", "status", "confidence", "created_by", "evidence")
        values = {name: getattr(after, name) for name in names}
        await links.change(tx, before, judge.name, "a model's opinion", judge.act, **values)
        return
    await links.change(tx, before, judge.name, "a model sees it the other way", judge.act, status="withdrawn")
    await links.add(tx, replace(after, id=0, created_at=time()), judge.name, judge.act)


async def _touched(tx: aiosqlite.Connection, link: Link) -> bool:
    """Whether a person made the link or has decided on it."""
    last: dict[str, Any] | None = await events.latest(tx, "link", link.id)
    return link.created_by == "user" or (last is not None and last["actor"] == "user")
