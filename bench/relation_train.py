"""Train the model of what a statement does to an earlier one: `python -m bench.relation_train [--linear]`.

Fits ``subconscious/capture/relation.py`` to the written pairs (bench/data/relations), to careless copies of them, to
sentences of bench/data/speech beside statements that are about something else, and to the development sets of
tests/unit/data. The encoder learns from four blocks in five; the linear model, and what is printed, from the fifth,
which the encoder has not seen, cross-fitted by block. Writes ``relation.onnx`` and ``relation.npz`` beside the module.
The encoder takes about a quarter of an hour on one core; ``--scores FILE`` keeps its scores of the fifth. ``--linear`` keeps
the encoder that is shipped and fits the linear model again, in a few minutes. Needs torch, onnx, sympy and
scikit-learn, which are not in the lock; ``--linear`` only scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy

from bench import relations
from bench.relations import APART, NEITHER, REPLACES, SAME, Pair
from bench.speech import FOLDER, sentences
from subconscious.capture import relation
from subconscious.capture.judge import plain
from subconscious.embeddings.local import LocalEmbedder

SETS = Path(__file__).parents[1] / "tests" / "unit" / "data"
DEVELOPMENT = ("development", "development_2", "development_3", "development_4", "swaps")
WEIGHTS = Path(relation.__file__).with_name("relation.npz")
ACROSS, SPOKEN = 600, 1200
NEAREST, TWIN = 1, 0.55
"""Statements of other blocks that one is paired with, and the cosine from which they may say the same."""

NEAR, FAR = 0.6, 0.25
"""Cosines between which a spoken sentence is paired with the nearest statement."""

HELD = 5
"""One block in so many is held back from the encoder."""

IMPLIED = {SAME: 0.3, REPLACES: 0.15, NEITHER: 0.07}
"""Share of the pairs that only follow from others that is used: there are six times as many of them as written ones."""

TIMES = {"=": 1.0, ">": 1.0, "!": 1.0, "~": 1.0, "x": 2.0, "varied": 1.0, "set": 0.4, "near": 0.2, "spoken": 0.2}
"""How often a pair is seen in a round, by its mark; one that follows from others once, or half as often if neither."""

CARELESS, LONG = 0.4, 6
"""How often a copy is changed in each way, and letters of a word in which two may be exchanged."""

CHATTER = ("ok", "btw", "and", "hey,", "please note:", "one more thing:", "so", "fyi", "hm,", "for the record:", "yes,")

ROUNDS, RATE, CERTAINTY = 3, 2e-4, 0.96
STRENGTH = 0.1
"""How little the linear model's weights are held back: the inverse of the ridge."""

FOLDS = 5
PASSING = (0.01, 0.02, 0.05)


def pairs(embedder: LocalEmbedder) -> list[Pair]:
    """Return all pairs, each once."""
    chance = random.Random(0)
    implied = [one for one in relations.implied() if chance.random() < IMPLIED[one.sort]]
    written = [*relations.written(), *implied, *relations.across(ACROSS)]
    everything = [*written, *_varied(chance), *_near(embedder), *_spoken(embedder), *_sets()]
    return list({(one.new, one.old): one for one in reversed(everything)}.values())[::-1]


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
    """Give statements beside the nearest of other blocks."""
    said = [(name, text) for name, lines in relations.blocks() for _, text in lines]
    vectors = embedder.embed([text for _, text in said])
    for at, (name, text) in enumerate(said):
        near = numpy.argsort(-(vectors @ vectors[at]))
        others = [row for row in near if said[row][0] != name and vectors[row] @ vectors[at] < TWIN]
        yield from (Pair(text, said[row][1], NEITHER, name, "near") for row in others[:NEAREST])


def _spoken(embedder: LocalEmbedder) -> Iterator[Pair]:
    """Give what people type, tasks and questions above all, beside the nearest statement."""
    said = [(name, text) for name, lines in relations.blocks() for _, text in lines]
    vectors = embedder.embed([text for _, text in said])
    chosen = [one.text for one in sentences(FOLDER)]
    random.Random(1).shuffle(chosen)
    for text in chosen[:SPOKEN]:
        near = vectors @ embedder.embed([text])[0]
        row = int(numpy.where(near < NEAR, near, -1).argmax())
        if near[row] > FAR:
            yield Pair(text, said[row][1], NEITHER, said[row][0], "spoken")


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


def trained(said: Sequence[Pair], middle: Sequence[numpy.ndarray]) -> Any:
    """Train the upper layers with two scores: the same, and a replacement."""
    import torch
    from torch import nn
    from torch.nn import functional

    from bench import judge_encoder

    torch.set_num_threads(1)  # reproducible, and threads that wait for each other are slow beside other work
    torch.manual_seed(0)
    random.seed(0)
    upper = judge_encoder.Upper(judge_encoder.released_weights())
    upper.head = nn.Linear(2 * judge_encoder.WIDTH, 2)
    upper.head.weight.data *= 0.1
    rows = rows_of(said)
    truth = torch.tensor([[one.sort == SAME, one.sort == REPLACES] for one in said], dtype=torch.float32)
    wanted = truth * CERTAINTY + (1 - CERTAINTY) / 2
    known = torch.tensor([[1.0, float(one.sort != APART)] for one in said])
    fresh = [*upper.head.parameters(), upper.query]
    groups = [{"params": list(upper.layers.parameters()), "lr": RATE}, {"params": fresh, "lr": 7.5 * RATE}]
    solver = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = ROUNDS * math.ceil(len(rows) / judge_encoder.BATCH)
    pace = torch.optim.lr_scheduler.LambdaLR(solver, lambda step: min(1, 10 * (step + 1) / steps) * (1 - step / steps))
    upper.train()
    for turn in range(ROUNDS):
        print(f"round {turn + 1} of {ROUNDS}: {len(rows)} rows", flush=True)
        for group, values, real in judge_encoder.batches(middle, rows, mixed=True):
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
    """Write the encoder; return its scores of the pairs that the linear model learns from."""
    if kept and kept.exists():
        return [list(map(float, row)) for row in json.loads(kept.read_text())]
    from bench import judge_encoder

    middle = [embedder.middle(plain(one.new), plain(one.old)).astype(numpy.float16) for one in said]
    judge_encoder.export(trained(said, middle), WEIGHTS.with_suffix(".onnx"))
    relation.clear()
    found = read([one for one in said if is_weighed(one)], embedder)
    if kept:
        kept.write_text(json.dumps(found))
    return found


