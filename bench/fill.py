"""Fill a state folder with many memories: real sentences where available, otherwise generated ones.

Rows are written as the store writes them (memory, full text, event, vector), but many at a time: a million would take
the better part of an hour one by one.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time, time_ns

import numpy

from bench.memory import memory_of
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory
from subconscious.settings.home import Home
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, find_or_create
from subconscious.store.rows import LIST_COLUMNS, MEMORY_COLUMNS, insertion
from subconscious.system.projects import Identity
from subconscious.text.codewords import code_parts

PROJECTS = 20
DAY = 86_400.0
SORTS = tuple(kind for kind in KINDS if kind != "meta")
PORTION = 10_000
OF_SESSION = 15
"""Memories that one session brought."""
SHORTEST, LONGEST = 40, 400
"""Characters of a sentence that could be a memory."""
THINGS = (
    "the retry queue, the login form, the invoice table, the cache layer, the search index, the upload worker,"
    " the session token, the audit log, the feature flag, the billing webhook, the import script, the rate limiter,"
    " the config loader, the test fixture, the migration, the message broker, the settings page, the CI pipeline"
).split(", ")
ACTS = (
    "keep, drop, rename, split, wrap, cache, validate, encrypt, batch, paginate, retry, log, mock, type, document"
).split(", ")
WAYS = (
    "in a transaction, behind an interface, with a timeout of {n} ms, in module_{n}.py, per tenant, at start-up,"
    " only in tests, with exponential backoff, through the gateway, as integer cents, in UTC, with an index on col_{n}"
).split(", ")
REASONS = (
    "because release {n} broke it, since the queue grew past {n} items, because two services disagreed,"
    " since a customer lost {n} rows, because the linter asks for it, since it cost {n} ms a request"
).split(", ")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Filled:
    """The project folders that were made, by project id, and what memories were made from."""

    folders: dict[str, Path]
    words: Words


class Words:
    """Sentences for memories and queries: ``real`` ones first, then halves of two of them, or our own."""

    def __init__(self, real: Sequence[str] = ()) -> None:
        self._real = list(real)

    @classmethod
    def of(cls, folders: Sequence[Path], most: int) -> Words:
        """From the transcripts (.jsonl) and conversations (.json) in some folders, in an order of chance."""
        found: set[str] = set()
        for file in sorted(path for folder in folders for path in folder.rglob("*.json*")):
            found.update(sentence for text in _texts(file) for sentence in _sentences(text))
        chosen = sorted(found)
        random.Random(5).shuffle(chosen)
        return cls(chosen[:most])

    def make(self, number: int, rng: random.Random) -> str:
        """The words of memory ``number``."""
        if number < len(self._real):
            return self._real[number]
        if not self._real:
            return sentence(rng)
        first, second = (rng.choice(self._real).split() for _ in range(2))
        return " ".join((*first[: len(first) // 2], *second[len(second) // 2 :]))

    def ask(self, rng: random.Random) -> str:
        """A query: some consecutive words of a possible memory."""
        said = self.make(1 << 60, rng).split()
        start = rng.randrange(max(1, len(said) - 8))
        return " ".join(said[start : start + 8])


def _texts(file: Path) -> Iterator[str]:
    """All strings under "text" or "content" in a JSON file or in lines of JSON."""
    whole = file.read_text(encoding="utf-8", errors="replace")
    for line in [whole] if file.suffix == ".json" else whole.splitlines():
        try:
            yield from _said(json.loads(line))
        except ValueError:
            continue


def _said(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("text", "content") and isinstance(inner, str):
                yield inner
            else:
                yield from _said(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _said(inner)


def _sentences(text: str) -> Iterator[str]:
    for one in _SENTENCE.split(text):
        said = " ".join(one.encode("utf-8", "replace").decode().split())
        if SHORTEST <= len(said) <= LONGEST and said.count(" ") >= 5 and sum(map(str.isalpha, said)) > 0.7 * len(said):
            yield said


def sentence(rng: random.Random) -> str:
    """One memory's words."""
    parts = ("We decided to", rng.choice(ACTS), rng.choice(THINGS), rng.choice(WAYS), rng.choice(REASONS))
    return " ".join(parts).format(n=rng.randrange(1, 5000)) + "."


