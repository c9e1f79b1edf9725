"""Measure a team's store on PostgreSQL under many clients, with the local store beside it, and try faults and attacks.

    python -m bench.team [--memories 100000] [--clients 50] [--projects 50] [--texts DIR ...] [--only PART ...]

Starts a server in a temporary folder, loads shared memories (sentences of the transcripts below --texts, or generated
ones; vectors that lie in topics, see bench/team_rows.py) in projects of unequal sizes, and prints: bytes, recall
against an exact search, searches as the product makes them by one client and by all at once, writes, searches of a
local daemon with as many memories, then what faults and a hostile client achieved. Parts: store, local, faults,
hostile. Exits with 1 if a memory was lost or doubled, or an attack succeeded.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench import recall, team_faults, team_hostile
from bench.fill import Words, fill
from bench.team_rows import MODEL, PEOPLE, Loaded, Topics, as_text, load, memories
from subconscious import wire
from subconscious.domain.errors import TeamError
from subconscious.settings.home import Home
from subconscious.store.team import queries
from subconscious.store.team.address import STATEMENT_MS, parse
from subconscious.store.team.connection import Server
from subconscious.store.team.queries import NewVersion
from subconscious.text.terms import terms
from tests.support import postgres
from tests.support.postgres import ADMIN, Postgres

CONFIG = """
shared_buffers = 1GB
effective_cache_size = 4GB
max_connections = 200
max_wal_size = 8GB
wal_level = replica
log_min_messages = warning
"""
"""A server that keeps what it has acknowledged (fsync and synchronous_commit are on)."""

PARTS = ("store", "local", "faults", "hostile")
WAYS = ("words", "meaning", "both")
ASKED = 20
"""Results that the product asks for when 10 are shown."""

WAITED = 0.4
"""Seconds that a search of the product waits for the server when the local store has answered."""

SOUGHT = 300
"""Memories that are sought by their words."""

CHECKED = 100
"""Queries for recall."""

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class Query:
    """A query of one way: in which project, which words, which vector."""

    project: int
    words: str
    vector: list[float] | None


class Queries:
    """Queries as the product sends them, about projects as often as they have memories."""

    def __init__(self, loaded: Loaded, seed: int = 11) -> None:
        self._loaded = loaded
        self._rng = random.Random(seed)
        self._numbers = list(loaded.projects)
        self._weights = list(loaded.projects.values())

    def make(self, way: str) -> Query:
        """Return a query by words, by meaning, or by both."""
        (project,) = self._rng.choices(self._numbers, self._weights)
        said = " or ".join(terms(self._loaded.words.ask(self._rng))[:32]) if way != "meaning" else ""
        vector = [float(value) for value in self._loaded.topics.make(1)[0]] if way != "words" else None
        return Query(project, said, vector)


def processor_seconds(server: Postgres) -> float:
    """Return the processor time of a server with all its processes, also of those that ended."""
    assert server.process is not None
    first, total = server.process.pid, 0
    for pid in (*team_faults.children(server), first):  # the first last: it adds up those that ended meanwhile
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11 : 15 if pid == first else 13]))
    return total / TICKS


def milliseconds(values: Sequence[float]) -> str:
    """Return the median and the 95th percentile."""
    return f"{recall.p50(list(values)) * 1000:.1f} / {recall.p95(list(values)) * 1000:.1f} ms"


async def _ask(server: Server, made: Sequence[Query], pause: float = 0.0) -> list[float]:
    """Return how long each search took; one without an answer counts as the time that a statement may take."""
    taken = []
    for one in made:
        await asyncio.sleep(random.uniform(0, 2 * pause))
        begun = time.perf_counter()
        model = MODEL if one.vector else ""
        try:
            await server.run(queries.search, one.project, one.words, one.vector, model, ASKED)
        except TeamError:
            taken.append(STATEMENT_MS / 1000)
        else:
            taken.append(time.perf_counter() - begun)
    return taken


async def _searches(
    server: Postgres, source: Queries, way: str, clients: int, each: int, pause: float
) -> tuple[list[float], float, float]:
    """Return how long the searches of all clients took, the seconds that passed, and those of the server's processors.

    Before each search a client pauses for ``pause`` seconds on average. Each has connected and searched once before.
    """
    people = [Server(parse(server.url(PEOPLE[number % len(PEOPLE)])), "") for number in range(clients)]
    try:
        await asyncio.gather(*(_ask(one, [source.make(way)]) for one in people))  # connects
        asked = [[source.make(way) for _ in range(each)] for _ in people]
        begun, worked = time.perf_counter(), processor_seconds(server)
        taken = await asyncio.gather(*(_ask(one, some, pause) for one, some in zip(people, asked, strict=True)))
        passed, worked = time.perf_counter() - begun, processor_seconds(server) - worked
        return [one for some in taken for one in some], passed, worked
    finally:
        for one in people:
            await one.close()


def measure_searches(server: Postgres, loaded: Loaded, clients: int, each: int, seconds: float) -> None:
    """Print how long searches take: of one client, of all without a pause, and of all who pause for some seconds."""
    source = Queries(loaded)
    for way in WAYS:
        for number, pause in ((1, 0.0), (clients, 0.0), (clients, seconds)):
            if pause and way != "both":
                continue
            many = each * 5 if number == 1 else each
            taken, passed, worked = asyncio.run(_searches(server, source, way, number, many, pause))
            late = sum(one > WAITED for one in taken) / len(taken)
            lost = sum(one >= STATEMENT_MS / 1000 for one in taken) / len(taken)
            print(
                f"search by {way}, {number} at once{f', every {pause:g} s' if pause else ''}: {milliseconds(taken)},"
                f" {len(taken) / passed:.0f} a second, {worked / len(taken) * 1000:.1f} ms of the server's processors"
                f" each; {late:.1%} took longer than {WAITED:g} s, {lost:.1%} got no answer",
                flush=True,
            )


NEAREST = """\
SELECT v.uid FROM subconscious.versions AS v WHERE v.project_id = %s AND v.live AND v.embedder = 'bench'
ORDER BY v.embedding <=> %s::public.halfvec LIMIT 10"""


def measure_recall(server: Postgres, loaded: Loaded) -> None:
    """Print how many of the ten nearest a search returns, and the index alone where it is forced."""
    import psycopg

    source = Queries(loaded, 5)
    with psycopg.connect(server.url(ADMIN), autocommit=True) as connection:
        connection.execute("SET hnsw.iterative_scan = 'relaxed_order'; SET hnsw.ef_search = 100")
        shares: dict[str, list[float]] = {"as the product searches": [], "by HNSW alone": []}
        for _ in range(CHECKED):
            query = source.make("meaning")
            assert query.vector is not None
            values = (query.project, as_text(query.vector))
            connection.execute("SET enable_indexscan = off; SET enable_sort = on")
            exact = {uid for (uid,) in connection.execute(NEAREST.encode(), values)}
            connection.execute("SET enable_indexscan = on; SET enable_sort = off")
            index = {uid for (uid,) in connection.execute(NEAREST.encode(), values)}
            found = server.sql(
                f"SELECT uid FROM subconscious.search({query.project}, '', '{values[1]}', '{MODEL}', 50)"
                " ORDER BY cosine DESC LIMIT 10",
                person=PEOPLE[0],
            )
            shares["as the product searches"].append(len(exact & {uid for (uid,) in found}) / len(exact))
            shares["by HNSW alone"].append(len(exact & index) / len(exact))
    for name, some in shares.items():
        print(f"recall@10 {name}: {sum(some) / len(some):.3f} of {len(some)} queries", flush=True)


KNOWN = ((4, 2), (2, 1))
"""How many words of a memory that is looked for a query has, and how many of another one."""


def measure_words(server: Postgres, loaded: Loaded) -> None:
    """Print how often a memory is among the first ten if some of its words and some of another one are asked for."""
    project, rng = next(iter(loaded.projects)), random.Random(3)
    texts = server.sql(
        "SELECT uid, version #>> '{record,memory,content}' FROM subconscious.versions"
        f" WHERE project_id = {project} ORDER BY md5(uid) LIMIT {2 * SOUGHT}"
    )
    for own, others in KNOWN:
        found = []
        for (uid, text), (_, other) in zip(texts[:SOUGHT], texts[SOUGHT:], strict=True):
            first, second = list(dict.fromkeys(terms(text))), list(dict.fromkeys(terms(other)))
            if len(first) < own or len(second) < others:
                continue
            said = " or ".join((*rng.sample(first, own), *rng.sample(second, others))).replace("'", "''")
            hits = server.sql(
                f"SELECT uid FROM subconscious.search({project}, '{said}', NULL, '', 10)", person=PEOPLE[0]
            )
            found.append((uid,) in hits)
        share = sum(found) / len(found)
        print(f"found by {own} of its words and {others} of another: {share:.1%} of {len(found)}", flush=True)


SIZES = """\
SELECT CASE WHEN c.relkind IN ('r', 't') THEN 'table' WHEN a.amname = 'hnsw' THEN 'vectors' WHEN a.amname = 'gin'
    THEN 'words' ELSE 'other indexes' END, sum(pg_relation_size(c.oid))::bigint
