"""A clock for simulations: what our modules read as the time is what the bench says it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

OURS = ("subconscious", "daemon")


class Clock:
    """Stands still until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@contextmanager
def running_on(clock: Clock) -> Iterator[Clock]:
    """Let every module of ours that took `time` from the standard library read this clock meanwhile."""
    changed = [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in OURS and getattr(module, "time", None) is time.time
    ]
    for module in changed:
        module.time = clock  # type: ignore[attr-defined]
    try:
        yield clock
    finally:
        for module in changed:
            module.time = time.time  # type: ignore[attr-defined]
