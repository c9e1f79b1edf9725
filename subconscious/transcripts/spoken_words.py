"""An index of a transcript's tool output, code, commands and messages, to look up who said some words first.

A transcript only grows, and is searched after each of its turns. So the indexes of the last searched files are cached
and extended by new lines, instead of reading up to LOOKBACK bytes each time.
"""

from __future__ import annotations

import os
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

from subconscious.system.safe_files import open_regular
from subconscious.text import unspaced
from subconscious.text.code_prose import has_sentences, prose_lines
from subconscious.transcripts.lines import Head, read_head
from subconscious.transcripts.utterances import Source, Utterance, UtteranceReader

WINDOW = 60
"""The number of consecutive words of tool output, about a paragraph, in which a sentence's words are looked for."""

CLAIM = 30
"""The number of consecutive words of prose, about a code comment, in which a claim's words are looked for."""

COMMON = 10
"""Number of occurrences in a session's prose at which a word has half the weight."""

MAX_CACHED = 2
"""The maximum number of cached indexes: about as many sessions as one person runs at a time."""

LONGEST_SPAN = 6 << 20
"""The maximum number of bytes of a transcript that one index covers; for a larger span, a new index is made."""

Words = tuple[str, ...]

_NO_WORD = ""
"""Separates two utterances, so that no match spans both."""


class Span(NamedTuple):
    """The lines of a transcript that start at or after ``begin`` and before ``end``."""

    begin: int
    end: int


class SpokenWords:
    """The words of one transcript from an offset on, with their positions."""

    def __init__(self, head: Head, reader: UtteranceReader, begin: int = 0) -> None:
        self.head = head
        self.begin = begin
        self._reader = reader
        self._words: list[str] = []
        self._positions: dict[str, array[int]] = {}
        self._by_root: dict[str, list[str]] = {}
        # Parallel lists, one entry per utterance: index of its first word, start of its line, source, flags.
        self._first_words: list[int] = []
        self._starts: list[int] = []
        self._sources: list[Source] = []
        self._of_summary: list[bool] = []
        self._has_sentences: list[bool] = []

    @property
    def end(self) -> int:
        """The offset up to which the transcript was read."""
        return self._reader.position

    def extend(self, file: BinaryIO, end: int) -> None:
        """Add the transcript's next lines, up to the first one that starts at or after ``end``."""
        if self.end < end:
            for utterance in self._reader.read(file, end):
                self._add(utterance)

    def _add(self, utterance: Utterance) -> None:
        self._first_words.append(len(self._words))
        self._starts.append(utterance.start)
        self._sources.append(utterance.source)
        self._of_summary.append(utterance.of_summary)
        is_prose = utterance.source is Source.PROSE
        self._has_sentences.append(is_prose and has_sentences(utterance.text))
        text = prose_lines(utterance.text) if is_prose else utterance.text
        for position, word in enumerate(words_of(text), start=len(self._words)):
            positions = self._positions.get(word)
            if positions is None:
                positions = self._positions[word] = array("I")
                self._by_root.setdefault(root(word), []).append(word)
            positions.append(position)
            self._words.append(word)
        self._words.append(_NO_WORD)

    def first(self, run: Words, span: Span) -> dict[Source, int]:
        """Return the sources of a sequence of words in a span, each with the offset of its first line that has it."""
        found: dict[Source, int] = {}
        for at in self._found(run, span):
            number = self._utterance_at(at)
            found.setdefault(self._source(number, span), self._starts[number])
            if len(found) == len(Source):
                break
        return found

    def _found(self, run: Words, span: Span) -> Iterator[int]:
        """Yield the positions of a sequence of words, searched by its rarest word."""
        if any(word not in self._positions for word in run):
            return
        offset = min(range(len(run)), key=lambda at: len(self._positions[run[at]]))
        wanted, size = list(run), len(run)
        for at in self._within(self._positions[run[offset]], span):
            if at >= offset and self._words[at - offset : at - offset + size] == wanted:
                yield at

    def shares(self, sentence: frozenset[str], span: Span) -> list[tuple[int, float]]:
        """Return the offsets of lines of tool output, each with the largest share of a sentence's words in a window.

        ``sentence`` contains the roots of the sentence's words. Lines without any of these words are left out.
        """
        occurrences = sorted(
            (at, one)
            for one in sentence
            for word in self._by_root.get(one, ())
            for at in self._within(self._positions[word], span)
        )
        return [
            (self._starts[number], _most(list(group)) / len(sentence))
            for number, group in groupby(occurrences, lambda item: self._utterance_at(item[0]))
            if self._source(number, span) is Source.TOOL
        ]

    def claims(self, claim: frozenset[str], span: Span) -> list[tuple[int, float]]:
        """Return the offsets of lines of prose, each with the largest weighted share of a claim's words in a window.

        ``claim`` contains the roots of the claim's words. Lines without any of these words are left out. Words that are
        frequent in the prose have a low weight. In languages without spaces between words, words are pairs of letters,
        so the window is extended to the number of pairs in the claim.
        """
        window = max(CLAIM, sum(map(unspaced.is_unspaced, claim)))
        occurrences = sorted(
            (at, number, one)
            for one in claim
            for word in self._by_root.get(one, ())
            for at in self._within(self._positions[word], span)
            if self._source(number := self._utterance_at(at), span) is Source.PROSE
        )
        counts = Counter(one for _, _, one in occurrences)
        weights = {one: 1 / (1 + counts[one] / COMMON) for one in claim}
        whole = sum(weights.values())
        return [
            (self._starts[number], _heaviest([(at, one) for at, _, one in group], weights, window) / whole)
            for number, group in groupby(occurrences, lambda item: item[1])
        ]

    def spoke(self, span: Span) -> list[tuple[int, bool | None]]:
        """Return the offsets of the user messages and tool outputs in a span, in order.

        Each tool output comes with whether it contains a sentence, each user message with None.
        """
        first, last = bisect_left(self._starts, span.begin), bisect_left(self._starts, span.end)
        return [
            (self._starts[number], None if self._sources[number] is Source.PERSON else self._has_sentences[number])
            for number in range(first, last)
            if self._sources[number] in (Source.PERSON, Source.PROSE)
        ]

    def _source(self, number: int, span: Span) -> Source:
        """Return an utterance's source.

        A summary counts as the assistant's words if the span contains all lines that it summarizes.
        """
        return Source.AFTER_TOOL if self._of_summary[number] and span.begin == 0 else self._sources[number]

    def _within(self, positions: array[int], span: Span) -> Iterable[int]:
        return positions[
            bisect_left(positions, self._limit(span.begin)) : bisect_left(positions, self._limit(span.end))
        ]

    def _limit(self, offset: int) -> int:
        """Return the index in ``_words`` of the first word said at or after a byte offset of the transcript."""
        number = bisect_left(self._starts, offset)
        return self._first_words[number] if number < len(self._first_words) else len(self._words)

    def _utterance_at(self, position: int) -> int:
        return bisect_right(self._first_words, position) - 1


