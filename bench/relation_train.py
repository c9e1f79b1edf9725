"""Train the model of what a statement does to an earlier one: `python -m bench.relation_train [--linear]`.

Fits ``subconscious/supersession/pair_model.py`` to the written pairs (bench/data/relations), to copies of them with
typing errors, to sentences of bench/data/speech with unrelated statements, and to the development sets of
tests/unit/data. The encoder is trained on four blocks in five. The models over its scores (trees for the same, the mean
of trees and a linear model for a replacement) and the printed results use the held-out fifth, cross-fitted by block.
Writes ``relation.onnx`` and ``relation.npz`` beside the module.

The encoder takes about an hour on one core. ``--scores FILE`` keeps its scores of the fifth; with an
existing file, it is not trained again. ``--linear`` keeps the shipped encoder and fits only the other models, in a few
minutes. Needs torch, onnx, sympy and scikit-learn, which are not in the lock; ``--linear`` only scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy

from bench import relations
from bench.relations import APART, ENDS, NEITHER, REPLACES, SAME, Pair
from bench.speech import FOLDER, sentences
from bench.unrelated import MARK, unrelated
from subconscious.domain.model import Relation
from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.readable import is_readable
from subconscious.supersession import pair_comparison, pair_model
from subconscious.text.words import plain

SETS = Path(__file__).parents[1] / "tests" / "unit" / "data"
DEVELOPMENT = ("development", "development_2", "development_3", "development_4", "swaps")
WEIGHTS = Path(pair_model.__file__).with_name("relation.npz")
ACROSS, SPOKEN = 600, 1200
NEAREST, MOST_NEAR, TWIN = 1, 40, 0.55
"""Statements of other blocks that one is paired with, the similar ones from which they are chosen, and the cosine from
which they may say the same."""

NEAR, FAR = 0.6, 0.25
"""The range of cosines in which a spoken sentence is paired with the nearest statement."""

UNRELATED, UNRELATED_WEIGHT = 0.5, 3.0
"""The share of the pairs of unrelated statements that is used, and how much one weighs."""

HELD = 5
"""One of that many blocks is held out from the encoder."""

IMPLIED = {SAME: 0.15, REPLACES: 0.07, ENDS: 0.07, NEITHER: 0.03}
"""Share of the pairs that only follow from others that is used: there are six times as many of them as written ones."""

PROSE, IMPLIED_PROSE = 80, 0.3
"""Characters from which two statements are long, and the share of such pairs, of which few are written."""

SORTS = {SAME: (SAME,), REPLACES: (REPLACES, ENDS), ENDS: (ENDS,)}
"""The sorts of pairs for which each score is high: what ends a statement replaces it, too."""

TIMES = {
    "=": 1.0,
    ">": 1.0,
    "!": 1.0,
    "~": 1.0,
    "x": 2.0,
    "varied": 1.0,
    "set": 0.7,
    "near": 0.2,
    "spoken": 0.2,
    "unrelated": 0.2,
}
"""How often a pair is seen in a round, by its mark; one that follows from others once, or half as often if neither."""

CARELESS, LONG = 0.4, 6
"""How often a copy is changed in each way, and letters of a word in which two may be exchanged."""

CHATTER = ("ok", "btw", "and", "hey,", "please note:", "one more thing:", "so", "fyi", "hm,", "for the record:", "yes,")

ROUNDS, RATE, CERTAINTY = 3, 1.5e-4, 0.96
STRENGTH = 0.1
"""The inverse of the linear model's ridge penalty."""

SEEDS = 3
BOOSTING: dict[str, Any] = {
    "n_estimators": 120,
    "max_depth": 3,
    "learning_rate": 0.08,
    "subsample": 0.6,
    "max_features": 0.4,
    "min_samples_leaf": 20,
}
"""The trees that weigh whether two say the same, chosen cross-fitted on the fifth, and from how many seeds."""

FOLDS = 5
PASSING = (0.01, 0.02, 0.05)
COSTS = (5, 10, 20)
BARS = numpy.arange(-2, 4, 0.1)
"""Thresholds that are compared by the cost of their errors."""


