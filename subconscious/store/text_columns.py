"""Finds every column that can contain people's words by reading the schema, so that no table is forgotten.

These are all text columns except keys, references and columns with fixed values. When a memory's text is changed here,
its hash, full text and embedding are updated too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiosqlite

from subconscious.store import events, full_text, memories
from subconscious.store.connect import Database
from subconscious.store.rows import content_hash
from subconscious.system.json_bounds import has_too_many_values

Change = Callable[[str], str]

TABLES_WITHOUT_TEXT = frozenset(
    {
        "schema_migrations",
        "projects",
        "project_paths",
        "redactions",
        "redactions_allowed",
        "redaction_state",
        "maintenance_runs",
    }
)
"""Tables without people's texts."""

FIXED_COLUMNS = frozenset(
    {
        *("status", "decision", "scope", "kind", "category", "origin", "strength", "extractor", "sentiment", "actor"),
        *("action", "subject", "embedding_status", "event", "lane", "capture_key", "turn_id", "content_hash", "commit"),
        *("importance", "outcome", "way"),
        *("transcript", "cwd", "end_reason", "project", "project_id", "session_id", "memory_id", "subject_id", "model"),
        *("type", "created_by", "act"),
        *("sort", "digest", "limits", "from_id"),
        *("run_id", "command_key", "way_out_key", "signatures", "trouble", "doubt"),
    }
)
"""Columns with fixed values, names or paths."""

JSON_COLUMNS = frozenset(
    {
        *("before", "after", "tags", "files", "links", "payload", "report", "options", "base", "engines", "limits"),
        *("state", "verdict"),
    }
)
"""Columns with this program's own JSON. Its keys name columns and settings, so changes of texts must keep them."""

INDEXED_COLUMNS = frozenset({"summary", "content", "rationale", "tags", "files"})
"""Columns of a memory from which its full text and its embedding are made."""

OUR_NAMES = FIXED_COLUMNS | JSON_COLUMNS | INDEXED_COLUMNS
"""Names of columns. As a JSON key, such a name does not mean that its value is a secret."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with people's words: the key of its rows, and the text columns."""

    name: str
    keys: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one row, by column."""

    table: Table
    key: tuple[Any, ...]
    words: dict[str, str]

    @property
    def place(self) -> str:
        """The row's name as it is shown to people, such as ``memory/12``."""
        singular = {"memories": "memory", "implicit_captures": "capture", "sessions": "session", "events": "event"}
        return f"{singular.get(self.table.name, self.table.name)}/{'/'.join(map(str, self.key))}"


async def tables(database: Database) -> list[Table]:
    """Return all tables with people's words."""
    rows = await database.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%VIRTUAL%'"
        " AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\' ORDER BY name"
    )
    found = [await _table(database, row[0]) for row in rows if row[0] not in TABLES_WITHOUT_TEXT]
    return [table for table in found if table.words]


async def _table(database: Database, name: str) -> Table:
    columns = await database.rows("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY pk", (name,))
    keys = tuple(column["name"] for column in columns if column["pk"])
    words = tuple(
        column["name"]
        for column in columns
        if column["type"] == "TEXT" and not column["pk"] and column["name"] not in FIXED_COLUMNS
    )
    return Table(name, keys or ("rowid",), words)


async def page(
    connection: aiosqlite.Connection, table: Table, after: tuple[Any, ...] = (), limit: int = -1
) -> list[Row]:
    """Return the rows of a table after the key ``after``, ordered by key, with their texts."""
    keys = ", ".join(f'"{key}"' for key in table.keys)
    words = ", ".join(f'"{name}"' for name in table.words)
    behind = f"WHERE ({keys}) > ({', '.join('?' for _ in after)})" if after else ""
    found = await connection.execute_fetchall(
        f"SELECT {keys}, {words} FROM {table.name} {behind} ORDER BY {keys} LIMIT ?",  # noqa: S608
        (*after, limit),
    )
    return [_row(table, tuple(row)) for row in found]


def _row(table: Table, values: tuple[Any, ...]) -> Row:
    key, texts = values[: len(table.keys)], values[len(table.keys) :]
    return Row(table, key, {name: text for name, text in zip(table.words, texts, strict=True) if text})


async def reread(tx: aiosqlite.Connection, row: Row) -> Row | None:
    """Return a row's texts as the running transaction sees them; None if the row was deleted."""
    columns = ", ".join(f'"{name}"' for name in row.table.words)
    where = " AND ".join(f'"{key}" IS ?' for key in row.table.keys)
    found = list(await tx.execute_fetchall(f"SELECT {columns} FROM {row.table.name} WHERE {where}", row.key))  # noqa: S608
    if not found:
        return None
    words = {name: text for name, text in zip(row.table.words, tuple(found[0]), strict=True) if text}
    return Row(row.table, row.key, words)


