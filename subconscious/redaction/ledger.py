"""Buffers findings of redaction, without the values, until the daemon stores them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import time

from . import policy
from .redactor import Detection

MOST = 2000
"""The most buffered findings; older ones are dropped."""

_place: ContextVar[str] = ContextVar("place", default="")
_entries: deque[Entry] = deque(maxlen=MOST)


@dataclass(frozen=True, slots=True)
class Entry:
    """One finding: when, and where (``session/...``, ``memory/12``; "" if unknown)."""

    at: float
    place: str
    find: Detection


@contextmanager
def reading(place: str) -> Iterator[None]:
    """Record ``place`` with findings in texts that are redacted in this block, or in threads started in it."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def note(detections: Iterable[Detection]) -> None:
    """Buffer findings, and add those of secrets to the known secrets, so that other texts are searched for them."""
    known = policy.in_use().known
    for find in detections:
        _entries.append(Entry(time(), _place.get(), find))
        if find.sort == policy.SECRETS and find.distinct:
            known.add(find.length, find.hash)


def take() -> list[Entry]:
    """Return and remove all buffered entries."""
    taken = []
    while _entries:
        taken.append(_entries.popleft())
    return taken
