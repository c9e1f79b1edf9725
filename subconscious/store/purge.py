"""Purges rows and all other data that contains their text; a purge can't be undone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from time import time
from typing import Any

import aiosqlite

from subconscious.store import events, merges, text_columns
from subconscious.store.connect import Database
from subconscious.store.filters import FULL_TEXT
from subconscious.store.purge_selection import PORTION, Selection, Wordings, portions
from subconscious.store.rows import qmarks
from subconscious.store.sessions import READ_BEFORE_PURGE, path_digest
from subconscious.store.subjects import SUBJECTS

STORY_COLUMNS = ("title", "summary", "left_open", "handover", "sketch", "first_prompt", "last_prompt")
"""Columns of a session that can repeat statements made in it."""

DELETED_WITH_MEMORY = frozenset({"implicit_captures", "surfaces", "embeddings", "failures"})
"""Tables whose rows are deleted with the memory that they refer to, although the reference may be null."""

RELATIONS = (
    *(("correction", "memory_id"), ("correction", "replacement_id"), ("feedback", "memory_id")),
    *(("link", "source_id"), ("link", "target_id"), ("merge", "memory_id"), ("merge", "into_id")),
)
"""Subjects of events about relations of memories, each with a column that contains a memory's id."""


async def purge(tx: aiosqlite.Connection, database: Database, selection: Selection, what: str) -> None:
    """Delete the selected rows and all copies of their texts, in the caller's transaction; record the purge.

    ``what`` is the description for the history, such as "memories 4, 7" or "a project".
    """
    await _restore_merged(tx, selection)
    await _keep_tombstones(tx, selection.captures)
    await _delete(tx, "implicit_captures", selection.captures)
    await _delete(tx, "memories", selection.memories)
    await _delete_unreferenced(tx, selection)
    await _clear_sessions(tx, selection)
    await _erase_wordings(tx, database, selection.wordings)
    counts = {name: len(getattr(selection, name)) for name in ("memories", "captures")}
    counts["sessions"] = len(selection.whole)
    await events.record(tx, "purge", "store", what, actor="user", after=counts)


async def _restore_merged(tx: aiosqlite.Connection, selection: Selection) -> None:
    """Restore memories that are not purged themselves, but were merged into an active memory that is purged."""
    gone = set(selection.memories)
    for portion in portions(selection.memories):
        rows = await tx.execute_fetchall(
            f"SELECT id FROM memories WHERE archived_at IS NULL AND id IN ({qmarks(portion)})",  # noqa: S608
            portion,
        )
        back = [memory for memory in await merges.merged_into(tx, [row[0] for row in rows]) if memory.id not in gone]
        await merges.restore(tx, back, "user", "the memory it was merged into was purged")


async def _keep_tombstones(tx: aiosqlite.Connection, captures: Sequence[int]) -> None:
    for portion in portions(captures):
        await tx.execute(
            "INSERT OR IGNORE INTO purged_captures SELECT capture_key, ? FROM implicit_captures"  # noqa: S608
            f" WHERE id IN ({qmarks(portion)})",
            (time(), *portion),
        )


async def _delete(tx: aiosqlite.Connection, table: str, keys: Iterable[Any]) -> None:
    """Delete rows by id, after the rows that refer to them. Most references that may be NULL become NULL instead."""
    for portion in portions(list(keys)):
        for child, column, key, needed in await _children(tx, table):
            held = f'"{column}" IN ({qmarks(portion)})'
            if not needed and child not in DELETED_WITH_MEMORY:
                await tx.execute(f'UPDATE {child} SET "{column}" = NULL WHERE {held}', portion)  # noqa: S608
                continue
            if key:
                rows = await tx.execute_fetchall(f'SELECT "{key}" FROM {child} WHERE {held}', portion)  # noqa: S608
                await _delete(tx, child, [row[0] for row in rows])
            await tx.execute(f"DELETE FROM {child} WHERE {held}", portion)  # noqa: S608
        if table == "memories":
            for text in FULL_TEXT.values():
                await tx.execute(f"DELETE FROM {text} WHERE rowid IN ({qmarks(portion)})", portion)  # noqa: S608
        if table == "memory_links":  # its events contain the evidence, too
            known = f"subject = 'link' AND subject_id IN ({qmarks(portion)})"
            await tx.execute(f"DELETE FROM events WHERE {known}", [str(key) for key in portion])  # noqa: S608
        await tx.execute(f"DELETE FROM {table} WHERE id IN ({qmarks(portion)})", portion)  # noqa: S608


