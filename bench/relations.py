"""Written pairs of statements (bench/data/relations): how the second one relates to the first.

A file is a list of blocks. The line ``o`` is the earlier statement, and each line below it a possible later one: ``=``
has the same meaning, ``>`` replaces it without mentioning a change, ``!`` replaces it and mentions the change, ``x``
only ends it, ``~`` is a look-alike without a relation. Further pairs derive from a block: two statements with the
meaning of a third have the same meaning.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

DATA = Path(__file__).parent / "data" / "relations"
MARKS = "o=>!x~"
SAME, REPLACES, ENDS, NEITHER, APART = "same", "replaces", "ends", "neither", "apart"
"""The relation of a new statement to an old one; ``apart``: not the same, and nothing else is labelled."""

SORTS = {"=": SAME, ">": REPLACES, "!": REPLACES, "x": ENDS, "~": NEITHER}
FOLLOWS = {
    ("o", "="): SAME,
    ("=", "="): SAME,
    (">", "="): REPLACES,
    ("!", "="): REPLACES,
    ("x", "="): ENDS,
    ("o", ">"): REPLACES,
    ("=", ">"): REPLACES,
    ("~", "="): NEITHER,
    ("o", "~"): NEITHER,
    ("=", "~"): NEITHER,
    (">", "~"): NEITHER,
    ("!", "~"): NEITHER,
    ("~", "~"): NEITHER,
    ("~", ">"): NEITHER,
}
"""The relations that derive for other pairs of a block, by the marks of the later and the earlier line."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A new statement and an old one. ``mark`` is that of the written line; empty for a derived pair."""

    new: str
    old: str
    sort: str
    block: str
    mark: str = ""


def blocks(folder: Path = DATA) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each block's name and its lines with their marks."""
    for file in sorted(folder.glob("*.txt")):
        for at, block in enumerate(file.read_text().split("\n\n")):
            lines = [(line[0], line[2:]) for line in block.splitlines() if line and not line.startswith("#")]
            if lines and (lines[0][0] != "o" or any(mark not in MARKS for mark, _ in lines)):
                raise ValueError(f"{file.name}: {lines[0][1]!r} begins no block")
            if lines:
                yield f"{file.stem}{at}", lines


def written(folder: Path = DATA) -> Iterator[Pair]:
    """Return the written pairs: each line with the first one of its block."""
    for name, lines in blocks(folder):
        yield from (Pair(text, lines[0][1], SORTS[mark], name, mark) for mark, text in lines[1:])


def implied(folder: Path = DATA) -> Iterator[Pair]:
    """Return the pairs that derive from them within a block."""
    for name, lines in blocks(folder):
        for (mark, text), (other, old) in permutations(lines, 2):
            if (mark, other) in FOLLOWS:
                yield Pair(text, old, FOLLOWS[mark, other], name)


def across(count: int, folder: Path = DATA) -> Iterator[Pair]:
    """Return random pairs of statements about different things."""
    chance = random.Random(0)
    found = list(blocks(folder))
    for _ in range(count):
        (one, lines), (_, others) = chance.sample(found, 2)
        yield Pair(chance.choice(lines)[1], chance.choice(others)[1], NEITHER, one)
