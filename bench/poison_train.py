"""Train the poisoning check's small model: `python -m bench.poison_train CORPORA TRANSCRIPTS [--only-fit]`.

It needs scikit-learn. One linear model over hashed words goes into ``subconscious/poisoning/weights.npz``. Before that,
it is evaluated on unseen data: each attack corpus and each source of harmless text is left out in turn, and all texts
of one writer together. Only weights of the corpora are kept; licences of the training data: bench/data/LICENCES.md.
The run is deterministic.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from bench.poison_texts import Text, corpus, records, spoken
from bench.speech import FOLDER as SPEECH
from bench.speech import sentences
from bench.unseen_safety import HELD_BACK, planted
from bench.unseen_safety import texts as safety_texts
from subconscious.poisoning.attack_model import DOUBTS, FLAGS, SIZE, passages, places, without_marks

WEIGHTS = Path(__file__).parent.parent / "subconscious" / "poisoning" / "weights.npz"
UNTAUGHT = frozenset({"asb_tools", "bipia_text_in_email"})
"""Attacks that no wording reveals: training on them would only blur the model."""

WRITERS = dict(zip((1, 2, 3, 5, *range(7, 13), *range(14, 22)), "aaabcdefghjklmnpqr", strict=True))
"""The sets of bench/data/safety that the model learns from, with their writers; the others are held back."""

STRENGTH = 100.0
HARMLESS_WEIGHT = 1.5
"""How much all harmless sources together weigh against all attacks: a false alarm costs a person's time."""


@dataclass(frozen=True)
class Table:
    """The features of all texts and their passages, made once: a row for each.

    ``owners``: the index of each row's text. ``truth``: whether the row itself is an attack. ``taught``: whether a
    model may learn from it; which passages of an attack are harmless is often unknown. ``judged``: whether the product
    judges it.
    """

    texts: Sequence[Text]
    rows: Any
    owners: numpy.ndarray
    truth: numpy.ndarray
    taught: numpy.ndarray
    judged: numpy.ndarray

    @property
    def sources(self) -> numpy.ndarray:
        """The source of each text."""
        return numpy.array([text.source for text in self.texts])

    @property
    def attacks(self) -> numpy.ndarray:
        """Whether each text is an attack."""
        return numpy.array([text.attack for text in self.texts])


