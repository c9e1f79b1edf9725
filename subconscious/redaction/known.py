"""Recognises secrets that were found before: by value in the same text, and by hash in other texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from urllib.parse import unquote_plus

from . import encoded
from .plausible import is_distinct, is_repeatable
from .rule import Span

KIND = "known secret"
SHORTEST, LONGEST = 8, 200
"""The shortest and the longest value, in characters, that is recognised by its hash."""

MOST_VALUES = 100
"""The maximum number of different values found in a text whose further occurrences are searched for."""

MOST_BOUNDS = 16
"""The most groups of quotes or punctuation, in one run without whitespace, beside which a value may begin or end."""

MOST_SIGNS = 4
"""The most characters of such a group that are examined for ``_SIGNS``, which may belong to the value."""

_SIGNS = frozenset("!?*&@=")
"""Punctuation with which passwords begin or end."""

_RUN = re.compile(rf"\S{{{SHORTEST},400}}+")
_BOUND = re.compile(r"""["'`<>(){}\[\],;|\\=:@/&?.!*]{1,400}+""")


def repetitions(text: str, found: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """Yield every occurrence of the values (with their kinds) found in a text, plain and in base64."""
    values = {value: kind for value, kind in found if is_repeatable(value)}
    for value, kind in list(values.items())[:MOST_VALUES]:
        for spelling in (value, *encoded.spellings(value)):
            yield from _places(text, spelling, kind)


def _places(text: str, value: str, kind: str) -> Iterator[Span]:
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not (_joins(text, at, value[0]) or _joins(text, end + 1, value[-1])):
            yield Span(at, end, kind)
        at = text.find(value, end)


def _joins(text: str, behind: int, edge: str) -> bool:
    """Whether ``edge``, a value's first or last character, is in one word with the character at ``behind - 1``."""
    return edge.isalnum() and 0 < behind <= len(text) and text[behind - 1].isalnum()


_URL_PART = re.compile(r"""[^"'`<>()\[\],;|\\=:@/&?]{8,400}+""")
"""The parts of a URL, each of which may be a percent-encoded value."""


class KnownSecrets:
    """The hashes and lengths of known secrets, never their values. Values that could be plain words are left out."""

    def __init__(self) -> None:
        self._by_length: defaultdict[int, set[str]] = defaultdict(set)
        self._last_generation = 0
        self.generation = 0

    def load(self, known: Iterable[tuple[int, str]]) -> None:
        """Add values that were found earlier, as pairs of length and hash, so that they are recognised."""
        for length, digest in known:
            if SHORTEST <= length <= LONGEST:
                self._by_length[length].add(digest)

    def add(self, length: int, digest: str) -> None:
        """Add a value by its length and hash, so that it is recognised from now on."""
        if SHORTEST <= length <= LONGEST and digest not in self._by_length[length]:
            self._by_length[length].add(digest)
            self.generation += 1

    def pop_changed(self) -> bool:
        """Return whether a value has been added since the last call."""
        last, self._last_generation = self._last_generation, self.generation
        return last != self._last_generation

    def find(self, text: str, digest: Callable[[str], str]) -> Iterator[Span]:
        """Yield every occurrence of a known value between whitespace, quotes or punctuation."""
        lengths = {length for length in list(self._by_length) if self._by_length[length]}
        for run in _RUN.finditer(text) if lengths else ():
            yield from self._find_quoted(run, digest)
            for start, end in _pieces(run[0], lengths):
                value = run[0][start:end]
                if is_distinct(value) and digest(value) in self._by_length[end - start]:
                    yield Span(run.start() + start, run.start() + end, KIND)

    def _find_quoted(self, run: re.Match[str], digest: Callable[[str], str]) -> Iterator[Span]:
        """Yield every occurrence of a known value in percent-encoded form, as in a URL."""
        for part in _URL_PART.finditer(run[0]) if "%" in run[0] else ():
            value = unquote_plus(part[0])
            known = self._by_length.get(len(value), ())
            if known and value != part[0] and is_distinct(value) and digest(value) in known:
                yield Span(run.start() + part.start(), run.start() + part.end(), KIND)


def _pieces(run: str, lengths: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a run that begin and end at boundaries and have one of the lengths."""
    bounds = [bound.span() for bound in _BOUND.finditer(run)][:MOST_BOUNDS]
    edges = {place for span in bounds for place in span}
    inside = {place for start, end in bounds for place in range(start + 1, min(end, start + MOST_SIGNS))}
    starts = {0, *edges, *(place for place in inside if run[place] in _SIGNS)}
    ends = {len(run), *edges, *(place for place in inside if run[place - 1] in _SIGNS)}
    yield from ((start, end) for start in starts for end in ends if end - start in lengths)
