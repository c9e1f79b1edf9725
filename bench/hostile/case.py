"""A hostile case: a name, its topic, and a function that tries it against a real daemon or a real hook."""

from __future__ import annotations

import pkgutil
import shutil
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import bench.hostile
from bench.crash import kill_processes_of
from bench.sessions import Speaker
from bench.tuned_daemon import tuned_command, write_config
from subconscious import wire
from subconscious.settings.home import Home


class NotHeld(Exception):  # noqa: N818 - what happened, not a programming error
    """A promise was broken; the message says what happened."""


@dataclass(frozen=True, slots=True)
class Case:
    """One attack. ``point`` is its topic; ``quick`` cases also run in CI."""

    point: str
    name: str
    run: Callable[[Stage], None]
    quick: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """A temporary folder with a state folder in it; every process that a case starts for it is killed afterwards."""

    folder: Path
    home: Home

    def speaker(self, name: str = "project") -> Speaker:
        """A session in a project folder of this stage."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        speaker = Speaker(self.home.root, folder)
        if self.home.socket.exists():
            speaker.introduce()
        return speaker

    def configure(self, **values: object) -> None:
        """Write config.toml; no embedder unless the case asks for one."""
        write_config(self.home, {"embedder": '"none"', "link_limit": 0, **values})

    def start(self) -> None:
        """Start the daemon of this stage and wait until it answers."""
        wire.ensure_daemon(self.home)

    def drain(self, seconds: float = 30) -> None:
        """Wait until the daemon has worked off everything that was handed over."""
        answer = wire.call(self.home, "drain", {"timeout": seconds}, seconds + 5)
        hold(answer.get("drained") is True, f"not everything was worked off in {seconds:.0f} s: {answer}")

    def memories(self) -> list[str]:
        """The stored memories, read from the database file."""
        with closing(sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True)) as store:
            return [row[0] for row in store.execute("SELECT content FROM memories")]

    def active(self) -> list[str]:
        """The memories that are in use: stored, and neither archived nor merged into another."""
        with closing(sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True)) as store:
            return [row[0] for row in store.execute("SELECT content FROM memories WHERE archived_at IS NULL")]

    def slowest_answer(self, seconds: float) -> float:
        """Greet the daemon for some seconds; return the longest that an answer took, in seconds."""
        longest, until = 0.0, time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.monotonic()
            with suppress(Exception):
                wire.hello(self.home, max(1.0, until - begun))
            longest = max(longest, time.monotonic() - begun)
            time.sleep(0.01)
        return longest


CASES: list[Case] = []


def case(point: str, name: str, *, quick: bool = True) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    """Register a function as a case; it raises `NotHeld` (or anything else) when the promise is broken."""

    def register(run: Callable[[Stage], None]) -> Callable[[Stage], None]:
        CASES.append(Case(point, name, run, quick))
        return run

    return register


def hold(promise: bool, otherwise: str) -> None:
    """Raise `NotHeld` with the failure unless the condition is true."""
    if not promise:
        raise NotHeld(otherwise)


@contextmanager
def stage() -> Iterator[Stage]:
    """A stage that is always taken down afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    made = Stage(folder, Home(folder / "home"))
    made.home.make()
    made.configure()
    wire.daemon_command = tuned_command
    try:
        yield made
    finally:
        kill_processes_of(made.home)
        shutil.rmtree(folder, ignore_errors=True)


def attempt(one: Case) -> str:
    """Run one case on its own stage; return "" if it passed, else the failure."""
    try:
        with stage() as made:
            one.run(made)
    except NotHeld as broken:
        return str(broken)
    except Exception as error:  # noqa: BLE001 - a case that crashes has not shown that the promise holds
        return "".join(traceback.format_exception_only(error)).strip()
    return ""


def collect() -> list[Case]:
    """Import every module of cases and return all cases, ordered by point and name."""
    for module in pkgutil.iter_modules(bench.hostile.__path__):
        if not module.name.startswith("__"):
            import_module(f"bench.hostile.{module.name}")
    return sorted(CASES, key=lambda one: (one.point, one.name))