FROM pg_class AS c LEFT JOIN pg_am AS a ON a.oid = c.relam
WHERE c.relkind IN ('r', 't', 'i') AND (c.relnamespace = 'subconscious'::regnamespace OR c.oid IN (
    SELECT t.reltoastrelid FROM pg_class AS t WHERE t.relnamespace = 'subconscious'::regnamespace))
GROUP BY 1 ORDER BY 1"""


def measure_bytes(server: Postgres, count: int) -> None:
    """Print the bytes on disk by what they are."""
    found = dict(server.sql(SIZES))
    parts = ", ".join(f"{name} {size / 2**20:.0f} MB ({size / count:.0f} a memory)" for name, size in found.items())
    print(f"on disk: {sum(found.values()) / 2**20:.0f} MB: {parts}", flush=True)


def measure_writes(server: Postgres, loaded: Loaded, clients: int, each: int) -> None:
    """Print how many versions all clients store in a second in one project, each its own in one request."""
    project = next(iter(loaded.projects))
    rows = list(memories(project, 1 << 40, clients * each, loaded.words, random.Random(1)))
    new = [_new(one.uid, one.digest, one.version, loaded.topics) for one in rows]
    before, begun = processor_seconds(server), time.perf_counter()
    portions = [new[start : start + each] for start in range(0, len(new), each)]
    repeated = sum(asyncio.run(_written(server, project, portions)))
    passed = time.perf_counter() - begun
    worked = (processor_seconds(server) - before) / len(new) * 1000
    print(
        f"writes of {clients} at once: {len(new) / passed:.0f} a second, {worked:.1f} ms of the server's processors"
        f" each; {repeated} requests repeated, since others were writing",
        flush=True,
    )


async def _written(server: Postgres, project: int, portions: Sequence[Sequence[NewVersion]]) -> list[int]:
    return await asyncio.gather(
        *(
            _write(Server(parse(server.url(PEOPLE[number % len(PEOPLE)])), ""), project, portion)
            for number, portion in enumerate(portions)
        )
    )


async def _write(person: Server, project: int, new: Sequence[NewVersion]) -> int:
    """Store versions; return how often that had to be repeated, because the server let nobody wait that long."""
    repeated = 0
    while True:
        try:
            refused = await person.run(queries.publish, project, new, {})
        except TeamError:
            repeated += 1
            person.breaker.forgive()
        else:
            await person.close()
            assert not refused, refused
            return repeated


def _new(uid: str, digest: str, version: str, topics: Topics) -> NewVersion:
    import json

    return NewVersion(uid, digest, json.loads(version), [float(value) for value in topics.make(1)[0]], MODEL)


def measure_store(
    count: int, projects: int, clients: int, each: int, words: Words, pause: float, *, hostile: bool
) -> bool:
    """Measure a loaded server; return whether it refused every attack."""
    with postgres.server(config=CONFIG) as server:
        before = processor_seconds(server)
        loaded = load(server, count, projects, words)
        print(
            f"{count} memories in {projects} projects, the largest has {max(loaded.projects.values())}: copied in"
            f" {loaded.copied:.0f} s, indexed in {loaded.indexed:.0f} s,"
            f" {processor_seconds(server) - before:.0f} s of the server's processors",
            flush=True,
        )
        measure_bytes(server, count)
        measure_recall(server, loaded)
        measure_words(server, loaded)
        measure_searches(server, loaded, clients, each, pause)
        measure_writes(server, loaded, clients, each)
        return not hostile or try_attacks(server, next(iter(loaded.projects)))


def try_attacks(server: Postgres, other: int) -> bool:
    """Print what a hostile client was refused; return whether that was everything."""
    refused, unchanged = team_hostile.attack(server, other)
    for sort, count in refused.items():
        print(f"hostile client, {sort}: refused {count}", flush=True)
    print(f"rows of others {'unchanged' if unchanged else 'CHANGED'}", flush=True)
    return unchanged and all(one.split()[0] == one.split()[-1] for one in refused.values())


def settle(pid: int) -> None:
    """Wait until a daemon has done what it does when projects are new to it, or for a minute: links take hours."""
    for _ in range(30):
        before = recall.processor_ms(pid)
        time.sleep(2.0)
        if recall.processor_ms(pid) - before < 100:
            return


def measure_local(count: int, projects: int, rounds: int, words: Words) -> None:
    """Print how long a daemon's searches of a local store with as many memories take."""
    folder = Path(tempfile.mkdtemp(prefix="team-"))
    home = Home(folder / "home")
    try:
        begun = time.perf_counter()
        filled = fill(home, count, synthetic=True, model=recall.MODEL.name, projects=projects, words=words)
        print(f"local store: {count} memories written in {time.perf_counter() - begun:.0f} s", flush=True)
        (home.root / "config.toml").write_text("rendered = false\n")  # less work beside the searches
        wire.ensure_daemon(home, 60.0)  # the machine may be busy
        wire.call(home, "drain", {"timeout": 600}, 610)
        pid = recall.loaded(home)
        asker, folders = recall.Asker(home, filled, random.Random(11)), list(filled.folders.values())
        search: Callable[[Path], None] = asker.search
        for place in folders:
            search(place)
        settle(pid)
        taken, before = [], recall.processor_ms(pid)
        for number in range(rounds):
            begun = time.perf_counter()
            search(folders[number % len(folders)])
            taken.append(time.perf_counter() - begun)
        worked = (recall.processor_ms(pid) - before) / rounds
        memory = recall.resident_mb(pid)
        wire.call(home, "stop")
        wire.await_absence(home, 60)
        os.waitpid(pid, 0)
        disk = sum(file.stat().st_size for file in home.root.glob("*.db*"))
        print(
            f"local store, one search at a time, query embedded: {milliseconds(taken)}, {worked:.1f} ms of the"
            f" processor each; {disk / 2**20:.0f} MB on disk ({disk / count:.0f} a memory), {memory:.0f} MB in memory",
            flush=True,
        )
    finally:
        shutil.rmtree(folder)


