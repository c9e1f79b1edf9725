"""A rule for one kind of secret: hints, one of which a text must contain; a pattern; a final test of each match."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

WINDOW = 16_000
"""The most characters that are searched in one call: ``re`` blocks all other threads until a call returns."""

LONGEST_MATCH = 5_000
"""The default for the longest match of a rule, in characters."""


LONG_RUN = re.compile(r"[A-Za-z0-9_-]{24}")
"""A pattern that is tested once per text: rules with ``needs_run`` are tried only if it matches."""

_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


class Span(NamedTuple):
    """The span of a finding in a text, and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for a kind of secret: its pattern is compiled and tried only if the text contains a hint (in lower case).

    ``judge`` returns whether a match, with its value, is a secret; None accepts every match. ``longest`` must be more
    than the length of the pattern's longest match.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    judge: Callable[[re.Match[str], str], bool] | None = None
    longest: int = LONGEST_MATCH
    needs_run: bool = False
    """Whether a match needs a long run of letters and digits (`LONG_RUN`), which most texts lack."""

    def find(self, text: str) -> Iterator[Span]:
        """Yield every match of the rule in a text."""
        for match in self._matches(text):
            group = _secret_group(match)
            if match[group] and (self.judge is None or self.judge(match, match[group])):
                # Without the punctuation after it, the value is recognised in other texts.
                value = match[group].rstrip(".,;:") or match[group]
                start = match.start(group)
                yield Span(start, start + len(value) - _closing(value), self.kind)

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches, window by window; a match may continue after the end of its window."""
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
    """Return the number of brackets at the end of a value that close brackets opened before the value."""
    extra = 0
    for opening, closing in _BRACKETS:
        if value.endswith(closing):
            tail = len(value) - len(value.rstrip(closing))
            extra = max(extra, min(tail, value.count(closing) - value.count(opening)))
    return extra


def _secret_group(match: re.Match[str]) -> int:
    """Return the number of the group to redact.

    It is the group ``secret`` if the pattern has one, the whole match (0) if the pattern has a group ``mark``, else the
    first group that matched.
    """
    names = match.re.groupindex
    if "secret" in names or "mark" in names:
        return names.get("secret", 0)
    return next((number for number, found in enumerate(match.groups(), 1) if found), 0)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled when it is first needed: compiling all patterns takes a second."""
    return re.compile(pattern)


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text, in bits per character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
