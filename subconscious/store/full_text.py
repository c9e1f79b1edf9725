"""The full-text index of the memories; results are ranked by BM25."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import aiosqlite

from subconscious.domain.model import Memory
from subconscious.store.connect import Database
from subconscious.store.filters import FULL_TEXT, Filter, where
from subconscious.store.rows import memory_from, qmarks
from subconscious.text.codewords import code_parts

USER_WIDE = "userwide"
"""The token that the full-text index contains for user-wide memories in place of a project id."""

FTS_WEIGHTS = "0.0, 2.0, 1.0, 0.5, 1.0, 0.5"
"""bm25 weights of project, summary, content, rationale, tags, files."""


async def reindex(tx: aiosqlite.Connection, memory: Memory) -> None:
    """Write a memory to the full-text table of active or of archived memories, and remove it from the other table."""
    await _unindex(tx, memory.id)
    await tx.execute(
        f"INSERT INTO {FULL_TEXT[memory.archived_at is not None]} (rowid, project, summary, content, rationale, tags,"  # noqa: S608
        " files) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            memory.id,
            memory.project_id or USER_WIDE,
            memory.summary,
            memory.content,
            memory.rationale,
            " ".join(memory.tags),
            " ".join((*memory.files, code_parts(f"{memory.content} {memory.rationale}"))),
        ),
    )


async def _unindex(tx: aiosqlite.Connection, memory_id: int) -> None:
    for table in FULL_TEXT.values():
        await tx.execute(f"DELETE FROM {table} WHERE rowid = ?", (memory_id,))  # noqa: S608


async def search(
    database: Database, terms: Sequence[str], projects: Sequence[str], limit: int, which: Filter | None = None
) -> list[tuple[int, float]]:
    """Search memories of ``projects`` (empty: all) that match ``which``; return ids with BM25 scores, best first.

    The index also contains project ids. Terms that equal one of ``projects`` are dropped: restricting the query to the
    text columns instead would double its time.
    """
    words = [term for term in terms if term != USER_WIDE and term not in projects]
    if not words:
        return []
    match = " OR ".join(f'"{term}"' for term in words)
    if projects:
        scope = " OR ".join(f'"{project}"' for project in projects)
        match = f"project : ({scope}) AND ({match})"
    table = FULL_TEXT[which is not None and which.out_of_use]
    joined, condition, values = _narrowed(which)
    rows = await database.rows(
        f"SELECT {table}.rowid, -bm25({table}, {FTS_WEIGHTS}) AS score FROM {table} {joined}"  # noqa: S608
        f" WHERE {table} MATCH ? {condition} ORDER BY score DESC, {table}.rowid LIMIT ?",
        (*values, match, limit),
        long=True,
    )
    return [(row["rowid"], row["score"]) for row in rows]


def _narrowed(which: Filter | None) -> tuple[str, str, tuple[Any, ...]]:
    """Return a join, a condition and values that restrict a full-text query to a filter.

    SQLite then looks up each full-text match by its id.
    """
    if which is None or not (which.narrow or which.out_of_use):
        return "", "", ()
    condition, values = where(which)
    table = FULL_TEXT[which.out_of_use]
    return f"CROSS JOIN (SELECT id FROM memories NOT INDEXED WHERE {condition})", f"AND id = {table}.rowid", values  # noqa: S608


async def naming(
    database: Database, file: str, projects: Sequence[str], limit: int, which: Filter | None = None
) -> list[Memory]:
    """Return active memories of ``projects``, and user-wide memories, that name a file, latest first.

    ``which`` adds conditions or selects memories that are not active.
    """
    parts = re.findall(r"\w+", file)
    if not parts:
        return []
    scope = " OR ".join(f'"{project}"' for project in (*projects, USER_WIDE))
    table = FULL_TEXT[which is not None and which.out_of_use]
    condition, values = where(which) if which is not None else ("TRUE", ())
    rows = await database.rows(
        f"SELECT memories.* FROM {table} JOIN memories ON memories.id = {table}.rowid"  # noqa: S608
        f" WHERE {table} MATCH ? AND {condition} ORDER BY {table}.rowid DESC LIMIT ?",
        (f'project : ({scope}) AND {{content files}} : "{" ".join(parts)}"', *values, limit),
        long=True,
    )
    return [memory_from(row) for row in rows]


async def naming_folders(database: Database, parts: Sequence[str], projects: Sequence[str], limit: int) -> list[Memory]:
    """Return active statements of the user that contain one of the casefolded names in ``parts``, latest first.

    The texts are read without the full-text index, because it does not find a name within Chinese or Japanese text.
    """
    names = list(dict.fromkeys(part for part in parts if part))
    if not names:
        return []
    scope = f" AND (project_id IS NULL OR project_id IN ({qmarks(projects)}))" if projects else ""
    named = " OR ".join("instr(casefold(content), ?)" for _ in names)  # SQLite's lower() changes ASCII letters only
    rows = await database.rows(
        f"SELECT * FROM memories WHERE origin = 'user' AND archived_at IS NULL{scope} AND ({named})"  # noqa: S608
        " ORDER BY id DESC LIMIT ?",
        (*projects, *names, limit),
        long=True,
    )
    return [memory_from(row) for row in rows]


async def unknown(database: Database, words: Sequence[str], projects: Sequence[str]) -> list[str]:
    """Return the words that occur in no active memory of ``projects`` (empty: all) and in no user-wide memory."""
    scope = " OR ".join(f'"{project}"' for project in (*projects, USER_WIDE))
    within = f"project : ({scope}) AND " if projects else ""
    found = []
    for word in words:
        match = f'{within}{{summary content rationale tags files}} : "{word}"'
        rows = await database.rows("SELECT 1 FROM memories_fts WHERE memories_fts MATCH ? LIMIT 1", (match,))
        found += [] if rows else [word]
    return found


async def texts(database: Database, project_id: str | None) -> list[str]:
    """Return the texts of active memories of a project (None: of all projects) and of user-wide memories."""
    rows = await database.rows(
        "SELECT content || ' ' || tags FROM memories"
        " WHERE archived_at IS NULL AND (?1 IS NULL OR project_id IS NULL OR project_id = ?1)",
        (project_id,),
        long=True,
    )
    return [row[0] for row in rows]


async def rare(database: Database, words: Sequence[str], projects: Sequence[str], most: int) -> set[str]:
    """Return the words that occur in at least one and at most ``most`` active memories.

    Memories of ``projects`` and user-wide memories are counted.
    """
    scope = " OR ".join(f'"{project}"' for project in (*projects, USER_WIDE))
    found = set()
    for word in words:
        rows = await database.rows(
            "SELECT count(*) FROM (SELECT 1 FROM memories_fts WHERE memories_fts MATCH ? LIMIT ?)",
            (f'project : ({scope}) AND {{summary content rationale tags}} : "{word}"', most + 1),
        )
        if 0 < rows[0][0] <= most:
            found.add(word)
    return found
