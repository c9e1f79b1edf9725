"""The SQL statements that are sent to a team's store. Returned rows are validated, and invalid rows are dropped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Annotated, Any, Literal, LiteralString, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from subconscious.store.team.connection import REFUSALS, Connection
from subconscious.wire.files import Document

PAGE = 100
"""The maximum number of memories whose versions one request reads; also the maximum number of changes per request."""

MOST_PROJECTS = 1000
MOST_MEMBERS = 10_000
MOST_VERSIONS = 50
"""The maximum number of versions of one memory that are read; the same limit applies to versions in Git."""

LARGEST_VERSION = 1 << 16
"""The maximum number of characters in a version; the server accepts no larger version."""

FIRST_DAY = date(1970, 1, 1)

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Person = Annotated[str, Field(min_length=1, max_length=63)]
RoleName = Literal["reader", "author", "maintainer"]
Number = Annotated[int, Field(ge=0, le=2**62)]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


RowT = TypeVar("RowT", bound=_Row)


class RemoteProject(_Row):
    """A project on the server, and the logged-in person's role in it."""

    id: Number
    name: Annotated[str, Field(min_length=1, max_length=100)]
    role: RoleName


class Member(_Row):
    """A person's role in a project."""

    person: Person
    role: RoleName


class RemoteVersion(_Row):
    """A version of a memory on the server. ``version`` is None if this version was replaced or purged."""

    uid: Digest
    digest: Digest
    change: Number
    author: Person
    version: Document | None
    confirmed_by: Person | None


class Change(_Row):
    """A change of a project: its number, and the version that it stored or replaced."""

    change: Number
    uid: Digest
    digest: Digest


class Found(_Row):
    """A version of a memory that a search found."""

    uid: Digest
    digest: Digest
    author: Person
    version: Document
    confirmed_by: Person | None
    people: Number
    cosine: Annotated[float, Field(ge=-1.001, le=1.001, allow_inf_nan=False)]
    score: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Hello:
    """The server's schema version, the person who is logged in, and their projects."""

    schema: int
    person: str
    projects: Sequence[RemoteProject]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version of a memory to send, with its embedding if there is one."""

    uid: str
    digest: str
    version: Document
    embedding: Sequence[float] | None = None
    embedder: str = ""


@dataclass(slots=True)
class Page:
    """Versions of some memories, and the number of invalid rows that were dropped."""

    versions: list[RemoteVersion] = field(default_factory=list)
    broken: int = 0

    def add(self, other: Page) -> None:
        """Add the rows of another page to this page."""
        self.versions += other.versions
        self.broken += other.broken


async def hello(connection: Connection) -> Hello:
    """Return the server's schema version, the person who is logged in, and their projects."""
    rows = await _rows(connection, "SELECT coalesce(max(version), 0), session_user::text FROM subconscious.migrations")
    schema, person = rows[0]
    projects, _ = _parsed(
        RemoteProject,
        ("id", "name", "role"),
        await _rows(
            connection,
            "SELECT p.id, p.name, m.role FROM subconscious.projects AS p JOIN subconscious.members AS m"
            " ON m.project_id = p.id AND m.person = session_user ORDER BY p.name LIMIT %s",
            (MOST_PROJECTS,),
        ),
    )
    return Hello(int(schema), str(person)[:63], projects)


async def create_project(connection: Connection, name: str) -> int:
    """Create a project on the server, with the logged-in person as its maintainer; return its number."""
    rows = await _rows(connection, "SELECT subconscious.create_project(%s)", (name,))
    return int(rows[0][0])


async def set_member(connection: Connection, project: int, person: str, role: str) -> None:
    """Set a person's role in a project; the role "" removes the person from the project."""
    await _rows(connection, "SELECT subconscious.set_member(%s, %s, %s)", (project, person, role))


async def members(connection: Connection, project: int) -> list[Member]:
    """Return the members of a project, with their roles."""
    rows = await _rows(
        connection,
        "SELECT person, role FROM subconscious.members WHERE project_id = %s ORDER BY person LIMIT %s",
        (project, MOST_MEMBERS),
    )
    return _parsed(Member, ("person", "role"), rows)[0]


