"""Judges what a statement does to an earlier one: says the same, replaces it, or neither.

The upper half of the local embedder, trained on for this purpose, reads the two together (``bench/relation_train.py``);
a linear model weighs its two scores with what the rules see of the words. Words still decide where they can: a
difference in a number, a name or a place rules out that two say the same, and so does a word exchanged among many
that agree, which the encoder hardly sees.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from subconscious.capture.ended import keys
from subconscious.capture.endings import End, endings
from subconscious.capture.judge import plain
from subconscious.errors import EmbedderError
from subconscious.text import vocabulary
from subconscious.text.claims import replaces, tells_of_a_change
from subconscious.text.same_statement import differences, same_statement, turned
from subconscious.text.statement import Statement, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

    from subconscious.embeddings.local import LocalEmbedder

LETTERS = 300
"""Characters of a statement that are compared."""

SAME, SAME_WORDS, SAME_DOUBTED, REPLACES = 0.0, 0.3, 0.8, 1.5
"""Scores from which two statements say the same, in other words, in words they share or against a doubt, or the later
replaces the earlier."""

MOST_SHARED, SHARE = 5, 0.8
"""Words in common up to which the model is asked, and the share of the shorter statement from which it sees too little."""

COPY = 0.82
"""Cosine from which statements that share most words are near copies: the encoder misses the one word that counts."""

FIRST_SIGN = 0x2E80
"""Where the scripts of East Asia begin."""

FEWEST = 2
"""Words in common from which one that is exchanged for another makes two statements say different things."""

DIFFERENCES = (
    *("number", "negation", "name", "opposite", "direction", "modality", "scope", "time"),
    *("environment", "place", "system", "unit"),
)
ELSEWHERE = frozenset(("environment", "place", "system"))
"""Differences by which two statements are about two things."""

VETOES = ELSEWHERE | {"opposite", "unit", "direction"}
"""Differences by which two statements never say the same; so do amounts and names that contradict each other."""

DOUBTS = frozenset(("negation", "scope", "time"))
"""Differences that free paraphrases have too ("no default", "only named"): the model must be surer then."""


class Relation(Enum):
    """What a statement does to an earlier one."""

    SAME = "same"
    REPLACES = "replaces"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Compared:
    """What is seen of two statements without the encoder."""

    numbers: list[float]
    """What the linear model reads of them."""
    differences: frozenset[str]
    shared: int
    share: float
    exchanged: bool
    """Whether one word of each stands where the other has another."""
    adds: bool
    """Whether one says more than the other."""
    turned: bool
    """Whether they name their words in another order, or differ in what must be done."""
    contradicts: bool
    """Whether both name amounts, or both name things, and not the same ones."""
    copies: bool
    """Whether they are nearly alike, word for word."""
    denies: bool
    """Whether one forbids or denies something, and the other nothing, or nearly the same words and the contrary."""
    counted: bool = False
    """Whether they are about two things that are told apart by a number: "step 3", "ticket #12"."""
    persists: bool = False
    """Whether the later one says that something is still so, or leaves what the earlier one forbids."""

    def may_be_same(self) -> bool:
        """Whether their words leave it open that they say the same."""
        if (
            self.exchanged
            or self.denies
            or self.counted
            or self.contradicts
            or self.shared > MOST_SHARED
            or self.differences & VETOES
        ):
            return False
        return not self.copies or not (self.differences or self.turned or self.adds)

    def may_replace(self) -> bool:
        """Whether their words leave it open that the later one replaces the earlier: "still" says that it holds."""
        return not (self.persists or self.counted or self.differences & ELSEWHERE)

    def bar(self) -> float:
        """Return the score from which they say the same."""
        if self.share < SHARE:
            return SAME_DOUBTED if self.differences & DOUBTS else SAME
        return SAME_DOUBTED if self.differences or self.turned or self.adds else SAME_WORDS


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
    flags = {
        "exchanged": shared >= FEWEST and lacking == (1, 1),
        "adds": any(lacking),
        "turned": turned(one, other) or _modality(one) != _modality(other),
        "contradicts": amounts_contradict(new, old) or _names_contradict(one, other),
        "copies": share >= SHARE and cosine >= COPY,
        "denies": _denies(new) != _denies(old) or _is_negated(new, old),
    }
    counted = _are_counted_apart(new, old)
    persists = bool(_STILL.search(new) and not _STILL.search(old)) or leaves_what_is_forbidden(new, old)
    numbers += map(float, flags.values())
    return Compared(numbers, apart, shared, share, **flags, counted=counted, persists=persists)


_STILL = re.compile(r"\b(?:still|immer noch|weiterhin|toujours|todavía|sigue|ainda|continua)\b", re.IGNORECASE)


def leaves_what_is_forbidden(new: str, old: str) -> bool:
    """Whether one says that something was left, and the earlier one forbids it: they agree."""
    return _denies(old) and any(ending.end is End.LEFT for ending in endings(new))


def _denies(text: str) -> bool:
    return bool(_DENIES.search(text.replace("\u2019", "'")))


_DENIES = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|without|avoid|only|forbidden|off limits|banned|out of|instead|stop|frozen|"
    r"freeze|down|offline|hands off|(?:do|does|is|are|ca|can|must|need|should|wo|would)n'?t|cannot|"
    r"kein\w*|nicht|nie|nur|nichts|ohne|pas|sans|jamais|rien|ne|nada|sin|nunca|no|não|sem|só|solo)\b",
    re.IGNORECASE,
)
"""Words of what is forbidden, denied or limited; a paraphrase may put them anywhere, but rarely does without any."""


def _is_negated(new: str, old: str) -> bool:
    """Whether one says the contrary in the words of the other: a negation more, and hardly another word."""
    mine, its = (_NEGATES.subn(" ", text.casefold().replace("\u2019", "'")) for text in (new, old))
    words, others = ({word.removesuffix("s") for word in _WORD.findall(text)} - _AUXILIARY for text, _ in (mine, its))
    alike = len(words & others) >= SHARE * max(len(words), len(others), 1)
    return alike and mine[1] % 2 != its[1] % 2


_WORD = re.compile(r"[^\W_]+")
_AUXILIARY = frozenset(("do", "doe", "did"))
"""As they stand without their last "s"."""


_NEGATES = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|cannot|(?:do|does|did|is|are|was|were|ca|can|must|need|should|wo|would)n'?t|"
    r"kein\w*|nicht|nie|nichts|pas|jamais|rien|nunca|não)\b",
    re.IGNORECASE,
)


def _are_counted_apart(new: str, old: str) -> bool:
    """Whether both speak of things of one sort that bear numbers, and of other ones: Monday's job is not Tuesday's."""
    mine, its = _counted(new), _counted(old)
    return any(mine[sort].isdisjoint(its[sort]) for sort in mine.keys() & its.keys())


def _counted(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in _COUNTED.finditer(text.casefold()):
        found.setdefault(match["sort"], set()).add(match["number"])
    return found


_COUNTED = re.compile(
    r"(?P<sort>\b(?:number|no\.|nr\.?|case|step|stage|phase|part|ticket|issue|bug|pr|task|story|item|test|rule|option|room|"
    r"table|shard|node|worker|tenant|customer|team|floor|build|chapter|fall|schritt|teil|paso|caso|étape|etapa|passo)|#)"
    r"\s?#?(?P<number>\d+)\b"
)


def amounts_contradict(one: str, other: str) -> bool:
    """Whether the amounts of two statements can't be the same: "6 to 22", "from 22h till 6h" are.

    One may name more of them than the other, but not others, and not some where the other has none.
    """
    mine, its = _amounts(one), _amounts(other)
    missing = [any(not any(_equal(a, b) for b in theirs) for a in ours) for ours, theirs in ((mine, its), (its, mine))]
    return all(missing) or bool(mine) != bool(its)


def _amounts(text: str) -> set[tuple[str, str]]:
    """The numbers of a text with their units, "" where it names none."""
    found = set()
    for match in _AMOUNT.finditer(text.casefold()):
        number = vocabulary.NUMBERS.get(match["number"], match["number"]).removesuffix(":00").replace(":", ".")
        found.add((number, vocabulary.UNITS.get(match["unit"] or "", "")))
    return found


_AMOUNT = re.compile(
    rf"(?<![\w.])[v#~]?(?P<number>\d+(?:[.:]\d+)*|(?:{'|'.join(vocabulary.NUMBERS)})\b)(?:[\s-]?(?P<unit>[a-z]+))?"
)


def _equal(one: tuple[str, str], other: tuple[str, str]) -> bool:
    units = {one[1], other[1]}
    if units <= vocabulary.SECONDS.keys() and len(units) == 2:
        return _seconds(*one) == _seconds(*other)
    return one[0] == other[0] and (len(units) == 1 or "" in units)


def _seconds(number: str, unit: str) -> float | None:
    """Return a time in seconds; None for what is no decimal number, such as a version."""
    return float(number) * vocabulary.SECONDS[unit] if number.count(".") < 2 else None


def _names_contradict(one: Statement, other: Statement) -> bool:
    """Whether each names something that the other does not; amounts are compared by themselves."""
    named = [
        any(word.name and word.key not in its.keys and not word.key[:1].isdecimal() for word in side.words)
        for side, its in ((one, other), (other, one))
    ]
    return all(named)


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


def is_readable(text: str) -> bool:
    """Whether the models can read a text: of Chinese and Japanese the encoder knows hardly more than single signs."""
    return not any(ord(letter) >= FIRST_SIGN for letter in text)


def _relation(new: str, old: str, mine: numpy.ndarray, embedder: LocalEmbedder) -> Relation:
    if not (is_readable(new) and is_readable(old)):
        return Relation.NEITHER
    cosine = float(mine @ embedder.embed([plain(old)])[0])
    seen = compared(new, old, cosine)
    return decided(seen, *scores(seen, read(embedder.middle(plain(new), plain(old)))))


def decided(seen: Compared, same: float, replacing: float) -> Relation:
    """Return what a statement does to an earlier one, by the scores and what the words leave open."""
    if same >= seen.bar() and same >= replacing and seen.may_be_same():
        return Relation.SAME
    if replacing >= REPLACES and replacing > same and seen.may_replace():
        return Relation.REPLACES
    return Relation.NEITHER


def scores(seen: Compared, encoded: Sequence[float]) -> tuple[float, float]:
    """Return how much speaks for the same, and for a replacement: logits."""
    import numpy  # a tenth of a second that the daemon's start should not wait for

    weights = _weights()
    found = weights[:, :-1] @ numpy.array(features(seen, encoded), numpy.float32) + weights[:, -1]
    return float(found[0]), float(found[1])


def features(seen: Compared, encoded: Sequence[float]) -> list[float]:
    """Return what the linear model weighs: the encoder's scores, also as chances, and what the words say."""
    return [*encoded, *(1 / (1 + math.exp(-score)) for score in encoded), *seen.numbers]


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
