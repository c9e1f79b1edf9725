"""Whether a loop of the daemon's is at work: it says so itself, and who leaves, or wants quiet, asks."""

from __future__ import annotations


class Busy:
    """True within its ``with``."""

    def __init__(self) -> None:
        self._now = False

    def __bool__(self) -> bool:
        return self._now

    def __enter__(self) -> None:
        self._now = True

    def __exit__(self, *_: object) -> None:
        self._now = False
