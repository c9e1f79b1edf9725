"""Variants of a text without things that may hide a token: colour codes, invisible characters, line breaks, spaces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_INVISIBLE = re.compile(
    r"(?:\x1b|\\(?:x1b|u001b|033|e)(?=\[))\[[0-9;:?]{0,24}[A-Za-z]|[\u00ad\u200b-\u200f\u2060\ufeff]", re.IGNORECASE
)
"""Terminal codes, also in the escaped form of JSON and shells, and zero-width characters."""

_BREAK = re.compile(
    r"""(?<=[A-Za-z0-9_+/=-])["'`]?[ \t]{0,4}[\\+.]?[ \t]{0,4}(?:\r?\n|\\n)[ \t]{0,40}["'`+|>#*]{0,3}[ \t]?(?=[A-Za-z0-9_+/=-]{4})"""
)
"""A line break within a token, with the characters that editors, diffs, quotes and concatenation add around it."""

_GAP = re.compile(r"(?<=\S)[ \t](?=\S)")

_PIECE = re.compile(r"[A-Za-z0-9_+/=-]{1,64}")
_SHORT = 8
"""The most characters of a group in a token that is written with spaces in between."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with some spans removed: ``cuts`` are their positions in it, ``shifts`` the total length removed so far."""

    text: str
    cuts: Sequence[int] = ()
    shifts: Sequence[int] = ()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that corresponds to a span of this text."""
        return self._original_index(start), self._original_index(end - 1) + 1 if end > start else self._original_index(
            start
        )

    def crosses(self, start: int, end: int) -> bool:
        """Whether something was removed within a span."""
        at = bisect_right(self.cuts, start)
        return at < len(self.cuts) and self.cuts[at] < end

    def _original_index(self, at: int) -> int:
        cut = bisect_right(self.cuts, at)
        return at + self.shifts[cut - 1] if cut else at


def visible(text: str) -> Reading:
    """Return a text without terminal codes or invisible characters."""
    if text.isascii() and "\x1b" not in text and "\\" not in text:
        return Reading(text)
    return _without(text, _INVISIBLE)


def unwrapped(text: str) -> Reading:
    """Return a text without the line breaks inside tokens."""
    return _without(text, _BREAK, _divides_token)


def unspaced(text: str) -> Reading:
    """Return a text without the single spaces between short groups of characters."""
    return _without(text, _GAP, _divides_groups)


def _without(text: str, pattern: re.Pattern[str], judge: Callable[[re.Match[str]], bool] | None = None) -> Reading:
    parts: list[str] = []
    cuts: list[int] = []
    shifts: list[int] = []
    at = length = 0
    for match in pattern.finditer(text):
        if judge is None or judge(match):
            parts.append(text[at : match.start()])
            length += match.start() - at
            at = match.end()
            cuts.append(length)
            shifts.append(at - length)
    return Reading("".join(parts) + text[at:], cuts, shifts) if cuts else Reading(text)


def _divides_token(match: re.Match[str]) -> bool:
    """Whether a line break may divide a token: at least _SHORT characters before it, and not a plain word after it."""
    text, start = match.string, match.start()
    before = _trailing(text, start)
    after = _PIECE.match(text, match.end())
    return len(before) >= _SHORT and after is not None and _is_mixed(after[0])


def _trailing(text: str, end: int) -> str:
    """Return the part of a token that ends at an index."""
    start = end
    while start > max(0, end - 64) and (text[start - 1].isalnum() or text[start - 1] in "_+/=-"):
        start -= 1
    return text[start:end]


def _is_mixed(piece: str) -> bool:
    """Whether a piece has a digit, or a capital letter after its first character."""
    return any(sign.isdigit() for sign in piece) or (piece != piece.lower() and piece != piece.capitalize())


def _divides_groups(match: re.Match[str]) -> bool:
    text, at = match.string, match.start()
    before = text[max(0, at - _SHORT - 1) : at]
    after = text[match.end() : match.end() + _SHORT + 1]
    return _is_group(before[::-1]) and _is_group(after)


def _is_group(text: str) -> bool:
    """Whether a text begins with a group of at most _SHORT characters: up to whitespace or the end of the text."""
    return len(text) <= _SHORT or any(sign.isspace() for sign in text)
