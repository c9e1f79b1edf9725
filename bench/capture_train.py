"""Train the extractor's small models: `python -m bench.capture_train CORPORA TRANSCRIPTS` (needs scikit-learn).

Two linear models over hashed features go into ``subconscious/capture/weights.npz``:

- worth: is a passage worth a person's look? Trained on readers' labels (bench/data/worth.tsv: hash of the content, and
  the share of readers who would keep it), and with a low weight on whether a summary of the session states it, and on
  its length.
- decision: does a sentence state a decision? From ConDec.

Only weights of the corpora are kept. Licences of the training data: see bench/data/LICENCES.md. The run is
deterministic: the solver starts from zeros and the rows are in a fixed order.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy

from bench.capture import CAP, QUEUED, Sessions, content_words, coverage, digest, read_labels
from bench.capture_detectors import DECIDED, choose
from subconscious.capture.draft import Draft, candidate
from subconscious.capture.weighing import (
    QUEUE,
    SIGNS,
    SIGNS_COUNT,
    SIZE,
    WORDS,
    climb,
    confidence,
    jointly,
    lifted,
    looks,
    signs,
    words_and_pairs,
)
from subconscious.text.linear import hashed

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "capture" / "weights.npz"
WORTH = Path(__file__).parent / "data" / "worth.tsv"
FOLDS = 6
WORTH_STRENGTH = 2.0
SENTENCE_STRENGTH = {"decision": 8.0}
SESSION_FOLDS = 12
THRESHOLDS = (0.32, QUEUE, 0.45, 0.52, 0.60)
LOOKS_COUNT, TOLD_COUNT = 0.05, 0.1
"""How much the looks count before anything is learned."""

TOLD_STRENGTH, TOLD_WEIGHT, LENGTH_WEIGHT = 0.3, 0.3, 2.0
"""What a summary says too, and a greater length, beside what the readers said: found on held-out folds."""

TOGETHER = 1.7
"""What the three come to is brought back to the size of one of them."""

_UNWEIGHED = {"answer", "approved", "correction"}
HAND = read_labels(WORTH)
READING = read_labels(WORTH, column=2)

LENGTH = 0
"""The place of the length among the looks."""

LATEST = 3
"""The reading of all that is weighed, by two readers each and what may wait by four."""

AUTO = 0.9
Kept = tuple[float, str]
"""A confidence and a content."""


@dataclass(frozen=True, slots=True)
class Row:
    """A draft, the share of its readers who would keep it, and whether a summary states it; None: unknown."""

    session: str
    draft: Draft
    label: float | None
    told: bool | None


def matrix(rows: Sequence[Sequence[str]], size: int = SIZE) -> numpy.ndarray:
    """One row a text, as ``weighing.probability`` sees it: each feature once, by the root of their number."""
    table = numpy.zeros((len(rows), size), numpy.float32)
    for at, row in enumerate(rows):
        where = hashed(row, size)
        table[at, where] = 1 / numpy.sqrt(max(len(where), 1))
    return table


def fit(table: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray, strength: float) -> Any:
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=2000).fit(csr_matrix(table), truth, sample_weight=weights)


def cross_fit(
    table: numpy.ndarray,
    truth: numpy.ndarray,
    weights: numpy.ndarray,
    groups: Sequence[str],
    strength: float,
    stems: Sequence[str],
) -> numpy.ndarray:
    """Probabilities of rows by a model trained without their group and without similar texts."""
    fold = numpy.array([int(digest(group), 16) % FOLDS for group in groups])
    seen = numpy.zeros(len(truth))
    for one in sorted(set(fold)):
        held = {stem for stem, at in zip(stems, fold, strict=True) if at == one}
        chosen = (fold != one) & numpy.array([stem not in held for stem in stems])
        model = fit(table[chosen], truth[chosen], weights[chosen], strength)
        seen[fold == one] = model.predict_proba(table[fold == one])[:, 1]
    return seen


def stem(text: str) -> str:
    """What near-duplicates share: the words, without numbers, marks and case."""
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def weights_of(model: Any) -> numpy.ndarray:
    return numpy.append(model.coef_[0], model.intercept_[0]).astype(numpy.float16)


def worth_rows(sessions: Sessions) -> list[Row]:
    """All drafts that were read, or that are in a session with a summary."""
    rows = []
    for session in sessions.all():
        said = [content_words(text) for label, text in sessions.silver[session] if label in {"learning", "friction"}]
        for draft in sessions.drafts(session):
            content = candidate(draft, 0.0, "").content
            words = content_words(content)
            told = any(2 * len(words & gold) >= len(gold) for gold in said if gold)
            rows.append(Row(session, draft, HAND.get(digest(content)), told if said else None))
    return rows


@dataclass(frozen=True)
class Judge:
    """A model of worth that was trained on some of the rows."""

    weights: numpy.ndarray
    bias: float

    def confidence(self, draft: Draft, low: float) -> float:
        """What a draft's confidence would be if the queue began at a chance of ``low``."""
        if draft.source in _UNWEIGHED:
            return confidence(draft)
        return climb(lifted(draft, self._chance(draft)), low)

    @cache  # noqa: B019 - one object lives as long as the program
    def _chance(self, draft: Draft) -> float:
        return jointly(self.weights, self.bias, words_and_pairs(draft.content), signs(draft), looks(draft))

    def __hash__(self) -> int:
        return id(self)