async def _children(tx: aiosqlite.Connection, table: str) -> list[tuple[str, str, str, bool]]:
    """Return the columns of other tables that refer to ``table``: (table, column, id column, required or not)."""
    rows = await tx.execute_fetchall(
        'SELECT child.name, reference."from", coalesce((SELECT name FROM pragma_table_info(child.name)'
        " WHERE pk = 1 AND name = 'id'), ''), (SELECT \"notnull\" OR pk FROM pragma_table_info(child.name)"
        ' WHERE name = reference."from") FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS reference'
        " WHERE child.type = 'table' AND reference.\"table\" = ? AND child.name <> ?",
        (table, table),
    )
    return [(row[0], row[1], row[2], bool(row[3])) for row in rows]


async def _delete_unreferenced(tx: aiosqlite.Connection, selection: Selection) -> None:
    """Delete rows that refer to purged rows without a foreign key: history, prompts, redaction findings and others."""
    subjects = (
        *(("memory", selection.memories), ("decay", selection.memories)),
        *(("capture", selection.captures), ("session", selection.whole)),
    )
    for subject, keys in subjects:
        for portion in portions([str(key) for key in keys]):
            await tx.execute(
                f"DELETE FROM events WHERE subject = ? AND subject_id IN ({qmarks(portion)})",  # noqa: S608
                (subject, *portion),
            )
            places = [f"{subject}/{key}" for key in portion]
            await tx.execute(f"DELETE FROM redactions WHERE place IN ({qmarks(places)})", places)  # noqa: S608
    for portion in portions(selection.memories):
        await _delete_relation_events(tx, portion)
    for name, sort in SUBJECTS.items():
        if sort.withdrawn is not None:  # rows that only a purge deletes; links were deleted with their memories
            gone = f'subject_id NOT IN (SELECT CAST("{sort.key}" AS TEXT) FROM {sort.table})'  # noqa: S608
            await tx.execute(f"DELETE FROM events WHERE subject = ? AND {gone}", (name,))  # noqa: S608
    for portion in portions(selection.whole):
        for table in ("prompts", "surfaces", "handovers", "events", "failures"):
            await tx.execute(f"DELETE FROM {table} WHERE session_id IN ({qmarks(portion)})", portion)  # noqa: S608
    for portion in portions(selection.sessions):
        await _cancel_requests(tx, portion)
    await _cancel_link_requests(tx, set(selection.memories))


