"""Parses a statement for comparison: the words with their roles, the numbers, and the conditions and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from subconscious.text.clause_reader import Builder, Mark, Passive, Word, read_clause, weighs
from subconscious.text.clauses import split_clauses
from subconscious.text.rewrites import rewrite


@dataclass(frozen=True, slots=True)
class Statement:
    """The parts of a statement that are compared."""

    words: tuple[Word, ...]
    numbers: frozenset[str]
    marks: frozenset[Mark]
    imperative: bool
    names_object: bool
    passives: tuple[Passive, ...]
    only: str
    copula: bool
    """Whether the statement has a form of "be" that is followed by a description."""
    of: frozenset[tuple[str, str]]
    """Pairs of the keys of the words on the left and on the right of each "of"."""
    by_key: Mapping[str, Sequence[Word]]
    heavy: frozenset[str]
    """The keys of the words that a paraphrase must contain."""
    keys: frozenset[str]


LETTERS = 1000
"""The maximum number of characters of a statement that are compared; stored statements are shorter."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Statement:
    """Return the parts of a statement."""
    builder = Builder()
    text = text[:LETTERS]
    if text.rstrip().endswith("?"):
        builder.marks.add(("modality", "question"))
    if text.isupper() and " " in text.strip():
        text = text.casefold()  # in a text all in capitals, a capital does not mark a name
    text = rewrite(text)
    negated = False
    for clause in split_clauses(text):
        negated = read_clause(clause, builder, negated)
    words = _in_order(builder)
    by_key: dict[str, list[Word]] = {}
    for word in words:
        by_key.setdefault(word.key, []).append(word)
    return Statement(
        words,
        frozenset(builder.numbers),
        frozenset(builder.marks),
        builder.imperative,
        builder.names_object,
        tuple(builder.passives),
        builder.only,
        builder.copula and not builder.passives,
        frozenset(builder.of),
        by_key,
        frozenset(key for key, of_key in by_key.items() if weighs(of_key[0])),
        frozenset(by_key),
    )


def _in_order(builder: Builder) -> tuple[Word, ...]:
    """Return the words in text order. In "B after A", each word gets the role that it has in "A before B"."""
    roles = {word.role for word in builder.words}
    if "after" not in roles or "before" in roles:
        return tuple(builder.words)
    turned = {"after": "", "": "before"}
    return tuple(replace(word, role=turned.get(word.role, word.role)) for word in builder.words)
