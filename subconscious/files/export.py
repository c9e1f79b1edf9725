"""Export: stored memories as signed records."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.files.record import (
    RECORDED_COLUMNS,
    CorrectedBy,
    Fading,
    Fields,
    LinkTo,
    MergedInto,
    Owner,
    Record,
    as_json,
    export_key,
    signed,
)
from subconscious.store import projects, transfer
from subconscious.store.rows import field_values
from subconscious.store.transfer import Selection
from subconscious.wire.files import Page


async def export(app: App, selection: Selection, after: int, limit: int) -> Page:
    """Return a page of signed records, and the id after which the next page starts (None if this is the last page)."""
    memories = await transfer.page(app.database, selection, after, limit)
    records = await _records(app, memories)
    key = await asyncio.to_thread(export_key, app.home.root)
    documents = await asyncio.to_thread(lambda: [as_json(signed(record, key)) for record in records])
    return {"records": documents, "next": memories[-1].id if len(memories) == limit else None}


async def _records(app: App, memories: Sequence[Memory]) -> list[Record]:
    if not memories:
        return []
    database, ids = app.database, [memory.id for memory in memories]
    keys = await transfer.keys(database)
    owners = await _owners(app, memories)
    waiting = await transfer.waiting(database, ids)
    fading, links = await transfer.decay_rows(database, ids), await transfer.links_from(database, ids)
    corrections, merges = await transfer.corrections(database, ids), await transfer.merges(database, ids)
    return [
        Record(
            uid=keys[memory.id],
            id=memory.id,
            project=owners.get(memory.project_id or ""),
            memory=Fields(**{name: value for name, value in field_values(memory).items() if name in RECORDED_COLUMNS}),
            waiting=memory.id in waiting,
            fading=next((Fading(**_model_fields(row, Fading)) for row in fading.get(memory.id, ())), None),
            links=tuple(
                LinkTo(target=keys[row["target_id"]], **_model_fields(row, LinkTo)) for row in links.get(memory.id, ())
            ),
            corrections=tuple(
                CorrectedBy(replacement=keys.get(row["replacement_id"]), **_model_fields(row, CorrectedBy))
                for row in corrections.get(memory.id, ())
            ),
            merges=tuple(
                MergedInto(into=keys[row["into_id"]], **_model_fields(row, MergedInto))
                for row in merges.get(memory.id, ())
            ),
        )
        for memory in memories
    ]


def _model_fields(row: Mapping[str, Any], part: type[Any]) -> dict[str, Any]:
    return {name: row[name] for name in part.model_fields if name in row}


async def _owners(app: App, memories: Sequence[Memory]) -> dict[str, Owner]:
    ids = {memory.project_id for memory in memories if memory.project_id is not None}
    known = [one for number in sorted(ids) for one in await projects.named(app.database, number) if one.id == number]
    return {one.id: Owner(**asdict(one)) for one in known}
