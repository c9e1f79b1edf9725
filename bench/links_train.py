"""Train the small model of links: `python -m bench.links_train CORPORA [--write]`.

Predicts whether two memories are linked, and by which type, from the numbers of ``subconscious/links/judge.py``. It
is trained on pairs of decision records and proposals without the sentence that states their relation, on the same pairs
cut down to the length of a memory, on further links that those records state (for the type only), and on our own cases
(tests/fixtures/links/cases.tsv). Only coefficients are kept. `python -m bench.links` measures it on unseen
repositories. Deterministic; needs numpy only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy

from subconscious.embeddings.local import LocalEmbedder
from subconscious.links.judge import Weights, features, ordered
from subconscious.links.reading import Note, Reading, read

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "subconscious" / "links" / "weights.json"
CASES = ROOT / "tests" / "fixtures" / "links" / "cases.tsv"
TYPES = ("SUPERSEDES", "EXTENDS", "REQUIRES", "SUPPORTS")
"""Types that likeness may suggest. A conflict is shown to the user, so it must be stated in words."""
NONE = "NONE"
BRIEF = 350
"""Characters of a record that is cut down to the length of a memory."""

BRIEF_WEIGHT, CASE_WEIGHT, FURTHER_WEIGHT = 0.3, 0.2, 0.3
RIDGE, TYPE_RIDGE = 60.0, 5.0
STEPS = 60
CASE_TIME = 1_700_000_000.0
DIGITS = 4

TYPE_FEATURES = frozenset(
    "titles told_new told_old cosine gap gap_unknown dense_change dense_need dense_more dense_problem size decides"
    " turns new_of_title old_of_title".split()
)
"""What says of two that are linked, as what; the rest would only be learned by heart."""

Numbers = Any


@dataclass(frozen=True, slots=True)
class Pair:
    """Two that are compared: ``group`` is the repository; ``typed_only``: says nothing of who is linked at all."""

    source: Reading
    target: Reading
    type: str
    group: str
    weight: float = 1.0
    cosine: float = 0.0
    typed_only: bool = False


@cache
def _embedder() -> LocalEmbedder:
    return LocalEmbedder()


def embedded(text: str) -> Numbers:
    """The vector of a text, as a memory's is made."""
    return _embedder().embed([text])[0]


def noted(record: Mapping[str, Any]) -> Note:
    """A record of the corpus, as a note."""
    return Note(record["title"], record["text"], _time(record.get("date") or ""))


def _time(date: str) -> float | None:
    try:
        return datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


Link = tuple[str, str, str, str]
"""Type, repository, source and target, by the ids of the records."""


def corpus(folder: Path) -> list[Pair]:
    """The labelled pairs, whole; the source first."""
    return _compared(folder, _labelled(folder))


def further(folder: Path) -> list[Pair]:
    """The links that records state beyond the labelled pairs, of which each repository has but twenty of a type.

    They come without unlinked pairs, so they only distinguish the types.
    """
    told = {frozenset(link[2:]) for link in _labelled(folder)}
    records = _records(folder)
    links = [
        (link["type"], record["repo"], key, link["target"])
        for key, record in records.items()
        for link in record["links"]
        if link["type"] in TYPES and link["target"] in records and frozenset((key, link["target"])) not in told
    ]
    return [replace(pair, weight=FURTHER_WEIGHT, typed_only=True) for pair in _compared(folder, links)]


@cache
def _records(folder: Path) -> dict[str, Any]:
    with (folder / "links" / "records.jsonl").open(encoding="utf-8") as file:
        return {record["id"]: record for record in map(json.loads, file)}


