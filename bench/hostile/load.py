"""Attacks on the daemon's resources: its memory, and the latency of other requests meanwhile."""

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
WORK_SECONDS = 0.02
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

    That is meant for a machine that has nothing else to do. Where it is busy, ``most`` grows by as much as work takes
    longer than the processor needs for it, and what an answer takes when nothing is the matter is added.
    """
    usual = stage.slowest_answer(1.0)
    slowest: list[float] = []
    slowdowns: list[float] = []
    watching = [
        threading.Thread(target=lambda: slowest.append(stage.slowest_answer(seconds))),
        threading.Thread(target=lambda: slowdowns.append(_slowdown(seconds))),
    ]
    for thread in watching:
        thread.start()
    yield
    for thread in watching:
        thread.join()
    took, before = slowest[0] * 1000, usual * 1000
    told = f"an answer took {took:.0f} ms (usually {before:.0f}; the machine is slowed down {slowdowns[0]:.1f} times)"
    hold(slowest[0] < most * slowdowns[0] + usual, told)


def _slowdown(seconds: float) -> float:
    """By how much work took longer at the worst than the processor needed for it; 1.0 on an idle machine."""
    worst, until = 1.0, time.monotonic() + seconds
    while time.monotonic() < until:
        begun, used = time.monotonic(), time.thread_time()
        while time.thread_time() - used < WORK_SECONDS:
            pass
        worst = max(worst, (time.monotonic() - begun) / (time.thread_time() - used))
        time.sleep(10 * WORK_SECONDS)
    return worst
