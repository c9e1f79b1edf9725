"""Merges: of two memories with the same statement, one is archived; the other receives its links and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import time

import aiosqlite

from subconscious.decay import adjusted_confidence
from subconscious.domain.model import Memory, Origin
from subconscious.store import events, full_text, links, memories
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.rows import column_values, insertion, memory_from, qmarks, update_row

TABLE = "memory_merges"

MERGED = (
    "(SELECT g.memory_id, g.into_id FROM memory_merges AS g JOIN memories AS gone ON gone.id = g.memory_id"
    " WHERE g.undone_at IS NULL AND gone.archived_at IS NOT NULL)"
)
"""SQL: pairs of a merged memory that is still archived, and the memory that it was merged into."""

MOST_FILES = 20
ADDED_COLUMNS = ("recurrence", "confidence", "said_at", "files")

# Excluded are memories that are superseded, summarised, in quarantine, flagged (unless a person released them) or part
# of a waiting summary, and those that were restored after a merge. CROSS JOIN fixes the order of the tables: SQLite
# would otherwise read all waiting captures for each memory.
_MERGEABLE = f"""
m.archived_at IS NULL AND m.kind <> 'meta' AND m.{NO_NOTE}
 AND NOT EXISTS (SELECT 1 FROM memory_merges WHERE memory_id = m.id)
 AND NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id
  AND (quarantined OR (level <> 'none' AND released_at IS NULL)))
 AND (NOT EXISTS (SELECT 1 FROM memory_checks WHERE memory_id = m.id AND level <> 'none')
  OR EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND released_at IS NOT NULL))
 AND NOT EXISTS (SELECT 1 FROM memory_links AS l JOIN memories AS s ON s.id = l.source_id
  WHERE l.target_id = m.id AND l.status = 'active' AND s.archived_at IS NULL
   AND l.type IN ('SUPERSEDES', 'CONSOLIDATES'))
 AND NOT EXISTS (SELECT 1 FROM consolidations AS c CROSS JOIN implicit_captures AS i ON i.id = c.capture_id
  WHERE c.memory_id = m.id AND i.status = 'review')
"""  # noqa: S608


_IS_VALID = """
NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND quarantined)
 AND (NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id)
  OR EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND status IN ('captured', 'review', 'approved')))
"""

_MERGED_LATER = """
(? = 0 OR EXISTS (SELECT 1 FROM memory_merges AS g JOIN events AS e ON e.subject = 'merge'
  AND e.subject_id = CAST(g.id AS TEXT) AND e.action IN ('merge', 'move') WHERE g.memory_id = m.id AND e.id > ?))
