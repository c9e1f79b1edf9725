"""An index of the words that a transcript's tools and people said, to look up who said something first.

A transcript is only ever appended to, and it is asked about after each of its turns. So the index of the files that
were asked about last is kept and extended by the new lines, instead of reading up to LOOKBACK bytes again every time.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import BinaryIO, NamedTuple

from subconscious.safe_files import open_regular
from subconscious.text.code_prose import has_sentences, worded
from subconscious.transcripts.heard import Heard, Listener, Saying
from subconscious.transcripts.lines import Head, read_head

WINDOW = 60
"""Words of a tool in one place, about a paragraph, that a sentence may retell."""

CLAIM = 30
"""Words of prose in one place, about a comment, that a claim may come from."""

COMMON = 10
"""How often a session's prose has a word that counts half as a sign of where a claim came from."""

KEPT = 2
"""Transcripts whose index is kept: about as many sessions as one person runs at a time."""

LONGEST_SPAN = 6 << 20
"""Bytes of a transcript that one index covers at most; beyond, it begins anew where it is needed."""

Words = tuple[str, ...]

_WORD = re.compile(r"\w+")
_NO_WORD = ""
"""Separates two utterances, so that no run of words spans both."""


class Span(NamedTuple):
    """The lines of a transcript that start at ``begin`` or behind it, and before ``end``."""

    begin: int
    end: int


class SpokenWords:
    """The words of one transcript from an offset on, with their positions."""

    def __init__(self, head: Head, listener: Listener, begin: int = 0) -> None:
        self.head = head
        self.begin = begin
        self._listener = listener
        self._words: list[str] = []
        self._positions: dict[str, array[int]] = {}
        self._by_root: dict[str, list[str]] = {}
        # One entry a saying: where its words begin, where its line starts, whose it is.
        self._first_words: list[int] = []
        self._starts: list[int] = []
        self._by: list[Heard] = []
        self._has_sentences: list[bool] = []

    @property
    def end(self) -> int:
        """The offset up to which the transcript was read."""
        return self._listener.position

    def extend(self, file: BinaryIO, end: int) -> None:
        """Add the lines that start before an offset."""
        if self.end < end:
            for saying in self._listener.listen(file, end):
                self._add(saying)

    def _add(self, saying: Saying) -> None:
        self._first_words.append(len(self._words))
        self._starts.append(saying.start)
        self._by.append(saying.by)
        is_prose = saying.by is Heard.PROSE
        self._has_sentences.append(is_prose and has_sentences(saying.text))
        text = worded(saying.text) if is_prose else saying.text
        for at, word in enumerate(words_of(text), start=len(self._words)):
            positions = self._positions.get(word)
            if positions is None:
                positions = self._positions[word] = array("I")
                self._by_root.setdefault(root(word), []).append(word)
            positions.append(at)
            self._words.append(word)
        self._words.append(_NO_WORD)

    def first(self, run: Words, span: Span) -> dict[Heard, int]:
        """Return who said a run of words within a span, each with the start of the first line where they did."""
        found: dict[Heard, int] = {}
        for at in self._found(run, span):
            number = self._saying_at(at)
            found.setdefault(self._by[number], self._starts[number])
            if len(found) == len(Heard):
                break
        return found

    def _found(self, run: Words, span: Span) -> Iterator[int]:
        """Return the positions of a run of words, searched by its rarest word."""
        if any(word not in self._positions for word in run):
            return
        offset = min(range(len(run)), key=lambda at: len(self._positions[run[at]]))
        wanted, size = list(run), len(run)
        for at in self._within(self._positions[run[offset]], span):
            if at >= offset and self._words[at - offset : at - offset + size] == wanted:
                yield at

    def shares(self, sentence: frozenset[str], span: Span) -> list[tuple[int, float]]:
        """Return, for each tool's saying with words of a sentence, its line's start and the share within one window.

        ``sentence`` holds the roots of its words.
        """
        said = sorted(
            (at, one)
            for one in sentence
            for word in self._by_root.get(one, ())
            for at in self._within(self._positions[word], span)
        )
        return [
            (self._starts[number], _most(list(places)) / len(sentence))
            for number, places in groupby(said, lambda place: self._saying_at(place[0]))
            if self._by[number] is Heard.TOOL
        ]

    def claims(self, claim: frozenset[str], span: Span) -> list[tuple[int, float]]:
        """Return, for each prose saying with words of a claim, its line's start and its share in one place.

        ``claim`` holds the roots of its words. A word that the prose has often counts little.
        """
        said = sorted(
            (at, number, one)
            for one in claim
            for word in self._by_root.get(one, ())
            for at in self._within(self._positions[word], span)
            if self._by[number := self._saying_at(at)] is Heard.PROSE
        )
        counts = Counter(one for _, _, one in said)
        weights = {one: 1 / (1 + counts[one] / COMMON) for one in claim}
        whole = sum(weights.values())
        return [
            (self._starts[number], _heaviest([(at, one) for at, _, one in places], weights) / whole)
            for number, places in groupby(said, lambda place: place[1])
        ]

    def spoke(self, span: Span) -> list[tuple[int, bool | None]]:
        """Return where a person spoke (None), or a tool, and whether that said a sentence; in their order."""
        first, last = bisect_left(self._starts, span.begin), bisect_left(self._starts, span.end)
        return [
            (self._starts[number], None if self._by[number] is Heard.PERSON else self._has_sentences[number])
            for number in range(first, last)
            if self._by[number] in (Heard.PERSON, Heard.PROSE)
        ]

    def _within(self, positions: array[int], span: Span) -> Iterable[int]:
        return positions[
            bisect_left(positions, self._limit(span.begin)) : bisect_left(positions, self._limit(span.end))
        ]

    def _limit(self, offset: int) -> int:
        """Return the position of the first word that was said at an offset of the transcript or behind it."""
        number = bisect_left(self._starts, offset)
        return self._first_words[number] if number < len(self._first_words) else len(self._words)

    def _saying_at(self, position: int) -> int:
        return bisect_right(self._first_words, position) - 1


