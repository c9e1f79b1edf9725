"""Words that a query may have misspelled: those that no memory has, and the nearest word that one has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

SHORTEST = 5
"""Letters of a word that is corrected at least: one letter off, a shorter one is often another word."""

LONG = 9
"""Letters from which on two mistakes are forgiven."""

MOST = 3
"""Words of one query that are corrected."""

_WORD = re.compile(r"[^\W\d_]+")


def is_correctable(word: str) -> bool:
    """Whether a word is plain and long enough: a number or an identifier means exactly what it says."""
    return len(word) >= SHORTEST and _WORD.fullmatch(word) is not None


def words_used(texts: Iterable[str]) -> Counter[str]:
    """Return how often the words of some texts occur that a query could mean. CPU-bound: run it in a thread."""
    found = (word for text in texts for word in _WORD.findall(text.casefold()))
    return Counter(word for word in found if len(word) >= SHORTEST - 1)


def nearest(word: str, used: Mapping[str, int]) -> str:
    """Return the used word that differs by the fewest letters, the most frequent of them; "" if all differ by more."""
    most = 2 if len(word) >= LONG else 1
    near = (
        (mistakes, -count, other)
        for other, count in used.items()
        if abs(len(other) - len(word)) <= most and (mistakes := distance(word, other, most)) <= most
    )
    return min(near, default=(0, 0, ""))[2]


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters are missing, added, wrong or swapped; a number beyond ``most`` may be too small."""
    if len((Counter(one) - Counter(other)).keys()) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        last, before, row = before, row, [at]
        for place, sign in enumerate(other, start=1):
            cost = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != sign))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == sign:
                cost = min(cost, last[place - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
