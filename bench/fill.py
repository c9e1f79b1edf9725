"""Fill a state folder with many memories: plausible sentences of a developer's day, from our own word lists."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from time import time

import numpy

from subconscious.home import Home
from subconscious.kinds import KINDS
from subconscious.model import Memory, Origin, Scope
from subconscious.projects import Identity
from subconscious.store import memories, vectors
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, settle
from subconscious.store.rows import content_hash

PROJECTS = 20
DAY = 86_400.0
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


@dataclass(frozen=True, slots=True)
class Filled:
    """The project folders that were made, by project id."""

    folders: dict[str, Path]


def sentence(rng: random.Random) -> str:
    """One memory's words."""
    parts = ("We decided to", rng.choice(ACTS), rng.choice(THINGS), rng.choice(WAYS), rng.choice(REASONS))
    return " ".join(parts).format(n=rng.randrange(1, 5000)) + "."


def fill(home: Home, count: int, *, synthetic: bool, model: str = "", dim: int = 384) -> Filled:
    """Store ``count`` memories in PROJECTS projects; without ``synthetic`` vectors the daemon embeds them."""
    return asyncio.run(_fill(home, count, synthetic, model, dim))


async def _fill(home: Home, count: int, synthetic: bool, model: str, dim: int) -> Filled:
    home.make()
    database = await open_database(home.database)
    try:
        await migrate(database)
        projects = [await _project(database, home, number) for number in range(PROJECTS)]
        rng = random.Random(7)
        for start in range(0, count, 1000):
            await _batch(database, projects, range(start, min(count, start + 1000)), rng)
            if synthetic:
                await _vectors(database, projects, (start, min(count, start + 1000)), model, dim)
    finally:
        await database.close()
    return Filled({project.id: Path(project.root) for project in projects})


async def _project(database: Database, home: Home, number: int) -> Project:
    folder = home.root.parent / f"project-{number:02d}"
    folder.mkdir(exist_ok=True)
    return await settle(database, Identity(root=str(folder), name=folder.name))


async def _batch(database: Database, projects: list[Project], numbers: range, rng: random.Random) -> None:
    kinds = [kind for kind in KINDS if kind != "meta"]
    async with database.write() as tx:
        for number in numbers:
            content = sentence(rng)
            await memories.insert(tx, _memory(projects[number % PROJECTS], rng.choice(kinds), content, rng))


def _memory(project: Project, kind: str, content: str, rng: random.Random) -> Memory:
    said = time() - rng.uniform(0, 200) * DAY
    return Memory(
        id=0,
        project_id=project.id,
        scope=Scope.PROJECT,
        kind=kind,
        category=KINDS[kind].category,
        summary=content[:100],
        content=content,
        origin=Origin.USER,
        confidence=0.9,
        raw_confidence=0.9,
        extractor="bench",
        created_at=said,
        said_at=said,
        content_hash=content_hash(content),
        branch=rng.choice(("main", "feature/tax", "fix/login")),
    )


async def _vectors(database: Database, projects: list[Project], span: tuple[int, int], model: str, dim: int) -> None:
    rng = numpy.random.default_rng(span[0])
    found = rng.standard_normal((span[1] - span[0], dim)).astype(numpy.float32)
    found /= numpy.linalg.norm(found, axis=1, keepdims=True)
    numbers = range(*span)
    rows = [
        vectors.Row(number + 1, projects[number % PROJECTS].id, vector)
        for number, vector in zip(numbers, found, strict=True)
    ]
    async with database.write() as tx:
        await vectors.save(tx, model, rows)
        await memories.mark_embedding(tx, [row.memory_id for row in rows], "done")
