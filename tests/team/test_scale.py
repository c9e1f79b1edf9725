"""Many shared memories: the index answers a search, and finds what an exact search finds."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from bench.fill import Words
from bench.team_rows import MODEL, PEOPLE, Loaded, as_text, load
from tests.support import postgres
from tests.support.postgres import ADMIN, CONFIG, Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

COUNT, PROJECTS = 5000, 4
QUERIES = 40
NEAREST = """\
SELECT v.uid FROM subconscious.versions AS v WHERE v.project_id = %s AND v.live AND v.embedder = 'bench'
ORDER BY v.embedding <=> %s::public.halfvec LIMIT 10"""

Store = tuple[Postgres, Loaded]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """A server with many memories in projects of unequal sizes, and its indexes."""
    if why := postgres.unavailable():
        pytest.skip(why)
    with postgres.server(config=CONFIG.replace("64MB", "256MB")) as server:
        yield server, load(server, COUNT, PROJECTS, Words(), index_memory="256MB")


def explained(connection: psycopg.Connection, query: str, *values: object) -> str:
    """Return the plan of a query, with the settings of the search function."""
    connection.execute("SET hnsw.iterative_scan = 'relaxed_order'; SET hnsw.ef_search = 100")
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN {query}".encode(), values))


def test_the_server_has_all_memories(store: Store) -> None:
    server, loaded = store
    assert server.sql("SELECT count(*) FROM subconscious.versions WHERE live") == [(COUNT,)]
    assert sum(loaded.projects.values()) == COUNT


def test_the_indexes_answer_a_search_in_a_large_project(store: Store) -> None:
    server, loaded = store
    project = next(iter(loaded.projects))
    with psycopg.connect(server.url(ADMIN), autocommit=True) as connection:
        near = explained(connection, NEAREST, project, as_text(loaded.topics.make(1)[0]))
        assert "embedding_idx" in near
        assert "Order By: (embedding <=>" in near
        words = "SELECT v.uid FROM subconscious.versions AS v WHERE v.live AND v.search @@ 'gateway & webhook & 17'"
        assert "search_idx" in explained(connection, words)


def test_a_search_by_meaning_finds_what_an_exact_one_finds(store: Store) -> None:
    server, loaded = store
    shares = []
    with (
        psycopg.connect(server.url(ADMIN), autocommit=True) as exactly,
        psycopg.connect(server.url(PEOPLE[3]), autocommit=True) as person,
    ):
        exactly.execute("SET enable_indexscan = off")
        for number in range(QUERIES):
            project = list(loaded.projects)[number % PROJECTS]
            vector = as_text(loaded.topics.make(1)[0])
            exact = {uid for (uid,) in exactly.execute(NEAREST.encode(), (project, vector))}
            found = person.execute(
                "SELECT uid FROM subconscious.search(%s, '', %s::public.halfvec, %s, 50) ORDER BY cosine DESC LIMIT 10",
                (project, vector, MODEL),
            )
            shares.append(len(exact & {uid for (uid,) in found}) / len(exact))
    assert sum(shares) / len(shares) >= 0.95


def test_a_search_stays_in_its_project_among_many(store: Store) -> None:
    server, loaded = store
    first, second = list(loaded.projects)[:2]
    server.sql(f"SELECT subconscious.set_member({second}, '{PEOPLE[7]}', '')", person=PEOPLE[0])
    vector = as_text(loaded.topics.make(1)[0])
    asked = "SELECT uid FROM subconscious.search(%s, 'gateway or queue', %s::public.halfvec, %s, 50)"
    with psycopg.connect(server.url(PEOPLE[7]), autocommit=True) as person:
        found = {uid for (uid,) in person.execute(asked, (first, vector, MODEL))}
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            person.execute(asked, (second, vector, MODEL))
    rows = server.sql(f"SELECT uid FROM subconscious.versions WHERE project_id <> {first}")
    assert found
    assert not found & {uid for (uid,) in rows}