def table_of(texts: Sequence[Text]) -> Table:
    """Return the rows of texts, as ``attack_model.likeliest`` sees them."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped,unused-ignore]

    parts = [(at, *part) for at, text in enumerate(texts) for part in _parts(text)]
    at = [places(text) for _, text, *_ in parts]
    # Each feature once, by the root of their number.
    values = numpy.concatenate([numpy.full(len(row), 1 / numpy.sqrt(max(len(row), 1))) for row in at])
    ends = numpy.concatenate([[0], numpy.cumsum([len(row) for row in at])])
    columns = numpy.concatenate([numpy.array(row, dtype=numpy.int64) for row in at])
    rows = csr_matrix((values, columns, ends), shape=(len(at), SIZE))
    owners, truth, taught, judged = (numpy.array([part[field] for part in parts]) for field in (0, 2, 3, 4))
    return Table(texts, rows, owners, truth, taught, judged)


def _parts(text: Text) -> Iterator[tuple[str, bool, bool, bool]]:
    """Yield a text, the order in it, and its passages: each with whether it is an attack, is taught, and is judged."""
    yield text.text, text.attack, True, True
    plain = without_marks(text.text)
    begin = text.text.find(text.order) if text.order else -1
    if begin >= 0:
        yield plain[begin : begin + len(text.order)], True, True, False
    for start, end in passages(text.text):
        apart = begin >= 0 and (end <= begin or start >= begin + len(text.order))
        yield plain[start:end], False, apart or not text.attack, True


def fit(table: Table, chosen: numpy.ndarray) -> Any:
    """Fit on the chosen texts; all sources have equal weight, regardless of their size."""
    from sklearn.linear_model import LogisticRegression

    rows_of = chosen[table.owners] & table.taught
    truth, sources = table.truth[rows_of], table.sources[table.owners[rows_of]]
    rows = list(zip(truth.tolist(), sources.tolist(), strict=True))
    sizes = Counter(rows)
    number = Counter(attack for attack, _ in sizes)
    share = {True: 1.0 / max(number[True], 1), False: HARMLESS_WEIGHT / max(number[False], 1)}
    weight = numpy.array([share[row[0]] * 1000 / sizes[row] for row in rows])
    # A tiny corpus must not shout, a huge one must not drown.
    weight = numpy.clip(weight, 0.05, 4.0)
    return LogisticRegression(C=STRENGTH, max_iter=3000).fit(table.rows[rows_of], truth, sample_weight=weight)


def learned(corpora: Path, transcripts: Path) -> list[Text]:
    """Return all texts that the model learns from."""
    return [
        *corpus(corpora),
        *spoken(transcripts),
        *records(corpora),
        *plain_orders(),
        *files_with_orders(),
        *conversation(),
    ]


def plain_orders() -> Iterator[Text]:
    """Yield the orders and harmless statements of bench/data/safety that are not held back."""
    for number, sort, text in safety_texts():
        if number in WRITERS:
            yield Text(f"plain_{WRITERS[number]}", sort != "harmless", text, text)


def files_with_orders() -> Iterator[Text]:
    """Yield the files of bench/data/safety, with and without a planted order, that are not held back."""
    for row in planted():
        if row.writer not in HELD_BACK:
            yield Text(f"files_{row.writer}", row.attack, row.text, row.text, row.order)


def conversation() -> Iterator[Text]:
    """Yield the sentences of bench/data/speech: without them, short ordinary sentences would look like orders."""
    for sentence in sentences(SPEECH):
        yield Text("conversation", False, sentence.text, sentence.writer)


def scores(model: Any, table: Table, chosen: numpy.ndarray) -> numpy.ndarray:
    """Return each chosen text's probability, that of its likeliest passage."""
    rows_of = chosen[table.owners] & table.judged
    best: numpy.ndarray = numpy.zeros(len(table.texts))
    numpy.maximum.at(best, table.owners[rows_of], model.predict_proba(table.rows[rows_of])[:, 1])
    found: numpy.ndarray = best[chosen]
    return found


def sources_of(table: Table) -> numpy.ndarray:
    """Each text's probability, by a model that never saw its source."""
    found = numpy.zeros(len(table.texts))
    for source in sorted(set(table.sources)):
        mine = table.sources == source
        model = fit(table, ~mine & ~numpy.isin(table.sources, list(UNTAUGHT)))
        found[mine] = scores(model, table, mine)
    return found


def halves_of(table: Table) -> numpy.ndarray:
    """Each text's probability, by a model of the other half of every source."""
    odd = numpy.array([text.half for text in table.texts]) == 1
    found = numpy.zeros(len(table.texts))
    for mine in (odd, ~odd):
        model = fit(table, ~mine & ~numpy.isin(table.sources, list(UNTAUGHT)))
        found[mine] = scores(model, table, mine)
    return found


def tell(title: str, found: numpy.ndarray, table: Table) -> None:
    print(f"{title:34} {'n':>6} {'>= flags':>9} {'>= doubts':>10}")
    for source, attack in sorted(set(zip(table.sources.tolist(), table.attacks.tolist(), strict=True))):
        its = found[(table.sources == source) & (table.attacks == attack)]
        sort = "attack" if attack else "harmless"
        print(
            f"  {source:24} {sort:8} {len(its):5} {100 * (its >= FLAGS).mean():8.1f}% "
            f"{100 * (its >= DOUBTS).mean():9.1f}%"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--only-fit", action="store_true")
    options = parser.parse_args()
    texts = learned(options.corpora, options.transcripts)
    table = table_of(texts)
    if not options.only_fit:
        tell("source never seen", sources_of(table), table)
        tell("source seen, text not (halves)", halves_of(table), table)
    model = fit(table, ~numpy.isin(table.sources, list(UNTAUGHT)))
    weights = numpy.append(model.coef_[0], model.intercept_[0]).astype(numpy.float16)
    weights[:-1][numpy.abs(weights[:-1]) < 0.02] = 0
    numpy.savez_compressed(WEIGHTS, attack=weights)
    print(json.dumps({"file": WEIGHTS.name, "bytes": WEIGHTS.stat().st_size, "texts": len(texts)}))


if __name__ == "__main__":
    main()