@cache
def _labelled(folder: Path) -> tuple[Link, ...]:
    with (folder / "links" / "pairs.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return tuple((row["type"], row["repo"], row["source"]["rec"], row["target"]["rec"]) for row in rows)


def _compared(folder: Path, links: Sequence[Link]) -> list[Pair]:
    records = _records(folder)
    notes = {key: noted(records[key]) for key in sorted({key for link in links for key in link[2:]})}
    vectors = {key: embedded(f"{note.title}\n{note.text}") for key, note in notes.items()}
    readings = {key: read(note) for key, note in notes.items()}
    return [_pair(*link, readings, vectors) for link in links]


def _pair(type_: str, group: str, one: Any, other: Any, readings: Mapping[Any, Reading], vectors: Any) -> Pair:
    return Pair(readings[one], readings[other], type_, group, 1.0, float(vectors[one] @ vectors[other]))


def briefly(pairs: Sequence[Pair]) -> list[Pair]:
    """The same pairs cut down to the length of memories."""
    cut = {id(reading): _cut(reading.note) for pair in pairs for reading in (pair.source, pair.target)}
    vectors = {key: embedded(note.text) for key, note in cut.items()}
    readings = {key: read(note) for key, note in cut.items()}
    found = [_pair(pair.type, pair.group, id(pair.source), id(pair.target), readings, vectors) for pair in pairs]
    return [replace(pair, weight=BRIEF_WEIGHT) for pair in found]


def _cut(note: Note) -> Note:
    _, _, decided = note.text.partition("## Decision")
    return replace(note, text=f"{note.title}. {(decided or note.text)[:BRIEF]}")


def cases(path: Path = CASES) -> list[Pair]:
    """Our own cases; each is a separate group."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        type_, order, source, target = line.split("\t")
        times = (CASE_TIME, CASE_TIME - 86_400.0) if order == "later" else (CASE_TIME - 86_400.0, CASE_TIME)
        ends = [read(Note(text[:100], text, time)) for text, time in zip((source, target), times, strict=True)]
        cosine = float(embedded(source) @ embedded(target))
        found.append(Pair(ends[0], ends[1], type_, f"case {number}", CASE_WEIGHT, cosine))
    return found


def table(pairs: Sequence[Pair]) -> tuple[tuple[str, ...], Numbers]:
    """The names of the features, and a row of them for each pair."""
    rows = [features(*ordered(pair.source, pair.target), pair.cosine) for pair in pairs]
    names = tuple(sorted(rows[0]))
    return names, numpy.array([[row[name] for name in names] for row in rows])


def train(pairs: Sequence[Pair], names: tuple[str, ...], rows: Numbers) -> Weights:
    """Fit both models; ``slope`` and ``offset`` are calibrated on groups that were left out."""
    weights = numpy.array([pair.weight for pair in pairs])
    truth = numpy.array([pair.type != NONE for pair in pairs], float)
    raw = _fit(names, rows, pairs, weights, truth)
    seen = _left_out(names, rows, pairs, weights, truth)
    slope, offset = _logistic(seen[:, None], truth, weights * _asked(pairs), 1e-6)
    return replace(raw, slope=round(float(slope), DIGITS), offset=round(float(offset), DIGITS))


def _asked(pairs: Sequence[Pair]) -> Numbers:
    """1 for the pairs that decide whether two are linked."""
    return numpy.array([not pair.typed_only for pair in pairs], float)


def _left_out(
    names: tuple[str, ...], rows: Numbers, pairs: Sequence[Pair], weights: Numbers, truth: Numbers
) -> Numbers:
    """The score of each pair by a model trained without its fold; a repository is in one fold."""
    groups = sorted({pair.group for pair in pairs})
    fold = {group: place % 5 for place, group in enumerate(groups)}
    at = numpy.array([fold[pair.group] for pair in pairs])
    scores = numpy.zeros(len(pairs))
    for one in range(5):
        kept = at != one
        model = _fit(names, rows[kept], [pair for pair, is_in in zip(pairs, kept, strict=True) if is_in], weights[kept],
                     truth[kept])  # fmt: skip
        scaled = (rows[~kept] - numpy.array(model.mean)) / numpy.array(model.scale)
        scores[~kept] = scaled @ numpy.array(model.linked[:-1]) + model.linked[-1]
    return scores


def _fit(names: tuple[str, ...], rows: Numbers, pairs: Sequence[Pair], weights: Numbers, truth: Numbers) -> Weights:
    asked = rows[_asked(pairs) > 0]
    mean, scale = asked.mean(axis=0), asked.std(axis=0)
    scale[scale < 1e-6] = 1.0
    scaled = (rows - mean) / scale
    linked = _logistic(scaled, truth, weights * _asked(pairs), RIDGE)
    slope, constant = numpy.polyfit(asked[:, names.index("lexical")], asked[:, names.index("cosine")], 1)
    return Weights(
        names,
        _rounded(mean),
        _rounded(scale),
        _rounded(linked),
        _types(names, scaled, pairs, weights),
        1.0,
        0.0,
        (round(float(constant), DIGITS), round(float(slope), DIGITS)),
    )


def _rounded(values: Numbers) -> tuple[float, ...]:
    return tuple(round(float(value), DIGITS) for value in values)


def _logistic(rows: Numbers, truth: Numbers, weights: Numbers, ridge: float) -> Numbers:
    """Newton's steps on a logistic function with a ridge; the constant comes last and is free."""
    full = numpy.hstack([rows, numpy.ones((len(rows), 1))])
    penalty = numpy.diag([ridge] * rows.shape[1] + [1e-9])
    found = numpy.zeros(full.shape[1])
    for _ in range(STEPS):
        told = 1 / (1 + numpy.exp(-numpy.clip(full @ found, -30, 30)))
        gradient = full.T @ (weights * (told - truth)) + penalty @ found
        curve = (full * (weights * told * (1 - told))[:, None]).T @ full + penalty
        step = numpy.linalg.solve(curve, gradient)
        found -= step
        if abs(step).max() < 1e-8:
            break
    return found


def _types(
    names: tuple[str, ...], scaled: Numbers, pairs: Sequence[Pair], weights: Numbers
) -> dict[str, tuple[float, ...]]:
    """One against the others for each type, over few features: of so few examples no more can be learned."""
    kept = numpy.array([pair.type in TYPES for pair in pairs])
    used = numpy.array([name in TYPE_FEATURES for name in names])
    found = {}
    for one in TYPES:
        truth = numpy.array([pair.type == one for pair in pairs], float)[kept]
        fitted = _logistic(scaled[kept][:, used], truth, weights[kept], TYPE_RIDGE)
        row = numpy.zeros(len(names) + 1)
        row[:-1][used], row[-1] = fitted[:-1], fitted[-1]
        found[one] = _rounded(row)
    return found


def material(folder: Path) -> tuple[list[Pair], tuple[str, ...], Numbers]:
    """Everything that is learned from, with its features."""
    whole = corpus(folder)
    pairs = [*whole, *briefly(whole), *further(folder), *cases()]
    names, rows = table(pairs)
    return pairs, names, rows


def write(weights: Weights, path: Path = WEIGHTS) -> None:
    fields = {name: getattr(weights, name) for name in Weights.__dataclass_fields__}
    path.write_text(json.dumps(fields) + "\n", encoding="utf-8")


def main(arguments: Sequence[str], told: Callable[[str], None] = print) -> None:
    pairs, names, rows = material(Path(arguments[0]))
    weights = train(pairs, names, rows)
    told(f"{len(pairs)} pairs, {len(names)} features, slope {weights.slope}, offset {weights.offset}")
    if "--write" in arguments:
        write(weights)


if __name__ == "__main__":
    main(sys.argv[1:])
