"""Many shared memories for a team's store: texts, vectors that lie in topics, and a COPY in PostgreSQL's binary format.

Embedding a million texts takes hours. Vectors are made instead: those of a topic lie near each other, and the spread
falls from dimension to dimension, as that of embeddings does. They have nothing to do with the texts.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy
from numpy.typing import NDArray

from bench.fill import DAY, REASONS, SORTS, Words
from bench.memory import memory_of
from subconscious.files.record import Fields, Owner, Record, as_json
from subconscious.sharing.merge import digest_of
from tests.support.postgres import ADMIN, Postgres

DIMENSIONS = 384
MODEL = "bench"
PORTION = 10_000
OF_TOPIC = 100
"""Memories of one topic."""

PEOPLE = tuple(f"person{number:02d}" for number in range(50))
COLUMNS = "project_id, uid, digest, change, author, shared_at, version, embedding, embedder"
COPY = f"COPY subconscious.versions ({COLUMNS}) FROM STDIN (FORMAT binary)"
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC).timestamp()

Vectors = NDArray[numpy.float32]


@dataclass(frozen=True, slots=True)
class Made:
    """One memory: where it belongs, its name, and its version."""

    project: int
    uid: str
    digest: str
    author: str
    shared_at: float
    version: str


class Topics:
    """Vectors of memories and of queries about the same topics."""

    def __init__(self, count: int, seed: int = 3) -> None:
        self._rng = numpy.random.default_rng(seed)
        self._spread = (1 / numpy.sqrt(1 + numpy.arange(DIMENSIONS))).astype("f4")
        self._centres = self._drawn(max(1, count // OF_TOPIC))

    def _drawn(self, count: int) -> Vectors:
        found: Vectors = self._rng.standard_normal((count, DIMENSIONS), dtype="f4") * self._spread
        return found

    def make(self, count: int) -> Vectors:
        """Return unit vectors, each of a topic of chance."""
        chosen = self._rng.integers(len(self._centres), size=count)
        found: Vectors = self._centres[chosen] + numpy.float32(0.6) * self._drawn(count)
        found /= numpy.linalg.norm(found, axis=1, keepdims=True)
        return found


def sizes(count: int, projects: int) -> list[int]:
    """Return how many memories each project has: as 1, 1/2, 1/3, ... of the largest."""
    shares = [1 / (1 + number) for number in range(projects)]
    found = [int(count * share / sum(shares)) for share in shares]
    found[0] += count - sum(found)
    return found


def memories(project: int, first: int, count: int, words: Words, rng: random.Random) -> Iterator[Made]:
    """Make memories of a project as the product sends them."""
    template = as_json(_record())
    for number in range(first, first + count):
        said = time.time() - rng.uniform(0, 200) * DAY
        uid = f"{number:032x}"
        own = {
            "content": words.make(number, rng),
            "rationale": rng.choice(REASONS).format(n=rng.randrange(5000)),
            "kind": rng.choice(SORTS),
            "said_at": said,
            "created_at": said,
        }
        record = template | {"uid": uid, "id": number, "memory": template["memory"] | own}
        version = {"record": record, "at": said}
        # As ``digest_of`` writes it: once in place of twice.
        text = json.dumps(version, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        assert number > first or digest == digest_of(version)
        yield Made(project, uid, digest, rng.choice(PEOPLE), said, text)


def _record() -> Record:
    memory = asdict(memory_of("p", "content", time.time(), "decision", files=("src/module.py",), tags=("team",)))
    values = {name: memory[name] for name in Fields.model_fields}
    return Record(uid="0" * 32, id=1, memory=Fields(**values), project=Owner(id="p", name="shop", root="/srv/shop"))


def _field(value: bytes) -> bytes:
    return struct.pack("!i", len(value)) + value


def packed(made: Made, change: int, vector: bytes) -> bytes:
    """Return one row as COPY reads it."""
    values = (
        struct.pack("!q", made.project),
        made.uid.encode(),
        made.digest.encode(),
        struct.pack("!q", change),
        made.author.encode(),
        struct.pack("!q", int((made.shared_at - EPOCH) * 1e6)),
        b"\x01" + made.version.encode(),
        struct.pack("!hh", DIMENSIONS, 0) + vector,
        MODEL.encode(),
    )
    return struct.pack("!h", len(values)) + b"".join(map(_field, values))


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded, and how long that took."""

    projects: dict[int, int]
    topics: Topics
    words: Words
    copied: float
    indexed: float


