"""Train the extractor's small models: `python -m bench.capture_train CORPORA TRANSCRIPTS` (needs scikit-learn).

Two linear models over hashed features go into ``subconscious/capture/weights.npz``:

- worth: is a passage worth a person's look? From labels by reading (bench/data/worth.tsv: hash of the content, 1 or 0),
  and from whether a summary of the same session says the same, told by the looks alone.
- decision: does a sentence state a decision? From ConDec.

Nothing of the corpora is kept but weights. Licences of what was trained on: see bench/data/LICENCES.md. The run is
deterministic: the solver starts from zeros and the rows are in a fixed order.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from bench.capture import CAP, QUEUED, Sessions, content_words, coverage, digest, read_labels
from subconscious.capture import budget
from subconscious.capture.draft import Draft, candidate
from subconscious.capture.exchange import numbered
from subconscious.capture.gathered import Weighed, gather
from subconscious.capture.linear import SIGNS, SIGNS_COUNT, SIZE, WORDS, places, words_and_pairs
from subconscious.capture.looks import looks
from subconscious.capture.passages import LONGEST
from subconscious.capture.weighing import DECIDED, QUEUE, climb, confidence, lifted, signs

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "capture" / "weights.npz"
WORTH = Path(__file__).parent / "data" / "worth.tsv"
FOLDS = 6
WORTH_STRENGTH = 0.5
SENTENCE_STRENGTH = {"decision": 8.0}
SESSION_FOLDS = 12
THRESHOLDS = (0.25, QUEUE, 0.33, 0.37, 0.41, 0.45, 0.50)
LOOKS_COUNT, TOLD_COUNT = 0.05, 0.1
"""How much the looks count before anything is learned."""

TOLD_STRENGTH, TOLD_WEIGHT, TOLD_RARE = 0.3, 0.75, 0.833
TOGETHER = 1.45
"""What a summary says too weighs three quarters of what the readers said; it is rarer, and both are brought back to the
size of one."""

_UNWEIGHED = {"answer", "approved", "correction"}
HAND = read_labels(WORTH)
READING = read_labels(WORTH, column=2)


LATEST = 2
"""The reading by those who read the widened pool."""

AUTO = 0.9
Kept = tuple[float, str]
"""A confidence and a content."""


@dataclass(frozen=True, slots=True)
class Row:
    """A draft with its label by a reader, and whether a summary of its session says the same; None: nobody knows."""

    session: str
    draft: Draft
    label: int | None
    told: int | None


def matrix(rows: Sequence[Sequence[str]], size: int = SIZE) -> numpy.ndarray:
    """One row a text, as ``linear.probability`` sees it: each feature once, by the root of their number."""
    table = numpy.zeros((len(rows), size), numpy.float32)
    for at, row in enumerate(rows):
        where = places(row, size)
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
    """Probabilities of rows by a model that has seen neither their group nor anything worded alike."""
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
    """All drafts that were read, or that stand in a session with a summary."""
    rows = []
    for session in sessions.all():
        said = [content_words(text) for label, text in sessions.silver[session] if label in {"learning", "friction"}]
        for draft in sessions.drafts(session):
            words = content_words(draft.content[:LONGEST])
            told = any(2 * len(words & gold) >= len(gold) for gold in said if gold)
            rows.append(Row(session, draft, HAND.get(digest(draft.content)), int(told) if said else None))
    return rows


class Worth:
    """The model of worth: what readers said, and beside it whether a summary of the session says the same.

    Both are linear, and so is what they come to together: one row of weights.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        from scipy.sparse import csr_matrix, hstack

        drafts = [row.draft for row in rows]
        words = csr_matrix(matrix([list(words_and_pairs(draft.content)) for draft in drafts], WORDS))
        shown = csr_matrix(matrix([list(signs(draft)) for draft in drafts], SIGNS)) * SIGNS_COUNT
        looked = numpy.array([looks(draft) for draft in drafts])
        self._mean, self._scale = looked.mean(0), looked.std(0) + 1e-6
        self._looks = (looked - self._mean) / self._scale
        mild = [[READING.get(digest(draft.content)) == 1] for draft in drafts]  # of no account once it is trained
        self._table = hstack([words, shown, self._looks * LOOKS_COUNT, csr_matrix(mild, dtype=float)]).tocsr()
        self._read = numpy.array([row.label is not None for row in rows])
        self._summed = numpy.array([row.told is not None for row in rows])
        self._labels = numpy.array([row.label == 1 for row in rows])
        self._told = numpy.array([row.told == 1 for row in rows])

    def fit(self, chosen: numpy.ndarray) -> tuple[numpy.ndarray, float]:
        """Weights for words, signs and looks, and the bias, from some of the rows."""
        read, summed = chosen & self._read, chosen & self._summed
        read_as = fit(self._table[read], self._labels[read], numpy.ones(read.sum()), WORTH_STRENGTH)
        looked = self._looks[summed] * TOLD_COUNT
        told_as = fit(looked, self._told[summed], numpy.ones(summed.sum()), TOLD_STRENGTH)
        weights = read_as.coef_[0][:-1].copy()
        weights[WORDS + SIGNS :] += TOLD_WEIGHT * told_as.coef_[0] * TOLD_COUNT / LOOKS_COUNT
        bias = read_as.intercept_[0] + TOLD_WEIGHT * (told_as.intercept_[0] + TOLD_RARE)
        return weights / TOGETHER, float(bias) / TOGETHER

    def chances(self, chosen: numpy.ndarray, weights: numpy.ndarray, bias: float) -> numpy.ndarray:
        return numpy.asarray(1 / (1 + numpy.exp(-(self._table[chosen][:, :-1] @ weights + bias))))

    def shipped(self) -> numpy.ndarray:
        """The weights of a model that has seen all, for looks as they are: unscaled."""
        weights, bias = self.fit(numpy.ones(len(self._read), bool))
        weights[WORDS + SIGNS :] *= LOOKS_COUNT / self._scale
        bias -= float(weights[WORDS + SIGNS :] @ self._mean)
        return numpy.append(weights, bias).astype(numpy.float32)


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
    """Train one model over sentences; print what it finds of what it has not seen, and of what it has."""
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
    """Train the model of worth; print what it finds in sessions and repositories that it has not seen."""
    rows = worth_rows(sessions)
    model = Worth(rows)
    folds = {
        "session": {session: str(int(digest(session), 16) % SESSION_FOLDS) for session in sessions.all()},
        "repository": {session: sessions.path(session).parent.name for session in sessions.all()},
    }
    for name, fold in folds.items():
        chances = unseen(rows, model, fold)
        for low in THRESHOLDS:
            report(sessions, f"worth, its {name} held out, from {low:.2f}", told(sessions, rows, chances, low))
    return model.shipped()


