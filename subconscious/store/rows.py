"""Rows to values and back: one place knows that lists are JSON and flags are integers."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

import aiosqlite

from subconscious.model import EngineHit, Memory, Origin, Scope, Session, Surface

LISTS = ("tags", "files")
FLAGS = ("verified", "pinned", "unconfirmed")
MEMORY_COLUMNS = tuple(field.name for field in fields(Memory))
READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(LISTS, lambda text: tuple(json.loads(text)) if text != "[]" else ()),
    **dict.fromkeys(FLAGS, bool),
    "origin": Origin,
    "scope": Scope,
}
"""What makes a column of a memory the value that it stands for, where it is not that already."""


def memory_from(row: sqlite3.Row) -> Memory:
    """Read a row of ``memories``."""
    # By place: a row looks each name up among all the others, which takes longer than to read it.
    known = dict(zip(row.keys(), row, strict=True))
    return Memory(**{name: READ[name](known[name]) if name in READ else known[name] for name in MEMORY_COLUMNS})


def session_from(row: sqlite3.Row) -> Session:
    """Read a row of ``sessions``."""
    values = {field.name: row[field.name] for field in fields(Session)}
    return Session(**values | {"tags": tuple(json.loads(values["tags"]))})


def surface_from(row: sqlite3.Row) -> Surface:
    """Read a row of ``surfaces``."""
    values = {field.name: row[field.name] for field in fields(Surface)}
    engines = tuple(EngineHit(**hit) for hit in json.loads(values.pop("engines")))
    return Surface(**values, engines=engines)


def plain(row: sqlite3.Row) -> dict[str, Any]:
    """A row as JSON-ready values: lists opened, everything else as stored."""
    return {name: json.loads(row[name]) if name in LISTS else row[name] for name in row.keys()}  # noqa: SIM118


def opened(value: Any) -> dict[str, Any]:
    """A dataclass's own fields as they are; `asdict` copies whatever they hold, which takes ten times as long."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def stored(value: Any) -> dict[str, Any]:
    """A dataclass as column values."""
    return {name: _column(item) for name, item in asdict(value).items()}


def _column(item: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return json.dumps(list(item), ensure_ascii=False)
    return int(item) if isinstance(item, bool) else item


def insertion(table: str, values: Mapping[str, Any], conflict: str = "") -> tuple[str, dict[str, Any]]:
    """An INSERT with named parameters. Column names come from our own dataclasses, never from input."""
    columns = ", ".join(f'"{name}"' for name in values)
    holders = ", ".join(f":{name}" for name in values)
    return f"INSERT INTO {table} ({columns}) VALUES ({holders}) {conflict}", dict(values)  # noqa: S608


Diff = tuple[dict[str, Any], dict[str, Any]]
"""The columns that changed, before and after, as an event keeps them."""


async def alter(
    tx: aiosqlite.Connection, table: str, key: int | str, values: Mapping[str, Any], name: str = "id"
) -> Diff:
    """Give a row other values; return those that were different, before and after."""
    rows = list(await tx.execute_fetchall(f'SELECT * FROM {table} WHERE "{name}" = ?', (key,)))  # noqa: S608
    before = {column: rows[0][column] for column, value in values.items() if rows and rows[0][column] != value}
    after = {column: values[column] for column in before}
    if after:
        sets = ", ".join(f'"{column}" = ?' for column in after)
        await tx.execute(f'UPDATE {table} SET {sets} WHERE "{name}" = ?', (*after.values(), key))  # noqa: S608
    return before, after


def marks(items: Iterable[Any]) -> str:
    """``?, ?, ?`` for an IN clause."""
    return ", ".join("?" for _ in items)


def content_hash(text: str) -> str:
    """Identity of a wording: case and white space don't matter. 32 hex digits of SHA-256."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:32]