_VERSION = (
    "v.uid, v.digest, v.change, v.author, CASE WHEN v.live THEN v.version::text END, v.confirmed_by"
    " FROM subconscious.versions AS v"
)
_VERSION_NAMES = ("uid", "digest", "change", "author", "version", "confirmed_by")


async def versions(connection: Connection, project: int, uids: Sequence[str]) -> Page:
    """Return all versions of some memories; replaced versions come without their text."""
    page = Page()
    for start in range(0, len(uids), PAGE):
        portion = list(uids[start : start + PAGE])
        rows = await _rows(
            connection,
            f"SELECT {_VERSION} WHERE v.project_id = %s AND v.uid = ANY (%s) ORDER BY v.uid, v.change DESC LIMIT %s",
            (project, portion, len(portion) * MOST_VERSIONS),
        )
        found, broken = _parsed(RemoteVersion, _VERSION_NAMES, rows)
        wanted = set(portion)  # a malicious server may return other memories
        page.add(Page([one for one in found if one.uid in wanted], broken))
    return page


async def newest_change(connection: Connection, project: int) -> int:
    """Return the number of the newest change of a project; 0 if there is none."""
    rows = await _rows(
        connection,
        "SELECT v.change FROM subconscious.versions AS v WHERE v.project_id = %s ORDER BY v.change DESC LIMIT 1",
        (project,),
    )
    return max(0, int(rows[0][0])) if rows else 0


async def key_of(connection: Connection, project: int, change: int) -> str:
    """Return "UID DIGEST" of the version with the change number ``change``; "" if no version has it any more."""
    rows = await _rows(
        connection,
        "SELECT v.uid || ' ' || v.digest FROM subconscious.versions AS v WHERE v.project_id = %s AND v.change = %s",
        (project, change),
    )
    return str(rows[0][0])[:65] if rows else ""


async def changed(connection: Connection, project: int, after: int) -> list[tuple[int, str, str]]:
    """Return the next ``PAGE`` changes of a project after the number ``after``, as (number, uid, digest)."""
    rows = await _rows(
        connection,
        "SELECT v.change, v.uid, v.digest FROM subconscious.versions AS v"
        " WHERE v.project_id = %s AND v.change > %s ORDER BY v.change LIMIT %s",
        (project, after, PAGE),
    )
    found, _ = _parsed(Change, ("change", "uid", "digest"), rows)
    return [(one.change, one.uid, one.digest) for one in found if one.change > after]


