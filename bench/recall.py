"""Time a session's start and a search against a real daemon, at growing numbers of memories in 20 projects.

    python -m bench.recall [1000 10000 100000]

Asked over the socket, one after the other, by this process: what a hook or a terminal waits for, less their own start.
Real embeddings up to 10,000 memories, random unit vectors above. Prints milliseconds, resident memory, disk.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from bench.fill import Filled, fill, sentence
from subconscious import client
from subconscious.embeddings import model_of
from subconscious.home import Home

ROUNDS = 200
MODEL = model_of("local") or sys.exit("there is no local model")
REAL_UP_TO = 10_000


def start_of_session(home: Home, folder: Path) -> None:
    """Ask what the SessionStart hook asks, for a session that is new."""
    payload = {"session_id": str(uuid4()), "cwd": str(folder), "source": "startup"}
    header = f"subconscious 1\tSessionStart\t{time.time_ns()}\t{folder}\t\t0.1.0\t\n"
    entry = header.encode() + json.dumps(payload).encode()
    answer = client.exchange(home, b"ask bench.entry %d\n" % len(entry) + entry, 10)
    if b"subconscious-memory" not in answer:
        raise SystemExit(f"no memories came back: {answer[:200]!r}")


def search(home: Home, folder: Path, rng: random.Random) -> None:
    """Ask what `subconscious search` asks."""
    found = client.call(home, "search", {"query": sentence(rng), "cwd": str(folder), "limit": 10})
    if not found["hits"]:
        raise SystemExit("a search found nothing")


def timed(home: Home, filled: Filled) -> dict[str, list[float]]:
    """Milliseconds of each, interleaved, over all projects in turn."""
    rng = random.Random(11)
    folders = list(filled.folders.values())
    taken: dict[str, list[float]] = {"start": [], "search": []}
    for number in range(ROUNDS):
        folder = folders[number % len(folders)]
        for name in taken:
            begun = time.perf_counter()
            if name == "start":
                start_of_session(home, folder)
            else:
                search(home, folder, rng)
            taken[name].append((time.perf_counter() - begun) * 1000)
    return taken


def resident_mb(pid: int) -> float:
    """Resident memory of a process, MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def loaded(home: Home) -> int:
    """The daemon's process, once the model is loaded: `drain` waits for it only where memories wait for vectors."""
    while (status := client.call(home, "status"))["embedder"]["state"] == "loading":
        time.sleep(0.05)
    return int(status["pid"])


def measure(count: int) -> str:
    """One row of the table."""
    folder = Path(tempfile.mkdtemp(prefix="recall-"))
    home = Home(folder / "home")
    try:
        filled = fill(home, count, synthetic=count > REAL_UP_TO, model=MODEL.name)
        client.ensure_daemon(home)
        client.call(home, "drain", {"timeout": 600}, 610)
        pid = loaded(home)
        at_rest = resident_mb(pid)
        timed_ms = timed(home, filled)
        index = client.call(home, "status")["vector_index"]
        after = resident_mb(pid)
        client.call(home, "stop")
        client.await_absence(home, 30)
        os.waitpid(pid, 0)  # our child; it folds the log back into the database before it is gone
        disk = sum(file.stat().st_size for file in home.root.glob("memory.db*")) / 2**20
        cells = [f"{p50(ms):6.1f} {p95(ms):6.1f}" for ms in timed_ms.values()]
        return f"{count:>8} {index:>10}  {'  '.join(cells)}  {at_rest:7.0f} {after:7.0f}  {disk:7.0f}"
    finally:
        shutil.rmtree(folder)


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=int, nargs="*", default=[1000, 10_000, 100_000])
    print(f"{ROUNDS} rounds; milliseconds p50 p95; resident memory and disk in MB")
    print(f"{'memories':>8} {'index':>10}  {'start':>13}  {'search':>13}  {'at rest':>7} {'after':>7}  {'disk':>7}")
    for count in parser.parse_args().counts:
        print(measure(count), flush=True)


if __name__ == "__main__":
    main()