async def _delete_relation_events(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Delete the history of these memories' links, merges, corrections and feedback, which may quote them."""
    for subject, column in RELATIONS:
        await tx.execute(
            "DELETE FROM events WHERE subject = ? AND subject_id IN (SELECT subject_id FROM events WHERE subject = ?"  # noqa: S608
            f" AND json_extract(coalesce(after, before), ?) IN ({qmarks(ids)}))",
            (subject, subject, f"$.{column}", *ids),
        )


async def _cancel_requests(tx: aiosqlite.Connection, sessions: Sequence[str]) -> None:
    """Cancel requests to a model about these sessions: the model would capture the purged text again.

    The rows stay without their text, so that a late answer finds no open request.
    """
    within = f"session_id IN ({qmarks(sessions)})"
    await tx.execute(f"DELETE FROM model_readings WHERE {within}", sessions)  # noqa: S608
    await tx.execute(f"UPDATE second_looks SET before = '' WHERE {within}", sessions)  # noqa: S608
    await tx.execute(
        "UPDATE llm_requests SET system = '', text = '', payload = '{}',"  # noqa: S608
        f" state = CASE WHEN state = 'done' THEN 'done' ELSE 'buried' END WHERE {within}",
        sessions,
    )


async def _cancel_link_requests(tx: aiosqlite.Connection, gone: set[int]) -> None:
    """Cancel requests to a model about links and summaries of these memories: the requests quote the memories."""
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


async def _clear_sessions(tx: aiosqlite.Connection, selection: Selection) -> None:
    """Clear the summaries of purged sessions, and summaries of other sessions that repeat purged text.

    The reading positions stay, so that the transcripts are not read again.
    """
    shares = selection.wordings.shares
    for session in selection.sessions:
        whole = session in selection.whole
        stories = await tx.execute_fetchall(f"SELECT {', '.join(STORY_COLUMNS)} FROM sessions WHERE id = ?", (session,))  # noqa: S608
        if whole or any(shares(text) for row in stories for text in tuple(row)):
            blank = ", ".join(f"{name} = ''" for name in STORY_COLUMNS)
            await tx.execute(f"UPDATE sessions SET {blank}, tags = '[]' WHERE id = ?", (session,))  # noqa: S608
            await _delete_story_events(tx, session)
        states = await tx.execute_fetchall("SELECT path, state FROM transcripts WHERE session_id = ?", (session,))
        for row in states:
            if whole or shares(row["state"]):
                await tx.execute("UPDATE transcripts SET state = '{}' WHERE path = ?", (row["path"],))
        kept = await tx.execute_fetchall("SELECT id, intent FROM memories WHERE session_id = ?", (session,))
        for row in kept:
            if whole or shares(row["intent"]):
                await tx.execute("UPDATE memories SET intent = '' WHERE id = ?", (row["id"],))


async def _delete_story_events(tx: aiosqlite.Connection, session: str) -> None:
    """Delete the history of a session's summary: it may contain the purged text in other words."""
    own = "subject = 'session' AND subject_id = ?"
    await tx.execute(f"DELETE FROM events WHERE {own} AND action IN ('retell', 'undo')", (session,))  # noqa: S608
    await tx.execute(
        f"UPDATE events SET before = json_set(before, '$.told', json('{{}}')) WHERE {own}"  # noqa: S608
        " AND action = 'rollback' AND json_valid(before)",
        (session,),
    )


async def _erase_wordings(tx: aiosqlite.Connection, database: Database, wordings: Wordings) -> None:
    """Replace the purged texts by a mark in all other texts where they occur word for word."""
    for table in await text_columns.tables(database) if wordings.texts else ():
        after: tuple[Any, ...] = ()
        while batch := await text_columns.page(tx, table, after, PORTION):
            for row, new in await asyncio.to_thread(_erased, batch, wordings):
                await text_columns.rewrite(tx, row, new)
            after = batch[-1].key


def _erased(batch: Sequence[text_columns.Row], wordings: Wordings) -> list[tuple[text_columns.Row, dict[str, str]]]:
    changes = [(row, text_columns.changed_columns(row, wordings.erase)) for row in batch]
    return [(row, new) for row, new in changes if new]


KEPT_TABLES = frozenset(
    {"schema_migrations", "events", "purged_captures", "embedding_models", "llm_calls", "llm_batches", "llm_requests"}
    | {"jobs", "maintenance_runs", "redaction_state", "redactions_allowed", "postponed_upkeep"}
)
"""Tables that ``empty`` does not clear: they contain no texts, names or paths, or are handled separately below."""


async def empty(tx: aiosqlite.Connection) -> None:
    """Delete all remaining rows after a purge of everything: projects, paths and sessions.

    The reading positions are kept, with digests in place of the paths, so that the transcripts are not read again.
    """
    rows = await tx.execute_fetchall("SELECT path, position FROM transcripts")
    for row in rows:
        await events.record(
            tx, READ_BEFORE_PURGE, "prompt", path_digest(row["path"]), after={"position": row["position"]}
        )
    await tx.execute(
        # Without the event of the accepted settings, the next start would accept any config.toml as it is.
        "DELETE FROM events WHERE action NOT IN ('purge', ?) AND NOT (action = 'accept' AND subject = 'settings')",
        (READ_BEFORE_PURGE,),
    )
    await tx.execute("PRAGMA defer_foreign_keys = ON")
    for table in await _tables(tx):
        await tx.execute(f'DELETE FROM "{table}"')  # noqa: S608
    # These rows stay: sent requests may still be answered, and today's costs still count.
    await tx.execute(
        "UPDATE llm_requests SET key = 'purged ' || id, system = '', text = '', payload = '{}', reason = '',"
        " state = 'buried', session_id = '', project_id = ''"
    )
    await tx.execute("UPDATE llm_calls SET session_id = '', project_id = ''")
    await tx.execute("DELETE FROM maintenance_runs WHERE state <> 'running'")
    await tx.execute("DELETE FROM jobs WHERE state <> 'leased'")
    await tx.execute("UPDATE jobs SET reason = ''")


async def _tables(tx: aiosqlite.Connection) -> list[str]:
    """Return the tables that a purge of everything empties. Full-text rows were deleted with their memories."""
    rows = await tx.execute_fetchall(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [row["name"] for row in rows if row["name"] not in KEPT_TABLES]
