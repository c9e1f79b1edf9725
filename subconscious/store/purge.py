"""Purging, the only irreversible act: deletes rows, and all other data that contains their text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

import aiosqlite

from subconscious.store import events, merges, prose
from subconscious.store.connect import Database
from subconscious.store.filters import FULL_TEXT
from subconscious.store.merges import MERGED
from subconscious.store.read_before import READ, digest_of
from subconscious.store.rows import marks
from subconscious.store.subjects import SUBJECTS
from subconscious.store.wordings import Wordings

PORTION = 500
TOLD = ("title", "summary", "left_open", "handover", "sketch", "first_prompt", "last_prompt")
"""Columns of a session that repeat what was said in it."""

WORDY = frozenset({"implicit_captures", "surfaces", "embeddings", "failures"})
"""Tables whose rows go with the memory that they are about, though they might do without one."""

RELATIONS = (
    *(("correction", "memory_id"), ("correction", "replacement_id"), ("feedback", "memory_id")),
    *(("link", "source_id"), ("link", "target_id"), ("merge", "memory_id"), ("merge", "into_id")),
)
"""Subjects of the history that are about memories, and by which of their columns."""


@dataclass(frozen=True, slots=True)
class Doomed:
    """The rows to purge. ``wordings`` are their texts."""

    memories: tuple[int, ...]
    captures: tuple[int, ...]
    sessions: tuple[str, ...]
    whole: tuple[str, ...] = ()
    wordings: Wordings = field(default=Wordings(()), repr=False)


async def of_memories(database: Database, ids: Sequence[int]) -> Doomed:
    """Return these memories with those merged into them, and the captures that became or repeat them."""
    ids = (*ids, *await _merged(database, ids))
    found = await database.rows(f"SELECT id FROM implicit_captures WHERE memory_id IN ({marks(ids)})", ids)  # noqa: S608
    return await _with_traces(database, tuple(ids), tuple(row[0] for row in found), ())


async def _merged(database: Database, ids: Sequence[int]) -> list[int]:
    """What says the same as these memories, and went out of use for that."""
    rows = await database.rows(f"SELECT memory_id FROM {MERGED} WHERE into_id IN ({marks(ids)})", ids)  # noqa: S608
    return [row[0] for row in rows if row[0] not in ids]


async def of_sessions(database: Database, sessions: Sequence[str]) -> Doomed:
    """Return everything that these sessions stored, with their stories."""
    within = f"session_id IN ({marks(sessions)})"
    found = await database.rows(f"SELECT id FROM memories WHERE {within}", sessions)  # noqa: S608
    ids = tuple(row[0] for row in found)
    caught = await database.rows(
        f"SELECT id FROM implicit_captures WHERE {within} OR memory_id IN ({marks(ids)})",  # noqa: S608
        (*sessions, *ids),
    )
    return await _with_traces(database, ids, tuple(row[0] for row in caught), tuple(sessions))


async def of_project(database: Database, project_id: str | None) -> Doomed:
    """All of one project, or, for None, all there is."""
    where, values = ("project_id = ?", (project_id,)) if project_id else ("TRUE", ())
    chosen = []
    for table in ("memories", "implicit_captures", "sessions"):
        rows = await database.rows(f"SELECT id FROM {table} WHERE {where}", values)  # noqa: S608
        chosen.append(tuple(row[0] for row in rows))
    ids, caught, sessions = chosen
    return await _with_traces(database, ids, caught, sessions)


async def _with_traces(
    database: Database, ids: tuple[int, ...], caught: tuple[int, ...], whole: tuple[str, ...]
) -> Doomed:
    """Add what sums them up, what all that was known by, also before an edit, and the sessions in which it was said."""
    ids, caught = await _with_sums(database, ids, caught)
    wordings: set[str] = set()
    sessions: set[str] = set(whole)
    for table, numbers in (("memories", ids), ("implicit_captures", caught)):
        for portion in _portions(numbers):
            rows = await database.rows(
                f"SELECT session_id, summary, content, evidence, rationale FROM {table} WHERE id IN ({marks(portion)})",  # noqa: S608
                portion,
            )
            sessions.update(row[0] for row in rows if row[0])
            wordings.update(text for row in rows for text in tuple(row)[1:])
    for subject, numbers in (("memory", ids), ("capture", caught)):
        wordings.update(await _former(database, subject, numbers))
    return Doomed(ids, caught, tuple(sorted(sessions)), whole, Wordings(wordings))


async def _with_sums(
    database: Database, ids: tuple[int, ...], caught: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Add what says with others what these memories say: it may say it in other words, which no comparison finds."""
    found: dict[int, int | None] = {}
    for portion in _portions(ids):
        rows = await database.rows(
            "SELECT id, memory_id FROM implicit_captures WHERE id IN"  # noqa: S608
            f" (SELECT capture_id FROM consolidations WHERE memory_id IN ({marks(portion)}))",
            portion,
        )
        found.update((row[0], row[1]) for row in rows)
    sums = [number for number in found.values() if number is not None]
    return tuple(dict.fromkeys((*ids, *sums))), tuple(dict.fromkeys((*caught, *found)))


