"""Compare designs of a judge of typed sentences: `python -m bench.speech [--count]`.

Each design is trained on the messages of all writers but one (bench/data/speech) and judges the one left out, in turn.
Prints, for each, the area under the curve and the share of keepers found while 1, 2, 5 or 10 % of the others pass for
one, over all writers and for each. ``--count`` only counts. Needs scikit-learn and scipy, which are not in the lock.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy

FOLDER = Path(__file__).parent / "data" / "speech"
KINDS = frozenset("rule decision constraint fact correction deadline ownership".split())
NOTHING = frozenset(("none", "retraction"))

PLACES = 1 << 16
"""Places of the hashed n-grams and words."""
SIZES = range(2, 6)
"""Lengths of the character n-grams."""
STRENGTH = 4.0
"""The inverse of the ridge penalty."""
PASSING = (0.01, 0.02, 0.05, 0.10)

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A labelled sentence, with its message, its position in it, and the assistant's message before it."""

    writer: str
    text: str
    keep: bool
    kind: str
    message: str
    before: str
    place: int
    count: int
    lang: str
    previous: str = ""


def sentences(folder: Path = FOLDER) -> list[Sentence]:
    """Return the sentences of all writers."""
    return [one for file in sorted(folder.glob("*.jsonl")) for one in _sentences(file)]


def _sentences(file: Path) -> Iterator[Sentence]:
    for line in file.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        said = message["sentences"]
        for place, one in enumerate(said):
            yield Sentence(
                writer=file.stem,
                text=one["text"],
                keep=bool(one["keep"]),
                kind=one["kind"],
                message=message["text"],
                before=message.get("before") or "",
                place=place,
                count=len(said),
                lang=message.get("lang", "en"),
                previous=said[place - 1]["text"] if place else "",
            )


def hashed(one: Sentence) -> dict[int, float]:
    """Return the places and values of a sentence's n-grams and words, each part scaled to unit length."""
    text = one.text.lower()
    grams = _scaled(_grams(re.sub(r"\d", "0", text)), 0)
    return grams | _scaled(_words(text), PLACES)


def _grams(text: str) -> Iterator[str]:
    for word in text.split():
        padded = f" {word} "
        for size in SIZES:
            yield from (padded[at : at + size] for at in range(max(1, len(padded) - size + 1)))


def _words(text: str) -> Iterator[str]:
    found = ["#" if token.isdigit() else token for token in _TOKEN.findall(text)]
    yield from found
    yield from (" ".join(pair) for pair in pairwise(found))
    yield f"first {' '.join(found[:2])}"
    yield f"last {' '.join(found[-1:])}"


def _scaled(names: Iterable[str], offset: int) -> dict[int, float]:
    counts = Counter(zlib.crc32(name.encode()) % PLACES for name in names)
    dampened = {place: 1 + math.log(count) for place, count in counts.items()}
    length = math.sqrt(sum(value * value for value in dampened.values())) or 1.0
    return {offset + place: value / length for place, value in dampened.items()}


def shape(one: Sentence) -> list[float]:
    """Return numbers about a sentence's form and place."""
    words = one.text.split()
    return [
        math.log1p(len(words)) / 3,
        float(one.text.rstrip().endswith("?")),
        float(any(sign.isdigit() for sign in one.text)),
        float('"' in one.text),
        float(":" in one.text),
        float("`" in one.text),
        min(one.place, 5) / 5,
        float(one.count == 1),
        min(one.count, 8) / 8,
        float(bool(one.before)),
        float(one.before.rstrip().endswith("?")),
    ]


def _table(rows: list[Sentence]) -> Any:
    from scipy.sparse import csr_matrix

    places = [hashed(one) for one in rows]
    ends = numpy.cumsum([0, *map(len, places)])
    columns = numpy.array([place for one in places for place in one])
    values = numpy.array([value for one in places for value in one.values()])
    return csr_matrix((values, columns, ends), shape=(len(rows), 2 * PLACES))


def cross_fitted(table: Any, truth: numpy.ndarray, writers: numpy.ndarray) -> numpy.ndarray:
    """Return each sentence's score by weights that were not fitted to its writer."""
    from sklearn.linear_model import LogisticRegression

    scores = numpy.zeros(len(truth))
    for writer in numpy.unique(writers):
        held = writers == writer
        model = LogisticRegression(C=STRENGTH, max_iter=3000).fit(table[~held], truth[~held])
        scores[held] = model.decision_function(table[held])
    return scores


def found(scores: numpy.ndarray, truth: numpy.ndarray, passing: float) -> float:
    """Return the share of keepers above the score that a share ``passing`` of the others exceeds."""
    return float((scores[truth] > numpy.quantile(scores[~truth], 1 - passing)).mean())


def _report(name: str, scores: numpy.ndarray, truth: numpy.ndarray, writers: numpy.ndarray) -> None:
    from sklearn.metrics import roc_auc_score

    rates = "  ".join(f"{found(scores, truth, passing):.2f}" for passing in PASSING)
    print(f"{name:36} area {roc_auc_score(truth, scores):.3f}  found at {PASSING}: {rates}")
    threshold = numpy.quantile(scores[~truth], 0.95)
    for writer in numpy.unique(writers):
        own = writers == writer
        kept, others = (scores[own & truth] > threshold).mean(), (scores[own & ~truth] > threshold).mean()
        print(f"    {writer}: {kept:.2f} of keepers, {others:.3f} of others, {own.sum()} sentences")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    rows = sentences()
    kinds = Counter(one.kind for one in rows)
    print(f"{len(rows)} sentences: {', '.join(f'{number} {kind}' for kind, number in kinds.most_common())}")
    if options.count:
        return
    from scipy.sparse import csr_matrix, hstack

    from subconscious.embeddings.local import LocalEmbedder

    truth = numpy.array([one.keep for one in rows])
    writers = numpy.array([one.writer for one in rows])
    words = hstack([_table(rows), csr_matrix(numpy.array([shape(one) for one in rows]))]).tocsr()
    meanings = csr_matrix(LocalEmbedder().embed([one.text for one in rows]))
    for name, table in (
        ("n-grams, words, shape", words),
        ("the embedder's vector", meanings),
        ("both", hstack([words, meanings]).tocsr()),
    ):
        _report(name, cross_fitted(table, truth, writers), truth, writers)


if __name__ == "__main__":
    main()