"""


async def unsearched(database: Database, model: str, limit: int, after: int = 0) -> list[Memory]:
    """Return memories with a vector of ``model`` that have not been compared with other memories yet, ordered by id.

    ``after`` is the last id of the previous batch.
    """
    rows = await database.rows(
        "SELECT m.* FROM memories AS m NOT INDEXED CROSS JOIN embeddings AS e"
        " ON e.memory_id = m.id AND e.model = ?1 AND e.active"
        " LEFT JOIN merge_searches AS s ON s.memory_id = m.id AND s.model = ?1 AND s.content_hash = m.content_hash"
        " WHERE s.memory_id IS NULL AND m.archived_at IS NULL AND m.embedding_status <> 'pending' AND m.id > ?3"
        " ORDER BY m.id LIMIT ?2",
        (model, limit, after),
    )
    return [memory_from(row) for row in rows]


async def record_search(tx: aiosqlite.Connection, memory: Memory, model: str) -> None:
    """Record that a memory was compared with other memories. No event is recorded: a resulting merge has its own."""
    await tx.execute(
        "INSERT INTO merge_searches (memory_id, content_hash, model) SELECT id, ?, ? FROM memories WHERE id = ?"
        " ON CONFLICT (memory_id) DO UPDATE SET content_hash = excluded.content_hash, model = excluded.model",
        (memory.content_hash, model, memory.id),
    )


async def mergeable(tx: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, Memory]:
    """Return, by id, the memories among ``ids`` that may be merged, as the running transaction sees them."""
    rows = await tx.execute_fetchall(
        # Look up by id: for ten or more the planner would scan all active memories.
        f"SELECT m.* FROM memories AS m NOT INDEXED WHERE {_MERGEABLE} AND m.id IN ({qmarks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row["id"]: memory_from(row) for row in rows}


async def rated(tx: aiosqlite.Connection, ids: Sequence[int]) -> set[int]:
    """Return which of ``ids`` belong to memories whose importance a person has set."""
    rows = await tx.execute_fetchall(
        f"SELECT memory_id FROM memory_decay WHERE importance <> 'normal' AND memory_id IN ({qmarks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row[0] for row in rows}


async def are_conflicting(tx: aiosqlite.Connection, one: int, other: int) -> bool:
    """Whether a link, active or proposed, says that one of two memories contradicts or supersedes the other."""
    found = await links.between(tx, one, other)
    return any(link.type in links.AFFECTS_VALIDITY and link.status in links.SHOWN for link in found)


async def merge(tx: aiosqlite.Connection, duplicate: Memory, kept: Memory, cosine: float) -> None:
    """Archive ``duplicate``, which repeats ``kept``, and add its counts and links to ``kept``.

    A duplicate of a less trusted origin adds no repetition, confidence, date or use. Links are copied and not moved, so
    that the duplicate still has them when it is restored. The caller updates the vectors.

    The actor is always the daemon, even if a person repeated the statement: a memory that a person archives counts as
    wrongly extracted, which a duplicate is not.
    """
    reason = f"merged into memory {kept.id}, which says the same (cosine {cosine:.2f})"
    adds = _may_add_counts(duplicate.origin, kept.origin)
    # Read this first: once the merge is recorded, the sessions of ``duplicate`` count as sessions of ``kept``.
    shared = await memories.sessions_of(tx, duplicate.id) & await memories.sessions_of(tx, kept.id)
    await memories.archive(tx, duplicate, "daemon", reason)
    await _record_merge(tx, duplicate, kept, cosine)
    if adds:
        await _add_counts(tx, duplicate, kept, len(shared))
    await _copy_links(tx, duplicate, kept, adds=adds)


async def _record_merge(tx: aiosqlite.Connection, duplicate: Memory, kept: Memory, cosine: float) -> None:
    """Record the merge.

    Memories that were merged into ``duplicate`` earlier count as merged into ``kept`` from now on.
    """
    before = await tx.execute_fetchall(f"SELECT id FROM {TABLE} WHERE into_id = ?", (duplicate.id,))  # noqa: S608
    for row in list(before):
        diff = await update_row(tx, TABLE, row[0], {"into_id": kept.id})
        await events.record(tx, "move", "merge", row[0], before=diff[0], after=diff[1])
    values = {"memory_id": duplicate.id, "into_id": kept.id, "cosine": round(cosine, 4), "merged_at": time()}
    done = await tx.execute(*insertion(TABLE, values))
    await events.record(tx, "merge", "merge", int(done.lastrowid or 0), after=values | {"undone_at": None})


def merged(duplicate: Memory, kept: Memory, shared: int = 0) -> Memory:
    """Return ``kept`` with the counts of ``duplicate`` added; ``shared`` is the number of sessions that stated both."""
    if not _may_add_counts(duplicate.origin, kept.origin):
        return kept
    return replace(
        kept,
        recurrence=kept.recurrence + max(0, duplicate.recurrence - shared),
        confidence=adjusted_confidence(kept.confidence, max(0, duplicate.recurrence - shared)),
        said_at=max(kept.said_at, duplicate.said_at),
        files=tuple(dict.fromkeys((*kept.files, *duplicate.files)))[: max(MOST_FILES, len(kept.files))],
    )


async def _add_counts(tx: aiosqlite.Connection, duplicate: Memory, kept: Memory, shared: int) -> None:
    result = merged(duplicate, kept, shared)
    before, after = await update_row(
        tx, "memories", kept.id, {name: column_values(result)[name] for name in ADDED_COLUMNS}
    )
    await full_text.reindex(tx, result)
    await events.record(
        tx,
        "merge",
        "memory",
        kept.id,
        session_id=duplicate.session_id,
        reason=f"said before in memory {duplicate.id}",
        before=before,
        after=after,
    )
    await tx.execute(
        # max() with a NULL argument returns NULL, and last_used_at is NULL if a memory was never used.
        "UPDATE memories SET uses = uses + ?1,"
        " last_used_at = max(coalesce(last_used_at, ?2), coalesce(?2, last_used_at)) WHERE id = ?3",
        (duplicate.uses, duplicate.last_used_at, kept.id),
    )


async def _copy_links(tx: aiosqlite.Connection, duplicate: Memory, kept: Memory, *, adds: bool) -> None:
    """Copy the links of ``duplicate`` to ``kept``; without ``adds``, the copies are only proposed links.

    ``adds`` means that the duplicate's origin is trusted enough to add its counts to ``kept``. Links that a person
    created are copied with their status. A copy belongs to the session that created the original, and is withdrawn with
    that session. No link is copied to a memory that ``kept`` has a link with already, even a rejected one.
    """
    all_links = await links.open_links(tx, [duplicate.id])
    found = [link for link in all_links if kept.id not in (link.source_id, link.target_id)]
    others = {end for link in found for end in (link.source_id, link.target_id)} - {duplicate.id}
    known = {other for other in others if await links.between(tx, kept.id, other)}
    for link in found:
        source, target = (kept.id if end == duplicate.id else end for end in (link.source_id, link.target_id))
        if known & {source, target}:
            continue
        counts = adds or link.created_by == "user"
        copy = replace(link, source_id=source, target_id=target, status=link.status if counts else "proposed")
        await links.add(tx, copy, "daemon", session_id=await links.session_of(tx, link.id))


async def target(database: Database, memory_id: int) -> int | None:
    """Return the id of the memory that this memory was merged into; None if it was not merged."""
    rows = await database.rows(f"SELECT into_id FROM {MERGED} WHERE memory_id = ?", (memory_id,))  # noqa: S608
    return int(rows[0][0]) if rows else None


async def sources(database: Database, memory_id: int) -> list[int]:
    """Return the ids of the archived memories that were merged into a memory."""
    rows = await database.rows(f"SELECT memory_id FROM {MERGED} WHERE into_id = ? ORDER BY 1", (memory_id,))  # noqa: S608
    return [row[0] for row in rows]


async def merged_into(tx: aiosqlite.Connection, ids: Sequence[int], since: int = 0) -> list[Memory]:
    """Return memories that are archived only because they were merged into a memory in ``ids``.

    Undone merges and memories in quarantine are left out. ``since`` is the id of an event: only merges that were
    recorded after it count; 0 for all merges.
    """
    rows = await tx.execute_fetchall(
        f"SELECT m.* FROM memories AS m WHERE {_IS_VALID} AND m.id IN"  # noqa: S608
        f" (SELECT memory_id FROM {MERGED} WHERE into_id IN ({qmarks(ids)})) AND {_MERGED_LATER} ORDER BY m.id",
        (*ids, since, since),
    )
    return [memory_from(row) for row in rows]


async def restore_merged(
    tx: aiosqlite.Connection, ids: Sequence[int], actor: str, reason: str, since: int = 0
) -> list[int]:
    """Restore the memories that were merged into invalid memories (``ids``); return the ids of the restored memories.

    Not called when a person archives a memory or when a memory fades: the memories merged into it say the same, and
    must stay archived then.
    """
    restored = await merged_into(tx, ids, since)
    await restore(tx, restored, actor, reason)
    return [memory.id for memory in restored]


async def restore(tx: aiosqlite.Connection, restored: Sequence[Memory], actor: str, reason: str) -> None:
    """Restore memories that were merged into a removed memory, and end their merges; the caller updates the index."""
    from subconscious.store import vectors  # not at the top: it loads numpy, which would delay a start by 0.1 s

    for memory in restored:
        await memories.unarchive(tx, memory, actor, reason)
    ids = [memory.id for memory in restored]
    await end_merges(tx, ids, actor)
    await vectors.activate(tx, ids, True)


async def merge_again(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, reason: str) -> list[int]:
    """Archive restored memories again if the memory that they had been merged into is active; return their ids.

    Memories that a person has pinned or rated since then stay active, as in the nightly merge.
    """
    from subconscious.store import vectors  # not at the top: it loads numpy

    rows = await tx.execute_fetchall(
        f"SELECT g.id AS merge, gone.* FROM {TABLE} AS g JOIN memories AS gone ON gone.id = g.memory_id"  # noqa: S608
        " JOIN memories AS stays ON stays.id = g.into_id WHERE gone.archived_at IS NULL AND NOT gone.pinned"
        f" AND stays.archived_at IS NULL AND g.memory_id IN ({qmarks(ids)}) ORDER BY g.memory_id",
        tuple(ids),
    )
    chosen = await rated(tx, ids)
    again = {row["merge"]: memory_from(row) for row in rows if row["id"] not in chosen}
    for number, memory in again.items():
        await memories.archive(tx, memory, actor, reason)
        before, after = await update_row(tx, TABLE, number, {"undone_at": None})
        if after:  # empty if an older version restored the memory without ending the merge
            await events.record(tx, "join", "merge", number, actor=actor, reason=reason, before=before, after=after)
    archived = [memory.id for memory in again.values()]
    await vectors.activate(tx, archived, False)
    return archived


async def end_merges(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, act: str = "") -> None:
    """End the merges of restored memories: a restored memory counts separately, even if it is archived again later."""
    rows = await tx.execute_fetchall(
        f"SELECT id FROM {TABLE} WHERE undone_at IS NULL AND memory_id IN ({qmarks(ids)})",  # noqa: S608
        tuple(ids),
    )
    for row in list(rows):
        before, after = await update_row(tx, TABLE, row[0], {"undone_at": time()})
        await events.record(tx, "part", "merge", row[0], actor=actor, before=before, after=after, act=act)


async def counted_merges(tx: aiosqlite.Connection, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return the merges of ``ids`` that added counts, as pairs of ids: (archived memory, remaining memory)."""
    rows = await tx.execute_fetchall(
        "SELECT g.memory_id, g.into_id, m.origin, s.origin AS stays FROM"  # noqa: S608
        f" {MERGED} AS g JOIN memories AS m ON m.id = g.memory_id JOIN memories AS s ON s.id = g.into_id"
        f" WHERE g.memory_id IN ({qmarks(ids)}) ORDER BY g.memory_id",
        tuple(ids),
    )
    return [
        (row["memory_id"], row["into_id"])
        for row in rows
        if _may_add_counts(Origin(row["origin"]), Origin(row["stays"]))
    ]


def _may_add_counts(duplicate: Origin, kept: Origin) -> bool:
    """Whether a duplicate adds its counts to the kept memory: not if the duplicate's origin is less trusted."""
    return duplicate.distrust <= kept.distrust