def pairs(embedder: LocalEmbedder) -> list[Pair]:
    """Return all pairs, each once."""
    chance = random.Random(0)
    implied = [one for one in relations.implied() if chance.random() < _share(one)]
    written = [*relations.written(), *implied, *relations.across(ACROSS)]
    everything = [
        *written,
        *_varied(chance),
        *_near(embedder),
        *_spoken(embedder),
        *_unrelated(embedder, chance),
        *_sets(),
    ]
    return list({(one.new, one.old): one for one in reversed(everything)}.values())[::-1]


def _share(one: Pair) -> float:
    """Return the share of pairs like this one, which follows from others, that is used."""
    return IMPLIED_PROSE if min(len(one.new), len(one.old)) >= PROSE else IMPLIED[one.sort]


def _varied(chance: random.Random) -> Iterator[Pair]:
    """Give a copy of each written pair that is learnt from, typed with less care."""
    for one in relations.written():
        if not is_held(one):
            yield Pair(careless(one.new, chance), careless(one.old, chance), one.sort, one.block, "varied")


def careless(text: str, chance: random.Random) -> str:
    """Return a statement as it may be typed in a hurry: without capitals, with a slip, with chatter before it."""
    if chance.random() < CARELESS:
        text = text.lower().rstrip(".")
    if chance.random() < CARELESS:
        text = _slipped(text, chance)
    return f"{chance.choice(CHATTER)} {text}" if chance.random() < CARELESS else text


def _slipped(text: str, chance: random.Random) -> str:
    """Return a text with two letters exchanged in one of its longer words; numbers and names stay as they are."""
    words = text.split(" ")
    long = [at for at, word in enumerate(words) if len(word) >= LONG and word.isalpha() and word.islower()]
    if not long:
        return text
    place = chance.choice(long)
    word = words[place]
    at = chance.randrange(1, len(word) - 2)
    words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def _near(embedder: LocalEmbedder) -> Iterator[Pair]:
    """Yield statements paired with the nearest of other blocks."""
    said = [(name, text) for name, lines in relations.blocks() for _, text in lines]
    vectors = embedder.embed([text for _, text in said])
    for at, (name, text) in enumerate(said):
        cosines = vectors @ vectors[at]
        cosines[cosines >= TWIN] = -1
        near = numpy.argpartition(-cosines, MOST_NEAR)[:MOST_NEAR]
        others = (row for row in near[numpy.argsort(-cosines[near])] if said[row][0] != name)
        yield from (Pair(text, said[row][1], NEITHER, name, "near") for row in islice(others, NEAREST))


def _spoken(embedder: LocalEmbedder) -> Iterator[Pair]:
    """Yield typed sentences, mostly tasks and questions, paired with the nearest statement."""
    said = [(name, text) for name, lines in relations.blocks() for _, text in lines]
    vectors = embedder.embed([text for _, text in said])
    chosen = [one.text for one in sentences(FOLDER)]
    random.Random(1).shuffle(chosen)
    for text in chosen[:SPOKEN]:
        near = vectors @ embedder.embed([text])[0]
        row = int(numpy.where(near < NEAR, near, -1).argmax())
        if near[row] > FAR:
            yield Pair(text, said[row][1], NEITHER, said[row][0], "spoken")


def _unrelated(embedder: LocalEmbedder, chance: random.Random) -> Iterator[Pair]:
    yield from (one for one in unrelated(embedder) if chance.random() < UNRELATED)


def _sets() -> Iterator[Pair]:
    """Give the pairs of the development sets, both ways."""
    for name in DEVELOPMENT:
        for at, line in enumerate((SETS / f"same_statement_{name}.tsv").read_text().splitlines()):
            if not line.startswith("#"):
                label, _, one, other = line.split("\t")
                sort = SAME if label == "same" else APART
                yield Pair(one, other, sort, f"{name}{at // 5}", "set")
                yield Pair(other, one, sort, f"{name}{at // 5}", "set")


