"""Judges what a statement does to an earlier one: says the same, replaces it, or neither.

The upper half of the local embedder, trained on for this purpose, reads the two together (``bench/relation_train.py``);
a linear model weighs its two scores with what the rules see of the words. Words still decide where they can: a
difference in a number, a name or a place rules out that two say the same, and so does a word exchanged among many
that agree, which the encoder hardly sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from subconscious.capture.ended import keys
from subconscious.capture.judge import plain
from subconscious.errors import EmbedderError
from subconscious.text.claims import replaces, tells_of_a_change
from subconscious.text.same_statement import differences, same_statement, turned
from subconscious.text.statement import Statement, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

    from subconscious.embeddings.local import LocalEmbedder

LETTERS = 300
"""Characters of a statement that are compared."""

SAME, SAME_WORDS, REPLACES = -0.7, 0.0, 1.5
"""Scores from which two statements say the same, in other words or in words they share, or the later replaces the earlier."""

MOST_SHARED, SHARE = 3, 0.8
"""Words in common up to which the model is asked, and the share of the shorter statement from which it sees too little."""

FEWEST = 2
"""Words in common from which one that is exchanged for another makes two statements say different things."""

DIFFERENCES = (
    *("number", "negation", "name", "opposite", "direction", "modality", "scope", "time"),
    *("environment", "place", "system", "unit"),
)
ELSEWHERE = frozenset(("environment", "place", "system"))
"""Differences by which two statements are about two things."""

VETOES = ELSEWHERE | {"number", "negation", "name", "opposite", "direction", "unit"}
"""Differences by which two statements never say the same."""


class Relation(Enum):
    """What a statement does to an earlier one."""

    SAME = "same"
    REPLACES = "replaces"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Compared:
    """What is seen of two statements without the encoder."""

    numbers: list[float]
    differences: frozenset[str]
    shared: int
    share: float
    exchanged: bool
    """Whether one word of each stands where the other has another."""
    adds: bool
    """Whether one says more than the other."""
    turned: bool
    """Whether they name their words in another order, or differ in what must be done."""

    def may_be_same(self) -> bool:
        """Whether their words leave it open that they say the same."""
        if self.exchanged or self.shared > MOST_SHARED or self.differences & VETOES:
            return False
        return self.share < SHARE or not (self.differences or self.turned or self.adds)


def compared(new: str, old: str, cosine: float) -> Compared:
    """Compare the words of two statements; ``cosine`` is that of their vectors."""
    apart, one, other = differences(new, old), parse(new), parse(old)
    shared = len(one.keys & other.keys)
    share = shared / max(1, min(len(one.keys), len(other.keys)))
    rules = (same_statement(new, old, cosine), replaces(new, old), tells_of_a_change(new))
    numbers = [
        cosine,
        *(float(sort in apart) for sort in DIFFERENCES),
        float(len(apart)),
        *map(float, rules),
        *_overlap(one, other),
        share,
        *_named(new, old),
        *_numbers(one, other),
        float(new.endswith("?")),
        len(new) / 100,
        len(old) / 100,
    ]
    lacking = len(one.heavy - other.keys), len(other.heavy - one.keys)
    exchanged = shared >= FEWEST and lacking == (1, 1)
    return Compared(
        numbers, apart, shared, share, exchanged, any(lacking), turned(one, other) or _modality(one) != _modality(other)
    )


def _modality(side: Statement) -> set[tuple[str, str]]:
    return {mark for mark in side.marks if mark[0] == "modality"}


def _overlap(one: Statement, other: Statement) -> list[float]:
    shared, mine, its = len(one.keys & other.keys), len(one.keys), len(other.keys)
    return [
        shared / max(1, mine),
        shared / max(1, its),
        (mine - shared) / 5,
        (its - shared) / 5,
        mine / 8,
        its / 8,
    ]


def _named(new: str, old: str) -> list[float]:
    """Shares of the words that name something and that both have."""
    mine, its = keys(new), keys(old)
    shared = len(mine & its)
    return [shared / max(1, len(mine)), shared / max(1, len(its)), float(not shared)]


def _numbers(one: Statement, other: Statement) -> list[float]:
    found = (one.numbers & other.numbers, one.numbers, other.numbers, one.numbers == other.numbers)
    return [float(bool(some)) for some in found]


def relations(new: str, olds: Sequence[str], embedder: LocalEmbedder) -> list[Relation]:
    """Return what a statement does to each of some earlier ones. CPU-bound: run it in a thread.

    Raises EmbedderError where there is no model.
    """
    mine = embedder.embed([plain(new[:LETTERS])])[0]
    return [_relation(new[:LETTERS], old[:LETTERS], mine, embedder) for old in olds]


def _relation(new: str, old: str, mine: numpy.ndarray, embedder: LocalEmbedder) -> Relation:
    cosine = float(mine @ embedder.embed([plain(old)])[0])
    seen = compared(new, old, cosine)
    same, replacing = scores(seen, read(embedder.middle(plain(new), plain(old))))
    if same >= (SAME if seen.share < SHARE else SAME_WORDS) and same >= replacing and seen.may_be_same():
        return Relation.SAME
    if replacing >= REPLACES and replacing > same and not seen.differences & ELSEWHERE:
        return Relation.REPLACES
    return Relation.NEITHER


def scores(seen: Compared, encoded: Sequence[float]) -> tuple[float, float]:
    """Return how much speaks for the same, and for a replacement: logits."""
    import numpy  # a tenth of a second that the daemon's start should not wait for

    weights = _weights()
    found = weights[:, :-1] @ numpy.array([*encoded, *seen.numbers], numpy.float32) + weights[:, -1]
    return float(found[0]), float(found[1])


def read(middle: numpy.ndarray) -> list[float]:
    """Return the two scores that the retrained upper layers give to what the middle layer made of a pair."""
    found: list[float] = _upper().run(None, {"middle": middle[None]})[0][0].tolist()
    return found


@cache
def _weights() -> numpy.ndarray:
    import numpy

    with files("subconscious.capture").joinpath("relation.npz").open("rb") as file, numpy.load(file) as table:
        weights: numpy.ndarray = table["weights"]
        return weights


@cache
def _upper() -> Any:
    from subconscious.embeddings.local import open_session

    try:
        with as_file(files("subconscious.capture").joinpath("relation.onnx")) as path:
            return open_session(path)
    except Exception as error:  # a missing file, a broken one, the runtime's own types: rules go on alone
        raise EmbedderError(f"the model of relations can't be loaded: {error}", "install Subconscious anew") from error


def clear() -> None:
    """Forget the models that are loaded: others were written in their place."""
    _weights.cache_clear()
    _upper.cache_clear()
