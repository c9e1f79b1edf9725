"""Judges what a statement does to an earlier one: says the same, replaces it, or neither.

The upper half of the local embedder, trained on for this purpose, reads the two together (``bench/relation_train.py``);
small models weigh its two scores with what the rules see of the words. Words still decide where they can: a
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

from subconscious.capture.ended import is_for_a_time, keys
from subconscious.capture.endings import End, endings
from subconscious.capture.judge import plain
from subconscious.errors import EmbedderError
from subconscious.text import vocabulary
from subconscious.text.claims import replaces, tells_of_a_change
from subconscious.text.same_statement import differences, same_statement, turned
from subconscious.text.statement import Statement, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy

    from subconscious.embeddings.local import LocalEmbedder

LETTERS = 300
"""Characters of a statement that are compared."""

SAME, SAME_WORDS, SAME_SURE = 1.0, 0.3, 2.0
"""Scores from which two statements say the same: in other words, in nothing but the same words, or although most words
agree and their order, a denial or a word does not. Chosen on pairs that no model has seen, as are the next two."""

REPLACES, ENDS = 0.8, 0.5
"""Scores from which the later of two statements replaces the earlier, or ends one that holds for a time only."""

MOST_SHARED, SHARE = 5, 0.8
"""Words in common up to which the model is asked, and the share of the shorter statement from which it sees too little."""

COPY = 0.82
"""Cosine from which statements that share most words are near copies: the encoder may miss the one word that counts."""

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

VETOES = ELSEWHERE | {"opposite", "unit"}
"""Differences by which two statements never say the same; so do amounts and names that contradict each other."""

COPIED_APART = VETOES | {"number", "name"}
"""Differences by which near copies never say the same."""

ALIKE = 2 / 3
"""Share of the shorter statement's words from which a denial in one only rules out that they say the same.

Of statements in few common words, one may name what is forbidden and the other what is done instead.
"""


class Relation(Enum):
    """What a statement does to an earlier one."""

    SAME = "same"
    REPLACES = "replaces"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Compared:
    """What is seen of two statements without the encoder."""

    numbers: list[float]
    """What is weighed of them beside the encoder's scores."""
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
    """Whether one forbids or denies something, and the other nothing."""
    negated: bool = False
    """Whether one says the contrary in the words of the other."""
    counted: bool = False
    """Whether they are about two things that differ in a number or a day: "step 3", "ticket #12"."""
    persists: bool = False
    """Whether the later one says that something is still so, or leaves what the earlier one forbids."""
    ends: bool = False
    """Whether the later one says that something is over, and the earlier one does not."""
    passing: bool = False
    """Whether the earlier one holds for a time only, so that its end is to be expected."""

    def may_be_same(self) -> bool:
        """Whether their words leave it open that they say the same."""
        if self.exchanged or self.negated or self.counted or self.contradicts or self.ends:
            return False
        if self.shared > MOST_SHARED or (self.denies and self.share >= ALIKE):
            return False
        return not self.differences & (COPIED_APART if self.copies else VETOES)

    def may_replace(self) -> bool:
        """Whether their words leave it open that the later one replaces the earlier: "still" says that it holds."""
        return not (self.persists or self.counted or self.differences & ELSEWHERE)

    def replacing_bar(self) -> float:
        """Return the score from which the later one replaces the earlier."""
        return ENDS if self.passing else REPLACES

    def bar(self) -> float:
        """Return the score from which they say the same."""
        apart = bool(self.differences or self.turned or self.adds)
        if apart and (self.copies or (self.share >= ALIKE and "direction" in self.differences)):
            return SAME_SURE
        return SAME if apart or self.share < SHARE else SAME_WORDS


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
        "denies": _denies(new) != _denies(old),
        "negated": _is_negated(new, old),
    }
    numbers += map(float, flags.values())
    states = {
        "counted": _are_counted_apart(new, old) or _are_on_other_days(new, old),
        "persists": bool(_STILL.search(new) and not _STILL.search(old)) or leaves_what_is_forbidden(new, old),
        "ends": bool(list(endings(new))) and not list(endings(old)),
        "passing": is_for_a_time(old),
    }
    return Compared(numbers, apart, shared, share, **flags, **states)


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


def _are_on_other_days(new: str, old: str) -> bool:
    """Whether each names a day of the week and an amount, and none of the other's: two entries of one timetable.

    Where only the day differs, something may have moved to another day.
    """
    days, amounts = ([find(text) for text in (new, old)] for find in (_days, _amounts))
    return all(map(all, (days, amounts))) and days[0].isdisjoint(days[1]) and amounts[0].isdisjoint(amounts[1])


def _days(text: str) -> set[str]:
    return {day.casefold() for day in _DAY.findall(text)}


_DAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)


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
    forward = read(embedder.middle(plain(new), plain(old)))
    # Only "says the same" holds in both directions; the second reading is left out where words rule that out.
    backward = read(embedder.middle(plain(old), plain(new))) if seen.may_be_same() else None
    return decided(seen, *scores(seen, both_ways(forward, backward)))


def both_ways(forward: Sequence[float], backward: Sequence[float] | None) -> list[float]:
    """Return the encoder's two scores of a pair, the one for the same averaged over both directions if both are read."""
    return [(forward[0] + backward[0]) / 2 if backward else forward[0], forward[1]]


def decided(seen: Compared, same: float, replacing: float) -> Relation:
    """Return what a statement does to an earlier one, by the scores and what the words leave open."""
    if same >= seen.bar() and same >= replacing and seen.may_be_same():
        return Relation.SAME
    if replacing >= seen.replacing_bar() and replacing > same and seen.may_replace():
        return Relation.REPLACES
    return Relation.NEITHER


def scores(seen: Compared, encoded: Sequence[float]) -> tuple[float, float]:
    """Return how much speaks for the same, and for a replacement: logits."""
    import numpy  # a tenth of a second that the daemon's start should not wait for

    found = numpy.array(features(seen, encoded), numpy.float32)
    return boosted(_weights(), found), float(_weights()["replaces"][:-1] @ found + _weights()["replaces"][-1])


def boosted(trees: Mapping[str, numpy.ndarray], found: numpy.ndarray) -> float:
    """Return the sum of what small decision trees of one depth say of some features.

    A row of ``feature`` and ``threshold`` holds the inner nodes of one tree, level by level, and one of ``leaves`` what
    it gives; the last feature of a level is followed by the first of the next.
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
    """Return what is weighed: the encoder's scores, also as chances, and what the words say."""
    return [*encoded, *(1 / (1 + math.exp(-score)) for score in encoded), *seen.numbers]


def read(middle: numpy.ndarray) -> list[float]:
    """Return the two scores that the retrained upper layers give to what the middle layer made of a pair."""
    found: list[float] = _upper().run(None, {"middle": middle[None]})[0][0].tolist()
    return found


@cache
def _weights() -> dict[str, numpy.ndarray]:
    import numpy

    with files("subconscious.capture").joinpath("relation.npz").open("rb") as file, numpy.load(file) as table:
        return dict(table)


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
