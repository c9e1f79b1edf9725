"""Undo: reverts every event of an act, the latest first, unless a later change depends on it.

An undo deletes no history: it is another change, with events of its own, and can be undone, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import HeldError, RequestError
from subconscious.store import (
    captures,
    consolidations,
    event_projects,
    events,
    fading,
    full_text,
    memories,
    merges,
    prose,
)
from subconscious.store.connect import Database
from subconscious.store.rows import alter, insertion, marks
from subconscious.store.subjects import FINAL, SUBJECTS, TOLD_AS, Subject

UNDO = "undo"
FOLLOWS = "the undo of an earlier change"
PAGE = 200
"""Events that are looked through at once for the latest acts."""

PEOPLES = ("user", "assistant")
"""Whose acts the latest ones are, unless the daemon's own are wanted too."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One reverted event: the columns changed from ``before`` to ``after`` (None: no row)."""

    event: Event
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def is_change(event: Event) -> bool:
    """Whether an event changed something that its row shows."""
    subject = SUBJECTS.get(event["subject"])
    told = event["before"] is not None or event["after"] is not None
    return subject is not None and told and event["action"] not in subject.notes | FINAL


def key_of(event: Event) -> str:
    """The id of an event's act. An event from before there were acts is an act of its own."""
    return event["act"] or f"event {event['id']}"


async def latest(database: Database, number: int, *, daemon: bool = False, project_id: str | None = None) -> list[int]:
    """The newest event of each of the latest ``number`` acts, the latest first; the daemon's own only if wanted.

    With ``project_id``, acts on other projects' things do not count. Raises RequestError where a purge is among them.
    """
    found: dict[str, int] = {}
    before = 2**62
    while len(found) < number and (page := await events.page(database, before, PAGE)):
        wanted = page if project_id is None else await event_projects.here_or_everywhere(database, page, project_id)
        for event in wanted:
            if (daemon or event["actor"] in PEOPLES) and len(found) < number:
                _refuse_final(event)
                if is_change(event):
                    found.setdefault(key_of(event), event["id"])
        before = page[-1]["id"]
    return list(found.values())


def _refuse_final(event: Event) -> None:
    if event["action"] in FINAL and event["actor"] in PEOPLES:
        raise RequestError(
            f"event {event['id']} is a {event['action']}, which nothing takes back",
            "`subconscious history` lists the acts; `subconscious undo --event ID` takes an earlier one back",
        )


async def acts(tx: aiosqlite.Connection, event_ids: Iterable[int]) -> list[list[Event]]:
    """The changes of the acts that these events belong to, the latest act and the latest change first."""
    found: dict[str, list[Event]] = {}
    for event_id in event_ids:
        event = await events.held(tx, event_id)
        _refuse_final(event)
        changes = [one for one in await events.of_act(tx, event) if is_change(one)]
        if not changes:
            raise RequestError(f"event {event_id} changed nothing that could be taken back", "see subconscious history")
        found[key_of(event)] = changes[::-1]
    return sorted(found.values(), key=lambda act: -act[0]["id"])


async def take_back(tx: aiosqlite.Connection, chosen: Sequence[Sequence[Event]], reason: str) -> list[Step]:
    """Take these acts back, all or nothing, as one act of a person's. Raises RequestError where that can't be."""
    done = [step for act in chosen for event in act for step in await _take_back(tx, event, reason)]
    done += await _fallen(tx, done) + await _given_back(tx, done)
    await _settle(tx, done)
    return done


async def _take_back(tx: aiosqlite.Connection, event: Event, reason: str) -> list[Step]:
    subject = SUBJECTS[event["subject"]]
    _refuse_legacy(event)
    row = await _row(tx, subject, event)
    before, after = _read(subject, event["before"]), _read(subject, event["after"])
    if after is None:
        step = await _put_back(tx, subject, event, row, before or {})
    elif row is None:
        raise await _stands(tx, event, set(after), "it is not there any more")
    else:
        await _compare(
            tx, subject, event, row, after if before is None else {n: after[n] for n in before if n in after}
        )
        step = await (_withdraw if before is None else _restore)(tx, subject, event, row)
    if step is None:
        return []
    told = f"event {event['id']} ({event['action']})" + (f": {reason}" if reason else "")
    await events.record(
        tx,
        UNDO,
        event["subject"],
        event["subject_id"],
        actor="user",
        session_id=event["session_id"],
        reason=told,
        before=step.before,
        after=step.after,
    )
    return [step]


def _refuse_legacy(event: Event) -> None:
    if event["subject"] == "capture" and not event["act"]:
        raise RequestError(
            f"event {event['id']} was recorded by a version that could not take it back yet",
            f"try: subconscious review undo {event['subject_id']}",
        )


def _read(subject: Subject, side: dict[str, Any] | None) -> dict[str, Any] | None:
    """Values as the table has them."""
    if side is None or not subject.table:
        return side
    return {name: _column(name, value) for name, value in side.items()}


