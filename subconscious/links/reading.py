"""Prepares a memory for comparison with others: its weighted terms, identifiers, numbers and sentences. Pure.

The weight of a word comes from its rank in the embedder's vocabulary, which is ordered by frequency.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from subconscious.embeddings.wordpiece import vocabulary

LETTERS = 6000
"""The most characters of a text that are read."""

FIRST_WORD = 1996
"""The index of the vocabulary's most frequent word; punctuation and single letters come before it."""

EMPTY = 150
"""How many of the most frequent words have the weight zero."""

_TOKEN = re.compile(r"[^\W\d_][^\W_]*|\d+(?:\.\d+)*|[.;:!?\n]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_NAME = re.compile(r"[A-Za-z]\w{0,80}(?:[._/:-]+\w+)+|\b(?>\w*?[a-z])\w*[A-Z]\w*|\b\w+_\w+|\b[A-Z]{2,}\w*\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*")
_URL = re.compile(r"https?://\S+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ments", "ment", "ed", "es", "s", "ly")


@dataclass(frozen=True, slots=True)
class Note:
    """The parts of a memory that the rules compare; ``time`` is when it was stated, None if unknown."""

    title: str
    text: str
    time: float | None = None
    kind: str = ""
    files: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a memory, and the sentence's terms."""

    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A memory prepared for comparison, so that its text is parsed once and not for each comparison."""

    note: Note
    words: int
    title: Mapping[str, float] = field(repr=False)
    counts: Mapping[str, int] = field(repr=False)
    terms: Mapping[str, float] = field(repr=False)
    length: float
    pairs: frozenset[str] = field(repr=False)
    title_pairs: frozenset[str] = field(repr=False)
    names: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    sentences: tuple[Sentence, ...] = field(repr=False)


def read(note: Note) -> Reading:
    """Return a memory prepared for comparison."""
    body = note.text if note.text.startswith(note.title.rstrip(".\u2026")) else f"{note.title}\n{note.text}"
    body = _URL.sub(" ", body[:LETTERS])
    tokens = list(stems(body))
    counts = Counter(token for token in tokens if token)
    terms = {term: (1 + math.log(count)) * worth(term) for term, count in counts.items() if worth(term)}
    titled = list(stems(note.title))
    return Reading(
        note=note,
        words=len(body.split()),
        title={term: worth(term) for term in set(titled) if worth(term)},
        counts=counts,
        terms=terms,
        length=math.sqrt(sum(weight * weight for weight in terms.values())) or 1.0,
        pairs=frozenset(_neighbours(tokens, 0.25)),
        title_pairs=frozenset(_neighbours(titled, 0.1)),
        names=frozenset(name.casefold() for name in _NAME.findall(body)),
        numbers=frozenset(_NUMBER.findall(body)),
        sentences=tuple(sentences(body)),
    )


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text; a line break ends a sentence."""
    for part in _SENTENCE.split(text):
        if part.strip():
            yield Sentence(part.strip(), frozenset(term for term in stems(part) if worth(term)))


def stems(text: str) -> Iterator[str]:
    """Yield the stems of the words in a text, and of the parts of camelCase words; yield "" where a clause ends."""
    for token in _TOKEN.findall(text):
        if not token[0].isalnum():
            yield ""
            continue
        yield stem(token.casefold())
        if _MIXED.search(token):
            yield from (stem(part.casefold()) for part in _PART.findall(token) if len(part) > 1)


def _neighbours(tokens: list[str], least: float) -> Iterator[str]:
    for left, right in pairwise(tokens):
        if left and right and worth(left) > least and worth(right) > least:
            yield f"{left} {right}"


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without a common English ending, so that most forms of one word become equal."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 - (len(ending) < 3):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


@lru_cache(maxsize=50_000)
def worth(term: str) -> float:
    """Return the weight of a term, 0 to 1: 0 for the most common words, 1 for words that the vocabulary lacks."""
    if len(term) < 2:
        return 0.0
    rank = _ranks().get(term)
    if rank is None:
        return 1.0
    return math.log(rank / EMPTY) / math.log(len(vocabulary()) / EMPTY) if rank > EMPTY else 0.0


@cache
def _ranks() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for rank, word in enumerate(vocabulary()[FIRST_WORD:]):
        if word.isalpha():
            found.setdefault(stem(word), rank)
    return found
