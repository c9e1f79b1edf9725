"""The texts that something was known by, and finding them in others in linear time, however many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

SHORTEST = 12
"""Characters of a wording that is looked for: of shorter ones, every word would be a trace."""

PIECE = 20
"""Characters that a text may share with a wording and still be no copy of a part of it."""

PURGED = "[purged]"


class Wordings:
    """Some texts, to be found whole or in pieces."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted({text.strip() for text in texts if len(text.strip()) >= SHORTEST}, key=len))

    @cached_property
    def _beginnings(self) -> dict[str, list[str]]:
        """By how they begin, the longest first."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for text in reversed(self.texts):
            found[text[:SHORTEST]].append(text)
        return dict(found)

    @cached_property
    def _pieces(self) -> frozenset[str]:
        return frozenset(text[at : at + PIECE] for text in self.texts for at in range(len(text) - PIECE + 1))

    def erase(self, text: str) -> str:
        """A mark in place of each wording that stands in the text whole."""
        kept: list[str] = []
        at = begin = 0
        while at <= len(text) - SHORTEST:
            whole = self._at(text, at)
            if whole:
                kept += [text[begin:at], PURGED]
                begin = at + len(whole)
            at += len(whole) or 1
        return "".join(kept) + text[begin:]

    def _at(self, text: str, at: int) -> str:
        """The longest wording that begins here; "" where none does."""
        near = self._beginnings.get(text[at : at + SHORTEST], ())
        return next((wording for wording in near if text.startswith(wording, at)), "")

    def shares(self, text: str) -> bool:
        """Whether a text repeats a part of a wording."""
        return any(text[at : at + PIECE] in self._pieces for at in range(len(text) - PIECE + 1))
