"""Faults of a team's store while people share: what was shared must be there once, and reach others once.

People share through the product: a local store, the outbox and the exchange. Every fault happens while they send. At
the end the names of what they shared are compared with what the server and another person have.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from subconscious.domain.errors import SubconsciousError
from subconscious.store import shares
from subconscious.store.team import queue
from subconscious.team.background import of
from tests.support import postgres
from tests.support.postgres import NOBODY, Postgres
from tests.support.proxy import Proxy
from tests.team.conftest import People, Person

WRITERS = ("ann", "ben", "cleo", "dora")
READER = "erik"
SHARED = 30
"""Memories that each writer shares during one fault."""

STALL_SECONDS = 5.0
DISK_MB = 160
DURABLE = (
    postgres.CONFIG.replace("= off", "= on").replace("64MB", "32MB") + "min_wal_size = 32MB\nmax_wal_size = 64MB\n"
)

Fault = Callable[["Scene"], Awaitable[None]]


class NotHereError(Exception):
    """The fault can't be tried on this machine."""


@dataclass
class Scene:
    """A server, the name by which people reach it, and the people."""

    server: Postgres
    name: Path
    proxy: Proxy
    writers: Sequence[Person] = ()
    reader: Person | None = None
    failures: int = 0

    @property
    def store(self) -> str:
        """The address that people use, without the name of a person."""
        return f"127.0.0.1:{self.proxy.port}/{self.server.database}"

    def point_to(self, server: Postgres) -> None:
        """Let the name lead to a server."""
        self.name.unlink(missing_ok=True)
        self.name.symlink_to(server.folder / f".s.PGSQL.{server.port or 5432}")


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of the memories that were shared."""

    shared: int
    failures: int
    lost: int
    doubled: int
    unread: int
    read_twice: int

    def __str__(self) -> str:
        return (
            f"{self.shared} shared, {self.failures} sends failed and were repeated; lost {self.lost},"
            f" doubled {self.doubled}; with another person missing {self.unread}, doubled {self.read_twice}"
        )

    @property
    def exact(self) -> bool:
        """Whether each is there once."""
        return not (self.lost or self.doubled or self.unread or self.read_twice)


def children(server: Postgres) -> list[int]:
    """Return the processes of a server, without the first."""
    if server.process is None:
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rsplit(")", 1)[1].split()[1]) == server.process.pid:
                found.append(int(entry.parent.name))
    return found


def kill(server: Postgres) -> None:
    """Kill -9 the server and each of its processes, which have sessions of their own."""
    others = children(server)
    server.kill()
    for pid in others:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in others) and time.monotonic() < deadline:
        time.sleep(0.05)


async def killed(scene: Scene) -> None:
    """Kill the server three times."""
    for _ in range(3):
        await asyncio.sleep(1.0)
        await asyncio.to_thread(kill, scene.server)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(scene.server.start)


async def dropped(scene: Scene) -> None:
    """Break off all connections again and again."""
    for number in range(30):
        await asyncio.sleep(0.05 + 0.01 * number)
        scene.proxy.drop()


async def stalled(scene: Scene) -> None:
    """Let nothing through for five seconds, twice."""
    for _ in range(2):
        await asyncio.sleep(0.5)
        scene.proxy.stall()
        await asyncio.sleep(STALL_SECONDS)
        scene.proxy.resume()


async def disk_full(scene: Scene) -> None:
    """Fill the server's disk, and free it after some seconds."""
    ballast = scene.server.data / "ballast"
    await asyncio.to_thread(_fill, ballast)
    await asyncio.sleep(4.0)
    ballast.unlink()
    await asyncio.sleep(0.5)
    if scene.server.process is not None and scene.server.process.poll() is not None:
        await asyncio.to_thread(scene.server.start)


def _fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass


async def failed_over(scene: Scene) -> None:
    """Kill the server for good, and promote a replica that is a little behind."""
    made = scene.server.replica(scene.server.folder.parent / "replica")
    await asyncio.to_thread(made.start)
    await asyncio.sleep(1.0)
    await asyncio.to_thread(kill, scene.server)
    await asyncio.to_thread(made.promote)
    scene.server = made
    scene.point_to(made)


FAULTS: dict[str, Fault] = {
    "kill -9 of the server, three times": killed,
    "dropped connections, 30 times": dropped,
    "stalls of 5 s, twice": stalled,
    "a full disk": disk_full,
    "failover to a replica": failed_over,
}


