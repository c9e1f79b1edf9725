"""Train the judge of typed sentences: `python -m bench.judge_train [TRANSCRIPTS] [--speech FOLDER] [--scores FILE]`.

Fits the models of ``subconscious/capture/judge.py`` on the written messages (bench/data/speech, and those of further
folders) and, where a folder of published sessions is given, on what was typed in them and labelled alike by two readers
(bench/data/prompts_read.tsv, by hash). Writes ``judge.npz`` and ``judge.onnx`` beside the judge, and prints how it does
on writers that it was not fitted to. The scale between a score and a confidence is fitted to those scores: see
``scale``. The encoder takes ten minutes, and as long again for each fold; ``--scores`` keeps what its folds said, so
that a second run need not train them again. Needs scikit-learn, scipy, torch and onnx, which are not in the lock.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy

from bench.speech import FOLDER, Sentence, found, sentences
from subconscious.capture import judge
from subconscious.capture.detectors.typed import KINDS, spoken
from subconscious.domain.model import Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.text.words import plain
from subconscious.transcripts import State, read_turns

WEIGHTS = Path(judge.__file__).with_name("judge.npz")
READ = Path(__file__).parent / "data" / "prompts_read.tsv"
STRENGTH = 4.0
"""The inverse of the ridge penalty."""

FOLDS = (
    ("a", "e", "k", "q", "s", "aa", "dd"),
    ("b", "f", "l", "n", "u", "ee"),
    ("c", "h", "m", "p", "utterances", "v", "ff", "gg"),
    ("d", "g", "j", "r", "y", "bb"),
    ("i", "o", "w", "x", "cc"),
)
"""Writers that are held out together; each real session is held out with one of them."""

REAL = 4
"""The weight of really typed sentences, of which there are few."""

SHARE = 0.5
"""The encoder's share of the score; .3 to .7 do as well."""

AT_WORK = ("o", "r")
"""Writers of whole sessions, as people work: most of the others' sentences are near misses."""

PASSING = {"words": (0.11, 0.19), "both": (0.15, 0.27), "joint": (0.21, 0.35), "answer": (0.15, 0.27)}
"""Shares of the sentences of whole sessions that may be stored, or at least wait, without being worth it, by scale.

Where both models are used, more may pass: what they confuse is seldom far from being worth it.
"""


def typed_in(folder: Path) -> Iterator[Sentence]:
    """Give the sentences that were typed in published sessions, where both readers say the same of them."""
    read = dict(line.split("\t", 1) for line in READ.read_text().splitlines() if not line.startswith("#"))
    for file in sorted(folder.rglob("*.jsonl")):
        for turn in read_turns(file, 0, State(), clean=str, final=True).turns:
            for one in spoken(turn):
                kinds = read.get(hashlib.sha256(one.text.encode()).hexdigest()[:16], "").split("\t")
                if len(set(kinds)) == 1 and kinds[0]:
                    yield _labelled(turn, one, kinds[0])


def _labelled(turn: Turn, one: judge.Spoken, kind: str) -> Sentence:
    fold = int(hashlib.sha256(turn.session_id.encode()).hexdigest(), 16) % (len(FOLDS) - 1)
    return Sentence(
        writer=f"real{fold}",
        text=one.text,
        keep=kind != "none",
        kind=kind,
        message=turn.text,
        before=one.before,
        place=one.place,
        count=one.count,
        lang="en",
        previous=one.previous,
    )


def seen(one: Sentence) -> judge.Spoken:
    """Return a sentence as the judge sees it."""
    return judge.Spoken(one.text, one.before, one.place, one.count, one.previous)


def tables(rows: list[Sentence]) -> tuple[Any, Any]:
    """Return the features without and with the embedder's vector, as sparse matrices."""
    from scipy.sparse import csr_matrix, hstack

    features = [judge.features(seen(one)) for one in rows]
    ends = numpy.cumsum([0, *(len(one.places) for one in features)])
    columns = numpy.concatenate([one.places for one in features])
    values = numpy.concatenate([one.values for one in features])
    hashed = csr_matrix((values, columns, ends), shape=(len(rows), judge.GRAMS + judge.WORDS))
    structure = csr_matrix(numpy.array([one.structure for one in features]))
    meanings = csr_matrix(LocalEmbedder().embed([plain(one.text) for one in rows]))
    return hstack([hashed, structure]).tocsr(), hstack([hashed, structure, meanings]).tocsr()


def fitted(table: Any, truth: numpy.ndarray, weights: numpy.ndarray) -> Any:
    """Fit a linear model."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=STRENGTH, max_iter=3000).fit(table, truth, sample_weight=weights)


def folds(writers: Sequence[str]) -> numpy.ndarray:
    """Return the fold in which each writer is held out."""
    numbers = {writer: at for at, names in enumerate(FOLDS) for writer in (*names, f"real{at}")}
    return numpy.array([numbers[writer] for writer in writers])


def cross_fitted(table: Any, truth: numpy.ndarray, weights: numpy.ndarray, fold: numpy.ndarray) -> numpy.ndarray:
    """Return each sentence's linear score by weights that have not seen its writer."""
    scores = numpy.zeros(len(truth))
    for at in range(len(FOLDS)):
        held = fold == at
        scores[held] = fitted(table[~held], truth[~held], weights[~held]).decision_function(table[held])
    return scores