async def _former(database: Database, subject: str, numbers: Sequence[int]) -> set[str]:
    """Wordings that only the history knows any more."""
    found: set[str] = set()
    for portion in _portions([str(number) for number in (*numbers, *await _old_numbers(database, subject, numbers))]):
        rows = await database.rows(
            f"SELECT before, after FROM events WHERE subject = ? AND subject_id IN ({marks(portion)})",  # noqa: S608
            (subject, *portion),
        )
        values = [json.loads(side) for row in rows for side in tuple(row) if side]
        found.update(str(value[name]) for value in values for name in ("summary", "content") if value.get(name))
    return found


async def _old_numbers(database: Database, subject: str, numbers: Sequence[int]) -> list[int]:
    """The numbers that these had before they were given others: their older events have them still."""
    found: list[int] = []
    for portion in _portions([str(number) for number in numbers]):
        rows = await database.rows(
            "SELECT json_extract(before, '$.id') FROM events WHERE action = 'renumbered' AND subject = ?"  # noqa: S608
            f" AND subject_id IN ({marks(portion)})",
            (subject, *portion),
        )
        found += [row[0] for row in rows]
    return found


async def purge(tx: aiosqlite.Connection, database: Database, doomed: Doomed, what: str) -> None:
    """Delete it and every trace of it from the tables, in the caller's transaction, and record that without content."""
    await _revive(tx, doomed)
    await _keep_tombstones(tx, doomed.captures)
    await _delete(tx, "implicit_captures", doomed.captures)
    await _delete(tx, "memories", doomed.memories)
    await _delete_loose(tx, doomed)
    await _forget_sessions(tx, doomed)
    await _erase_wordings(tx, database, doomed.wordings)
    counts = {name: len(getattr(doomed, name)) for name in ("memories", "captures")} | {"sessions": len(doomed.whole)}
    await events.record(tx, "purge", "store", what, actor="user", after=counts)


async def _revive(tx: aiosqlite.Connection, doomed: Doomed) -> None:
    """What others said too, and was merged into what goes, says it again; not where that was out of use already."""
    gone = set(doomed.memories)
    for portion in _portions(doomed.memories):
        rows = await tx.execute_fetchall(
            f"SELECT id FROM memories WHERE archived_at IS NULL AND id IN ({marks(portion)})",  # noqa: S608
            portion,
        )
        back = [memory for memory in await merges.under(tx, [row[0] for row in rows]) if memory.id not in gone]
        await merges.give_back(tx, back, "user", "what it was merged into was purged")


async def _keep_tombstones(tx: aiosqlite.Connection, captures: Sequence[int]) -> None:
    for portion in _portions(captures):
        await tx.execute(
            "INSERT OR IGNORE INTO purged_captures SELECT capture_key, ? FROM implicit_captures"  # noqa: S608
            f" WHERE id IN ({marks(portion)})",
            (time(), *portion),
        )


async def _delete(tx: aiosqlite.Connection, table: str, keys: Iterable[Any]) -> None:
    """Delete rows by id, after the rows of other tables that name them."""
    for portion in _portions(list(keys)):
        for child, column, key, needed in await _children(tx, table):
            held = f'"{column}" IN ({marks(portion)})'
            if not needed and child not in WORDY:
                await tx.execute(f'UPDATE {child} SET "{column}" = NULL WHERE {held}', portion)  # noqa: S608
                continue
            if key:
                rows = await tx.execute_fetchall(f'SELECT "{key}" FROM {child} WHERE {held}', portion)  # noqa: S608
                await _delete(tx, child, [row[0] for row in rows])
            await tx.execute(f"DELETE FROM {child} WHERE {held}", portion)  # noqa: S608
        if table == "memories":
            for text in FULL_TEXT.values():
                await tx.execute(f"DELETE FROM {text} WHERE rowid IN ({marks(portion)})", portion)  # noqa: S608
        if table == "memory_links":  # their history contains their evidence, too
            known = f"subject = 'link' AND subject_id IN ({marks(portion)})"
            await tx.execute(f"DELETE FROM events WHERE {known}", [str(key) for key in portion])  # noqa: S608
        await tx.execute(f"DELETE FROM {table} WHERE id IN ({marks(portion)})", portion)  # noqa: S608


