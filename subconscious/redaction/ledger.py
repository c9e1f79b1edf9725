"""What was found while texts were read, without the findings themselves, until the daemon writes it down."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import time

from . import policy
from .redactor import Find

MOST = 2000
"""Entries kept at most; of more, the oldest are forgotten."""

_place: ContextVar[str] = ContextVar("place", default="")
_entries: deque[Entry] = deque(maxlen=MOST)


@dataclass(frozen=True, slots=True)
class Entry:
    """One finding: when and where (``session/...``, ``memory/12``; "" where nobody said)."""

    at: float
    place: str
    find: Find


@contextmanager
def reading(place: str) -> Iterator[None]:
    """Set the place of texts that are redacted within the block, also in threads that are started there."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def note(finds: Iterable[Find]) -> None:
    """Remember what was found here, and recognise it in other texts from now on."""
    known = policy.in_use().known
    for find in finds:
        _entries.append(Entry(time(), _place.get(), find))
        if find.sort == policy.SECRETS and find.distinct:
            known.add(find.length, find.hash)


def take() -> list[Entry]:
    """Everything that was noted, which is then forgotten here."""
    taken = []
    while _entries:
        taken.append(_entries.popleft())
    return taken