def encoder_scores(
    rows: list[Sentence], truth: numpy.ndarray, times: numpy.ndarray, fold: numpy.ndarray, options: argparse.Namespace
) -> numpy.ndarray:
    """Write the encoder; return each sentence's score by one that has not seen its writer, NaN where there is none."""
    from bench import judge_encoder

    said = [seen(one) for one in rows]
    names = [hashlib.sha256(f"{one.text}|{judge.context(one)}".encode()).hexdigest()[:16] for one in said]
    kept: Path | None = options.scores
    known = json.loads(kept.read_text()) if kept and kept.exists() else {}
    middle = judge_encoder.middles(said)
    if options.encoder:
        everything = numpy.repeat(numpy.arange(len(rows)), times).tolist()
        judge_encoder.export(judge_encoder.train(middle, truth, everything), WEIGHTS.with_suffix(".onnx"))
    for at in options.folds:
        held = numpy.flatnonzero(fold == at)
        if not all(names[row] in known for row in held):
            rest = numpy.flatnonzero(fold != at)
            upper = judge_encoder.train(middle, truth, numpy.repeat(rest, times[rest]).tolist())
            found = judge_encoder.scores(upper, middle, held.tolist())
            known.update({names[row]: score for row, score in found.items()})
            if kept:
                kept.write_text(json.dumps(known))
    return numpy.array([known.get(name, numpy.nan) for name in names])


def scale(scores: numpy.ndarray, truth: numpy.ndarray, rows: list[Sentence], name: str) -> tuple[float, float]:
    """Return slope and offset from a score to a confidence, from scores of writers not seen; ``name`` is the scale's.

    The line goes through two points: .9 where so many sentences of whole sessions pass as may be stored, .7 where so
    many pass as may wait.
    """
    told = numpy.array([one.writer in AT_WORK for one in rows]) & ~truth
    high, low = (float(numpy.quantile(scores[told], 1 - share)) for share in PASSING[name])
    slope = (numpy.log(9) - numpy.log(7 / 3)) / (high - low)
    return float(slope), float(numpy.log(9) - slope * high)


def report(name: str, scores: numpy.ndarray, truth: numpy.ndarray, rows: list[Sentence], like: str) -> None:
    """Print how many keepers are found while so many others pass, and what is right of those stored on a scale."""
    from sklearn.metrics import roc_auc_score

    slope, offset = scale(scores, truth, rows, like)
    stored = slope * scores + offset >= numpy.log(9)
    real = numpy.array([one.writer.startswith("real") for one in rows])
    foreign = numpy.array([one.lang != "en" for one in rows])
    rates = ", ".join(f"{found(scores, truth, passing):.2f} at {passing}" for passing in (0.01, 0.02, 0.05, 0.1))
    right = truth[stored].mean()
    print(
        f"{name}: area {roc_auc_score(truth, scores):.3f}; found {rates}; right of those stored {right:.3f}", flush=True
    )
    for told, those in (("other languages", foreign), ("really typed", real)):
        kept, others = stored[those & truth], stored[those & ~truth]
        print(f"    {told}: {kept.mean():.2f} of {kept.size} keepers, {others.mean():.3f} of {others.size} others")


def packed(model: Any) -> numpy.ndarray:
    """Return weights and intercept as one table of a row a class."""
    return numpy.hstack([model.coef_, model.intercept_[:, None]]).astype(numpy.float16)


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", nargs="?", type=Path, help="published sessions")
    parser.add_argument("--speech", type=Path, action="append", default=[FOLDER], help="another folder of messages")
    parser.add_argument("--scores", type=Path, help="a file that keeps the encoder's scores")
    parser.add_argument(
        "--folds", type=int, nargs="+", default=[*range(len(FOLDS))], help="those tried with the encoder"
    )
    parser.add_argument("--no-encoder", dest="encoder", action="store_false", help="leave judge.onnx as it is")
    options = parser.parse_args()
    rows = [one for folder in options.speech for one in sentences(folder)]
    rows += typed_in(options.transcripts) if options.transcripts else []
    truth = numpy.array([one.keep for one in rows])
    fold = folds([one.writer for one in rows])
    times = numpy.array([REAL if one.writer.startswith("real") else 1 for one in rows])
    written: dict[str, numpy.ndarray] = {"names": numpy.array(sorted(KINDS))}
    keepers = [at for at, one in enumerate(rows) if one.kind in KINDS and one.keep]
    for name, table in zip(("words", "both"), tables(rows), strict=True):
        scores = cross_fitted(table, truth, times, fold)
        report(name, scores, truth, rows, name)
        written[name] = packed(fitted(table, truth, times))
        written[f"{name}_scale"] = numpy.array(scale(scores, truth, rows, name))
        written[f"{name}_kinds"] = packed(
            fitted(table[keepers], numpy.array([rows[at].kind for at in keepers]), times[keepers])
        )
    read = encoder_scores(rows, truth, times, fold, options)
    held = ~numpy.isnan(read)
    joint = numpy.where(scores < judge.UNLIKELY, scores, (1 - SHARE) * scores + SHARE * read)
    some = [one for one, judged in zip(rows, held, strict=True) if judged]
    for name, like, told in (("linear", "both", scores), ("encoder", "joint", read), ("joint", "joint", joint)):
        report(f"{name}, folds {options.folds}", told[held], truth[held], some, like)
    answers = numpy.array([judge.is_answer(seen(one)) for one in rows])
    for name, those in (("joint", held & ~answers), ("answer", held & answers)):
        chosen = [rows[at] for at in numpy.flatnonzero(those)]
        written[f"{name}_scale"] = numpy.array(scale(joint[those], truth[those], chosen, name))
    written["share"] = numpy.array(SHARE)
    numpy.savez_compressed(WEIGHTS, **written)  # type: ignore[arg-type]
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
