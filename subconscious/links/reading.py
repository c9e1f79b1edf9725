"""A memory as it is compared with another: its terms and what each is worth, what it names, when it was said. Pure.

No corpus is counted: a word is worth what its place in the embedder's vocabulary says, which is in order of frequency.
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
"""Characters of a text that are read."""

FIRST_WORD = 1996
"""The vocabulary's most frequent word; before it stand signs and letters."""

EMPTY = 150
"""So many of the most frequent words say nothing."""

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
    """What is known of a memory where links are looked for; ``time`` None where nobody knows when it was said."""

    title: str
    text: str
    time: float | None = None
    kind: str = ""
    files: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and its terms."""

    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A note, read once for all the neighbours that it is compared with."""

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
    """Read a note."""
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
    """The sentences of a text, lines counting as such."""
    for part in _SENTENCE.split(text):
        if part.strip():
            yield Sentence(part.strip(), frozenset(term for term in stems(part) if worth(term)))


def stems(text: str) -> Iterator[str]:
    """The words of a text without their commonest endings, those of camelCase also apart; "" where a clause ends."""
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
    """A word without its commonest English endings: enough to see that two texts share it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 - (len(ending) < 3):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


@lru_cache(maxsize=50_000)
def worth(term: str) -> float:
    """What it says that two texts share a term: 0 for the commonest words, 1 for what the vocabulary does not have."""
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
