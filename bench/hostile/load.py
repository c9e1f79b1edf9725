"""What an attack costs the daemon: its memory, and how long others wait for an answer meanwhile."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.hostile.case import Stage, hold

MEGABYTE = 1 << 20
MOST_GROWTH = 150 * MEGABYTE


def daemon_memory(stage: Stage, field: str = "VmRSS") -> int:
    """Bytes of memory that the daemon has now, or with VmHWM the most that it ever had."""
    pid = json.loads((stage.home.run / "daemon.json").read_text())["pid"]
    found = re.search(rf"^{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


@contextmanager
def holding_memory(stage: Stage, most: int = MOST_GROWTH) -> Iterator[None]:
    """Raise NotHeld if the daemon's peak of memory grows by more than ``most`` bytes meanwhile."""
    before = daemon_memory(stage, "VmRSS")
    yield
    grown = daemon_memory(stage, "VmHWM") - before
    hold(grown < most, f"the daemon grew by {grown // MEGABYTE} MB")


@contextmanager
def answering(stage: Stage, seconds: float, most: float = 0.1) -> Iterator[None]:
    """Raise NotHeld if the daemon takes longer than ``most`` seconds for an answer in the next ``seconds``.

    What it takes when nothing is the matter, and what this process itself waits for a processor, is added: the machine
    may be busy with other things.
    """
    usual = stage.slowest_answer(1.0)
    slowest: list[float] = []
    lags: list[float] = []
    watching = [
        threading.Thread(target=lambda: slowest.append(stage.slowest_answer(seconds))),
        threading.Thread(target=lambda: lags.append(_longest_lag(seconds))),
    ]
    for thread in watching:
        thread.start()
    yield
    for thread in watching:
        thread.join()
    took, before, own = (round(one * 1000) for one in (slowest[0], usual, lags[0]))
    hold(slowest[0] < most + usual + lags[0], f"an answer took {took} ms (usually {before}; the machine's own {own})")


def _longest_lag(seconds: float) -> float:
    """By how much a pause of 10 ms took longer at the most."""
    longest, until = 0.0, time.monotonic() + seconds
    while time.monotonic() < until:
        begun = time.monotonic()
        time.sleep(0.01)
        longest = max(longest, time.monotonic() - begun - 0.01)
    return longest