def read(said: Sequence[Pair], embedder: LocalEmbedder) -> list[list[float]]:
    """Return the encoder's scores of some pairs: two for a pair as it is, and two for it turned about."""
    found = []
    for one in said:
        new, old = plain(one.new), plain(one.old)
        found.append([*relation.read(embedder.middle(new, old)), *relation.read(embedder.middle(old, new))])
    return found


def is_weighed(one: Pair) -> bool:
    """Whether the linear model learns from a pair: those that the encoder has not seen, and look-alikes.

    The encoder does not tell these apart although it has seen most of them.
    """
    return is_held(one) or one.sort == APART


def table(said: Sequence[Pair], embedder: LocalEmbedder, scores: Sequence[Sequence[float]]) -> numpy.ndarray:
    """Return what the linear model reads of each pair."""
    found = []
    for one, score in zip(said, scores, strict=True):
        vectors = embedder.embed([plain(one.new), plain(one.old)])
        seen = relation.compared(one.new, one.old, float(vectors[0] @ vectors[1]))
        both = relation.both_ways(score[:2], score[2:] if seen.may_be_same() else None)
        found.append(relation.features(seen, both))
    return numpy.array(found)


def fitted(values: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray) -> numpy.ndarray:
    """Return a linear model's weights for values as they come, the last one being the bias."""
    from sklearn.linear_model import LogisticRegression

    mean, deviation = values.mean(0), values.std(0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((values - mean) / deviation, truth, sample_weight=weights)
    slopes = model.coef_[0] / deviation
    return numpy.array([*slopes, model.intercept_[0] - slopes @ mean], numpy.float32)


def report(name: str, said: Sequence[Pair], scores: numpy.ndarray) -> None:
    """Print how many of each mark pass while so many of the other written pairs do."""
    others = numpy.array([one.mark in relations.MARKS[1:] and one.sort != name for one in said])
    for share in PASSING:
        bar = float(numpy.quantile(scores[others], 1 - share))
        marks = {mark: numpy.array([one.mark == mark for one in said]) for mark in relations.MARKS[1:]}
        passed = ", ".join(f"{mark} {(scores[rows] > bar).mean():.2f}" for mark, rows in marks.items())
        print(f"{name}, {share:.0%} of the others pass: {passed}")


def report_decisions(said: Sequence[Pair], scores: Sequence[numpy.ndarray], embedder: LocalEmbedder) -> None:
    """Print what becomes of the written pairs with the thresholds that are shipped, by mark."""
    found: Counter[tuple[str, relation.Relation]] = Counter()
    every: Counter[str] = Counter()
    for at, one in enumerate(said):
        if one.mark in relations.MARKS[1:] and one.mark:
            mine, its = embedder.embed([plain(one.new), plain(one.old)])
            seen = relation.compared(one.new, one.old, float(mine @ its))
            found[one.mark, relation.decided(seen, float(scores[0][at]), float(scores[1][at]))] += 1
            every[one.mark] += 1
    for mark, count in every.items():
        results = ", ".join(f"{sort.value} {found[mark, sort]}" for sort in relation.Relation)
        print(f"{mark} ({count} pairs): {results}")


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, help="a file that keeps the encoder's scores")
    parser.add_argument("--linear", action="store_true", help="keep the encoder; fit to all that it has not seen")
    options = parser.parse_args()
    embedder = LocalEmbedder()
    said = pairs(embedder)
    said = [one for one in said if relation.is_readable(one.new + one.old)]
    held = [one for one in said if is_weighed(one)]
    scores = read(held, embedder) if options.linear else encoded(said, embedder, options.scores)
    values = table(held, embedder, scores)
    fold = numpy.array([zlib.crc32(f"{one.block}x".encode()) % FOLDS for one in held])
    heavy = [one.sort == APART or (one.mark != "" and one.mark in relations.MARKS[1:]) for one in held]
    weights = numpy.where(heavy, 2.0, 1.0)
    written, unseen = [], []
    for name in (SAME, REPLACES):
        truth = numpy.array([one.sort == name for one in held])
        known = numpy.array([name == SAME or one.sort != APART for one in held])
        crossed = numpy.zeros(len(held))
        for at in range(FOLDS):
            rows = known & (fold != at)
            model = fitted(values[rows], truth[rows], weights[rows])
            crossed[fold == at] = values[fold == at] @ model[:-1] + model[-1]
        report(name, held, crossed)
        unseen.append(crossed)
        written.append(fitted(values[known], truth[known], weights[known]))
    report_decisions(held, unseen, embedder)
    numpy.savez(WEIGHTS, weights=numpy.array(written))
    relation.clear()


if __name__ == "__main__":
    main()
