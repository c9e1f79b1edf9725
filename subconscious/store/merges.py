"""Merges: of two memories that say the same, one is archived and its links and counts go to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import time

import aiosqlite

from subconscious.decay import surer
from subconscious.model import Memory, Origin
from subconscious.store import events, full_text, links, memories
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.rows import alter, insertion, marks, memory_from, stored

TABLE = "memory_merges"

MERGED = (
    "(SELECT g.memory_id, g.into_id FROM memory_merges AS g JOIN memories AS gone ON gone.id = g.memory_id"
    " WHERE g.undone_at IS NULL AND gone.archived_at IS NOT NULL)"
)
"""SQL: merged memories that are still archived, with the memories that they were merged into."""

MOST_FILES = 20
LENT = ("recurrence", "confidence", "said_at", "files")

# Not what holds no longer, is kept apart, was flagged, or is part of a summing up; nor what somebody brought back. What
# is CROSS JOINed is walked in that order: SQLite would rather begin with all captures that wait, for each memory anew.
_FREE = f"""
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


_STANDS = """
NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND quarantined)
 AND (NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id)
  OR EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND status IN ('captured', 'review', 'approved')))
"""

_LATER = """
(? = 0 OR EXISTS (SELECT 1 FROM memory_merges AS g JOIN events AS e ON e.subject = 'merge'
  AND e.subject_id = CAST(g.id AS TEXT) AND e.action IN ('merge', 'move') WHERE g.memory_id = m.id AND e.id > ?))
"""