def _column(name: str, value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return TOLD_AS.get(value, value) if name == "status" else value


async def _row(tx: aiosqlite.Connection, subject: Subject, event: Event) -> dict[str, Any] | None:
    """The present values; where only the history has them, the latest ones."""
    if not subject.table:
        known = await events.latest(tx, event["subject"], event["subject_id"])
        return known["after"] if known else None
    rows = list(
        await tx.execute_fetchall(
            f'SELECT * FROM {subject.table} WHERE CAST("{subject.key}" AS TEXT) = ?',  # noqa: S608 - our own table
            (event["subject_id"],),
        )
    )
    return dict(rows[0]) if rows else None


async def _compare(
    tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any], after: dict[str, Any]
) -> None:
    """Refuse where something has changed since."""
    differ = {name for name in after if name in row and name not in subject.free and row[name] != after[name]}
    if differ:
        raise await _stands(tx, event, differ, f"{', '.join(sorted(differ))} changed since")


async def _stands(tx: aiosqlite.Connection, event: Event, names: set[str], otherwise: str) -> RequestError:
    """Return the later change that depends on an event."""
    what = f"{event['subject']} {event['subject_id']}"
    for later in await events.after(tx, event):
        if is_change(later) and names & {*(later["before"] or {}), *(later["after"] or {}), *_missing(later)}:
            return RequestError(
                f"event {event['id']} ({event['action']} of {what}) can't be taken back:"
                f" event {later['id']} ({later['action']}) came after it",
                f"take that back first: subconscious undo --event {later['id']}",
            )
    message = f"event {event['id']} ({event['action']} of {what}) can't be taken back: {otherwise}"
    return RequestError(message, f"see `subconscious history --event {event['id']}`")


def _missing(event: Event) -> set[str]:
    """A row that was taken away has lost every column."""
    return set(event["before"] or {}) if event["after"] is None else set()


async def _put_back(
    tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any] | None, before: dict[str, Any]
) -> Step | None:
    """Insert a row that was taken away."""
    if row is None:
        rule = "ON CONFLICT DO NOTHING" if subject.lenient else ""
        done = await tx.execute(*insertion(subject.table, before, rule))
        return Step(event, None, before) if done.rowcount else None
    if subject.lenient:
        return None
    raise await _stands(tx, event, set(before), "it is on record anew")


async def _withdraw(tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any]) -> Step:
    """Take back that something was made."""
    if not subject.table:
        raise RequestError(f"event {event['id']} does not tell what was before it", "")
    key = row[subject.key]
    if subject.withdrawn is None:
        await tx.execute(f'DELETE FROM {subject.table} WHERE "{subject.key}" = ?', (key,))  # noqa: S608
        return Step(event, row, None)
    return Step(event, *await alter(tx, subject.table, key, subject.withdrawn(time()), subject.key))


async def _restore(tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any]) -> Step:
    """Restore the earlier values of columns."""
    values = {name: value for name, value in (_read(subject, event["before"]) or {}).items() if name in row}
    if not subject.table:
        return Step(event, row, row | values)
    return Step(event, *await alter(tx, subject.table, row[subject.key], values, subject.key))


async def _fallen(tx: aiosqlite.Connection, done: Sequence[Step]) -> list[Step]:
    """Take along what sums up the memories that went, as when a person takes one out of use.

    Not of those that had faded before they were brought back: that was true, and its summing up is what stays of it.
    """
    gone = [
        int(step.event["subject_id"])
        for step in done
        if step.event["subject"] == "memory"
        and (step.after or {}).get("archived_at") is not None
        and not await fading.had_faded(tx, int(step.event["subject_id"]))
    ]
    fallen = await consolidations.fall(tx, gone, "user", FOLLOWS)
    return await _follow(tx, fallen + await merges.leave(tx, fallen, "user", FOLLOWS))


async def _given_back(tx: aiosqlite.Connection, done: Sequence[Step]) -> list[Step]:
    """Restore memories that were merged into the removed ones after the reverted change."""
    back: list[int] = []
    for step in done:
        if step.event["subject"] == "memory" and (step.after or {}).get("archived_at") is not None:
            memory = await memories.held(tx, int(step.event["subject_id"]))
            if memory.archived_at is not None:
                back += await merges.leave(tx, [memory.id], "user", FOLLOWS, step.event["id"])
    return await _follow(tx, back)


async def _follow(tx: aiosqlite.Connection, ids: Sequence[int]) -> list[Step]:
    """Return events of these memories in this transaction that are not part of the undo."""
    found = [await events.latest(tx, "memory", number) for number in ids]
    return [Step(event, event["before"], event["after"]) for event in found if event is not None]


async def _settle(tx: aiosqlite.Connection, done: Sequence[Step]) -> None:
    """Update the data that derives from changed memories."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    changed = touched(done)
    for memory_id, names in changed.items():
        if names & (prose.INDEXED | {"project_id", "scope"}):
            await prose.derive(tx, memory_id)
        memory = await memories.held(tx, memory_id)
        await full_text.reindex(tx, memory)
        await vectors.activate(tx, [memory_id], memory.archived_at is None)
    await _refuse_held(tx, list(changed))


async def _refuse_held(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """A memory in quarantine can only be restored by a release."""
    held = await captures.in_quarantine(tx, ids)
    rows = await tx.execute_fetchall(
        f"SELECT id FROM memories WHERE archived_at IS NULL AND id IN ({marks(held)})",  # noqa: S608
        tuple(held),
    )
    for row in rows:
        raise HeldError(row["id"])


def touched(done: Sequence[Step]) -> dict[int, set[str]]:
    """The memories that were changed, and the columns."""
    found: dict[int, set[str]] = {}
    for step in done:
        if step.event["subject"] == "memory":
            found.setdefault(int(step.event["subject_id"]), set()).update(step.after or {})
    return found
