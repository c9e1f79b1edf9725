"""Undo of acts. An act is all changes (events) of one action by a user, the assistant or the daemon.

All events of an act are reverted, latest first. If a later change depends on one of them, nothing is undone.

An undo deletes no history: it is another change with its own events, and can be undone too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.domain.errors import QuarantinedError, RequestError
from subconscious.store import (
    captures,
    consolidations,
    events,
    fading,
    full_text,
    memories,
    merges,
    subjects,
    text_columns,
)
from subconscious.store.connect import Database
from subconscious.store.rows import insertion, qmarks, update_row
from subconscious.store.subjects import FINAL, STORED_STATUS, SUBJECTS, Subject
from subconscious.wire.history import Event

UNDO = "undo"
FOLLOWS = "the undo of an earlier change"
PAGE = 200
"""Events per page in the search for the latest acts."""

ACTORS = ("user", "assistant")
"""The actors whose acts are listed for undo; acts of the daemon are listed only on request."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reverted event: the columns that the undo changed from ``before`` to ``after`` (None: no row)."""

    event: Event
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def is_change(event: Event) -> bool:
    """Whether an event changed a value that undo can restore."""
    subject = SUBJECTS.get(event["subject"])
    if subject is None or event["action"] in subject.notes | FINAL:
        return False
    # Without a table, the first values replaced none that could be restored.
    return event["before"] is not None or (event["after"] is not None and subject.table != "")


def act_id(event: Event) -> str:
    """Return the id of an event's act. An event without an act id, from an old version, is an act of its own."""
    return event["act"] or f"event {event['id']}"


async def latest(database: Database, number: int, *, daemon: bool = False, project_id: str | None = None) -> list[int]:
    """Return the id of the newest event of each of the latest ``number`` acts, latest first.

    Acts of the daemon are left out unless ``daemon`` is set. With ``project_id``, acts on other projects are skipped,
    and so are acts that can't be undone. Raises RequestError if only the latest act is requested, and it is a purge, or
    a redaction by the user or the assistant: an earlier one is not meant.
    """
    found: dict[str, int] = {}
    before = 2**62
    while len(found) < number and (page := await events.page(database, before, PAGE)):
        wanted = page if project_id is None else await subjects.events_of_project(database, page, project_id)
        for event in wanted:
            if (daemon or event["actor"] in ACTORS) and len(found) < number:
                if number == 1:
                    _refuse_final(event)
                if is_change(event) and (number == 1 or not _is_legacy(event)):
                    found.setdefault(act_id(event), event["id"])
        before = page[-1]["id"]
    return list(found.values())


def _refuse_final(event: Event) -> None:
    if event["action"] in FINAL and event["actor"] in ACTORS:
        raise RequestError(
            f"event {event['id']} ({event['action']}) can't be undone",
            "`subconscious history` lists the changes; `subconscious undo --event ID` undoes an earlier one",
        )


async def acts(tx: aiosqlite.Connection, event_ids: Iterable[int]) -> list[list[Event]]:
    """Return the acts that these events belong to, each as a list of its changes; latest act and latest change first.

    Raises NotFoundError if an event does not exist, RequestError if an act can't be undone or changed nothing.
    """
    found: dict[str, list[Event]] = {}
    for event_id in event_ids:
        event = await events.require(tx, event_id)
        _refuse_final(event)
        changes = [one for one in await events.of_act(tx, event) if is_change(one)]
        if not changes:
            raise RequestError(
                f"event {event_id} changed nothing that can be undone", "`subconscious history` lists the changes"
            )
        found[act_id(event)] = changes[::-1]
    return sorted(found.values(), key=lambda act: -act[0]["id"])


async def undo(tx: aiosqlite.Connection, chosen: Sequence[Sequence[Event]], reason: str) -> list[Step]:
    """Revert all events of ``chosen`` acts, as one new act of the user.

    Raises RequestError if an event can't be reverted.
    """
    done = [step for act in chosen for event in act for step in await _undo_event(tx, event, reason)]
    done += await _archive_summaries(tx, done) + await _restore_merged(tx, done)
    await _update_derived(tx, done)
    return done


