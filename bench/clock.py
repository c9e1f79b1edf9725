"""A simulated clock: replaces the time functions that the product's modules use."""

from __future__ import annotations

import pkgutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from importlib import import_module
from typing import Any

OURS = ("subconscious", "daemon")
PROGRAMS = ("daemon.__main__", "subconscious.cli", "subconscious.hooks")
"""Modules that are run, not imported, or that exist only in the wheel."""


class Clock:
    """A clock that only moves when it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@contextmanager
def running_on(clock: Clock) -> Iterator[Clock]:
    """Let every module of ours that took `time` from the standard library read this clock meanwhile."""
    with replaced("time", time.time, clock):
        yield clock


@contextmanager
def wholly_on(clock: Clock) -> Iterator[Clock]:
    """Like `running_on`, also for modules that are imported later and for `datetime.now`."""
    import_everything()
    with running_on(clock), replaced("datetime", datetime, datetime_of(clock)):
        yield clock


@contextmanager
def replaced(name: str, original: object, substitute: object) -> Iterator[None]:
    """Replace what our modules know by that name, where it is the original."""
    changed = [
        module
        for path, module in list(sys.modules.items())
        if path.split(".")[0] in OURS and getattr(module, name, None) is original
    ]
    for module in changed:
        setattr(module, name, substitute)
    try:
        yield
    finally:
        for module in changed:
            setattr(module, name, original)


def import_everything() -> None:
    """Import all modules of ours: one that a function imports later would read the real time."""
    for package in OURS:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(PROGRAMS):
                import_module(module.name)


def datetime_of(clock: Clock) -> type[datetime]:
    """A datetime class whose `now` reads the clock."""

    class ClockDatetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.fromtimestamp(clock(), tz)

    return ClockDatetime