def onto_small_disk(server: Postgres) -> None:
    """Move a server's data to a file system of its own. Raises NotHereError without the right to mount one."""
    if os.getuid() != 0 or shutil.which("mount") is None:
        raise NotHereError("only root can mount a small disk")
    server.stop()
    aside = server.folder / "aside"
    server.data.rename(aside)
    server.data.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0700,uid={NOBODY},gid={NOBODY}", "tmpfs"]
    if subprocess.run([*mount, str(server.data)], check=False, capture_output=True).returncode:
        server.data.rmdir()
        aside.rename(server.data)
        server.start()
        raise NotHereError("this machine mounts no small disk")
    subprocess.run(["cp", "-a", f"{aside}/.", str(server.data)], check=True)
    shutil.rmtree(aside)
    server.start()


async def _write(scene: Scene, person: Person, fault: str) -> None:
    """Share memories one by one and send each; failures of the server are repeated later."""
    for number in range(SHARED):
        await person.share(f"{person.name.title()}'s service {number} listens on port {4000 + number} during {fault}.")
        try:
            await person.sync()
        except SubconsciousError:
            scene.failures += 1
        await asyncio.sleep(0.02)


async def _settle(person: Person) -> None:
    """Send what is left, as the daemon does after it has started; then all is compared with the server."""
    for _ in range(60):
        with suppress(SubconsciousError):
            await person.ask("team_sync")
            if not (await queue.counts(person.app.database, person.project.id)).waiting:
                return
        await asyncio.sleep(0.5)
    raise SystemExit(f"{person.name} can't send what waits")


async def _count(scene: Scene) -> Counted:
    chosen = [one for who in scene.writers for one in await shares.of_project(who.app.database, who.project.id)]
    live = "SELECT uid, version #>> '{record,memory,content}' FROM subconscious.versions WHERE live"
    rows = await asyncio.to_thread(scene.server.sql, live)
    names, texts = Counter(uid for uid, _ in rows), Counter(text for _, text in rows)
    assert scene.reader is not None
    received = await scene.reader.app.database.rows(
        "SELECT substr(turn_id, 8, 32) FROM implicit_captures WHERE extractor = 'shared-1'"
    )
    read = Counter(row[0] for row in received)
    wanted = {one.uid for one in chosen}
    return Counted(
        shared=len(chosen),
        failures=scene.failures,
        lost=len(wanted - set(names)),
        doubled=sum(count > 1 for count in names.values()) + sum(count > 1 for count in texts.values()),
        unread=len(wanted - set(read)),
        read_twice=sum(count > 1 for count in read.values()),
    )


@asynccontextmanager
async def scene(place: Path, server: Postgres) -> AsyncIterator[Scene]:
    """Give people who are joined to one project of a server, which they reach through a proxy."""
    name = place / "name"
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(str(name)))
        made = Scene(server, name, proxy)
        made.point_to(server)
        people = People(stack, place)
        everybody = [await people.person(who, f"postgresql://{who}@{made.store}") for who in (*WRITERS, READER)]
        await everybody[0].ask("team_join", name="shop", create=True)
        for one in everybody[1:]:
            await everybody[0].ask("team_member", person=one.name, role="author")
            await one.ask("team_join", name="shop")
        made.writers, made.reader = everybody[:-1], everybody[-1]
        yield made
        for one in everybody:
            await of(one.app).close()


async def tried(fault: str, server: Postgres, place: Path) -> Counted:
    """Return what became of the memories that people shared during a fault."""
    async with scene(place, server) as made:
        writing = asyncio.gather(*(_write(made, person, fault) for person in made.writers))
        try:
            await FAULTS[fault](made)
        finally:
            await writing
        assert made.reader is not None
        for person in (*made.writers, made.reader):
            await _settle(person)
        counted = await _count(made)
        if made.server is not server:
            await asyncio.to_thread(made.server.stop)
        return counted


def try_fault(fault: str, place: Path) -> Counted:
    """Try one fault on a server of its own that keeps what it has acknowledged. Raises NotHereError."""
    with postgres.server(config=DURABLE) as server:
        server.add_people([*WRITERS, READER])
        place.mkdir(parents=True)
        small = fault == "a full disk"
        if small:
            onto_small_disk(server)
        try:
            return asyncio.run(tried(fault, server, place))
        finally:
            if small:
                server.stop()
                subprocess.run(["umount", str(server.data)], check=False)