def _most(occurrences: Sequence[tuple[int, str]]) -> int:
    """Return the highest number of different words within one window."""
    most, begin = 0, 0
    counts: Counter[str] = Counter()
    for at, one in occurrences:
        counts[one] += 1
        while at - occurrences[begin][0] >= WINDOW:
            left = occurrences[begin][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            begin += 1
        most = max(most, len(counts))
    return most


def _heaviest(occurrences: Sequence[tuple[int, str]], weights: Mapping[str, float], window: int) -> float:
    """Return the highest total weight of different words within one window of a claim."""
    most, weight, begin = 0.0, 0.0, 0
    counts: Counter[str] = Counter()
    for at, one in occurrences:
        weight += 0.0 if counts[one] else weights[one]
        counts[one] += 1
        while at - occurrences[begin][0] >= window:
            left = occurrences[begin][1]
            counts[left] -= 1
            weight -= 0.0 if counts[left] else weights[left]
            begin += 1
        most = max(most, weight)
    return most


class _IndexCache:
    """A cache of the indexes of the last searched transcripts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._indexes: OrderedDict[Path, SpokenWords] = OrderedDict()

    @contextmanager
    def of(self, path: Path, span: Span) -> Iterator[SpokenWords]:
        """Yield an index that covers a span of a file; an empty one if the file is unreadable."""
        with self._lock:  # two threads may search the same file, and extending an index changes it
            yield self._opened(path, span)

    def _opened(self, path: Path, span: Span) -> SpokenWords:
        known = self._indexes.pop(path, None)
        try:
            with open_regular(path) as file:
                inode = os.fstat(file.fileno()).st_ino
                if known is None or not _covers(known, span) or not _is_of(known, file, inode):
                    known = SpokenWords(
                        read_head(file, inode), UtteranceReader.starting_at(file, span.begin), span.begin
                    )
                known.extend(file, span.end)
        except OSError:
            return SpokenWords(Head(0, 0, ""), UtteranceReader(0))
        self._store(path, known)
        return known

    def _store(self, path: Path, index: SpokenWords) -> None:
        self._indexes[path] = index
        while len(self._indexes) > MAX_CACHED:
            self._indexes.popitem(last=False)

    def clear(self) -> None:
        """Drop all indexes."""
        with self._lock:
            self._indexes.clear()


def _covers(index: SpokenWords, span: Span) -> bool:
    """Whether an index covers a span, or can be extended to cover it, without a gap and without becoming too large."""
    return index.begin <= span.begin <= index.end and span.end - index.begin <= LONGEST_SPAN


def _is_of(index: SpokenWords, file: BinaryIO, inode: int) -> bool:
    """Whether a file is the indexed file, and has not been truncated after indexing."""
    longer = os.fstat(file.fileno()).st_size >= index.end
    return longer and read_head(file, inode, index.head.length) == index.head


_cache = _IndexCache()
spoken_words = _cache.of
forget = _cache.clear


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """Return a word without common endings: enough to see whether two texts share it."""
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.removesuffix("e")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case; pairs of letters if it has no spaces between words."""
    return unspaced.split(text.lower())
