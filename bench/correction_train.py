"""Train the model that tells corrections from first messages: `python -m bench.correction_train CORPORA [HELD ...]`.

It is trained on messages typed after an interrupt or a refused tool, and on messages that opened sessions, without the
sessions in the folders HELD, on which figures are measured. Writes two logistic models to
``subconscious/capture/detectors/corrections.npz``: one reads shape and meaning, the other, for use without an embedder,
only the shape. The printed results are cross-fitted in ten ways: by weights fitted without the session and without
similar texts. Only weights of the corpus are kept; its licences: bench/data/LICENCES.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy

from bench.capture import digest
from subconscious.capture.detectors.corrections import LETTERS, shape
from subconscious.embeddings.local import LocalEmbedder

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "capture" / "detectors" / "corrections.npz"
STRENGTH = 3.0
"""The inverse of the ridge penalty, found by cross-fitting."""
SHARE = 0.1
"""What a standard deviation of a shape counts beside the meaning, whose vectors have length 1."""
OPENERS = 0.09
"""Openers that may pass for corrections; the bar is a tenth."""
FOLDS = 10
WAYS = 10


def fit(table: numpy.ndarray, truth: numpy.ndarray) -> numpy.ndarray:
    """Logistic regression with a ridge, classes weighing alike, by Newton's method; the last weight is the bias."""
    rows = numpy.hstack([table, numpy.ones((len(table), 1))])
    weight = numpy.where(truth, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    ridge = numpy.eye(rows.shape[1]) / STRENGTH
    ridge[-1, -1] = 1e-9
    found = numpy.zeros(rows.shape[1])
    for _ in range(30):
        told = 1 / (1 + numpy.exp(-rows @ found))
        slope = rows.T @ (weight * (truth - told)) - ridge @ found
        bend = rows.T @ (rows * (weight * told * (1 - told))[:, None]) + ridge
        found += numpy.linalg.solve(bend, slope)
    return found


def scaled(weights: numpy.ndarray, mean: numpy.ndarray, deviation: numpy.ndarray) -> numpy.ndarray:
    """The same model for shapes as they come: the scaling is put into weights and bias."""
    many = len(mean)
    looks = weights[:many] * SHARE / deviation
    return numpy.concatenate([looks, weights[many:-1], [weights[-1] - float(looks @ mean)]]).astype(numpy.float32)


def train(shapes: numpy.ndarray, meanings: numpy.ndarray, truth: numpy.ndarray) -> numpy.ndarray:
    """Weights over shapes and meanings, for unscaled features."""
    mean, deviation = shapes.mean(axis=0), shapes.std(axis=0) + 1e-6
    return scaled(fit(numpy.hstack([SHARE * (shapes - mean) / deviation, meanings]), truth), mean, deviation)


def cross_fit(shapes: numpy.ndarray, meanings: numpy.ndarray, rows: list[dict[str, Any]], way: int) -> numpy.ndarray:
    """Scores by weights fitted without the session and without similar texts."""
    truth = numpy.array([row["label"] == "correction" for row in rows])
    fold = numpy.array([int(digest(f"{way}{row['group']}"), 16) % FOLDS for row in rows])
    stems = numpy.array([" ".join(re.findall(r"[a-z]+", row["text"].lower())) for row in rows])
    seen = numpy.zeros(len(rows))
    for one in range(FOLDS):
        held = fold == one
        chosen = ~held & ~numpy.isin(stems, stems[held])
        weights = train(shapes[chosen], meanings[chosen], truth[chosen])
        seen[held] = numpy.hstack([shapes[held], meanings[held]]) @ weights[:-1] + weights[-1]
    return seen


def report(name: str, truth: numpy.ndarray, ways: list[numpy.ndarray]) -> None:
    """Print what is found at that share of openers, over all ways to part the sessions, and from which probability."""
    found, bars = [], []
    for seen in ways:
        bar = float(numpy.quantile(seen[~truth], 1 - OPENERS))
        told = seen > bar
        found.append(2 * (told & truth).sum() / (told.sum() + truth.sum()))
        bars.append(bar)
    low, middle, high = (100 * float(value) for value in numpy.quantile(found, (0, 0.5, 1)))
    chance = 1 / (1 + numpy.exp(-float(numpy.median(bars))))
    print(
        f"{name:6} F1 {middle:.1f} ({low:.1f} to {high:.1f}) at {100 * OPENERS:.0f} % of openers; from {chance:.2f} on"
    )


def main() -> None:
    path = Path(sys.argv[1]) / "capture" / "corrections_interrupt.jsonl"
    held = {file.stem for folder in sys.argv[2:] for file in Path(folder).rglob("*.jsonl")}
    texts = (json.loads(line) for line in path.open(encoding="utf-8"))
    rows = sorted((row for row in texts if row["group"] not in held), key=lambda row: row["id"])
    print(f"{len(rows)} texts of {len({row['group'] for row in rows})} sessions")
    truth = numpy.array([row["label"] == "correction" for row in rows])
    shapes = numpy.array([shape(row["text"]) for row in rows])
    embedder = LocalEmbedder()
    meanings = numpy.stack([embedder.embed([row["text"][:LETTERS]])[0] for row in rows]).astype(float)
    nothing = meanings[:, :0]
    tables: dict[str, Any] = {}
    for name, table in (("both", meanings), ("shape", nothing)):
        report(name, truth, [cross_fit(shapes, table, rows, way) for way in range(WAYS)])
        tables[name] = train(shapes, table, truth)
    numpy.savez_compressed(WEIGHTS, **tables)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
