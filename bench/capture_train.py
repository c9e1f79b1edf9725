"""Train the extractor's small models: `python -m bench.capture_train CORPORA TRANSCRIPTS` (needs scikit-learn).

Three linear models over hashed features go into ``subconscious/capture/weights.npz``:

- worth: is a passage worth a person's look? From labels by reading (bench/data/worth.tsv: hash of the content, 1 or 0)
  and, weighing less, from whether a summary of the same session says the same.
- decision: does a sentence state a decision? From ConDec.
- correction: does a prompt correct? From what people typed after an interrupt, and what opened sessions.

Nothing of the corpora is kept but weights. Licences of what was trained on: see bench/data/LICENCES.md. The run is
deterministic: the solver starts from zeros and the rows are in a fixed order.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from bench.capture import Sessions, content_words, digest, read_labels
from subconscious.capture.linear import SIZE, places, words_and_pairs
from subconscious.capture.weighing import features

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "capture" / "weights.npz"
WORTH = Path(__file__).parent / "data" / "worth.tsv"
FOLDS = 6
WORTH_STRENGTH = 0.3
HAND_WEIGHT, SILVER_WEIGHT = 4.0, 0.5


def matrix(rows: Sequence[Sequence[str]]) -> numpy.ndarray:
    """One row a text, as ``linear.probability`` sees it: each feature once, by the root of their number."""
    table = numpy.zeros((len(rows), SIZE), numpy.float32)
    for at, row in enumerate(rows):
        where = places(row)
        table[at, where] = 1 / numpy.sqrt(max(len(where), 1))
    return table


def fit(table: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray, strength: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=2000).fit(table, truth, sample_weight=weights)


def cross_fit(
    table: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray, groups: Sequence[str], strength: float
) -> numpy.ndarray:
    """Probabilities of rows whose group the model has not seen."""
    fold = numpy.array([int(digest(group), 16) % FOLDS for group in groups])
    seen = numpy.zeros(len(truth))
    for one in range(FOLDS):
        if (fold == one).any():
            chosen = fold != one
            model = fit(table[chosen], truth[chosen], weights[chosen], strength)
            seen[fold == one] = model.predict_proba(table[fold == one])[:, 1]
    return seen


def weights_of(model: Any) -> numpy.ndarray:
    return numpy.append(model.coef_[0], model.intercept_[0]).astype(numpy.float16)


def worth_rows(sessions: Sessions) -> list[tuple[str, Any, int, float]]:
    """Session, draft, label, weight of all that is labelled by hand or stands in a summarised session."""
    hand = read_labels(WORTH)
    rows = []
    for session in sessions.all():
        silver = [content_words(text) for label, text in sessions.silver[session] if label in {"learning", "friction"}]
        for draft in sessions.drafts(session):
            key = digest(draft.content)
            if key in hand:
                rows.append((session, draft, hand[key], HAND_WEIGHT))
            elif silver:
                said = content_words(draft.content)
                found = any(len(said & gold) >= len(gold) / 2 for gold in silver if gold)
                rows.append((session, draft, int(found), SILVER_WEIGHT))
    return rows


def corpus(folder: Path, name: str, label: str) -> tuple[list[list[str]], numpy.ndarray, list[str]]:
    rows = [json.loads(line) for line in (folder / "capture" / f"{name}.jsonl").open(encoding="utf-8")]
    rows.sort(key=lambda row: row["id"])
    texts = [list(words_and_pairs(row["text"])) for row in rows]
    return texts, numpy.array([label in row["label"] for row in rows]), [row["group"] or row["id"] for row in rows]


def best_f1(truth: numpy.ndarray, seen: numpy.ndarray) -> dict[float, tuple[float, float, float]]:
    """Precision, recall and F1 in percent at some thresholds."""
    told = {}
    for threshold in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
        chosen = seen >= threshold
        hits = float((chosen & truth).sum())
        precision, recall = hits / max(chosen.sum(), 1), hits / truth.sum()
        told[threshold] = (100 * precision, 100 * recall, 200 * precision * recall / max(precision + recall, 1e-9))
    return told


def main() -> None:
    corpora, transcripts = Path(sys.argv[1]), Path(sys.argv[2])
    models = {}
    for name, source, label in (
        ("decision", "condec_rationale", "decision"),
        ("correction", "corrections_interrupt", "correction"),
    ):
        texts, truth, groups = corpus(corpora, source, label)
        table, ones = matrix(texts), numpy.ones(len(truth))
        for strength in (2.0, 8.0):
            print(name, strength)
            for threshold, scores in best_f1(truth, cross_fit(table, truth, ones, groups, strength)).items():
                print(f"  {threshold}: P {scores[0]:.1f} R {scores[1]:.1f} F1 {scores[2]:.1f}")
        models[name] = weights_of(fit(table, truth, ones, 8.0))
    sessions = Sessions(corpora, transcripts)
    rows = worth_rows(sessions)
    table = matrix([list(features(draft)) for _, draft, _, _ in rows])
    truth, weights = numpy.array([label == 1 for *_, label, _ in rows]), numpy.array([weight for *_, weight in rows])
    hand = weights == HAND_WEIGHT
    for strength in (0.3, 1.0, 3.0):
        seen = cross_fit(table, truth, weights, [session for session, *_ in rows], strength)
        print(f"worth C={strength}: {hand.sum()} read, {truth[hand].mean():.2f} right")
        by = defaultdict(list)
        for label, score in zip(truth[hand], seen[hand], strict=True):
            by[int(score * 10)].append(label)
        print(
            "  "
            + "  ".join(f"{tenth / 10}: {numpy.mean(found):.2f} ({len(found)})" for tenth, found in sorted(by.items()))
        )
    models["worth"] = weights_of(fit(table, truth, weights, WORTH_STRENGTH))
    tables: dict[str, Any] = dict(models)  # numpy's own signature takes the names for its options
    numpy.savez_compressed(WEIGHTS, **tables)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
