"""Measure the daemon's resident memory with many memories: loaded, after requests, and idle.

    python -m bench.idle [10000] [--idle 5]

The daemon runs as a separate process, with random vectors and made-up sentences in 20 projects. Its ten idle minutes
are shortened to --idle seconds. Link discovery is off: with so many new memories it takes minutes. Prints resident
megabytes, and the part of them that are pages of files (libraries, the database), which the system shares and drops
when it needs room.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.fill import Filled, fill
from bench.recall import MODEL, Asker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.wire import AbsentError

ROOT = Path(__file__).resolve().parents[1]
DAEMON = """
import sys, daemon.__main__, subconscious.embeddings.background, daemon.schedule
subconscious.embeddings.background.IDLE_SECONDS = {idle}
daemon.schedule.ROUND_SECONDS = 1.0
sys.argv[1:] = ["run"]
sys.exit(daemon.__main__.main())
"""


def memory(pid: int) -> tuple[float, float]:
    """Resident megabytes of a process, and those of them that are pages of files."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssFile"))  # type: ignore[return-value]


def show(what: str, pid: int) -> None:
    resident, files = memory(pid)
    print(f"{what:32} {resident:6.0f} MB, {files:4.0f} of them files", flush=True)


def started(home: Home, idle: float) -> subprocess.Popen[bytes]:
    """A daemon whose idle time is short."""
    environ = {**os.environ, "SUBCONSCIOUS_HOME": str(home.root), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", DAEMON.format(idle=idle)], env=environ)
    while not is_ready(home):
        time.sleep(0.05)
    wire.call(home, "drain", {"timeout": 600}, 610)
    return process


def is_ready(home: Home) -> bool:
    """Whether the daemon answers and its model is loaded."""
    try:
        return str(wire.call(home, "status")["embedder"]["state"]) == "ready"
    except AbsentError:
        return False


def unloaded(home: Home) -> bool:
    return "is unloaded" in (home.root / "log" / "daemon.log").read_text()


def ask(home: Home, filled: Filled, times: int) -> None:
    """Starts, prompts, files and searches in turn over all projects."""
    asker, folders = Asker(home, filled, random.Random(3)), list(filled.folders.values())
    for number in range(times):
        for act in (asker.start, asker.prompt, asker.file, asker.search):
            act(folders[number % len(folders)])


def measure(count: int, idle: float) -> None:
    with tempfile.TemporaryDirectory(prefix="idle-") as name:
        home = Home(Path(name) / "home")
        home.root.mkdir(parents=True)
        (home.root / "config.toml").write_text("links = false\n")
        filled = fill(home, count, synthetic=True, model=MODEL.name)
        process = started(home, idle)
        try:
            show("just loaded", process.pid)
            ask(home, filled, 20)
            show("after 20 rounds of questions", process.pid)
            while not unloaded(home):
                time.sleep(1)
            time.sleep(idle)
            show("idle", process.pid)
            begun = time.perf_counter()
            ask(home, filled, 1)
            print(f"{(time.perf_counter() - begun) * 1000:6.0f} ms the first start, prompt, file and search after that")
        finally:
            wire.call(home, "stop")
            process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--idle", type=float, default=5.0)
    options = parser.parse_args()
    measure(options.count, options.idle)


if __name__ == "__main__":
    main()