async def best(connection: Connection, project: int, most: int) -> list[str]:
    """Return the uids of up to ``most`` memories: those that the team uses most, then the newest."""
    used = await _rows(
        connection,
        "SELECT m.uid FROM subconscious.memories AS m WHERE m.project_id = %s AND m.people > 0"
        " AND m.purged_at IS NULL ORDER BY m.people DESC, m.last_used_at DESC LIMIT %s",
        (project, most // 2),
    )
    newest = await _rows(
        connection,
        "SELECT v.uid FROM subconscious.versions AS v WHERE v.project_id = %s AND v.live"
        " ORDER BY v.change DESC LIMIT %s",
        (project, most),
    )
    return list(dict.fromkeys(str(uid) for (uid,) in [*used, *newest]))[:most]


async def publish(
    connection: Connection, project: int, new: Sequence[NewVersion], replaced: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Store versions, and mark the versions that they replace; return the reason for each refusal, by uid.

    Each memory is committed before the next one, because the lock under which a project's changes are numbered is held
    until the commit.
    """
    refused: dict[str, str] = {}
    for uid in dict.fromkeys([*replaced, *(one.uid for one in new)]):
        own, old = [one for one in new if one.uid == uid], replaced.get(uid)
        async with _together(connection, wanted=bool(own and old)):  # no reader sees one without the other
            if old:
                await replace(connection, project, {uid: old})
            refused |= await insert(connection, project, own)
    return refused


def _together(connection: Connection, *, wanted: bool) -> AbstractAsyncContextManager[Any]:
    """Return a transaction, or a savepoint within a transaction, if ``wanted``; else a context that does nothing."""
    return connection.transaction() if wanted else nullcontext()


async def insert(connection: Connection, project: int, new: Sequence[NewVersion]) -> dict[str, str]:
    """Store versions; versions that exist stay unchanged. Return the reason for each refusal, by uid."""
    refused: dict[str, str] = {}
    for one in new:
        try:
            within = connection.info.transaction_status is not TransactionStatus.IDLE
            async with _together(connection, wanted=within):
                await connection.execute(
                    "INSERT INTO subconscious.versions (project_id, uid, digest, version, embedding, embedder)"
                    " VALUES (%s, %s, %s, %s::jsonb, %s::public.halfvec, %s) ON CONFLICT DO NOTHING",
                    (project, one.uid, one.digest, json.dumps(one.version), _vector(one.embedding), one.embedder),
                )
        except REFUSALS as error:
            refused[one.uid] = _reason(error)
    return refused


async def replace(connection: Connection, project: int, replaced: Mapping[str, Iterable[str]]) -> None:
    """Mark versions as replaced: the logged-in person's own versions, or anybody's for a maintainer."""
    for uid, digests in replaced.items():
        await _rows(connection, "SELECT subconscious.replace_versions(%s, %s, %s)", (project, uid, sorted(digests)))


async def purge(connection: Connection, project: int, uids: Iterable[str]) -> None:
    """Erase the logged-in person's versions of some memories, or all versions for a maintainer."""
    for uid in uids:
        await _rows(connection, "SELECT subconscious.purge(%s, %s)", (project, uid))


async def confirm(connection: Connection, project: int, uid: str, digest: str, *, wanted: bool) -> None:
    """Confirm a version as a maintainer, or withdraw the confirmation if not ``wanted``."""
    await _rows(connection, "SELECT subconscious.confirm(%s, %s, %s, %s)", (project, uid, digest, wanted))


async def use(connection: Connection, project: int, used: Sequence[tuple[str, int]]) -> None:
    """Record uses as (uid, days since 1970). A person's uses of a memory on one day count once."""
    uids, days = [uid for uid, _ in used], [FIRST_DAY + timedelta(days=day) for _, day in used]
    await _rows(connection, "SELECT subconscious.use(%s, %s, %s::date[])", (project, uids, days))


async def search(
    connection: Connection, project: int, words: str, vector: Sequence[float] | None, embedder: str, most: int
) -> tuple[list[Found], int]:
    """Search by words and by meaning; return the results, best first, and the number of invalid rows."""
    rows = await _rows(
        connection,
        "SELECT uid, digest, author, version::text, confirmed_by, people, cosine, score"
        " FROM subconscious.search(%s, %s, %s::public.halfvec, %s, %s) LIMIT %s",
        (project, words, _vector(vector), embedder, most, most),
    )
    return _parsed(Found, tuple(Found.model_fields), rows)


def _vector(values: Sequence[float] | None) -> str | None:
    return None if values is None else "[" + ",".join(f"{value:.5g}" for value in values) + "]"


def _reason(error: psycopg.Error) -> str:
    return " ".join((error.diag.message_primary or type(error).__name__).split())[:200]


async def _rows(connection: Connection, query: LiteralString, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return await (await connection.execute(query, values)).fetchall()


def _parsed(model: type[RowT], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> tuple[list[RowT], int]:
    """Return the valid rows, parsed, and the number of invalid rows."""
    found, broken = [], 0
    for row in rows:
        try:
            values = dict(zip(names, row, strict=True))
            if isinstance(values.get("version"), str):
                values["version"] = _document(values["version"])
            found.append(model.model_validate(values))
        except (ValidationError, ValueError, RecursionError):
            broken += 1
    return found, broken


def _document(text: str) -> Any:
    """Return the parsed JSON of a version. psycopg is not used for this, because it parses JSON of any size."""
    if len(text) > LARGEST_VERSION:
        raise ValueError("too large")
    return json.loads(text)
