"""Fit how likely an earlier session's story helps with a prompt: `python -m bench.story_pairs`.

A pair is one of a session's first two prompts and the story of an earlier session of the project that shares the most
words with it. A reader who saw both, without numbers, decided whether the story would help.
`bench/data/story_pairs.tsv` has labels and numbers, no text; pairs with stories of other projects are useless without
being read. Printed are the weights of `subconscious/sessions/likeness.py`, and the results of thresholds, each session
judged by weights fitted without it. Deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy

DATA = Path(__file__).parent / "data" / "story_pairs.tsv"
FOREIGN_WEIGHT, RIDGE, STEPS, FOLDS = 0.3, 0.3, 50, 5
THRESHOLDS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair, or one with a story of another project, and their common features."""

    session: int
    label: str
    numbers: tuple[float, ...]


def read_pairs(path: Path = DATA) -> tuple[list[str], list[Pair]]:
    """Read the names of the numbers and the pairs."""
    head, *rows = (line.split("\t") for line in path.read_text().splitlines())
    return head[2:], [Pair(int(row[0]), row[1], tuple(map(float, row[2:]))) for row in rows]


def fit(pairs: Sequence[Pair]) -> Any:
    """Logistic regression with a ridge, by Newton's method: the constant, then a weight for each number."""
    matrix = _matrix(pairs)
    wanted = numpy.array([float(pair.label == "useful") for pair in pairs])
    weight = numpy.array([FOREIGN_WEIGHT if pair.label == "foreign" else 1.0 for pair in pairs])
    ridge = numpy.diag([0.0, *[RIDGE] * (matrix.shape[1] - 1)])
    beta = numpy.zeros(matrix.shape[1])
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + numpy.exp(-matrix @ beta))
        slope = matrix.T @ (weight * (likely - wanted)) + ridge @ beta
        beta -= numpy.linalg.solve((matrix * (weight * likely * (1 - likely))[:, None]).T @ matrix + ridge, slope)
    return beta


def _matrix(pairs: Sequence[Pair]) -> Any:
    return numpy.array([[1.0, *pair.numbers] for pair in pairs])


def crossed(pairs: Sequence[Pair]) -> list[float]:
    """The probability of each pair by weights that were fitted without its session."""
    sessions = sorted({pair.session for pair in pairs})
    Random(1).shuffle(sessions)
    fold = {session: place % FOLDS for place, session in enumerate(sessions)}
    weights = [fit([pair for pair in pairs if fold[pair.session] != number]) for number in range(FOLDS)]
    raw = [float(row @ weights[fold[pair.session]]) for pair, row in zip(pairs, _matrix(pairs), strict=True)]
    return [float(1.0 / (1.0 + numpy.exp(-one))) for one in raw]


def report(path: Path = DATA) -> Iterator[str]:
    """The weights, and what thresholds let through."""
    names, pairs = read_pairs(path)
    shown = zip(["constant", *names], fit(pairs), strict=True)
    yield ", ".join(f"{name} {value:.2f}" for name, value in shown)
    judged = list(zip(pairs, crossed(pairs), strict=True))
    useful = sum(pair.label == "useful" for pair in pairs)
    for least in THRESHOLDS:
        told = [pair.label for pair, likely in judged if likely >= least]
        own = [label for label in told if label != "foreign"]
        right = f"{own.count('useful')} useful ones of {useful}"
        yield f"from {least}: {len(own)} told, {right}; {len(told) - len(own)} of other projects"


def main() -> None:
    """Print the report."""
    print("\n".join(report()))


if __name__ == "__main__":
    main()
