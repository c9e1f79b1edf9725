"""Measure the page of `subconscious ui` with many memories: the time of each part, and the daemon's memory.

    python -m bench.page [10000] [--times 30]

The daemon runs as a process of its own, with random vectors and made-up sentences in one project, and with its real
embedder. Each part of the page is requested over one connection, as a browser would, with another memory or query each
time. Prints milliseconds until the whole answer was read, the daemon's processor time for it (Linux; it says more on a
busy machine), and resident megabytes. Run it outside of Claude Code: the page refuses requests from there.
"""

from __future__ import annotations

import argparse
import http.client
import random
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

from bench.fill import Filled, Words, fill
from bench.idle import show, started
from bench.recall import MODEL
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal

NEVER = 1e9
"""The daemon keeps its model loaded, so that memory before and after the page can be compared."""

LATER = "fading, its list"
"""What a page shows later, by a second request."""


class Browser:
    """Requests parts of the page over one connection."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.request("GET", parts.path)
        answer = self._connection.getresponse()
        answer.read()
        self._cookie, _, rest = str(answer.getheader("Set-Cookie")).partition(";")
        self._base = rest.partition("Path=")[2].partition(";")[0]

    def get(self, place: str) -> float:
        """Return the milliseconds until a part was read."""
        began = time.perf_counter()
        self._connection.request("GET", self._base + place, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200, (place, answer.status)
        return 1000 * (time.perf_counter() - began)


def places(count: int, words: Words) -> Iterator[tuple[str, str]]:
    """The parts of the page, with a memory or a query of chance."""
    rng = random.Random(3)
    number = rng.randrange(1, count + 1)
    yield "a static file", "static/icon.svg"
    yield "timeline", "timeline"
    yield "memories", "memories"
    yield "memories, a later page", f"memories?page={rng.randrange(1, max(2, count // 50))}"
    yield "memories, filtered", "memories?kind=decision&since=30d"
    yield "memories, a search", f"memories?q={quote(words.ask(random.Random(time.time_ns())))}"
    yield "memory", f"memory/{number}"
    yield "graph", "graph"
    yield "graph of a memory", f"graph?id={number}"
    yield "review", "review"
    yield "sessions", "sessions"
    yield "fading", "fading"
    yield LATER, "fading/list"
    yield "health", "health"


def processor_ms(pid: int) -> float:
    """Return the processor time that the threads of a process have taken, in milliseconds; 0 where it can't be read."""
    tasks = Path(f"/proc/{pid}/task")
    return sum(int((one / "schedstat").read_text().split()[0]) for one in tasks.glob("*")) / 1e6


def measure(link: str, pid: int, count: int, filled: Filled, times: int) -> None:
    """Request every part of the page some times, and print how long each took."""
    browser = Browser(link)
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(times):
        for name, place in places(count, filled.words):
            before = processor_ms(pid)
            elapsed = browser.get(place)
            taken.setdefault(name, []).append((elapsed, processor_ms(pid) - before))
    print(f"\n{'':26} elapsed: median, 95 %; processor: median, 95 %   (milliseconds)")
    pages = [one for name, some in taken.items() if name != LATER for one in some]
    for name, found in {**taken, "all pages": pages}.items():
        print(
            f"{name:26} "
            + "  ".join(f"{one:6.0f}" for sort in zip(*found, strict=True) for one in middle_and_most(sort))
        )
    print()


def middle_and_most(found: Iterable[float]) -> tuple[float, float]:
    """Return the median, and the number that 95 % don't exceed."""
    ordered = sorted(found)
    return ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--times", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        home = Home(Path(folder, "home"))
        home.make()
        (home.root / "config.toml").write_text("link_limit = 0\nmaintenance = false\n")
        filled = fill(home, given.count, synthetic=True, model=MODEL.name, projects=1)
        project = str(next(iter(filled.folders.values())))
        process = started(home, NEVER)
        try:
            wire.call(home, "search", {"query": filled.words.ask(random.Random(1)), "cwd": project}, 60)
            show("before the page", process.pid)
            link = terminal.call(home, "ui", cwd=project)["url"]
            show("with the page open", process.pid)
            measure(link, process.pid, given.count, filled, given.times)
            show("with the page used", process.pid)
            wire.call(home, "ui_close")
            time.sleep(1)
            show("after it was closed", process.pid)
        finally:
            wire.call(home, "stop")
            process.wait()


if __name__ == "__main__":
    main()
