"""Keeps the turns of the exchange in which each transcript was last read to the end.

A transcript is read while it grows. The last answer of a turn is often written after the hook that reports the end of
the turn, so it arrives in a batch of its own, without the prompt that it answers and the edits that it reports.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.domain.model import Role, Turn

MOST_TRANSCRIPTS = 50
MOST_TURNS = 2000
"""Turns of one exchange that are kept, the latest."""


@dataclass(frozen=True, slots=True)
class _Running:
    offset: int
    turns: tuple[Turn, ...]


class RunningExchanges:
    """The turns of unfinished exchanges by transcript, in memory only."""

    def __init__(self) -> None:
        self._running: OrderedDict[str, _Running] = OrderedDict()

    def before(self, path: str, offset: int) -> tuple[Turn, ...]:
        """Return the turns of the running exchange that end at an offset of a transcript."""
        known = self._running.get(path)
        return known.turns if known is not None and known.offset == offset else ()

    def is_answered(self, path: str) -> bool:
        """Whether what was last read of a transcript ends with text of the assistant; False if nothing was read."""
        known = self._running.get(path)
        last = known.turns[-1] if known is not None and known.turns else None
        return last is not None and last.role is Role.ASSISTANT and bool(last.text)

    def note(self, path: str, offset: int, turns: Sequence[Turn]) -> None:
        """Note the turns of the exchange that a transcript is in, after it was read up to an offset."""
        self._running[path] = _Running(offset, tuple(turns[-MOST_TURNS:]))
        self._running.move_to_end(path)
        while len(self._running) > MOST_TRANSCRIPTS:
            self._running.popitem(last=False)

    def clear(self) -> None:
        """Drop all turns."""
        self._running.clear()
