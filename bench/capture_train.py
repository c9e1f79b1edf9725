"""Train the extractor's small models: `python -m bench.capture_train CORPORA TRANSCRIPTS` (needs scikit-learn).

Two linear models over hashed features go into ``subconscious/capture/weights.npz``:

- worth: is a passage worth a person's look? From labels by reading (bench/data/worth.tsv: hash of the content, 1 or 0)
  and, weighing less, from whether a summary of the same session says the same.
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
from pathlib import Path
from typing import Any

import numpy

from bench.capture import CAP, QUEUED, Sessions, content_words, coverage, digest, read_labels
from subconscious.capture import budget
from subconscious.capture.linear import SIZE, places, words_and_pairs
from subconscious.capture.passages import LONGEST
from subconscious.capture.weighing import DECIDED, climb, confidence, features

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "capture" / "weights.npz"
WORTH = Path(__file__).parent / "data" / "worth.tsv"
FOLDS = 6
WORTH_STRENGTH = 0.15
SENTENCE_STRENGTH = {"decision": 8.0}
_UNWEIGHED = {"answer", "approved", "correction"}
HAND = read_labels(WORTH)
HAND_WEIGHT, SILVER_WEIGHT = 4.0, 0.5


def matrix(rows: Sequence[Sequence[str]]) -> numpy.ndarray:
    """One row a text, as ``linear.probability`` sees it: each feature once, by the root of their number."""
    table = numpy.zeros((len(rows), SIZE), numpy.float32)
    for at, row in enumerate(rows):
        where = places(row)
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


def worth_rows(sessions: Sessions) -> list[tuple[str, Any, int, float]]:
    """Session, draft, label, weight of all that is labelled by hand or stands in a summarised session."""
    rows = []
    for session in sessions.all():
        silver = [content_words(text) for label, text in sessions.silver[session] if label in {"learning", "friction"}]
        for draft in sessions.drafts(session):
            key = digest(draft.content)
            if key in HAND:
                rows.append((session, draft, HAND[key], HAND_WEIGHT))
            elif silver:
                said = content_words(draft.content)
                found = any(len(said & gold) >= len(gold) / 2 for gold in silver if gold)
                rows.append((session, draft, int(found), SILVER_WEIGHT))
    return rows


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
    table = matrix([list(features(draft)) for _, draft, _, _ in rows])
    truth, weights = numpy.array([label == 1 for *_, label, _ in rows]), numpy.array([weight for *_, weight in rows])
    stems = numpy.array([stem(draft.content) for _, draft, _, _ in rows])
    model = fit(table, truth, weights, WORTH_STRENGTH)
    folds = {
        "session": {session: str(int(digest(session), 16) % FOLDS) for session in sessions.all()},
        "repository": {session: sessions.path(session).parent.name for session in sessions.all()},
    }
    for name, fold in folds.items():
        unseen: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        for one in sorted(set(fold.values())):
            drafted = [(s, draft) for s in sessions.all() if fold[s] == one for draft in sessions.drafts(s)]
            held = {stem(draft.content) for _, draft in drafted}
            chosen = numpy.array([fold[s] != one for s, *_ in rows]) & numpy.array([said not in held for said in stems])
            other = fit(table[chosen], truth[chosen], weights[chosen], WORTH_STRENGTH)
            chances = other.predict_proba(matrix([list(features(draft)) for _, draft in drafted]))[:, 1]
            for (session, draft), chance in zip(drafted, chances, strict=True):
                sure = confidence(draft) if draft.source in _UNWEIGHED else climb(float(chance))
                unseen[session].append((sure, draft.content[:LONGEST]))
        told = {session: kept(found) for session, found in unseen.items()}
        report(sessions, f"worth, its {name} held out", told)
    return weights_of(model)


def report(sessions: Sessions, name: str, told: dict[str, list[str]]) -> None:
    """Print what is found of the summaries, and how much of what is kept was right where it was read."""
    found = coverage(sessions, lambda session: told.get(session, []))
    print(f"{name}: " + ", ".join(f"{label} {a}/{b} = {100 * a / b:.1f} %" for label, (a, b) in found.items()))
    keys = {digest(text) for said in told.values() for text in said}
    labels = [HAND[key] for key in keys if key in HAND]
    each = sum(map(len, told.values())) / len(told)
    print(
        f"  {each:.1f} a session; {len(labels)} of {len(keys)} were read, {100 * sum(labels) / len(labels):.1f} % right"
    )


def kept(found: list[tuple[float, str]]) -> list[str]:
    """The contents that would be kept of a session, within its cap."""
    queued = [one for one in found if one[0] >= QUEUED]
    return [queued[at][1] for at in budget.choose([sure for sure, _ in queued], [text for _, text in queued], CAP)]


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