def is_held(one: Pair) -> bool:
    """Whether the encoder does not learn from a pair."""
    return zlib.crc32(one.block.encode()) % HELD == 0


def rows_of(said: Sequence[Pair]) -> list[int]:
    """Return the places of the pairs to learn from, as often as they count."""
    chance = random.Random(0)
    rows = []
    for at, one in enumerate(said):
        times = TIMES.get(one.mark, 0.5 if one.sort == NEITHER else 1.0)
        rows += [] if is_held(one) else [at] * (int(times) + (chance.random() < times % 1))
    return rows


def trained(said: Sequence[Pair], tokens: Sequence[numpy.ndarray]) -> Any:
    """Train all layers with three scores: the same, a replacement or end, and an end."""
    import torch
    from torch import nn
    from torch.nn import functional

    from bench import judge_encoder

    torch.set_num_threads(1)  # reproducible, and threads that wait for each other are slow beside other work
    torch.manual_seed(0)
    random.seed(0)
    upper = judge_encoder.Upper(judge_encoder.released_weights(), first=0)
    upper.head = nn.Linear(2 * judge_encoder.WIDTH, len(SORTS))
    upper.head.weight.data *= 0.1
    rows = rows_of(said)
    truth = torch.tensor([[one.sort in sorts for sorts in SORTS.values()] for one in said], dtype=torch.float32)
    wanted = truth * CERTAINTY + (1 - CERTAINTY) / 2
    known = torch.tensor([[1.0, *[float(one.sort != APART)] * (len(SORTS) - 1)] for one in said])
    fresh = [*upper.head.parameters(), upper.query]
    groups = [{"params": list(upper.layers.parameters()), "lr": RATE}, {"params": fresh, "lr": 7.5 * RATE}]
    solver = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = ROUNDS * math.ceil(len(rows) / judge_encoder.BATCH)
    pace = torch.optim.lr_scheduler.LambdaLR(solver, lambda step: min(1, 10 * (step + 1) / steps) * (1 - step / steps))
    upper.train()
    for turn in range(ROUNDS):
        print(f"round {turn + 1} of {ROUNDS}: {len(rows)} rows", flush=True)
        for group, values, real in judge_encoder.batches(tokens, rows, mixed=True):
            with torch.autocast("cpu", torch.bfloat16):  # twice as fast where the processor has it
                found = upper(values, real)
            lost = functional.binary_cross_entropy_with_logits(found.float(), wanted[group], reduction="none")
            solver.zero_grad()
            (lost * known[group]).mean().backward()
            nn.utils.clip_grad_norm_(upper.parameters(), 1.0)
            solver.step()
            pace.step()
    upper.eval()
    return upper


def encoded(said: Sequence[Pair], embedder: LocalEmbedder, kept: Path | None) -> list[list[float]]:
    """Write the encoder; return its scores of the pairs that it has not seen."""
    if kept and kept.exists():
        return [list(map(float, row)) for row in json.loads(kept.read_text())]
    from bench import judge_encoder

    print(f"{len(said)} pairs", flush=True)
    tokens = [embedder.tokens(plain(one.new), plain(one.old)).astype(numpy.float16) for one in said]
    judge_encoder.export(trained(said, tokens), WEIGHTS.with_suffix(".onnx"), "tokens")
    pair_model.clear()
    found = read([one for one in said if is_held(one)], embedder)
    if kept:
        kept.write_text(json.dumps(found))
    return found


def read(said: Sequence[Pair], embedder: LocalEmbedder) -> list[list[float]]:
    """Return the encoder's scores of some pairs: those of a pair as it is, and those of it turned about."""
    found = []
    for one in said:
        new, old = plain(one.new), plain(one.old)
        found.append([*pair_model.read(embedder.tokens(new, old)), *pair_model.read(embedder.tokens(old, new))])
    return found


def looked_at(one: Pair, embedder: LocalEmbedder) -> pair_comparison.Compared:
    """Return the features of a pair without the encoder."""
    new, old = embedder.embed([plain(one.new), plain(one.old)])
    return pair_comparison.compared(one.new, one.old, float(new @ old))


