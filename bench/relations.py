"""The written pairs of statements (bench/data/relations): what the second of two says about the first.

A file is a list of blocks. ``o`` is what was said first, each line below it what may be said later: ``=`` says the
same, ``>`` says otherwise and no word tells of a change, ``!`` says otherwise and a word does, ``x`` says only that it
is over, ``~`` does neither. More pairs follow from a block: two that say the same as a third say the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

DATA = Path(__file__).parent / "data" / "relations"
MARKS = "o=>!x~"
SAME, REPLACES, NEITHER, APART = "same", "replaces", "neither", "apart"
"""What a new statement does to an old one; ``apart``: it does not say the same, and nobody noted more."""

SORTS = {"=": SAME, ">": REPLACES, "!": REPLACES, "x": REPLACES, "~": NEITHER}
FOLLOWS = {
    ("o", "="): SAME,
    ("=", "="): SAME,
    (">", "="): REPLACES,
    ("!", "="): REPLACES,
    ("x", "="): REPLACES,
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
"""What follows for other pairs of a block, the later line first."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A new statement and an old one. ``mark`` is the written line's; empty where the pair follows."""

    new: str
    old: str
    sort: str
    block: str
    mark: str = ""


def blocks(folder: Path = DATA) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Give each block's name and its lines with their marks."""
    for file in sorted(folder.glob("*.txt")):
        for at, block in enumerate(file.read_text().split("\n\n")):
            lines = [(line[0], line[2:]) for line in block.splitlines() if line and not line.startswith("#")]
            if lines and (lines[0][0] != "o" or any(mark not in MARKS for mark, _ in lines)):
                raise ValueError(f"{file.name}: {lines[0][1]!r} begins no block")
            if lines:
                yield f"{file.stem}{at}", lines


def written(folder: Path = DATA) -> Iterator[Pair]:
    """Give the pairs as they were written: each line with its block's first."""
    for name, lines in blocks(folder):
        yield from (Pair(text, lines[0][1], SORTS[mark], name, mark) for mark, text in lines[1:])


def implied(folder: Path = DATA) -> Iterator[Pair]:
    """Give what follows from them within a block."""
    for name, lines in blocks(folder):
        for (mark, text), (other, old) in permutations(lines, 2):
            if (mark, other) in FOLLOWS:
                yield Pair(text, old, FOLLOWS[mark, other], name)


def across(count: int, folder: Path = DATA) -> Iterator[Pair]:
    """Give pairs of statements about different things, by chance."""
    chance = random.Random(0)
    found = list(blocks(folder))
    for _ in range(count):
        (one, lines), (_, others) = chance.sample(found, 2)
        yield Pair(chance.choice(lines)[1], chance.choice(others)[1], NEITHER, one)