def unseen(rows: Sequence[Row], model: Worth, fold: dict[str, str]) -> numpy.ndarray:
    """Each row's chance by a model that has seen neither its fold nor anything worded alike."""
    stems = [stem(row.draft.content) for row in rows]
    at = numpy.array([fold[row.session] for row in rows])
    chances = numpy.zeros(len(rows))
    for one in sorted(set(fold.values())):
        held = {said for said, where in zip(stems, at, strict=True) if where == one}
        seen = (at != one) & numpy.array([said not in held for said in stems])
        if (at == one).any():
            chances[at == one] = model.chances(at == one, *model.fit(seen))
    return chances


def told(sessions: Sessions, rows: Sequence[Row], chances: numpy.ndarray, low: float) -> dict[str, list[Kept]]:
    """What would be kept of each session if the queue began at a chance of ``low``."""
    found: defaultdict[str, list[Weighed]] = defaultdict(list)
    for row, chance in zip(rows, chances, strict=True):
        weighed = row.draft.source not in _UNWEIGHED
        sure = climb(lifted(row.draft, float(chance)), low) if weighed else confidence(row.draft)
        found[row.session].append((row.draft, sure))
    return {session: gathered(sessions, session, found[session]) for session in sessions.all()}


def gathered(sessions: Sessions, session: str, weighed: Sequence[Weighed]) -> list[Kept]:
    """What would be kept of a session, each with its companion."""
    whole = gather(weighed, numbered(sessions.turns(session)))
    return kept([(sure, candidate(draft, sure, "").content) for draft, sure in whole])


def report(sessions: Sessions, name: str, told: dict[str, list[Kept]]) -> None:
    """Print what is found of the summaries, and how much of what is queued was right, by all readers and the latest."""
    found = coverage(sessions, lambda session: [text for _, text in told.get(session, [])])
    print(f"{name}: " + ", ".join(f"{label} {a}/{b} = {100 * a / b:.1f} %" for label, (a, b) in found.items()))
    keys = [digest(text) for said in told.values() for sure, text in said if sure < AUTO]
    labels = [HAND[key] for key in keys if key in HAND]
    latest = [HAND[key] for key in keys if READING.get(key) == LATEST]
    once = [HAND[key] for key in set(keys) if key in HAND]
    each = sum(map(len, told.values())) / len(told)
    print(
        f"  {each:.1f} a session; {len(labels)} of {len(keys)} queued were read, {share(labels)} right "
        f"(each content once: {share(once)}; of the {len(latest)} read by the latest readers: {share(latest)})"
    )


def share(labels: Sequence[int]) -> str:
    return f"{100 * sum(labels) / max(len(labels), 1):.1f} %"


def kept(found: list[Kept]) -> list[Kept]:
    """What would be kept of a session, within its cap."""
    queued = [one for one in found if one[0] >= QUEUED]
    return [queued[at] for at in budget.choose([sure for sure, _ in queued], [text for _, text in queued], CAP)]


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