async def is_undone(tx: aiosqlite.Connection, event: Event) -> bool:
    """Whether an event's act was undone, and that undo was not undone itself."""
    for change in await events.of_act(tx, event):
        for later in await events.after(tx, change):
            if later["action"] == UNDO and later["reason"].startswith(_reference(change)):
                return not await is_undone(tx, later)
    return False


def _reference(event: Event) -> str:
    """Return how the reason of an undo refers to the reverted event, such as `event 12 (archive)`."""
    return f"event {event['id']} ({event['action']})"


async def _undo_event(tx: aiosqlite.Connection, event: Event, reason: str) -> list[Step]:
    subject = SUBJECTS[event["subject"]]
    _refuse_legacy(event)
    row = await _row(tx, subject, event)
    before, after = _read(subject, event["before"]), _read(subject, event["after"])
    if after is None:
        step = await _insert_again(tx, subject, event, row, before or {})
    elif row is None:
        raise await _dependent_change(tx, event, set(after), "it no longer exists")
    else:
        await _compare(
            tx, subject, event, row, after if before is None else {n: after[n] for n in before if n in after}
        )
        step = await (_withdraw if before is None else _restore)(tx, subject, event, row)
    if step is None:
        return []
    explanation = _reference(event) + (f": {reason}" if reason else "")
    await events.record(
        tx,
        UNDO,
        event["subject"],
        event["subject_id"],
        actor="user",
        session_id=event["session_id"],
        reason=explanation,
        before=step.before,
        after=step.after,
    )
    return [step]


def _is_legacy(event: Event) -> bool:
    return event["subject"] == "capture" and not event["act"]


def _refuse_legacy(event: Event) -> None:
    if _is_legacy(event):
        raise RequestError(
            f"event {event['id']} was recorded by an older version, which stored too little to undo it",
            f"try: subconscious review undo {event['subject_id']}",
        )