async def _children(tx: aiosqlite.Connection, table: str) -> list[tuple[str, str, str, bool]]:
    """Columns of other tables that name a row of this one: the table, the column, its id, whether it needs a name."""
    rows = await tx.execute_fetchall(
        'SELECT child.name, reference."from", coalesce((SELECT name FROM pragma_table_info(child.name)'
        " WHERE pk = 1 AND name = 'id'), ''), (SELECT \"notnull\" OR pk FROM pragma_table_info(child.name)"
        ' WHERE name = reference."from") FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS reference'
        " WHERE child.type = 'table' AND reference.\"table\" = ? AND child.name <> ?",
        (table, table),
    )
    return [(row[0], row[1], row[2], bool(row[3])) for row in rows]


async def _delete_loose(tx: aiosqlite.Connection, doomed: Doomed) -> None:
    """Delete rows that name them without a reference: history, unread spans, findings."""
    subjects = (
        *(("memory", doomed.memories), ("decay", doomed.memories)),
        *(("capture", doomed.captures), ("session", doomed.whole)),
    )
    for subject, keys in subjects:
        for portion in _portions([str(key) for key in keys]):
            await tx.execute(
                f"DELETE FROM events WHERE subject = ? AND subject_id IN ({marks(portion)})",  # noqa: S608
                (subject, *portion),
            )
            places = [f"{subject}/{key}" for key in portion]
            await tx.execute(f"DELETE FROM redactions WHERE place IN ({marks(places)})", places)  # noqa: S608
    for portion in _portions(doomed.memories):
        await _forget_relations(tx, portion)
    for name, sort in SUBJECTS.items():
        if sort.withdrawn is not None:  # its rows go by a purge alone; links go with the memories at their ends
            gone = f'subject_id NOT IN (SELECT CAST("{sort.key}" AS TEXT) FROM {sort.table})'  # noqa: S608
            await tx.execute(f"DELETE FROM events WHERE subject = ? AND {gone}", (name,))  # noqa: S608
    for portion in _portions(doomed.whole):
        for table in ("prompts", "surfaces", "handovers", "events", "failures"):
            await tx.execute(f"DELETE FROM {table} WHERE session_id IN ({marks(portion)})", portion)  # noqa: S608
    for portion in _portions(doomed.sessions):
        await _unask(tx, portion)
    await _unask_of_links(tx, set(doomed.memories))


