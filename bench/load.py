"""Send 10,000 events of twenty sessions at once through the real hooks, which start the daemon themselves.

    python -m bench.load [--sessions 20] [--events 10000]

Each session starts, prompts, touches files, ends its turns and itself; every tenth event is a numbered decision. Prints
how many events were handed over and worked off, how many decisions stand in the store exactly once, how many daemons
and other processes there were and are, and the daemon's memory. The environment is made first, as the plugin makes it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench.crash import numbers_in
from bench.recall import resident_mb
from bench.sessions import ROOT, Speaker
from subconscious import wire
from subconscious.settings.home import Home


def make_environment(home: Home) -> None:
    """Have the plugin create its environment in the foreground."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "HOME", "PIP_", "SSL_"))}
    command = [str(ROOT / "bin" / "subconscious"), "--version"]
    subprocess.run(command, env=kept | {"SUBCONSCIOUS_HOME": str(home.root)}, check=True, stdout=subprocess.DEVNULL)


class Session:
    """One of the twenty; ``count`` events, the numbers of its decisions begin at ``first``."""

    def __init__(self, home: Home, folder: Path, count: int, first: int) -> None:
        folder.mkdir()
        self._home = home
        self._speaker = Speaker(home.root, folder)
        self._count = count
        self._next = first
        self.decided: list[int] = []

    def run(self) -> None:
        """Fire every event, one after the other, as the client does."""
        self._fire("wake", "SessionStart", source="startup")
        self._fire("ask", "SessionStart", source="startup")
        wire.ensure_daemon(self._home)
        self._speaker.introduce()
        for number in range(self._count - 2):
            self._turn(number)
        self._fire("drop", "SessionEnd", reason="other")

    def _turn(self, number: int) -> None:
        if number % 10 == 0:
            self._decide()
        elif number % 10 == 1:
            self._fire("ask", "UserPromptSubmit", prompt="go on")
        else:
            self._fire("drop", "PostToolUse", tool_name="Read", tool_input={"file_path": "/p/a.py"})

    def _decide(self) -> None:
        self._speaker.say(f"We decided: record number {self._next} uses colour teal-{self._next}.")
        self.decided.append(self._next)
        self._next += 1
        self._fire("drop", "Stop")

    def _fire(self, script: str, event: str, **own: object) -> None:
        self._speaker.hook(script, event, **own)


def daemons_that_listened(home: Home) -> int:
    """The number of daemons that started to listen."""
    return (home.log / "daemon.log").read_text().count(" listening, ")


def processes(home: Home, word: bytes) -> list[int]:
    """Processes of this state folder with a word in their command."""
    marker = f"SUBCONSCIOUS_HOME={home.root}\0".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (folder / "environ").read_bytes() and word in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def jobs_by_state(home: Home) -> dict[str, int]:
    with sqlite3.connect(f"file:{home.database}?mode=ro", uri=True) as store:
        counted = dict(store.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
    store.close()
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--events", type=int, default=10_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="load-"))
    home = Home(folder / "home")
    try:
        home.make()
        make_environment(home)
        return run(home, folder, options.sessions, options.events)
    finally:
        for pid in processes(home, b""):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        shutil.rmtree(folder)


def run(home: Home, folder: Path, count: int, events: int) -> int:
    share = events // count
    sessions = [Session(home, folder / f"p{number}", share, number * share) for number in range(count)]
    begun = time.monotonic()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(Session.run, sessions))
    handed = time.monotonic() - begun
    wire.call(home, "drain", {"timeout": 600}, 610)
    worked = time.monotonic() - begun
    daemons = processes(home, b"daemon")
    memory = resident_mb(daemons[0])
    found = numbers_in(home.database)
    decided = [number for session in sessions for number in session.decided]
    # The wake hook hands nothing over: it starts the daemon.
    print(
        f"events {count * share}: {jobs_by_state(home)} (and {count} wakes); left {len(list(home.spool.iterdir())) - 1}"
    )
    print(f"decisions {len(decided)}, exactly once {sum(found[number] == 1 for number in decided)}")
    print(f"handed over in {handed:.0f} s, worked off and embedded after {worked:.0f} s; {memory:.0f} MB resident")
    print(f"daemons that ever listened: {daemons_that_listened(home)}; daemon processes now: {len(daemons)}")
    wire.call(home, "stop")
    wire.await_absence(home, 30)
    time.sleep(1)
    orphans = processes(home, b"")
    print(f"processes after it left: {len(orphans)}")
    exact = all(found[number] == 1 for number in decided)
    return 0 if exact and daemons_that_listened(home) == 1 and not orphans else 1


if __name__ == "__main__":
    sys.exit(main())