def table(seen: Sequence[pair_comparison.Compared], scores: Sequence[Sequence[float]]) -> numpy.ndarray:
    """Return the weighted features of each pair."""
    both = [
        pair_model.both_ways(score[: len(SORTS)], score[len(SORTS) :] if one.may_be_same(math.inf) else None)
        for one, score in zip(seen, scores, strict=True)
    ]
    return numpy.array([pair_model.features(one, score) for one, score in zip(seen, both, strict=True)])


def linear(values: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """Fit a linear model to values as they come; its last weight is the bias."""
    from sklearn.linear_model import LogisticRegression

    mean, deviation = values.mean(0), values.std(0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((values - mean) / deviation, truth, sample_weight=weights)
    slopes = model.coef_[0] / deviation
    return {"linear": numpy.array([*slopes, model.intercept_[0] - slopes @ mean], numpy.float32)}


def trees(values: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """Fit boosted trees from several seeds, as `relation.boosted` reads them: their mean."""
    from sklearn.ensemble import GradientBoostingClassifier

    made, start = [], 0.0
    for seed in range(SEEDS):
        model = GradientBoostingClassifier(**BOOSTING, random_state=seed).fit(values, truth, sample_weight=weights)
        made += [_perfect(row[0].tree_, BOOSTING["max_depth"]) for row in model.estimators_]
        prior = model.init_.class_prior_[1]
        start += math.log(prior / (1 - prior)) / SEEDS
    feature, threshold, leaves = (numpy.array(part) for part in zip(*made, strict=True))
    scaled = leaves * BOOSTING["learning_rate"] / SEEDS
    return {
        "feature": feature.astype(numpy.int16),
        "threshold": threshold.astype(numpy.float32),
        "leaves": scaled.astype(numpy.float32),
        "start": numpy.array([start], numpy.float32),
    }


def both(values: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """Fit a linear model and trees, of which the mean is used."""
    return linear(values, truth, weights) | trees(values, truth, weights)


def _perfect(tree: Any, depth: int) -> tuple[list[int], list[float], list[float]]:
    """Return a tree's inner nodes level by level, and its leaves; a leaf above the last level is repeated below it."""
    level, features, thresholds = [0], [], []
    for _ in range(depth):
        inner = [tree.children_left[node] >= 0 for node in level]
        features += [int(tree.feature[node]) if is_inner else 0 for node, is_inner in zip(level, inner, strict=True)]
        thresholds += [float(tree.threshold[node]) for node in level]
        sides = (tree.children_left, tree.children_right)
        level = [
            int(side[node]) if is_inner else node for node, is_inner in zip(level, inner, strict=True) for side in sides
        ]
    return features, thresholds, [float(tree.value[node][0][0]) for node in level]


def judged(model: dict[str, numpy.ndarray], values: numpy.ndarray) -> numpy.ndarray:
    """Return a model's scores."""
    if "linear" in model:
        rows = values.astype(numpy.float32)
        return numpy.array([pair_model.mean(model, row) for row in rows])
    return numpy.array([pair_model.boosted(model, row) for row in values.astype(numpy.float32)])


def report(name: str, said: Sequence[Pair], scores: numpy.ndarray) -> None:
    """Print how many of each mark pass while so many of the other written pairs do."""
    others = numpy.array([one.mark in relations.MARKS[1:] and one.sort not in SORTS[name] for one in said])
    for share in PASSING:
        bar = float(numpy.quantile(scores[others], 1 - share))
        marks = {mark: numpy.array([one.mark == mark for one in said]) for mark in relations.MARKS[1:]}
        passed = ", ".join(f"{mark} {(scores[rows] > bar).mean():.2f}" for mark, rows in marks.items())
        print(f"{name}, {share:.0%} of the others pass: {passed}")


def report_costs(name: str, said: Sequence[Pair], scores: numpy.ndarray, known: numpy.ndarray) -> None:
    """Print the threshold at which wrong decisions on the written pairs cost least, one counting as many misses."""
    written = known & numpy.array([one.mark in relations.MARKS[1:] and one.mark != "" for one in said])
    right = numpy.array([one.sort in SORTS[name] for one in said])
    for cost in COSTS:
        gain = [(scores[written & right] >= bar).sum() - cost * (scores[written & ~right] >= bar).sum() for bar in BARS]
        bar = BARS[int(numpy.argmax(gain))]
        passed = [int((scores[written & rows] >= bar).sum()) for rows in (right, ~right)]
        print(f"{name}, one wrong costs {cost} missed: from {bar:.1f}, {passed[0]} right, {passed[1]} wrong")


def report_decisions(
    said: Sequence[Pair],
    seen: Sequence[pair_comparison.Compared],
    scores: Sequence[numpy.ndarray],
    encoded: numpy.ndarray,
) -> None:
    """Print the results of the pairs with the shipped thresholds, by mark."""
    found: Counter[tuple[str, Relation]] = Counter()
    for at, one in enumerate(said):
        sort = f"{one.mark} {one.sort}".strip()
        three = pair_model.Scores(*(float(one[at]) for one in scores))
        found[sort, pair_model.decided(seen[at], three, float(encoded[at]))] += 1
    for sort in dict.fromkeys(sort for sort, _ in found):
        counts = {decision: found[sort, decision] for decision in Relation}
        results = ", ".join(f"{decision.value} {count}" for decision, count in counts.items())
        print(f"{sort} ({sum(counts.values())} pairs): {results}")


def named(name: str, model: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """Return a model's parts by the names under which they are kept."""
    return {f"{name}_{part}": values for part, values in model.items()}


def weighed(
    said: Sequence[Pair], seen: Sequence[pair_comparison.Compared], values: numpy.ndarray
) -> dict[str, numpy.ndarray]:
    """Fit the models that weigh, each to the pairs that the words leave to it; report on them, cross-fitted."""
    fold = numpy.array([zlib.crc32(f"{one.block}x".encode()) % FOLDS for one in said])
    heavy = [one.sort == APART or (one.mark != "" and one.mark in relations.MARKS[1:]) for one in said]
    weights = numpy.where(heavy, 2.0, 1.0)
    weights[[one.mark == MARK for one in said]] = UNRELATED_WEIGHT
    replaceable = numpy.array([one.may_replace() and pair.sort != APART for one, pair in zip(seen, said, strict=True)])
    open_to = {
        SAME: numpy.array([one.may_be_same() for one in seen]),
        REPLACES: replaceable,
        ENDS: replaceable,
    }
    written: dict[str, numpy.ndarray] = {}
    unseen = []
    for name, known in open_to.items():
        fit = trees if name == SAME else both
        truth = numpy.array([one.sort in SORTS[name] for one in said])
        crossed = numpy.zeros(len(said))
        for at in range(FOLDS):
            rows = known & (fold != at)
            crossed[fold == at] = judged(fit(values[rows], truth[rows], weights[rows]), values[fold == at])
        report(name, said, crossed)
        report_costs(name, said, crossed, known)
        unseen.append(crossed)
        written |= named(name, fit(values[known], truth[known], weights[known]))
    report_decisions(said, seen, unseen, values[:, 0])
    return written


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, help="a file that keeps the encoder's scores")
    parser.add_argument("--linear", action="store_true", help="keep the encoder, and fit the models that weigh anew")
    options = parser.parse_args()
    embedder = LocalEmbedder()
    said = [one for one in pairs(embedder) if is_readable(one.new) and is_readable(one.old)]
    held = [one for one in said if is_held(one)]
    scores = read(held, embedder) if options.linear else encoded(said, embedder, options.scores)
    seen = [looked_at(one, embedder) for one in held]
    numpy.savez(WEIGHTS, allow_pickle=False, **weighed(held, seen, table(seen, scores)))
    pair_model.clear()


if __name__ == "__main__":
    main()