async def unsearched(database: Database, model: str, limit: int, after: int = 0) -> list[Memory]:
    """Return memories with a vector of this model whose present text was not compared with the others, by id.

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


async def note(tx: aiosqlite.Connection, memory: Memory, model: str) -> None:
    """Record that a memory was compared with the others; no event, because its results have their own."""
    await tx.execute(
        "INSERT INTO merge_searches (memory_id, content_hash, model) SELECT id, ?, ? FROM memories WHERE id = ?"
        " ON CONFLICT (memory_id) DO UPDATE SET content_hash = excluded.content_hash, model = excluded.model",
        (memory.content_hash, model, memory.id),
    )


async def free(tx: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, Memory]:
    """Those of these memories that may be merged, as the running transaction sees them."""
    rows = await tx.execute_fetchall(
        # By id: of ten and more SQLite would rather walk through all that are in use.
        f"SELECT m.* FROM memories AS m NOT INDEXED WHERE {_FREE} AND m.id IN ({marks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row["id"]: memory_from(row) for row in rows}


async def chosen(tx: aiosqlite.Connection, ids: Sequence[int]) -> set[int]:
    """Those of these memories of which a person has said how important they are."""
    rows = await tx.execute_fetchall(
        f"SELECT memory_id FROM memory_decay WHERE importance <> 'normal' AND memory_id IN ({marks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row[0] for row in rows}


async def opposed(tx: aiosqlite.Connection, one: int, other: int) -> bool:
    """Whether one of two memories contradicts or supersedes the other, or may."""
    found = await links.between(tx, one, other)
    return any(link.type in links.BEARING and link.status in links.SHOWN for link in found)


async def fold(tx: aiosqlite.Connection, gone: Memory, stays: Memory, cosine: float) -> None:
    """Archive a memory that says the same as another one, and add its counts and links to that one.

    A memory of a less trusted origin adds no recurrence, confidence, freshness or use. Its links are copied, so that it
    still has its own when it is restored. The caller updates the vectors.

    The actor is the daemon, also where a person repeated the statement: archiving the other text is a consequence, and
    no judgement of how well it was captured.
    """
    reason = f"merged into memory {stays.id}, which says the same (cosine {cosine:.2f})"
    lends = _lends(gone.origin, stays.origin)
    # Looked up before the merge is noted, which makes the sessions of the one those of the other.
    shared = await memories.sessions_of(tx, gone.id) & await memories.sessions_of(tx, stays.id)
    await memories.archive(tx, gone, "daemon", reason)
    await _put_down(tx, gone, stays, cosine)
    if lends:
        await _lend(tx, gone, stays, len(shared))
    await _copy_links(tx, gone, stays, lends=lends)


async def _put_down(tx: aiosqlite.Connection, gone: Memory, stays: Memory, cosine: float) -> None:
    """Record the merge; memories that were merged into the archived one now belong to the remaining one."""
    before = await tx.execute_fetchall(f"SELECT id FROM {TABLE} WHERE into_id = ?", (gone.id,))  # noqa: S608
    for row in list(before):
        diff = await alter(tx, TABLE, row[0], {"into_id": stays.id})
        await events.record(tx, "move", "merge", row[0], before=diff[0], after=diff[1])
    values = {"memory_id": gone.id, "into_id": stays.id, "cosine": round(cosine, 4), "merged_at": time()}
    done = await tx.execute(*insertion(TABLE, values))
    await events.record(tx, "merge", "merge", int(done.lastrowid or 0), after=values | {"undone_at": None})


def whole(gone: Memory, stays: Memory, shared: int = 0) -> Memory:
    """What stays, with what the one that goes lends it; ``shared`` sessions said both, and count once."""
    if not _lends(gone.origin, stays.origin):
        return stays
    return replace(
        stays,
        recurrence=stays.recurrence + max(0, gone.recurrence - shared),
        confidence=surer(stays.confidence, max(0, gone.recurrence - shared)),
        said_at=max(stays.said_at, gone.said_at),
        files=tuple(dict.fromkeys((*stays.files, *gone.files)))[: max(MOST_FILES, len(stays.files))],
    )


async def _lend(tx: aiosqlite.Connection, gone: Memory, stays: Memory, shared: int) -> None:
    kept = whole(gone, stays, shared)
    before, after = await alter(tx, "memories", stays.id, {name: stored(kept)[name] for name in LENT})
    await full_text.reindex(tx, kept)
    await events.record(
        tx,
        "merge",
        "memory",
        stays.id,
        session_id=gone.session_id,
        reason=f"said before in memory {gone.id}",
        before=before,
        after=after,
    )
    await tx.execute(
        "UPDATE memories SET uses = uses + ?1, last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?3",
        (gone.uses, gone.last_used_at, stays.id),
    )


async def _copy_links(tx: aiosqlite.Connection, gone: Memory, stays: Memory, *, lends: bool) -> None:
    """Copy the links of the archived memory to the remaining one; of a less trusted origin, only as proposals.

    A copy belongs to the session that made the link, and is withdrawn with it. An existing link between the two, also a
    refused one, is not changed.
    """
    found = [link for link in await links.at_ends(tx, [gone.id]) if stays.id not in (link.source_id, link.target_id)]
    others = {end for link in found for end in (link.source_id, link.target_id)} - {gone.id}
    known = {other for other in others if await links.between(tx, stays.id, other)}
    for link in found:
        source, target = (stays.id if end == gone.id else end for end in (link.source_id, link.target_id))
        if known & {source, target}:
            continue
        counts = lends or link.created_by == "user"
        copy = replace(link, source_id=source, target_id=target, status=link.status if counts else "proposed")
        await links.add(tx, copy, "daemon", session_id=await links.session_of(tx, link.id))


async def into(database: Database, memory_id: int) -> int | None:
    """Which memory says now what this one said before it was merged; None for one that was not."""
    rows = await database.rows(f"SELECT into_id FROM {MERGED} WHERE memory_id = ?", (memory_id,))  # noqa: S608
    return int(rows[0][0]) if rows else None


async def earlier(database: Database, memory_id: int) -> list[int]:
    """Return the archived memories that were merged into this one."""
    rows = await database.rows(f"SELECT memory_id FROM {MERGED} WHERE into_id = ? ORDER BY 1", (memory_id,))  # noqa: S608
    return [row[0] for row in rows]


async def under(tx: aiosqlite.Connection, ids: Sequence[int], since: int = 0) -> list[Memory]:
    """Return memories that are archived only because they were merged into these: not undone, not in quarantine.

    ``since`` is an event: earlier merges are left out.
    """
    rows = await tx.execute_fetchall(
        f"SELECT m.* FROM memories AS m WHERE {_STANDS} AND m.id IN"  # noqa: S608
        f" (SELECT memory_id FROM {MERGED} WHERE into_id IN ({marks(ids)})) AND {_LATER} ORDER BY m.id",
        (*ids, since, since),
    )
    return [memory_from(row) for row in rows]


async def leave(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, reason: str, since: int = 0) -> list[int]:
    """Restore and return the memories that were merged into these, which should never have been stored.

    Not called where a person forgets a memory, or where it fades: both are about what it says, in any wording.
    """
    back = await under(tx, ids, since)
    await give_back(tx, back, actor, reason)
    return [memory.id for memory in back]


async def give_back(tx: aiosqlite.Connection, back: Sequence[Memory], actor: str, reason: str) -> None:
    """Restore the memories that were merged into a removed one; the caller updates the index."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    for memory in back:
        await memories.unarchive(tx, memory, actor, reason)
    ids = [memory.id for memory in back]
    await part(tx, ids, actor)
    await vectors.activate(tx, ids, True)


