"""The current text of each shared memory in this store, and the versions on which a person has decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.memories import corrections as correcting
from subconscious.store import memories, shares
from subconscious.store.projects import Project
from subconscious.store.shares import Received

ACCEPTED, REJECTED = ("approved", "captured"), "rejected"
"""Statuses of captures that a person accepted or rejected."""


@dataclass(frozen=True, slots=True)
class SharedText:
    """The current text of a shared memory, when it was last decided on, and the digests of all decided versions."""

    memory: Memory
    at: float
    decided: frozenset[str]


async def current_texts(app: App, project: Project, *, settle: bool = False) -> dict[str, SharedText]:
    """Return the current text of each shared memory: the text that a person stated, corrected or approved last.

    With ``settle``, archive earlier texts of the same memory as superseded.
    """
    async with app.database.write() as tx:
        received = await shares.received(tx, project.id)
    members = {
        uid: {one.memory_id: one.decided_at or 0.0 for one in found if one.status in ACCEPTED and one.memory_id}
        for uid, found in received.items()
    }
    for share in await shares.of_project(app.database, project.id):
        members.setdefault(share.uid, {}).setdefault(share.memory_id, 0.0)
    after = await shares.replacements(app.database, [number for found in members.values() for number in found])
    stored = await memories.get_many(app.database, sorted({*after.values()}))
    texts: dict[str, SharedText] = {}
    for uid, since in members.items():
        held = [(_decided_at(stored[after[one]], at), after[one]) for one, at in since.items() if after[one] in stored]
        if held:
            at, number = max(held)
            texts[uid] = _text(stored[number], at, received.get(uid, ()))
            if settle:
                await _supersede(app, [stored[one] for one in {other for _, other in held} - {number}], stored[number])
    return texts


def _decided_at(memory: Memory, approved: float) -> float:
    return max(approved, memory.created_at, memory.archived_at or 0.0)


def _text(memory: Memory, at: float, received: Sequence[Received]) -> SharedText:
    decided = [one for one in received if one.status in (*ACCEPTED, REJECTED)]
    # By rejecting a teammate's version, a person decides for the current text again.
    again = [one.decided_at or 0.0 for one in decided if one.status == REJECTED]
    return SharedText(memory, max(at, *again) if again else at, frozenset(one.digest for one in decided))


async def _supersede(app: App, older: Iterable[Memory], newer: Memory) -> None:
    """Mark texts that a person stated or approved earlier as superseded by the version approved now."""
    for memory in older:
        if memory.archived_at is None and newer.archived_at is None:
            why = "a later version of the shared memory was approved"
            await correcting.correct(app, correcting.CorrectionRequest(memory.id, "superseded", newer.id, reason=why))
