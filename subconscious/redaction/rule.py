"""One sort of what is to be taken out: where to look for it, its pattern, and who has the last word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

WINDOW = 16_000
"""Characters in which one call looks for matches: ``re`` lets no other thread run until a call returns."""

LONGEST_MATCH = 5_000
"""Characters that exceed a match of most rules."""


LONG_RUN = re.compile(r"[A-Za-z0-9_-]{24}")
"""Asked once for each text: rules whose hints are single characters are tried only where it is found."""

_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


class Span(NamedTuple):
    """The span of a finding in a text, and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A sort of secret: its pattern is compiled and tried only where a hint (in lower case) occurs.

    ``judge`` is given the match and what would be taken out. ``longest`` exceeds the longest match of the pattern.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    judge: Callable[[re.Match[str], str], bool] | None = None
    longest: int = LONGEST_MATCH
    needs_run: bool = False
    """Whether a match holds a long run of letters and digits (`LONG_RUN`), which most texts lack."""

    def find(self, text: str) -> Iterator[Span]:
        """Every place of the text that holds one."""
        for match in self._matches(text):
            group = _taken(match)
            if match[group] and (self.judge is None or self.judge(match, match[group])):
                start, end = match.span(group)
                yield Span(start, end - _closing(match[group]), self.kind)

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        """Give the matches, window by window; one that begins in a window may end behind it."""
        pattern = compiled(self.pattern)
        free = 0
        for start in range(0, len(text), WINDOW):
            stop = start + WINDOW
            for match in pattern.finditer(text, max(start, free), stop + self.longest):
                if match.start() >= stop:
                    break
                free = match.end()
                yield match


def _closing(value: str) -> int:
    """How many brackets at the end of a value close what was opened before it."""
    extra = 0
    for opening, closing in _BRACKETS:
        if value.endswith(closing):
            tail = len(value) - len(value.rstrip(closing))
            extra = max(extra, min(tail, value.count(closing) - value.count(opening)))
    return extra


def _taken(match: re.Match[str]) -> int:
    """The group that is taken out: ``secret`` where there is one, none where ``mark`` is, else the first that matched."""
    names = match.re.groupindex
    if "secret" in names or "mark" in names:
        return names.get("secret", 0)
    return next((number for number, found in enumerate(match.groups(), 1) if found), 0)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile once, when first needed: all of them together take a second."""
    return re.compile(pattern)


def entropy(text: str) -> float:
    """Return Shannon's entropy in bits a character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