class Worth:
    """The model of worth: readers' labels, whether a summary of the session states it, and length.

    All are linear, and so is what they come to together: one row of weights.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        from scipy.sparse import csr_matrix, hstack

        drafts = [row.draft for row in rows]
        words = csr_matrix(matrix([list(words_and_pairs(draft.content)) for draft in drafts], WORDS))
        shown = csr_matrix(matrix([list(signs(draft)) for draft in drafts], SIGNS)) * SIGNS_COUNT
        looked = numpy.array([looks(draft) for draft in drafts])
        self._mean, self._scale = looked.mean(0), looked.std(0) + 1e-6
        self._looks = (looked - self._mean) / self._scale
        self._table = hstack([words, shown, self._looks * LOOKS_COUNT]).tocsr()
        self._read = numpy.array([row.label is not None for row in rows])
        self._summed = numpy.array([row.told is not None for row in rows])
        self._labels = numpy.array([row.label or 0.0 for row in rows])
        self._told = numpy.array([row.told is True for row in rows])

    def fit(self, chosen: numpy.ndarray) -> Judge:
        """Weights for words, signs and looks as they are, and the bias, from some of the rows."""
        read_as = self._as_read(chosen & self._read)
        summed = chosen & self._summed
        looked = self._looks[summed] * TOLD_COUNT
        told_as = fit(looked, self._told[summed], numpy.ones(summed.sum()), TOLD_STRENGTH)
        weights = read_as.coef_[0].copy()
        weights[WORDS + SIGNS :] += TOLD_WEIGHT * told_as.coef_[0] * TOLD_COUNT / LOOKS_COUNT
        weights[WORDS + SIGNS :] *= LOOKS_COUNT / self._scale
        weights[WORDS + SIGNS + LENGTH] += LENGTH_WEIGHT
        bias = read_as.intercept_[0] + TOLD_WEIGHT * told_as.intercept_[0] - weights[WORDS + SIGNS :] @ self._mean
        return Judge(weights / TOGETHER, float(bias) / TOGETHER)

    def _as_read(self, chosen: numpy.ndarray) -> Any:
        """The model of the readers: a text that they disagree on counts in part as kept, in part as not."""
        from scipy.sparse import vstack

        kept, labels = self._table[chosen], self._labels[chosen]
        truth = numpy.repeat([True, False], len(labels))
        shares = numpy.concatenate([labels, 1 - labels])
        given = shares > 0
        return fit(vstack([kept, kept]).tocsr()[given], truth[given], shares[given], WORTH_STRENGTH)


def corpus(folder: Path, name: str, label: str) -> tuple[list[list[str]], numpy.ndarray, list[str], list[str]]:
    rows = [json.loads(line) for line in (folder / "capture" / f"{name}.jsonl").open(encoding="utf-8")]
    rows.sort(key=lambda row: row["id"])
    texts = [list(words_and_pairs(row["text"])) for row in rows]
    truth = numpy.array([label in row["label"] for row in rows])
    return texts, truth, [row["group"] or row["id"] for row in rows], [stem(row["text"]) for row in rows]


def score(truth: numpy.ndarray, told: numpy.ndarray) -> str:
    """Precision, recall, F1 and the share of the others that is told, in percent."""
    hits = float((told & truth).sum())
    precision, recall = hits / max(told.sum(), 1), hits / truth.sum()
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    others = float((told & ~truth).sum()) / max((~truth).sum(), 1)
    return f"P {100 * precision:5.1f}  R {100 * recall:5.1f}  F1 {100 * f1:5.1f}  on the others {100 * others:4.1f} %"


def sentence_model(corpora: Path, name: str, source: str, label: str, threshold: float) -> numpy.ndarray:
    """Train one model over sentences; print its results on unseen and on seen data."""
    texts, truth, groups, stems = corpus(corpora, source, label)
    table, ones = matrix(texts), numpy.ones(len(truth))
    strength = SENTENCE_STRENGTH[name]
    seen = cross_fit(table, truth, ones, groups, strength, stems)
    model = fit(table, truth, ones, strength)
    own = model.predict_proba(table)[:, 1]
    for low in (threshold - 0.05, threshold, threshold + 0.05):
        print(f"{name:10} {low:.2f} held out  {score(truth, seen >= low)}")
    print(f"{name:10} {threshold:.2f} in-sample {score(truth, own >= threshold)}")
    return weights_of(model)


def worth_model(sessions: Sessions) -> numpy.ndarray:
    """Train the model of worth; print its results on unseen sessions and repositories."""
    rows = worth_rows(sessions)
    model = Worth(rows)
    folds = {
        "session": {session: str(int(digest(session), 16) % SESSION_FOLDS) for session in sessions.all()},
        "repository": {session: sessions.path(session).parent.name for session in sessions.all()},
    }
    for name, fold in folds.items():
        judges = strangers(rows, model, fold)
        for low in THRESHOLDS:
            report(sessions, f"worth, its {name} held out, from {low:.2f}", told(sessions, judges, low))
    judge = model.fit(numpy.ones(len(rows), bool))
    return numpy.append(judge.weights, judge.bias).astype(numpy.float32)


def strangers(rows: Sequence[Row], model: Worth, fold: dict[str, str]) -> dict[str, Judge]:
    """For each session, a model trained without its fold and without similar texts."""
    stems = [stem(row.draft.content) for row in rows]
    at = numpy.array([fold[row.session] for row in rows])
    judges = {}
    for one in sorted(set(fold.values())):
        held = {said for said, where in zip(stems, at, strict=True) if where == one}
        judges[one] = model.fit((at != one) & numpy.array([said not in held for said in stems]))
    return {session: judges[one] for session, one in fold.items()}


def told(sessions: Sessions, judges: dict[str, Judge], low: float) -> dict[str, list[Kept]]:
    """What would be kept of each session if the queue began at a chance of ``low``."""
    found = {}
    for session, judge in judges.items():
        weigh = partial(judge.confidence, low=low)
        weighed = [(draft, weigh(draft)) for draft in sessions.drafts(session)]
        found[session] = kept([(sure, candidate(draft, sure, "").content) for draft, sure in weighed])
    return found


def report(sessions: Sessions, name: str, told: dict[str, list[Kept]]) -> None:
    """Print what is found of the summaries, and how much of what is queued was right, by all readers and the latest."""
    found = coverage(sessions, lambda session: [text for _, text in told.get(session, [])])
    print(f"{name}: " + ", ".join(f"{label} {a}/{b} = {100 * a / b:.1f} %" for label, (a, b) in found.items()))
    keys = [digest(text) for said in told.values() for sure, text in said if sure < AUTO]
    labels = [HAND[key] for key in keys if READING.get(key) == LATEST]
    once = [HAND[key] for key in set(keys) if READING.get(key) == LATEST]
    each = sum(map(len, told.values())) / len(told)
    print(
        f"  {each:.1f} a session; {len(labels)} of {len(keys)} queued were read by two or more, {share(labels)} right "
        f"(each content once: {share(once)})"
    )


def share(labels: Sequence[float]) -> str:
    """Of labels, how many are right: more than half of its readers would keep it."""
    return f"{100 * sum(label > 0.5 for label in labels) / max(len(labels), 1):.1f} %"


def kept(found: list[Kept]) -> list[Kept]:
    """What would be kept of a session, within its cap."""
    queued = [one for one in found if one[0] >= QUEUED]
    return [queued[at] for at in choose([sure for sure, _ in queued], [text for _, text in queued], CAP)]


def main() -> None:
    corpora, transcripts = Path(sys.argv[1]), Path(sys.argv[2])
    tables: dict[str, Any] = {  # numpy's own signature takes the names for its options
        "decision": sentence_model(corpora, "decision", "condec_rationale", "decision", DECIDED),
        "worth": worth_model(Sessions(corpora, transcripts)),
    }
    numpy.savez_compressed(WEIGHTS, **tables)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