async def _forget_relations(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Delete the history of their links and of feedback about them, which may quote them."""
    for subject, column in RELATIONS:
        await tx.execute(
            "DELETE FROM events WHERE subject = ? AND subject_id IN (SELECT subject_id FROM events WHERE subject = ?"  # noqa: S608
            f" AND json_extract(coalesce(after, before), ?) IN ({marks(ids)}))",
            (subject, subject, f"$.{column}", *ids),
        )


async def _unask(tx: aiosqlite.Connection, sessions: Sequence[str]) -> None:
    """Cancel the questions to a model about these sessions: it would find the purged text again.

    The rows stay without their text, so that an answer that is on its way finds no open question.
    """
    within = f"session_id IN ({marks(sessions)})"
    await tx.execute(f"DELETE FROM model_readings WHERE {within}", sessions)  # noqa: S608
    await tx.execute(f"UPDATE second_looks SET before = '' WHERE {within}", sessions)  # noqa: S608
    await tx.execute(
        "UPDATE llm_requests SET system = '', text = '', payload = '{}',"  # noqa: S608
        f" state = CASE WHEN state = 'done' THEN 'done' ELSE 'buried' END WHERE {within}",
        sessions,
    )


async def _unask_of_links(tx: aiosqlite.Connection, gone: set[int]) -> None:
    """Cancel questions about links and summaries of these memories, which quote them."""
    rows = await tx.execute_fetchall(
        "SELECT id, payload FROM llm_requests WHERE purpose IN ('links', 'consolidation') AND payload <> '{}'"
    )
    for row in rows:
        payload = json.loads(row["payload"])
        if gone & {payload["memory"], *payload["others"]}:
            await tx.execute(
                "UPDATE llm_requests SET system = '', text = '', payload = '{}', state = 'buried' WHERE id = ?",
                (row["id"],),
            )


async def _forget_sessions(tx: aiosqlite.Connection, doomed: Doomed) -> None:
    """Clear the stories that repeat purged text; for whole sessions, all of it.

    The reading positions stay, so that the transcripts are not read again.
    """
    shares = doomed.wordings.shares
    for session in doomed.sessions:
        whole = session in doomed.whole
        told = await tx.execute_fetchall(f"SELECT {', '.join(TOLD)} FROM sessions WHERE id = ?", (session,))  # noqa: S608
        if whole or any(shares(text) for row in told for text in tuple(row)):
            blank = ", ".join(f"{name} = ''" for name in TOLD)
            await tx.execute(f"UPDATE sessions SET {blank}, tags = '[]' WHERE id = ?", (session,))  # noqa: S608
            await _forget_what_was_told(tx, session)
        states = await tx.execute_fetchall("SELECT path, state FROM transcripts WHERE session_id = ?", (session,))
        for row in states:
            if whole or shares(row["state"]):
                await tx.execute("UPDATE transcripts SET state = '{}' WHERE path = ?", (row["path"],))
        kept = await tx.execute_fetchall("SELECT id, intent FROM memories WHERE session_id = ?", (session,))
        for row in kept:
            if whole or shares(row["intent"]):
                await tx.execute("UPDATE memories SET intent = '' WHERE id = ?", (row["id"],))


async def _forget_what_was_told(tx: aiosqlite.Connection, session: str) -> None:
    """Delete the history of a session's story: it contains the purged text in other words."""
    own = "subject = 'session' AND subject_id = ?"
    await tx.execute(f"DELETE FROM events WHERE {own} AND action IN ('retell', 'undo')", (session,))  # noqa: S608
    await tx.execute(
        f"UPDATE events SET before = json_set(before, '$.told', json('{{}}')) WHERE {own}"  # noqa: S608
        " AND action = 'rollback' AND json_valid(before)",
        (session,),
    )


async def _erase_wordings(tx: aiosqlite.Connection, database: Database, wordings: Wordings) -> None:
    """Replace the exact texts by a mark wherever else they occur."""
    for table in await prose.tables(database) if wordings.texts else ():
        after: tuple[Any, ...] = ()
        while batch := await prose.page(tx, table, after, PORTION):
            for row, new in await asyncio.to_thread(_erased, batch, wordings):
                await prose.rewrite(tx, row, new)
            after = batch[-1].key


def _erased(batch: Sequence[prose.Row], wordings: Wordings) -> list[tuple[prose.Row, dict[str, str]]]:
    changes = [(row, prose.changed(row, wordings.erase)) for row in batch]
    return [(row, new) for row, new in changes if new]


KEPT = frozenset(
    {"schema_migrations", "events", "purged_captures", "embedding_models", "llm_calls", "llm_batches", "llm_requests"}
    | {"jobs", "maintenance_runs", "redaction_state", "redactions_allowed", "postponed_upkeep"}
)
"""Tables that hold no words, names or paths, or lose them here."""


async def empty(tx: aiosqlite.Connection) -> None:
    """Delete all remaining rows after a purge of everything: projects, paths and sessions.

    The reading positions stay under a digest of the paths, so that the transcripts are not read again.
    """
    rows = await tx.execute_fetchall("SELECT path, position FROM transcripts")
    for row in rows:
        await events.record(tx, READ, "prompt", digest_of(row["path"]), after={"position": row["position"]})
    await tx.execute(
        # Without the accepted settings, the next start would accept the config.toml of that time.
        "DELETE FROM events WHERE action NOT IN ('purge', ?) AND NOT (action = 'accept' AND subject = 'settings')",
        (READ,),
    )
    await tx.execute("PRAGMA defer_foreign_keys = ON")
    for table in await _tables(tx):
        await tx.execute(f'DELETE FROM "{table}"')  # noqa: S608
    # Requests that were sent may still be answered, and the costs of today still count.
    await tx.execute(
        "UPDATE llm_requests SET key = 'purged ' || id, system = '', text = '', payload = '{}', reason = '',"
        " state = 'buried', session_id = '', project_id = ''"
    )
    await tx.execute("UPDATE llm_calls SET session_id = '', project_id = ''")
    await tx.execute("DELETE FROM maintenance_runs WHERE state <> 'running'")
    await tx.execute("DELETE FROM jobs WHERE state <> 'leased'")
    await tx.execute("UPDATE jobs SET reason = ''")


async def _tables(tx: aiosqlite.Connection) -> list[str]:
    """The tables that a purge of everything empties; those of the full text went with their memories."""
    rows = await tx.execute_fetchall(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [row["name"] for row in rows if row["name"] not in KEPT]


def _portions(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return [items[start : start + PORTION] for start in range(0, len(items), PORTION)]
