"""Kill the daemon with SIGKILL while sessions send numbered decisions; each must be stored exactly once.

    python -m bench.crash 200 [--environment 3]

``--environment K`` also kills the maker of the daemon's environment K times (it needs the package registry and a minute
or two). Prints how many decisions were sent and stored; fails when one is missing or stored twice.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from bench.sessions import ROOT, Speaker
from bench.tuned_daemon import tuned_command, write_config
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home

SESSIONS = 4
LONGEST_LIFE = 2.0
"""Seconds a daemon lives at the most; it takes about half of that until it listens, so either is hit."""


class Talk:
    """Several sessions that send numbered decisions until they are stopped."""

    def __init__(self, home: Home, folder: Path) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.said = 0
        speakers = [Speaker(home.root, folder) for _ in range(SESSIONS)]
        self._threads = [threading.Thread(target=self._speak, args=(speaker,)) for speaker in speakers]
        for thread in self._threads:
            thread.start()

    def _speak(self, speaker: Speaker) -> None:
        while not self._stop.is_set():
            with self._lock:
                self.said += 1
                number = self.said
            speaker.say(f"We decided: record number {number} uses colour teal-{number}.")
            speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
            time.sleep(random.uniform(0, 0.4))

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def kill_daemons(home: Home, kills: int) -> int:
    """Start daemons and kill each -9 after a random time; return how many had begun to listen."""
    listening = 0
    for number in range(kills):
        process = wire.start(home)
        time.sleep(random.uniform(0, LONGEST_LIFE))
        with suppress(DaemonError):
            listening += bool(wire.hello(home, 0.05))
        process.kill()
        process.wait()
        if (number + 1) % 20 == 0:
            print(f"  {number + 1} kills", flush=True)
    return listening


def kill_makers(home: Home, kills: int, folder: Path) -> None:
    """Let the start hook make the environment, and kill the making -9 at random points."""
    speaker = Speaker(home.root, folder)
    for number in range(kills):
        speaker.hook("wake", "SessionStart", source="startup")
        time.sleep(random.uniform(1, 15))
        killed = kill_processes_of(home)
        print(f"  maker killed {number + 1}: {killed} processes", flush=True)
    deadline = time.monotonic() + 600
    while not (home.env / "current").exists() and time.monotonic() < deadline:
        # As sessions do; a maker whose child was killed notes a failure, which is not tried again for a minute.
        speaker.hook("wake", "SessionStart", source="startup")
        time.sleep(2)
    print("  environment made" if (home.env / "current").exists() else "  NO ENVIRONMENT", flush=True)


def kill_processes_of(home: Home) -> int:
    """Kill (-9) all processes of this state folder."""
    marker = f"SUBCONSCIOUS_HOME={home.root}".encode()
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            if marker in (folder / "environ").read_bytes() and b"drop" not in command:
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
    return killed


def numbers_in(database: Path) -> collections.Counter[int]:
    """How often each number is in the store."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        contents = [row[0] for row in store.execute("SELECT content FROM memories")]
    store.close()
    found = (re.search(r"record number (\d+) uses colour teal-\1\b", content) for content in contents)
    return collections.Counter(int(match[1]) for match in found if match)


def report(home: Home, said: int) -> bool:
    found = numbers_in(home.database)
    missing = [number for number in range(1, said + 1) if not found[number]]
    twice = [number for number, times in found.items() if times > 1]
    left = len(list(home.spool.glob("*.entry"))), len(list(home.buried.iterdir()))
    print(f"decisions handed over {said}, stored exactly once {sum(n == 1 for n in found.values())}")
    print(f"missing {missing or 'none'}; more than once {twice or 'none'}; entries left {left[0]}, buried {left[1]}")
    return not missing and not twice and left == (0, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int)
    parser.add_argument("--environment", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="crash-"))
    home = Home(folder / "home")
    home.make()
    # A small model that is loaded 200 times would only slow the killing down; dedupe would hide a double.
    write_config(home, {"dedupe": False, "embedder": '"none"'})
    wire.daemon_command = tuned_command
    print(f"seed {options.seed}, {SESSIONS} sessions, checkout {ROOT.name}")
    talk = Talk(home, folder)
    try:
        if options.environment:
            kill_makers(home, options.environment, folder)
            kill_processes_of(home)  # the daemon that the wake hook started: those to be killed are ours
        listening = kill_daemons(home, options.kills)
        print(f"{options.kills} kills, {listening} of them of a daemon that listened")
    finally:
        talk.end()
    wire.ensure_daemon(home)
    print(json.dumps(wire.call(home, "drain", {"timeout": 300}, 310)))
    wire.call(home, "stop")
    wire.await_absence(home, 30)
    sound = report(home, talk.said)
    kill_processes_of(home)
    shutil.rmtree(folder)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
