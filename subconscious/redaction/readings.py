"""Readings of a text in which what hides a token is left out: colour codes, invisible characters, line breaks, spaces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_UNSEEN = re.compile(
    r"(?:\x1b|\\(?:x1b|u001b|033|e)(?=\[))\[[0-9;:?]{0,24}[A-Za-z]|[\u00ad\u200b-\u200f\u2060\ufeff]", re.IGNORECASE
)
"""Terminal codes, also as JSON and shells escape them, and characters of no width."""

_BREAK = re.compile(
    r"""(?<=[A-Za-z0-9_+/=-])["'`]?[ \t]{0,4}[\\+.]?[ \t]{0,4}(?:\r?\n|\\n)[ \t]{0,40}["'`+|>#*]{0,3}[ \t]?(?=[A-Za-z0-9_+/=-]{4})"""
)
"""A line break within a token, with what editors, diffs, quotes and string concatenation put around it."""

_GAP = re.compile(r"(?<=\S)[ \t](?=\S)")

_PIECE = re.compile(r"[A-Za-z0-9_+/=-]{1,64}")
_SHORT = 8
"""Longest group of characters of a token that is written with spaces in between."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with some spans removed; ``cuts`` are the places where they were, ``shifts`` their lengths added up."""

    text: str
    cuts: Sequence[int] = ()
    shifts: Sequence[int] = ()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where the given text holds what this reading has from ``start`` to ``end``."""
        return self._place(start), self._place(end - 1) + 1 if end > start else self._place(start)

    def crosses(self, start: int, end: int) -> bool:
        """Whether something was removed within a span."""
        at = bisect_right(self.cuts, start)
        return at < len(self.cuts) and self.cuts[at] < end

    def _place(self, at: int) -> int:
        cut = bisect_right(self.cuts, at)
        return at + self.shifts[cut - 1] if cut else at


def visible(text: str) -> Reading:
    """A text without terminal codes and invisible characters."""
    if text.isascii() and "\x1b" not in text and "\\" not in text:
        return Reading(text)
    return _without(text, _UNSEEN)


def unwrapped(text: str) -> Reading:
    """A text in which the line breaks within tokens are left out."""
    return _without(text, _BREAK, _parts_token)


def unspaced(text: str) -> Reading:
    """A text in which short groups of characters that single spaces separate are put together."""
    return _without(text, _GAP, _parts_groups)


def _without(text: str, pattern: re.Pattern[str], judge: Callable[[re.Match[str]], bool] | None = None) -> Reading:
    kept: list[str] = []
    cuts: list[int] = []
    shifts: list[int] = []
    at = length = 0
    for match in pattern.finditer(text):
        if judge is None or judge(match):
            kept.append(text[at : match.start()])
            length += match.start() - at
            at = match.end()
            cuts.append(length)
            shifts.append(at - length)
    return Reading("".join(kept) + text[at:], cuts, shifts) if cuts else Reading(text)


def _parts_token(match: re.Match[str]) -> bool:
    """Whether random characters stand on both sides: an ordinary word at a line's start is no part of a token."""
    text, start = match.string, match.start()
    before = _trailing(text, start)
    after = _PIECE.match(text, match.end())
    return len(before) >= _SHORT and after is not None and _is_mixed(after[0])


def _trailing(text: str, end: int) -> str:
    """The piece of a token that ends at a place."""
    start = end
    while start > max(0, end - 64) and (text[start - 1].isalnum() or text[start - 1] in "_+/=-"):
        start -= 1
    return text[start:end]


def _is_mixed(piece: str) -> bool:
    """Whether a piece holds a digit, or a capital behind a small letter."""
    return any(sign.isdigit() for sign in piece) or (piece != piece.lower() and piece != piece.capitalize())


def _parts_groups(match: re.Match[str]) -> bool:
    text, at = match.string, match.start()
    before = text[max(0, at - _SHORT - 1) : at]
    after = text[match.end() : match.end() + _SHORT + 1]
    return _is_group(before[::-1]) and _is_group(after)


def _is_group(text: str) -> bool:
    """Whether white space or the end follows within a few characters."""
    return len(text) <= _SHORT or any(sign.isspace() for sign in text)
