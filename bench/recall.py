"""Time requests of a session and a terminal against a real daemon, for growing stores of 20 projects.

    python -m bench.recall [1000 10000 100000 1000000] [--texts DIR ...] [--projects 20] [--rounds 200]

Start, prompt and file as the hooks request them, and `search`, over the socket, one after the other, by this process:
the waiting time of a hook or a terminal without their own start. Up to 10,000 memories are sentences of the transcripts
and conversations below --texts, with real embeddings; above that, combined halves of sentences with random unit
vectors. Prints milliseconds, processor time (more meaningful on a busy machine), resident memory, size on disk, and the
seconds until the daemon is ready: the time for embeddings, or, above 10,000, for the index alone.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from bench.fill import PROJECTS, Filled, Words, file_name, fill
from subconscious import wire
from subconscious.embeddings.embedder import model_of
from subconscious.settings.home import Home

ROUNDS = 200
MODEL = model_of("local") or sys.exit("there is no local model")
REAL_UP_TO = 10_000
CELLS = ("start", "prompt", "file", "search")


@dataclass(slots=True)
class Asker:
    """Who asks, in one folder after the other; a session's limits are those of a session, so each round has its own."""

    home: Home
    filled: Filled
    rng: random.Random
    session: str = ""

    def start(self, folder: Path) -> None:
        """Send the request of the SessionStart hook for a new session."""
        self.session = str(uuid4())
        answer = self._hook("SessionStart", folder, source="startup")
        if b"subconscious-memory" not in answer:
            raise SystemExit(f"no memories came back: {answer[:200]!r}")

    def prompt(self, folder: Path) -> None:
        """Send the request of the UserPromptSubmit hook; the response may be empty."""
        self._hook("UserPromptSubmit", folder, prompt=self.filled.words.ask(self.rng))

    def file(self, folder: Path) -> None:
        """Send the request of the hook after a file was read."""
        path = folder / file_name(self.rng.randrange(997))
        given = {"tool_name": "Read", "tool_input": {"file_path": str(path)}}
        self._hook("PostToolUse", folder, **given)

    def search(self, folder: Path) -> None:
        """Ask what `subconscious search` asks."""
        query = self.filled.words.ask(self.rng)
        wire.call(self.home, "search", {"query": query, "cwd": str(folder), "limit": 10})

    def _hook(self, event: str, folder: Path, **given: object) -> bytes:
        payload = {"session_id": self.session, "cwd": str(folder), "hook_event_name": event, **given}
        header = f"subconscious 1\t{event}\t{time.time_ns()}\t{folder}\t\t0.1.0\t\n"
        entry = header.encode() + json.dumps(payload).encode()
        return wire.exchange(self.home, b"ask bench.entry %d\n" % len(entry) + entry, 60)


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds that one sort of question took: those that passed, and of the daemon's processor time."""

    passed: list[float]
    worked: list[float]

    def __str__(self) -> str:
        return f"{p50(self.passed):6.1f} {p95(self.passed):6.1f} {p50(self.worked):6.1f} {p95(self.worked):6.1f}"


def timed(asker: Asker, rounds: int, pid: int) -> dict[str, Taken]:
    """The times of each, interleaved over all projects, after one warm-up query for each project."""
    folders = list(asker.filled.folders.values())
    taken = {name: Taken([], []) for name in CELLS}
    for folder in folders:
        for name in CELLS:
            getattr(asker, name)(folder)
    for number in range(rounds):
        for name in CELLS:
            act: Callable[[Path], None] = getattr(asker, name)
            begun, worked = time.perf_counter(), processor_ms(pid)
            act(folders[number % len(folders)])
            taken[name].passed.append((time.perf_counter() - begun) * 1000)
            taken[name].worked.append(processor_ms(pid) - worked)
    return taken


def processor_ms(pid: int) -> float:
    """Processor time of all threads of a process: the cost of a query, independent of other load."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def resident_mb(pid: int) -> float:
    """Resident memory of a process, MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def loaded(home: Home) -> int:
    """The daemon's process, once the model is loaded: `drain` waits for it only where memories wait for vectors."""
    while (status := wire.call(home, "status", timeout=600))["embedder"]["state"] == "loading":
        time.sleep(0.05)
    return int(status["pid"])


def measure(count: int, words: Words, projects: int, rounds: int) -> str:
    """One row of the table."""
    folder = Path(tempfile.mkdtemp(prefix="recall-"))
    home = Home(folder / "home")
    try:
        filled = fill(home, count, synthetic=count > REAL_UP_TO, model=MODEL.name, projects=projects, words=words)
        begun = time.perf_counter()
        wire.ensure_daemon(home)
        wire.call(home, "drain", {"timeout": 600}, 610)
        pid = loaded(home)
        built = time.perf_counter() - begun
        at_rest = resident_mb(pid)
        taken = timed(Asker(home, filled, random.Random(11)), rounds, pid)
        index = wire.call(home, "status")["vector_index"]
        after = resident_mb(pid)
        wire.call(home, "stop")
        wire.await_absence(home, 60)
        os.waitpid(pid, 0)  # our child; it folds the log back into the database before it is gone
        disk = sum(file.stat().st_size for file in home.root.glob("*.db*")) / 2**20
        size = f"{at_rest:7.0f} {after:7.0f}  {disk:7.0f}  {built:7.1f}"
        return f"{count:>8} {projects:>8} {index:>10}  {'  '.join(map(str, taken.values()))}  {size}"
    finally:
        shutil.rmtree(folder)


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="folders of transcripts and conversations")
    parser.add_argument("--projects", type=int, default=PROJECTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    words = Words.of(chosen.texts, REAL_UP_TO)
    print(f"{chosen.rounds} rounds; milliseconds p50 p95, then those of the processor; MB in memory and on disk")
    heads = "  ".join(f"{name:>27}" for name in CELLS)
    sizes = f"{'at rest':>7} {'after':>7}  {'disk':>7}  {'ready':>7}"
    print(f"{'memories':>8} {'projects':>8} {'index':>10}  {heads}  {sizes}")
    for count in chosen.counts:
        print(measure(count, words, chosen.projects, chosen.rounds), flush=True)


if __name__ == "__main__":
    main()
