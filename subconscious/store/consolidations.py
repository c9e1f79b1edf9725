"""Summaries of several memories, and their sources: the memories that a summary was made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import time

import aiosqlite

from subconscious.domain.model import Link, Memory
from subconscious.store import decisions, links, memories
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.rows import memory_from, qmarks

CONSOLIDATES = "CONSOLIDATES"
EXTRACTORS = "consolidation%"
PURPOSE = "consolidation"
DAY = 86_400.0

# Excluded are memories that are pinned, superseded, in quarantine or covered by a summary; sources of a summary that
# waits for review or was rejected by a person (unless they were reworded since); and memories about failed commands,
# whose text quotes the commands.
_SUMMARISABLE = f"""
m.archived_at IS NULL AND m.kind <> 'meta' AND m.{NO_NOTE} AND NOT m.pinned AND m.project_id IS ?
 AND m.extractor NOT LIKE 'observed-%'
 AND NOT EXISTS (SELECT 1 FROM implicit_captures WHERE memory_id = m.id AND quarantined)
 AND NOT EXISTS (SELECT 1 FROM memory_links AS l JOIN memories AS s ON s.id = l.source_id
  WHERE l.target_id = m.id AND l.status = 'active' AND s.archived_at IS NULL
   AND l.type IN ('SUPERSEDES', 'CONSOLIDATES'))
 AND NOT EXISTS (SELECT 1 FROM consolidations AS c CROSS JOIN implicit_captures AS i ON i.id = c.capture_id
  WHERE c.memory_id = m.id AND c.content_hash = m.content_hash AND i.status IN ('review', 'rejected'))
"""  # noqa: S608


async def projects(database: Database) -> list[str]:
    """Return the sorted ids of the projects that have active memories; "" stands for user-wide memories."""
    rows = await database.rows(
        "SELECT DISTINCT coalesce(project_id, '') FROM memories WHERE archived_at IS NULL ORDER BY 1"
    )
    return [row[0] for row in rows]


async def candidates(database: Database, project_id: str | None, limit: int) -> list[Memory]:
    """Return memories of one project (None: user-wide) that may be summarised, most recently stated or used first."""
    rows = await database.rows(
        f"SELECT m.* FROM memories AS m WHERE {_SUMMARISABLE}"  # noqa: S608
        " ORDER BY max(m.said_at, coalesce(m.last_used_at, 0)) DESC, m.id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def conflicting(database: Database, ids: Sequence[int]) -> set[frozenset[int]]:
    """Return the pairs of ``ids`` with an active or proposed link by which one contradicts or supersedes the other."""
    known = set(ids)
    found = await links.of(database, ids, links.SHOWN, links.AFFECTS_VALIDITY)
    return {frozenset((one.source_id, one.target_id)) for one in found if {one.source_id, one.target_id} <= known}


async def project_of(database: Database, ids: Sequence[int]) -> str | None:
    """Return a project in which one of these memories was captured, else the oldest project; None if there is none.

    The capture of a summary of user-wide memories belongs to this project.
    """
    rows = await database.rows(
        f"SELECT project_id FROM implicit_captures WHERE memory_id IN ({qmarks(ids)})"  # noqa: S608
        " UNION ALL SELECT * FROM (SELECT id FROM projects ORDER BY created_at) LIMIT 1",
        ids,
    )
    return rows[0][0] if rows else None


async def count_since(database: Database, since: float) -> int:
    """Return how many summaries were made, proposed or requested since a time.

    Times in the future come from a wrong clock and are not counted.
    """
    rows = await database.rows(
        "SELECT (SELECT count(*) FROM implicit_captures WHERE extractor LIKE ?1 AND created_at > ?2"
        " AND created_at <= ?4)"
        " + (SELECT count(*) FROM llm_requests"
        " WHERE purpose = ?3 AND created_at > ?2 AND created_at <= ?4 AND state IN ('waiting', 'sent'))",
        (EXTRACTORS, since, PURPOSE, time()),
    )
    return int(rows[0][0])


async def is_known(database: Database, turn_id: str) -> bool:
    """Whether a summary of exactly the same sources was proposed before, accepted or not, or is requested now."""
    rows = await database.rows(
        "SELECT 1 FROM implicit_captures WHERE turn_id = ?1"
        " UNION ALL SELECT 1 FROM llm_requests"
        " WHERE purpose = ?2 AND key = ?1 AND state IN ('waiting', 'sent') LIMIT 1",
        (turn_id, PURPOSE),
    )
    return bool(rows)


async def save_sources(tx: aiosqlite.Connection, capture_id: int, sources: Iterable[Memory]) -> None:
    """Store which memories a summary's capture was made from. No event is recorded, because this never changes."""
    await tx.executemany(
        "INSERT INTO consolidations (capture_id, memory_id, content_hash) VALUES (?, ?, ?)",
        [(capture_id, source.id, source.content_hash) for source in sources],
    )


