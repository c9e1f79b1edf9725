"""Decides whether a statement repeats an earlier one, replaces it, or does neither.

The encoder consists of the local embedder's layers, fine-tuned to read both statements together
(``bench/relation_train.py``). Small models combine its scores with the comparison of the words. The words outweigh
the scores: a difference in a number, a name or a place rules out a paraphrase, and so does a single different word
among many equal ones, which the encoder hardly notices.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from subconscious.domain.model import Relation
from subconscious.embeddings.readable import SURE_LETTERS, is_readable
from subconscious.supersession.pair_comparison import Compared, compared
from subconscious.text.rewrites import without_reminder
from subconscious.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy

    from subconscious.embeddings.local import LocalEmbedder

LETTERS = 300
"""The most characters at the beginning of a statement that are compared; the rest is ignored."""

IN_DOUBT = 0.3
"""The least score at which the user is asked whether a statement replaces an earlier one."""

ENDING = 0.5
"""The least score at which a statement only takes back an earlier one, without a new value."""


def relations(new: str, olds: Sequence[str], embedder: LocalEmbedder) -> list[Relation]:
    """Return the relation of the statement ``new`` to each earlier statement in ``olds``. CPU-bound: run it in a thread.

    Raises EmbedderError if the model is missing.
    """
    new = without_reminder(new)[:LETTERS]
    mine = embedder.embed([plain(new)])[0]
    return [_relation(new, without_reminder(old)[:LETTERS], mine, embedder) for old in olds]


def _relation(new: str, old: str, mine: numpy.ndarray, embedder: LocalEmbedder) -> Relation:
    if not (is_readable(new) and is_readable(old)):
        return Relation.NEITHER
    cosine = float(mine @ embedder.embed([plain(old)])[0])
    seen = compared(new, old, cosine)
    forward = read(embedder.tokens(plain(new), plain(old)))
    # Only a paraphrase is symmetric: if the words rule it out, the reverse order is not encoded.
    backward = read(embedder.tokens(plain(old), plain(new))) if seen.may_be_same(math.inf) else None
    encoded = both_ways(forward, backward)
    found = decided(seen, scores(seen, encoded), encoded[0])
    if found is Relation.SAME and not seen.shared and not all(is_readable(text, SURE_LETTERS) for text in (new, old)):
        return Relation.NEITHER  # without a common word, the model's score is the only evidence
    return found


def both_ways(forward: Sequence[float], backward: Sequence[float] | None) -> list[float]:
    """Return the encoder's three scores of a pair: for a paraphrase, a replacement, and an end.

    ``backward`` are the scores of the reverse order, if computed; the paraphrase score is then the mean of both orders.
    """
    return [(forward[0] + backward[0]) / 2 if backward else forward[0], *forward[1:]]


class Scores(NamedTuple):
    """The scores (logits) for a paraphrase, for a replacement or end, and for an end without a replacement."""

    same: float
    replacing: float
    ending: float


def decided(seen: Compared, scores: Scores, encoded: float = 0.0) -> Relation:
    """Return the relation that the scores show, unless the words (``seen``) rule it out.

    ``encoded`` is the encoder's own score for a paraphrase.
    """
    same, replacing, ending = scores
    if same >= seen.bar(encoded) and same >= replacing and seen.may_be_same(same):
        return Relation.SAME
    if replacing <= same or not seen.may_replace():
        return Relation.NEITHER
    if replacing >= seen.replacing_bar():
        return Relation.ENDS if ending >= ENDING else Relation.REPLACES
    return Relation.MAY_REPLACE if replacing >= IN_DOUBT else Relation.NEITHER


def scores(seen: Compared, encoded: Sequence[float]) -> Scores:
    """Return how likely a new statement repeats, replaces or ends an old one, from their features."""
    import numpy  # not at the top of the module: it would delay the start by a tenth of a second

    found = numpy.array(features(seen, encoded), numpy.float32)
    return Scores(boosted(_part("same"), found), mean(_part("replaces"), found), mean(_part("ends"), found))


def mean(model: Mapping[str, numpy.ndarray], found: numpy.ndarray) -> float:
    """Return the mean of the scores that a linear model and boosted trees give to the features ``found``.

    The linear model finds more replacements and ends; the trees report fewer false ones.
    """
    linear = model["linear"]
    return (float(found @ linear[:-1] + linear[-1]) + boosted(model, found)) / 2


def boosted(trees: Mapping[str, numpy.ndarray], found: numpy.ndarray) -> float:
    """Return the sum of the values of decision trees that all have the same depth.

    Each row of the arrays is one tree: ``feature`` and ``threshold`` hold its inner nodes level by level, ``leaves``
    its values.
    """
    import numpy

    rows = numpy.arange(len(trees["feature"]))
    place = numpy.zeros(len(rows), int)
    inner = trees["feature"].shape[1]
    while place.size and place[0] < inner:
        right = found[trees["feature"][rows, place]] > trees["threshold"][rows, place]
        place = 2 * place + 1 + right
    return float(trees["leaves"][rows, place - inner].sum() + trees["start"][0])


def features(seen: Compared, encoded: Sequence[float]) -> list[float]:
    """Return the features: the encoder's scores, the same scores as probabilities, and the comparison of the words."""
    return [*encoded, *(1 / (1 + math.exp(-score)) for score in encoded), *seen.numbers]


def read(tokens: numpy.ndarray) -> list[float]:
    """Return the encoder's three scores of a pair; ``tokens`` are the vectors of the pair's tokens."""
    found: list[float] = _encoder().run(None, {"tokens": tokens[None]})[0][0].tolist()
    return found


@cache
def _weights() -> dict[str, numpy.ndarray]:
    import numpy

    with files("subconscious.supersession").joinpath("relation.npz").open("rb") as file, numpy.load(file) as table:
        return dict(table)


@cache
def _part(name: str) -> dict[str, numpy.ndarray]:
    """Return the weights of one of the small models: "same", "replaces" or "ends"."""
    return {key.removeprefix(f"{name}_"): part for key, part in _weights().items() if key.startswith(f"{name}_")}


@cache
def _encoder() -> Any:
    from subconscious.embeddings.local import open_packaged

    # If this raises an error, rules alone decide.
    return open_packaged("subconscious.supersession", "relation.onnx", "the model that compares statements")


def clear() -> None:
    """Unload the models, to free memory or because their files were replaced."""
    _weights.cache_clear()
    _part.cache_clear()
    _encoder.cache_clear()