def fill(
    home: Home,
    count: int,
    *,
    synthetic: bool,
    model: str = "",
    dim: int = 384,
    projects: int = PROJECTS,
    words: Words | None = None,
) -> Filled:
    """Store ``count`` memories in some projects; without ``synthetic`` vectors the daemon embeds them."""
    found = asyncio.run(_projects(home, projects))
    connection = sqlite3.connect(home.database)
    said = words or Words()
    rng = random.Random(7)
    try:
        for start in range(0, count, PORTION):
            numbers = range(start, min(count, start + PORTION))
            made = [_memory(number, found[number % projects], said.make(number, rng), rng) for number in numbers]
            _write(connection, made, "done" if synthetic else "pending")
            if synthetic:
                _write_vectors(connection, made, model, dim)
        connection.commit()
    finally:
        connection.close()
    return Filled({project.id: Path(project.root) for project in found}, said)


async def _projects(home: Home, count: int) -> list[Project]:
    home.make()
    database = await open_database(home.database)
    try:
        await migrate(database)
        return [await _project(database, home, number) for number in range(count)]
    finally:
        await database.close()


async def _project(database: Database, home: Home, number: int) -> Project:
    folder = home.root.parent / f"project-{number:02d}"
    folder.mkdir(exist_ok=True)
    return await find_or_create(database, Identity(root=str(folder), name=folder.name))


def file_name(number: int) -> str:
    """The file that a memory is about: a few files are frequent, most are rare."""
    return f"src/part_{number % 7}/module_{number % 997}.py"


def _memory(number: int, project: Project, content: str, rng: random.Random) -> Memory:
    kind = rng.choice(SORTS)
    said = time() - rng.uniform(0, 200) * DAY
    return memory_of(
        project.id,
        content,
        said,
        kind,
        id=number + 1,
        session_id=f"{project.id}-{number // (OF_SESSION * PROJECTS)}",
        branch=rng.choice(("main", "feature/tax", "fix/login")),
        tags=(kind,),
        files=(file_name(number),) if number % 3 == 0 else (),
    )


def _columns(memory: Memory) -> dict[str, object]:
    """As `rows.column_values` gives them, in a third of the time."""
    lists = {name: json.dumps(getattr(memory, name)) for name in LIST_COLUMNS}
    return {name: getattr(memory, name) for name in MEMORY_COLUMNS} | lists


def _write(connection: sqlite3.Connection, made: Sequence[Memory], embedding: str) -> None:
    rows = [_columns(memory) | {"embedding_status": embedding} for memory in made]
    connection.executemany(insertion("memories", rows[0])[0], rows)
    connection.executemany(
        "INSERT INTO memories_fts (rowid, project, summary, content, tags, files) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (m.id, m.project_id, m.summary, m.content, " ".join(m.tags), " ".join((*m.files, code_parts(m.content))))
            for m in made
        ],
    )
    connection.executemany(
        "INSERT INTO events (at, actor, action, subject, subject_id, session_id, after)"
        " VALUES (?, 'daemon', 'create', 'memory', ?, ?, ?)",
        [(m.created_at, str(m.id), m.session_id, json.dumps(row)) for m, row in zip(made, rows, strict=True)],
    )


def _write_vectors(connection: sqlite3.Connection, made: Sequence[Memory], model: str, dim: int) -> None:
    rng = numpy.random.default_rng(made[0].id)
    found = rng.standard_normal((len(made), dim)).astype("<f4")
    found /= numpy.linalg.norm(found, axis=1, keepdims=True)
    connection.executemany(
        "INSERT INTO embeddings (memory_id, project, model, dim, vector, stamp) VALUES (?, ?, ?, ?, ?, ?)",
        [(m.id, m.project_id, model, dim, vector.tobytes(), time_ns()) for m, vector in zip(made, found, strict=True)],
    )