def try_faults(named: Sequence[str]) -> bool:
    """Print what became of memories that were shared during faults; return whether each is there once."""
    exact, folder = True, Path(tempfile.mkdtemp(prefix="team-"))
    try:
        for number, fault in enumerate(one for one in team_faults.FAULTS if any(name in one for name in named)):
            try:
                counted = team_faults.try_fault(fault, folder / str(number))
            except team_faults.NotHereError as error:
                print(f"{fault}: not tried, {error}", flush=True)
                continue
            exact = exact and counted.exact
            print(f"{fault}: {counted}", flush=True)
    finally:
        shutil.rmtree(folder)
    return exact


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--local", type=int, default=0, help="memories of the local store; by default as many")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--projects", type=int, default=50)
    parser.add_argument("--each", type=int, default=20, help="searches and writes of each client")
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two searches of a busy client")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="folders of transcripts and conversations")
    parser.add_argument("--faults", nargs="*", default=[""], help="words of the faults to try; all without any")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    chosen = parser.parse_args()
    if why := postgres.unavailable():
        sys.exit(why)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # during faults, it warns of each attempt
    words = Words.of(chosen.texts, recall.REAL_UP_TO)
    good = True
    if "store" in chosen.only:
        sizes = (chosen.memories, chosen.projects, chosen.clients, chosen.each)
        good = measure_store(*sizes, words, chosen.pause, hostile="hostile" in chosen.only)
    if "local" in chosen.only:
        measure_local(chosen.local or chosen.memories, chosen.projects, 10 * chosen.each, words)
    if "faults" in chosen.only:
        good = try_faults(chosen.faults) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