async def join(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, reason: str) -> list[int]:
    """Archive restored memories again when their merge target returns; return the archived ones.

    Memories that a person pinned or rated since are left, as in the nightly merge.
    """
    from subconscious.store import vectors  # as above

    rows = await tx.execute_fetchall(
        f"SELECT g.id AS merge, gone.* FROM {TABLE} AS g JOIN memories AS gone ON gone.id = g.memory_id"  # noqa: S608
        " JOIN memories AS stays ON stays.id = g.into_id WHERE gone.archived_at IS NULL AND NOT gone.pinned"
        f" AND stays.archived_at IS NULL AND g.memory_id IN ({marks(ids)}) ORDER BY g.memory_id",
        tuple(ids),
    )
    rated = await chosen(tx, ids)
    again = {row["merge"]: memory_from(row) for row in rows if row["id"] not in rated}
    for number, memory in again.items():
        await memories.archive(tx, memory, actor, reason)
        before, after = await alter(tx, TABLE, number, {"undone_at": None})
        if after:  # an older version restored it without ending the merge
            await events.record(tx, "join", "merge", number, actor=actor, reason=reason, before=before, after=after)
    gone = [memory.id for memory in again.values()]
    await vectors.activate(tx, gone, False)
    return gone


async def part(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, act: str = "") -> None:
    """These came back: they are no longer what another one says, also when they go for another reason."""
    rows = await tx.execute_fetchall(
        f"SELECT id FROM {TABLE} WHERE undone_at IS NULL AND memory_id IN ({marks(ids)})",  # noqa: S608
        tuple(ids),
    )
    for row in list(rows):
        before, after = await alter(tx, TABLE, row[0], {"undone_at": time()})
        await events.record(tx, "part", "merge", row[0], actor=actor, before=before, after=after, act=act)


async def lent(tx: aiosqlite.Connection, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Which of these memories lent what they had to which other, by a merge."""
    rows = await tx.execute_fetchall(
        "SELECT g.memory_id, g.into_id, m.origin, s.origin AS stays FROM"  # noqa: S608
        f" {MERGED} AS g JOIN memories AS m ON m.id = g.memory_id JOIN memories AS s ON s.id = g.into_id"
        f" WHERE g.memory_id IN ({marks(ids)}) ORDER BY g.memory_id",
        tuple(ids),
    )
    return [(row["memory_id"], row["into_id"]) for row in rows if _lends(Origin(row["origin"]), Origin(row["stays"]))]


def _lends(gone: Origin, stays: Origin) -> bool:
    """Whether the archived memory adds to the other one: not if it is less trusted."""
    return gone.distrust <= stays.distrust
