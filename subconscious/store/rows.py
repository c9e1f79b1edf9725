"""Conversion of rows to values and back: lists are stored as JSON, flags as integers."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

import aiosqlite

from subconscious.domain.hits import EngineHit, Surface
from subconscious.domain.model import Memory, Origin, Scope, Session

LIST_COLUMNS = ("tags", "files")
FLAG_COLUMNS = ("verified", "pinned", "unconfirmed")
MEMORY_COLUMNS = tuple(field.name for field in fields(Memory))
CONVERTERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(LIST_COLUMNS, lambda text: tuple(json.loads(text)) if text != "[]" else ()),
    **dict.fromkeys(FLAG_COLUMNS, bool),
    "origin": Origin,
    "scope": Scope,
}
"""Functions that convert stored columns to a memory's fields; other columns are stored unchanged."""


def memory_from(row: sqlite3.Row) -> Memory:
    """Return a memory from its row."""
    # By position: looking up each name in a sqlite3.Row takes longer than reading the value.
    known = dict(zip(row.keys(), row, strict=True))
    return Memory(
        **{name: CONVERTERS[name](known[name]) if name in CONVERTERS else known[name] for name in MEMORY_COLUMNS}
    )


def session_from(row: sqlite3.Row) -> Session:
    """Return a session from its row."""
    values = {field.name: row[field.name] for field in fields(Session)}
    return Session(**values | {"tags": tuple(json.loads(values["tags"]))})


def surface_from(row: sqlite3.Row) -> Surface:
    """Return a surface (the record that a session received a memory) from its row."""
    values = {field.name: row[field.name] for field in fields(Surface)}
    engines = tuple(EngineHit(**hit) for hit in json.loads(values.pop("engines")))
    return Surface(**values, engines=engines)


def json_values(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row as values that JSON can represent: lists are parsed, other values are as stored."""
    return {name: json.loads(row[name]) if name in LIST_COLUMNS else row[name] for name in row.keys()}  # noqa: SIM118


def field_values(value: Any) -> dict[str, Any]:
    """Return a dataclass's fields, by name. Unlike `asdict`, this copies no values, and so is ten times faster."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def column_values(value: Any) -> dict[str, Any]:
    """Return a dataclass's fields as column values: lists as JSON, flags as integers."""
    return {name: _column(item) for name, item in asdict(value).items()}


def _column(item: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return json.dumps(list(item), ensure_ascii=False)
    return int(item) if isinstance(item, bool) else item


def insertion(table: str, values: Mapping[str, Any], conflict: str = "") -> tuple[str, dict[str, Any]]:
    """Return an INSERT statement and its named parameters. Column names must come from code, never from input."""
    columns = ", ".join(f'"{name}"' for name in values)
    holders = ", ".join(f":{name}" for name in values)
    return f"INSERT INTO {table} ({columns}) VALUES ({holders}) {conflict}", dict(values)  # noqa: S608


Diff = tuple[dict[str, Any], dict[str, Any]]
"""The changed columns with their values before and after, as an event stores them."""


async def update_row(
    tx: aiosqlite.Connection, table: str, key: int | str, values: Mapping[str, Any], name: str = "id"
) -> Diff:
    """Update a row; return the values that changed, before and after."""
    rows = list(await tx.execute_fetchall(f'SELECT * FROM {table} WHERE "{name}" = ?', (key,)))  # noqa: S608
    before = {column: rows[0][column] for column, value in values.items() if rows and rows[0][column] != value}
    after = {column: values[column] for column in before}
    if after:
        sets = ", ".join(f'"{column}" = ?' for column in after)
        await tx.execute(f'UPDATE {table} SET {sets} WHERE "{name}" = ?', (*after.values(), key))  # noqa: S608
    return before, after


def qmarks(items: Iterable[Any]) -> str:
    """Return one question mark per item, ``?, ?, ?``, for an IN clause."""
    return ", ".join("?" for _ in items)


def content_hash(text: str) -> str:
    """Return a hash of a text that ignores case and white space: 32 hex digits of SHA-256."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:32]