async def link(tx: aiosqlite.Connection, capture_id: int, memory_id: int, actor: str) -> None:
    """Link the memory made from a summary's capture to the summary's sources; do nothing for other captures."""
    rows = await tx.execute_fetchall(
        "SELECT c.memory_id, i.evidence, i.confidence FROM consolidations AS c JOIN implicit_captures AS i"
        " ON i.id = c.capture_id WHERE c.capture_id = ? AND c.memory_id <> ? ORDER BY c.memory_id",
        (capture_id, memory_id),
    )
    for row in list(rows):
        new = Link(
            0, memory_id, row["memory_id"], CONSOLIDATES, "active", row["confidence"], "system", row["evidence"], time()
        )
        if await links.add(tx, new, actor) is None and (old := await links.stored_link(tx, new)) is not None:
            await links.change(tx, old, actor, "summed up again", status="active")


async def unlink(tx: aiosqlite.Connection, memory_id: int, actor: str, reason: str) -> None:
    """Withdraw the links of a summary to its sources."""
    for one in await links.open_links(tx, [memory_id]):
        if one.type == CONSOLIDATES and one.source_id == memory_id and one.status == "active":
            await links.change(tx, one, actor, reason, status="withdrawn")


async def sources(database: Database, capture_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of each summary's sources, by capture id; captures that are not summaries are left out."""
    rows = await database.rows(
        f"SELECT capture_id, memory_id FROM consolidations WHERE capture_id IN ({qmarks(capture_ids)})"  # noqa: S608
        " ORDER BY capture_id, memory_id",
        capture_ids,
    )
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row["capture_id"], []).append(row["memory_id"])
    return found


async def summarised_memories(database: Database, ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the sources of each summary in ``ids``, by summary id, except those whose text has changed since then."""
    rows = await database.rows(
        "SELECT i.memory_id, c.memory_id FROM implicit_captures AS i JOIN consolidations AS c ON c.capture_id = i.id"  # noqa: S608
        " JOIN memories AS m ON m.id = c.memory_id AND m.content_hash = c.content_hash"
        f" WHERE i.memory_id IN ({qmarks(ids)}) ORDER BY 1, 2",
        ids,
    )
    found: dict[int, list[int]] = {}
    for made, source in rows:
        found.setdefault(made, []).append(source)
    return found


async def dependents(tx: aiosqlite.Connection, ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the ids of active summaries made from ``ids``, and of the captures of summaries that wait for review."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT DISTINCT i.id, i.status, m.id AS memory_id FROM consolidations AS c JOIN implicit_captures AS i"  # noqa: S608
            " ON i.id = c.capture_id LEFT JOIN memories AS m ON m.id = i.memory_id AND m.archived_at IS NULL"
            f" WHERE c.memory_id IN ({qmarks(ids)}) ORDER BY i.id",
            ids,
        )
    )
    made = dict.fromkeys(row["memory_id"] for row in rows if row["memory_id"] is not None)
    return list(made), [row["id"] for row in rows if row["status"] == "review"]


async def archive_dependents(
    tx: aiosqlite.Connection, ids: Sequence[int], actor: str, reason: str, act: str = ""
) -> list[int]:
    """Archive the summaries made from removed memories, which would repeat the removed text; return the summaries' ids.

    Captures of such summaries that still wait for review are discarded. Not called for faded memories: what they say
    was true, so their summaries stay.
    """
    if not ids:
        return []
    made, waiting = await dependents(tx, ids)
    gone = [await memories.require(tx, number) for number in made if number not in ids]
    for memory in gone:
        await memories.archive(tx, memory, actor, f"it was derived from a removed memory: {reason}", act)
    for capture_id in waiting:
        await decisions.displace(tx, capture_id, "the memories that it summarizes were removed", act)
    return [memory.id for memory in gone]


async def outdated_sources(database: Database, limit: int) -> list[int]:
    """Return the ids of memories that were reworded or superseded after an existing summary was made from them."""
    rows = await database.rows(
        "SELECT DISTINCT c.memory_id FROM consolidations AS c JOIN implicit_captures AS i ON i.id = c.capture_id"
        " JOIN memories AS m ON m.id = c.memory_id LEFT JOIN memories AS s ON s.id = i.memory_id"
        " WHERE (i.status = 'review' OR s.archived_at IS NULL AND s.id IS NOT NULL)"
        " AND (m.content_hash <> c.content_hash OR EXISTS (SELECT 1 FROM memory_links AS l JOIN memories AS n"
        " ON n.id = l.source_id WHERE l.target_id = m.id AND l.status = 'active' AND l.type = 'SUPERSEDES'"
        " AND n.archived_at IS NULL)) ORDER BY 1 LIMIT ?",
        (limit,),
    )
    return [row[0] for row in rows]
