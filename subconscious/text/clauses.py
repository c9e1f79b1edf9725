"""Splits a statement into clauses, and each clause into tokens; the main clause comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

Token = tuple[str, bool]
"""A word as written, and whether it was in backquotes."""

_TOKEN = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<stop>[,;:()\n\u2013\u2014])"
    r"|(?P<word>[^\s,;()\[\]{}\"\u201c\u201d`]+)"
)
_HYPHENATED = re.compile(r"[a-z]{2,}(?:-[a-z]{2,})+", re.IGNORECASE)

AUXILIARY = frozenset("is are was were be been being do does did _must _may _neednot will get gets".split())
BE = frozenset("is are was were be been being get gets got".split())
ROLES = frozenset(
    "to from into onto as over under than in on at for with by via through before after until unless if because except"
    " without against".split()
)
PRONOUNS = frozenset("we i they he she you it".split())
DETERMINERS = frozenset("the a an our its this that these those my your".split())
OPENERS = DETERMINERS | PRONOUNS | {"every", "each", "all", "any", "no"}
SUBORDINATORS = frozenset("before after if unless until because".split())
_FRONTED = frozenset("because if unless until before after in on at for with without from by under".split())
_CONTINUED = (
    ROLES | DETERMINERS | AUXILIARY | {"of", "and", "or", "but", "not", "both", "all", "only", "even", "_instead"}
)
"""Words after which a determiner continues the phrase: "of the", "and the", "all the"."""


def split_clauses(text: str) -> list[list[Token]]:
    """Return the clauses of a text, each as tokens; a leading phrase or condition is moved after the main clause."""
    return _main_first(list(_parts(text)))


def _clauses(text: str) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for found in _TOKEN.finditer(text):
        if found["stop"]:
            yield clause
            clause = []
        elif found["code"]:
            clause.append((found["code"].strip("`"), True))
        else:
            clause += _split(found["word"].rstrip(".:'!?").lstrip("'\u2018"))
            if found["word"].endswith((".", ":", "!", "?")):
                yield clause
                clause = []
    yield clause


def _parts(text: str) -> Iterator[list[Token]]:
    """Yield the clauses; subordinate clauses and leading phrases are split off even if no comma separates them."""
    for clause in _clauses(text):
        lowered = ["`" if code else word.casefold() for word, code in clause]
        main = _main_clause(lowered)
        below = (index for index, word in enumerate(lowered) if index > main and word in SUBORDINATORS)
        begins = [0, *([main] if main else ()), *below]
        yield from (clause[begin:end] for begin, end in zip(begins, [*begins[1:], len(clause)], strict=True))


def _main_first(parts: list[list[Token]]) -> list[list[Token]]:
    """Return the clauses with a leading phrase or condition moved after the main clause."""
    opens = parts[0][0][0].casefold() if parts[0] and not parts[0][0][1] else ""
    if len(parts) < 2 or not parts[1] or opens not in _FRONTED or parts[1][0][0].casefold() in ("not", "then"):
        return parts
    if opens in SUBORDINATORS:
        return [parts[1], parts[0], *parts[2:]]
    return [parts[1] + parts[0], *parts[2:]]


def _main_clause(lowered: list[str]) -> int:
    """Return the index at which the main clause begins after a leading phrase ("in CI | the tests"), or 0."""
    if not lowered or lowered[0] not in ROLES - {"to"}:
        return 0
    subordinate = lowered[0] in SUBORDINATORS
    if lowered[0] == "because":
        return next((index for index, word in enumerate(lowered) if index > 1 and word in PRONOUNS), 0)
    for index in range(2, len(lowered) - 1):
        ends = not subordinate or not BE.isdisjoint(lowered[max(index - 3, 0) : index - 1])
        if lowered[index] in OPENERS and ends and ends_phrase(lowered[index - 1]):
            return index
    return 0


def ends_phrase(word: str) -> bool:
    """Whether a phrase may end with this word, so that a determiner after it starts another phrase."""
    return word not in _CONTINUED and not word.endswith("ing")


def _split(word: str) -> list[Token]:
    """Return the word as a token, or the parts of a hyphenated word: "read-only" becomes "read only"."""
    if _HYPHENATED.fullmatch(word):
        return [(part, False) for part in word.split("-")]
    return [(word, False)] if word else []
