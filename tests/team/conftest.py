"""A real server for all tests of a process, an empty database for each, and people with a store of their own."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.embeddings.background import Embedding
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.sharing import publishing
from subconscious.store import captures, memories
from subconscious.store.connect import open_database
from subconscious.store.projects import Project, find_or_create
from subconscious.store.team import queue
from subconscious.system.projects import Identity
from subconscious.team.api import Team, TeamArgs
from subconscious.team.background import of
from subconscious.team.exchange import Outcome
from subconscious.wire.memories import TeamHit
from tests.support import postgres
from tests.support.databases import copy_migrated
from tests.support.postgres import Postgres
from tests.support.values import make_memory

PEOPLE = ("ann", "ben", "cleo", "mallory")
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Postgres]:
    """A server with roles; tests use databases of their own."""
    if why := postgres.unavailable():
        pytest.skip(why)
    with postgres.server() as made:
        made.add_people(PEOPLE)
        yield made


@pytest.fixture
def server(cluster: Postgres) -> Iterator[Postgres]:
    """The server with an empty, prepared database of the test's own."""
    cluster.database = f"team_{next(NUMBERS)}"
    cluster.sql(f"CREATE DATABASE {cluster.database} TEMPLATE {postgres.DATABASE}", database="postgres")
    yield cluster
    cluster.sql(f"DROP DATABASE {cluster.database} WITH (FORCE)", database="postgres")


@dataclass
class Person:
    """Somebody with a local store, and a connection to the team's."""

    name: str
    app: App
    project: Project

    async def ask(self, cmd: str, **values: Any) -> Any:
        """Make a request of the room."""
        args = TeamArgs(cwd=self.project.root, **values)
        return await getattr(Team(self.app), f"cmd_{cmd}")(args)

    async def remember(self, content: str, **values: Any) -> Memory:
        """Store a memory."""
        made = make_memory(content, **{"project_id": self.project.id, "turn_id": f"turn {content}", **values})
        async with self.app.database.write() as tx:
            return await memories.insert(tx, made)

    async def share(self, content: str, **values: Any) -> Memory:
        """Store a memory and choose it to be shared."""
        memory = await self.remember(content, **values)
        await publishing.choose(self.app, self.project, [memory.id])
        return memory

    async def sync(self) -> Outcome:
        """Exchange as the daemon does."""
        joined = await queue.joined_as(self.app.database, self.project.id)
        assert joined is not None
        if (server := of(self.app).store.in_use) is not None:
            server.breaker.forgive()
        return await of(self.app).exchange(joined)

    async def search(self, text: str) -> list[TeamHit]:
        """Search the team's store as a search of the daemon does."""
        from subconscious.team.searching import search

        return await search(self.app, of(self.app), self.project.id, text, 10)

    async def uses_all(self) -> None:
        """Record that an answer used each memory."""
        async with self.app.database.write() as tx:
            await tx.execute(
                "INSERT INTO surfaces (session_id, project_id, event, at, memory_id, content_hash, position, reason,"
                " relevance, decay)"
                " SELECT 's', project_id, 'prompt', 1.0, id, content_hash, 1, '', 1.0, 1.0 FROM memories"
            )
            await tx.execute(
                "INSERT OR IGNORE INTO surface_outcomes (surface_id, memory_id, used, reason, at)"
                " SELECT id, memory_id, 1, '', 1.0 FROM surfaces"
            )

    async def statuses(self) -> dict[str, str]:
        """The status of each statement that came from others."""
        return {one["content"]: one["status"] for one in await captures.listing(self.app.database)}


class People:
    """Makes people who are joined to the project ``shop`` of the team's store."""

    def __init__(self, stack: AsyncExitStack, place: Path) -> None:
        self._stack = stack
        self._place = place

    async def person(self, name: str, store: str, role: str = "author", project: str = "shop") -> Person:
        """Return a person with an empty store, who is joined; the first one of a project begins it."""
        root = self._place / f"{name}-{project}"
        home = Home(root / "home")
        home.make()
        copy_migrated(home.database)
        database = await open_database(home.database)
        self._stack.push_async_callback(database.close)
        app = App(home, Settings(embedder="none", store=store), database, Embedding("none", database))
        self._stack.push_async_callback(app.embedding.close)
        self._stack.push_async_callback(of(app).close)
        found = await find_or_create(database, Identity(root=str(root), name=project), alias=str(root))
        return Person(name, app, found)


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[People]:
    """Makes people."""
    async with AsyncExitStack() as stack:
        yield People(stack, tmp_path)


@pytest.fixture
async def team(people: People, server: Postgres) -> tuple[Person, Person, Person]:
    """Ann, who maintains the project, Ben, an author, and Cleo, a reader."""
    ann, ben, cleo = [await people.person(name, server.url(name)) for name in ("ann", "ben", "cleo")]
    await ann.ask("team_join", name="shop", create=True)
    for person, role in ((ben, "author"), (cleo, "reader")):
        await ann.ask("team_member", person=person.name, role=role)
        await person.ask("team_join", name="shop")
    return ann, ben, cleo
