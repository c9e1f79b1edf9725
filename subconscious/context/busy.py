"""A flag that shows whether a loop of the daemon is working."""

from __future__ import annotations


class Busy:
    """True within its ``with`` block."""

    def __init__(self) -> None:
        self._now = False

    def __bool__(self) -> bool:
        return self._now

    def __enter__(self) -> None:
        self._now = True

    def __exit__(self, *_: object) -> None:
        self._now = False
