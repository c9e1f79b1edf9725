"""Counts the letters in which two words differ, and lists common misspellings of a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator


def distance(one: str, other: str, most: int) -> int:
    """Return the number of missing, added, wrong or swapped letters; a result above ``most`` is not exact."""
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


def slips(word: str) -> Iterator[str]:
    """Yield misspellings of a word: with two letters swapped, or with an inner letter missing or doubled."""
    for at in range(1, len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        yield word[: at + 1] + word[at:]
    yield from (word[:at] + word[at + 1 :] for at in range(1, len(word) - 1) if len(word) > 5)