def _read(subject: Subject, side: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the values of an event in the form in which the table stores them."""
    if side is None or not subject.table:
        return side
    return {name: _column(name, value) for name, value in side.items()}


def _column(name: str, value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return STORED_STATUS.get(value, value) if name == "status" else value


async def _row(tx: aiosqlite.Connection, subject: Subject, event: Event) -> dict[str, Any] | None:
    """Return the present values of a subject; if it has no table, the values of its latest event."""
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
    """Raise RequestError if a value of ``after`` has changed since the event."""
    differ = {name for name in after if name in row and name not in subject.free and row[name] != after[name]}
    if differ:
        raise await _dependent_change(tx, event, differ, f"{', '.join(sorted(differ))} changed since")


async def _dependent_change(tx: aiosqlite.Connection, event: Event, names: set[str], otherwise: str) -> RequestError:
    """Return the error for an event that can't be undone.

    It names the later change of one of the columns ``names``; if there is none, ``otherwise`` is the reason.
    """
    what = f"{event['subject']} {event['subject_id']}"
    for later in await events.after(tx, event):
        if is_change(later) and names & {*(later["before"] or {}), *(later["after"] or {})}:
            return RequestError(
                f"event {event['id']} ({event['action']} of {what}) can't be undone:"
                f" event {later['id']} ({later['action']}) came after it",
                f"undo that first: subconscious undo --event {later['id']}",
            )
    message = f"event {event['id']} ({event['action']} of {what}) can't be undone: {otherwise}"
    return RequestError(message, f"see `subconscious history --event {event['id']}`")


async def _insert_again(
    tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any] | None, before: dict[str, Any]
) -> Step | None:
    """Insert a deleted row again."""
    if row is None:
        rule = "ON CONFLICT DO NOTHING" if subject.lenient else ""
        done = await tx.execute(*insertion(subject.table, before, rule))
        return Step(event, None, before) if done.rowcount else None
    if subject.lenient:
        return None
    raise await _dependent_change(tx, event, set(before), "it was recorded again")


async def _withdraw(tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any]) -> Step:
    """Revert the creation of a row."""
    key = row[subject.key]
    if subject.withdrawn is None:
        await tx.execute(f'DELETE FROM {subject.table} WHERE "{subject.key}" = ?', (key,))  # noqa: S608
        return Step(event, row, None)
    return Step(event, *await update_row(tx, subject.table, key, subject.withdrawn(time()), subject.key))


async def _restore(tx: aiosqlite.Connection, subject: Subject, event: Event, row: dict[str, Any]) -> Step:
    """Restore the earlier values of columns."""
    values = {name: value for name, value in (_read(subject, event["before"]) or {}).items() if name in row}
    if not subject.table:
        return Step(event, row, row | values)
    return Step(event, *await update_row(tx, subject.table, row[subject.key], values, subject.key))


async def _archive_summaries(tx: aiosqlite.Connection, done: Sequence[Step]) -> list[Step]:
    """Archive the summaries of memories that the undo archived, as is done when a person archives a memory.

    If a memory had faded before it was restored, its summaries stay: what it says was true.
    """
    gone = [
        int(step.event["subject_id"])
        for step in done
        if step.event["subject"] == "memory"
        and (step.after or {}).get("archived_at") is not None
        and not await fading.had_faded(tx, int(step.event["subject_id"]))
    ]
    fallen = await consolidations.archive_dependents(tx, gone, "user", FOLLOWS)
    return await _follow(tx, fallen + await merges.restore_merged(tx, fallen, "user", FOLLOWS))


async def _restore_merged(tx: aiosqlite.Connection, done: Sequence[Step]) -> list[Step]:
    """Restore memories that were merged, after the reverted change, into memories that the undo archived."""
    back: list[int] = []
    for step in done:
        if step.event["subject"] == "memory" and (step.after or {}).get("archived_at") is not None:
            memory = await memories.require(tx, int(step.event["subject_id"]))
            if memory.archived_at is not None:
                back += await merges.restore_merged(tx, [memory.id], "user", FOLLOWS, step.event["id"])
    return await _follow(tx, back)


async def _follow(tx: aiosqlite.Connection, ids: Sequence[int]) -> list[Step]:
    """Return the latest change of each memory in ``ids``, which changed in this transaction because of the undo."""
    found = [await events.latest(tx, "memory", number) for number in ids]
    return [Step(event, event["before"], event["after"]) for event in found if event is not None]


async def _update_derived(tx: aiosqlite.Connection, done: Sequence[Step]) -> None:
    """Update the data that derives from changed memories."""
    from subconscious.store import vectors  # not at the top: it loads numpy, which would delay a start by 0.1 s

    changed = changed_memories(done)
    for memory_id, names in changed.items():
        if names & (text_columns.INDEXED_COLUMNS | {"project_id", "scope"}):
            await text_columns.update_derived(tx, memory_id)
        memory = await memories.require(tx, memory_id)
        await full_text.reindex(tx, memory)
        await vectors.activate(tx, [memory_id], memory.archived_at is None)
    await _refuse_quarantined(tx, list(changed))


async def _refuse_quarantined(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Raise QuarantinedError if an active memory is in quarantine: only a release from quarantine may restore it."""
    held = await captures.in_quarantine(tx, ids)
    rows = await tx.execute_fetchall(
        f"SELECT id FROM memories WHERE archived_at IS NULL AND id IN ({qmarks(held)})",  # noqa: S608
        tuple(held),
    )
    for row in rows:
        raise QuarantinedError(row["id"])


def changed_memories(done: Sequence[Step]) -> dict[int, set[str]]:
    """Return the names of the changed columns of each changed memory, by the memory's id."""
    found: dict[int, set[str]] = {}
    for step in done:
        if step.event["subject"] == "memory":
            found.setdefault(int(step.event["subject_id"]), set()).update(step.after or {})
    return found