def begin(server: Postgres, projects: int) -> list[int]:
    """Create people, and projects in which all of them are authors; the first person maintains each."""
    server.add_people([*PEOPLE, "mallory"])
    made = []
    for number in range(projects):
        ((project,),) = server.sql(f"SELECT subconscious.create_project('project-{number}')", person=PEOPLE[0])
        made.append(int(project))
    server.sql(
        "INSERT INTO subconscious.members (project_id, person, role, added_by)"
        " SELECT p.id, r.rolname, 'author', 'bench' FROM subconscious.projects AS p CROSS JOIN pg_roles AS r"
        " WHERE r.rolname LIKE 'person%' ON CONFLICT DO NOTHING"
    )
    return made


def load(server: Postgres, count: int, projects: int, words: Words, *, index_memory: str = "1GB") -> Loaded:
    """Load memories by COPY, without triggers, and build the indexes afterwards."""
    import psycopg

    numbers = dict(zip(begin(server, projects), sizes(count, projects), strict=True))
    topics = Topics(count)
    with psycopg.connect(server.url(ADMIN)) as connection:
        connection.execute(f"SET maintenance_work_mem = '{index_memory}'".encode())
        connection.execute("ALTER TABLE subconscious.versions DISABLE TRIGGER USER")
        indexes = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'subconscious'"
            " AND indexname IN ('versions_search', 'versions_embedding')"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX subconscious.{name}".encode())
        # A table that the same transaction has emptied is not logged where no replica needs that.
        connection.execute("TRUNCATE subconscious.versions, subconscious.memories")
        begun = time.perf_counter()
        with connection.cursor().copy(COPY.encode()) as copy:
            copy.write(SIGNATURE)
            for portion in _portions(numbers, topics, words):
                copy.write(portion)
            copy.write(b"\xff\xff")
        _complete(connection, count)
        copied = time.perf_counter() - begun
        for _, definition in indexes:
            connection.execute(str(definition).replace(" ON ONLY ", " ON ").encode())  # on all partitions
        connection.execute("ALTER TABLE subconscious.versions ENABLE TRIGGER USER")
    indexed = time.perf_counter() - begun - copied
    server.sql("VACUUM ANALYZE")
    return Loaded(numbers, topics, words, copied, indexed)


def _portions(numbers: dict[int, int], topics: Topics, words: Words) -> Iterator[bytes]:
    rng, done = random.Random(7), 0
    for project, size in numbers.items():
        for start in range(0, size, PORTION):
            many = min(PORTION, size - start)
            vectors = topics.make(many).astype(">f2")
            rows = memories(project, done, many, words, rng)
            yield b"".join(packed(row, done + n + 1, vectors[n].tobytes()) for n, row in enumerate(rows))
            done += many


def _complete(connection: object, count: int) -> None:
    import psycopg

    assert isinstance(connection, psycopg.Connection)
    connection.execute(
        "INSERT INTO subconscious.memories (project_id, uid, author, shared_at)"
        " SELECT project_id, uid, author, shared_at FROM subconscious.versions"
    )
    connection.execute("SELECT setval('subconscious.changes', %s)", (count,))


def as_text(vector: Sequence[float] | Vectors) -> str:
    """Return a vector as pgvector reads one."""
    return "[" + ",".join(f"{float(value):.5g}" for value in vector) + "]"