def _most(said: Sequence[tuple[int, str]]) -> int:
    """Return the highest number of different words within one window."""
    most, begin = 0, 0
    counts: Counter[str] = Counter()
    for at, one in said:
        counts[one] += 1
        while at - said[begin][0] >= WINDOW:
            left = said[begin][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            begin += 1
        most = max(most, len(counts))
    return most


def _heaviest(said: Sequence[tuple[int, str]], weights: Mapping[str, float]) -> float:
    """Return the highest total weight of different words within the length of one claim."""
    most, weight, begin = 0.0, 0.0, 0
    counts: Counter[str] = Counter()
    for at, one in said:
        weight += 0.0 if counts[one] else weights[one]
        counts[one] += 1
        while at - said[begin][0] >= CLAIM:
            left = said[begin][1]
            counts[left] -= 1
            weight -= 0.0 if counts[left] else weights[left]
            begin += 1
        most = max(most, weight)
    return most


class _Kept:
    """The indexes of the transcripts that were asked about last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._indexes: OrderedDict[Path, SpokenWords] = OrderedDict()

    @contextmanager
    def of(self, path: Path, span: Span) -> Iterator[SpokenWords]:
        """Return the index of a file that covers a span; an empty one for an unreadable file."""
        with self._lock:  # two threads may ask about the same file, and an index is changed while it is extended
            yield self._opened(path, span)

    def _opened(self, path: Path, span: Span) -> SpokenWords:
        known = self._indexes.pop(path, None)
        try:
            with open_regular(path) as file:
                inode = os.fstat(file.fileno()).st_ino
                if known is None or not _covers(known, span) or not _is_of(known, file, inode):
                    known = SpokenWords(read_head(file, inode), Listener.behind(file, span.begin), span.begin)
                known.extend(file, span.end)
        except OSError:
            return SpokenWords(Head(0, 0, ""), Listener(0))
        self._keep(path, known)
        return known

    def _keep(self, path: Path, index: SpokenWords) -> None:
        self._indexes[path] = index
        while len(self._indexes) > KEPT:
            self._indexes.popitem(last=False)

    def clear(self) -> None:
        """Drop all indexes."""
        with self._lock:
            self._indexes.clear()


def _covers(index: SpokenWords, span: Span) -> bool:
    """Whether an index can be extended to a span without a gap, and without growing too large."""
    return index.begin <= span.begin <= index.end and span.end - index.begin <= LONGEST_SPAN


def _is_of(index: SpokenWords, file: BinaryIO, inode: int) -> bool:
    """Whether a file is the one that was indexed, and has not become shorter since."""
    longer = os.fstat(file.fileno()).st_size >= index.end
    return longer and read_head(file, inode, index.head.length) == index.head


_kept = _Kept()
spoken_words = _kept.of
forget = _kept.clear


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """Return a word without its commonest endings: enough to see that two texts share it."""
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.removesuffix("e")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())
