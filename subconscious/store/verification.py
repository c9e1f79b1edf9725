"""Verifies a database: its structure, its texts, and that no data of its latest verified copy was lost or changed.

`PRAGMA integrity_check` finds broken pages and indexes, but not a changed byte within a text. The stored hash of each
memory's content shows such a change. Data that is written once (events, wordings, evidence, vectors) must equal the
data in the copy.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from urllib.parse import quote

from subconscious.store.backups import Copy
from subconscious.store.check import open_readonly
from subconscious.store.rows import content_hash

log = logging.getLogger("subconscious.store")

LONGEST = 600.0
"""Seconds after which a verification is aborted: on a slow disk it must not delay the other nightly jobs."""
STEPS = 1_000_000
"""The number of steps of SQLite's virtual machine between two checks of the time limit."""
MOST = 5
"""The maximum number of problems of one kind that are listed."""


@dataclass(frozen=True, slots=True)
class AuditedTable:
    """A table with columns that change only with an event about ``subject``, or never if ``subject`` is "".

    ``same`` is an SQL condition that selects the rows to compare: m is the row in the database, c the row in the copy.
    """

    table: str
    columns: tuple[str, ...]
    key: str = "id"
    subject: str = ""
    same: str = "TRUE"


STATEMENT_COLUMNS = (
    *("kind", "summary", "content", "content_hash", "origin", "created_at", "rationale", "evidence", "extractor"),
    *("scope", "sentiment", "raw_confidence", "session_id", "turn_id", "transcript", "byte_start", "byte_end"),
    *("branch", "tags", "files"),
)
COMPARED = (
    AuditedTable(
        "events", ("at", "actor", "action", "subject", "subject_id", "session_id", "reason", "before", "after")
    ),
    AuditedTable("memories", (*STATEMENT_COLUMNS, "category", "agent", "commit"), subject="memory"),
    AuditedTable("implicit_captures", (*STATEMENT_COLUMNS, "strength"), subject="capture"),
    AuditedTable("sessions", ("started_at",), subject="session", same="m.last_event_at = c.last_event_at"),
    AuditedTable("embeddings", ("vector",), key="memory_id", same="m.stamp = c.stamp AND m.model = c.model"),
    AuditedTable("jobs", ("name", "event", "lane", "created_at")),
    AuditedTable("schema_migrations", ("name", "applied_at"), key="version"),
    AuditedTable("transcripts", ("state",), key="path", same="m.read_at = c.read_at AND m.position = c.position"),
)
HEAD = "(SELECT coalesce(max(id), 0) FROM copy.events)"
PERMANENT_TABLES = ("events", "memories")
"""Tables from which only a purge deletes rows; a purge also replaces the copies."""


def problems(database: Path, copy: Copy | None = None) -> list[str]:
    """Return the problems of a database, compared with ``copy`` if there is one. Slow, so run it in a thread.

    If it takes longer than ``LONGEST``, an empty list is returned and a warning is logged.
    """
    try:
        with open_readonly(database) as connection:
            _limit(connection, LONGEST)
            found = [*_structure(connection), *_contents(connection)]
            if copy is not None:
                found += _differences(connection, copy)
    except (sqlite3.Error, OSError) as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            log.warning("%s could not be verified within %.0f s", database, LONGEST)
            return []
        return [str(error)]
    return found


def _limit(connection: sqlite3.Connection, seconds: float) -> None:
    """Interrupt every statement on the connection once ``seconds`` have passed from now."""
    until = monotonic() + seconds
    connection.set_progress_handler(lambda: int(monotonic() > until), STEPS)


def _structure(connection: sqlite3.Connection) -> list[str]:
    verdicts = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MOST})")]
    dangling = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    found = [] if verdicts == ["ok"] else verdicts
    return [*found, f"rows with dangling references: {dangling}"] if dangling else found


def _contents(connection: sqlite3.Connection) -> list[str]:
    """Return a message about memories whose content does not match its stored hash or is not UTF-8; [] if none."""
    if not _columns(connection, "main", "memories"):
        return []
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogatepass")
    changed = []
    try:
        for number, content, digest in connection.execute("SELECT id, content, content_hash FROM memories"):
            if content_hash(content) != digest:
                changed.append(number)
    except (UnicodeDecodeError, sqlite3.OperationalError) as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            raise
        return ["the text of a memory is not valid UTF-8"]
    finally:
        connection.text_factory = str
    return [f"memories whose text does not match its hash: {_listed(changed)}"] if changed else []


def _differences(connection: sqlite3.Connection, copy: Copy) -> list[str]:
    connection.execute("ATTACH ? AS copy", (f"file:{quote(str(copy.path))}?mode=ro&immutable=1",))
    try:
        if _replaced_since(connection, copy):
            return []
        return [
            *_lost(connection, copy),
            *_schema_changes(connection, copy),
            *(one for table in COMPARED for one in _changed(connection, table, copy)),
        ]
    finally:
        connection.execute("DETACH copy")


def _schema_changes(connection: sqlite3.Connection, copy: Copy) -> Iterator[str]:
    """Yield a message if tables are defined differently in a copy of the same schema version."""
    versions = [
        connection.execute(f"SELECT max(version) FROM {schema}.schema_migrations").fetchone()  # noqa: S608
        for schema in ("main", "copy")
    ]
    sql = "SELECT name FROM (SELECT name, sql FROM copy.sqlite_master EXCEPT SELECT name, sql FROM main.sqlite_master)"
    changed = [row[0] for row in connection.execute(sql)] if versions[0] == versions[1] else []
    if changed:
        yield f"schema definitions that differ from the copy {copy.path.name}: {_listed(changed)}"