def changed_columns(row: Row, change: Change) -> dict[str, str]:
    """Return the new values of the columns of a row that ``change`` alters."""
    new = {name: change_column(name, text, change) for name, text in row.words.items()}
    return {name: text for name, text in new.items() if text != row.words[name]}


def change_column(name: str, text: str, change: Change) -> str:
    """Return the text of a column with ``change`` applied to it.

    In ``JSON_COLUMNS``, the change is applied to each string, and to each pair of a key and its value, but not to the
    whole text: after a sentence that ends with "password", the next key would be taken for a secret.
    """
    value = _parsed(text) if name in JSON_COLUMNS else None
    if value is None:
        return change_text(text, change)
    try:
        new = _each_pair(value, change)
    except RecursionError:
        return change_text(text, change)
    return text if new == value else json.dumps(new, ensure_ascii=False)


def change_text(text: str, change: Change) -> str:
    """Return ``text`` with ``change`` applied to it.

    JSON stays valid: the change is applied to each string in it, and then to the whole text, because a key such as
    "password" can show that its value is a secret. If that breaks the JSON, each key is changed with its value instead.
    """
    value = _parsed(text)
    if value is None:
        return change(text)
    try:
        inside = _each(value, change)
        kept = text if inside == value else json.dumps(inside, ensure_ascii=False)
        whole = change(kept)
        if whole == kept or _is_json(whole):
            return whole
        return json.dumps(_each_pair(inside, change), ensure_ascii=False)
    except RecursionError:  # nested too deep: changed as plain text
        return change(text)


def _parsed(text: str) -> Any:
    """Return the JSON object or list in ``text``; None if ``text`` is neither, or has too many values."""
    if text[:1] not in ("{", "[") or has_too_many_values(text.encode("utf-8", "replace")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _each(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change_text(value, change)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if isinstance(value, dict):
        return {change(name): _each(item, change) for name, item in value.items()}
    return value


def _each_pair(value: Any, change: Change, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key if key in OUR_NAMES else change(key): _each_pair(item, change, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_pair(item, change, name) for item in value]
    return _beside(name, value, change) if isinstance(value, str) else value


def _beside(name: str, text: str, change: Change) -> str:
    """Return a string in this program's JSON, changed first alone and then together with its key ``name``."""
    new = change_column(name, text, change)
    pair = _parsed(change(json.dumps({name: new}, ensure_ascii=False))) if name and name not in OUR_NAMES else None
    return str(pair[name]) if isinstance(pair, dict) and pair.keys() == {name} else new


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


async def rewrite(tx: aiosqlite.Connection, row: Row, new: dict[str, str]) -> None:
    """Replace texts of a row, and update the data derived from them."""
    where = " AND ".join(f'"{key}" IS ?' for key in row.table.keys)
    sets = ", ".join(f'"{name}" = ?' for name in new)
    await tx.execute(f"UPDATE {row.table.name} SET {sets} WHERE {where}", (*new.values(), *row.key))  # noqa: S608
    if row.table.name == "memories" and INDEXED_COLUMNS & new.keys():
        await update_derived(tx, int(row.key[0]))
    elif row.table.name == "implicit_captures" and "content" in new:
        digest = content_hash(new["content"])
        await tx.execute("UPDATE implicit_captures SET content_hash = ? WHERE id = ?", (digest, row.key[0]))


async def update_derived(tx: aiosqlite.Connection, memory_id: int) -> None:
    """Update a memory's hash and full text from its current texts, and queue the memory for a new embedding."""
    memory = await memories.require(tx, memory_id)
    digest = content_hash(memory.content)
    await tx.execute(
        "UPDATE surfaces SET content_hash = ? WHERE memory_id = ? AND content_hash = ?",
        (digest, memory_id, memory.content_hash),
    )
    await tx.execute(
        "UPDATE memories SET content_hash = ?, embedding_status = CASE embedding_status WHEN 'off' THEN 'off'"
        " ELSE 'pending' END WHERE id = ?",
        (digest, memory_id),
    )
    await tx.execute("DELETE FROM embeddings WHERE memory_id = ?", (memory_id,))
    await full_text.reindex(tx, memory)


async def record_change(tx: aiosqlite.Connection, row: Row, new: dict[str, str], actor: str, reason: str) -> None:
    """Record which text columns of a memory, capture or session were changed, without the texts; ignore other rows."""
    singular, _, number = row.place.partition("/")
    if singular in ("memory", "capture", "session"):
        after = {"columns": sorted(new)}
        await events.record(tx, "redact", singular, number, actor=actor, reason=reason, after=after)