def _changed(connection: sqlite3.Connection, compared: AuditedTable, copy: Copy) -> Iterator[str]:
    """Yield a message about rows that differ from the copy although no event records a change."""
    known = _columns(connection, "main", compared.table) & _columns(connection, "copy", compared.table)
    columns = [name for name in compared.columns if name in known]
    if not columns:
        return
    differs = " OR ".join(f'm."{name}" IS NOT c."{name}"' for name in columns)
    # Redaction rewrites the history too, and may be interrupted before the backup copies are replaced.
    about = (
        "e.subject = ?1 AND e.subject_id = CAST(m.id AS TEXT)"
        if compared.subject
        else "?1 = '' AND e.action = 'redact'"
    )
    unexplained = f"NOT EXISTS (SELECT 1 FROM main.events AS e WHERE e.id > {HEAD} AND {about})"  # noqa: S608
    sql = (
        f"SELECT m.{compared.key} FROM main.{compared.table} AS m"  # noqa: S608 - names from the table above
        f" JOIN copy.{compared.table} AS c ON m.{compared.key} = c.{compared.key}"
        f" WHERE ({differs}) AND {compared.same} AND {unexplained}"
    )
    rows = [row[0] for row in connection.execute(sql, (compared.subject,))]
    if rows:
        yield f"rows of {compared.table} that differ from the copy {copy.path.name}: {_listed(rows)}"


def _lost(connection: sqlite3.Connection, copy: Copy) -> Iterator[str]:
    """Yield a message for each table that lacks rows that the copy contains, unless a purge came after the copy."""
    for table in PERMANENT_TABLES:
        missing = connection.execute(
            f"SELECT count(*) FROM copy.{table} WHERE id NOT IN (SELECT id FROM main.{table})"  # noqa: S608
        ).fetchone()[0]
        if missing and not _purged_since(connection):
            yield f"rows of {table} that are in the copy {copy.path.name} but missing here: {missing}"


def is_behind(database: Path, copy: Copy) -> list[str]:
    """Return a message if the database lacks the latest events of its copy, and one if it has fewer memories.

    If the two can't be compared, a message with the reason is returned.
    """
    try:
        with open_readonly(database) as connection:
            connection.execute("ATTACH ? AS copy", (f"file:{quote(str(copy.path))}?mode=ro&immutable=1",))
            if _replaced_since(connection, copy) or _purged_since(connection):
                return []
            return list(_setbacks(connection, copy))
    except (sqlite3.Error, OSError) as error:
        return [f"it can't be compared with the copy {copy.path.name}: {error}"]


def _setbacks(connection: sqlite3.Connection, copy: Copy) -> Iterator[str]:
    here, there = (_extent(connection, schema) for schema in ("main", "copy"))
    if here[1] < there[1]:
        yield f"it is older than its copy {copy.path.name}: its history ends at event {here[1]}, not {there[1]}"
    if here[0] < there[0]:
        yield f"it has {here[0]} memories, its copy {copy.path.name} has {there[0]}"


def _extent(connection: sqlite3.Connection, schema: str) -> tuple[int, int]:
    memories = connection.execute(f"SELECT count(*) FROM {schema}.memories").fetchone()[0]  # noqa: S608
    head = connection.execute(f"SELECT coalesce(max(id), 0) FROM {schema}.events").fetchone()[0]  # noqa: S608
    return int(memories), int(head)


def _replaced_since(connection: sqlite3.Connection, copy: Copy) -> bool:
    """Whether a person restored another copy, or started with a new database, after this copy was made."""
    sql = "SELECT 1 FROM main.events WHERE action = 'restore' AND subject = 'store' AND at >= ?"
    return connection.execute(sql, (copy.at,)).fetchone() is not None


def _purged_since(connection: sqlite3.Connection) -> bool:
    sql = f"SELECT 1 FROM main.events WHERE action = 'purge' AND id > {HEAD}"  # noqa: S608
    return connection.execute(sql).fetchone() is not None


@dataclass(frozen=True, slots=True)
class Loss:
    """The numbers of events and memories that a restore would lose, because they are newer than the copy.

    ``known`` is False if the numbers can't be computed.
    """

    events: int = 0
    memories: int = 0
    known: bool = True


def loss(database: Path, copy: Path) -> Loss:
    """Return what a restore of ``copy`` would lose, from the history that can be read in ``database``."""
    try:
        with open_readonly(database) as connection:
            connection.execute("ATTACH ? AS copy", (f"file:{quote(str(copy))}?mode=ro&immutable=1",))
            return _loss(connection)
    except (sqlite3.Error, OSError):
        return Loss(known=False)


def _loss(connection: sqlite3.Connection) -> Loss:
    """Count the events after the last one that the database and copy share, and the memories that the copy lacks."""
    shared = connection.execute(
        "SELECT coalesce(max(m.id), 0) FROM main.events AS m JOIN copy.events AS c"
        " ON m.id = c.id AND m.at = c.at AND m.subject = c.subject AND m.subject_id = c.subject_id"
    ).fetchone()[0]
    events = connection.execute("SELECT count(*) FROM main.events WHERE id > ?", (shared,)).fetchone()[0]
    memories = connection.execute(
        "SELECT count(*) FROM main.memories WHERE id NOT IN (SELECT id FROM copy.memories)"
    ).fetchone()[0]
    return Loss(int(events), int(memories))


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table})")}


def _listed(numbers: list[object] | list[int]) -> str:
    rest = f" and {len(numbers) - MOST} more" if len(numbers) > MOST else ""
    return ", ".join(map(str, numbers[:MOST])) + rest
