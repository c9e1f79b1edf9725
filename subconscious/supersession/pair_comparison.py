"""Compares the words of two statements. The encoder, a neural model that reads both, is in `pair_model`."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.supersession.ended import is_for_a_time, keys, spares
from subconscious.supersession.pair_wording import (
    STILL,
    amounts_contradict,
    are_on_other_days,
    denies,
    ends,
    is_negated,
    leaves_what_is_forbidden,
    name_one_of_several,
    names_contradict,
)
from subconscious.text.claims import indicates_change, replaces
from subconscious.text.denied_change import denies_change
from subconscious.text.parallel import (
    are_counted_apart,
    are_lettered_apart,
    are_parallel,
    have_numbered_subjects,
)
from subconscious.text.same_statement import begin_differently, differences, same_statement
from subconscious.text.statement import Statement, parse

SAME, SAME_WORDS, SAME_SURE = 0.75, 0.3, 2.38
"""The least scores of a paraphrase: for different words, for the same words, and for an easily overlooked difference.

Such a difference is a single word, the order of the words or a negation. These thresholds and those below were chosen
on pairs that no model was trained on.
"""

READ_SURE, SAME_READ = 2.5, 0.2
"""If the encoder's own score is at least READ_SURE, a total score of SAME_READ is enough for a paraphrase."""

READ_SURELY, SAME_IF_READ = 3.8, 1.5
"""If the encoder's own score is at least READ_SURELY, SAME_IF_READ is the threshold instead of SAME_SURE.

In the development data, the only pairs that have such a score but are not paraphrases swap who does what to whom.
"""

SAME_TURNED = 2.9
"""The least score of a paraphrase whose words may have exchanged their roles: "X uses Y" and "Y is used by X"."""

SAME_DENIED = 2.5
"""The least score of a paraphrase in which only one statement has a negation: "in UTC" and "no local times"."""

REPLACES, ENDS = 0.6, 0.4
"""The least scores for replacing an earlier statement, and for ending a temporary one.

A wrong replacement hides a memory: of 935 pairs of unrelated statements, 5 reach a threshold.
"""

MOST_SHARED, SHARE = 5, 0.8
"""With more than MOST_SHARED common words, or a share of at least SHARE, the encoder may overlook the other words."""

MOST_SHARED_IF_EXCHANGED = 3
"""Statements with more common words and one different word are not paraphrases: the encoder overlooks that word."""

COPY = 0.82
"""The cosine from which statements with mostly the same words are near copies.

In near copies, the encoder may miss the word that differs.
"""

FEWEST = 2
"""The fewest common words with which two statements that differ in one word count as ``exchanged``."""

DIFFERENCES = (
    *("number", "negation", "name", "opposite", "direction", "modality", "scope", "time"),
    *("environment", "place", "system", "unit"),
)
_TIMES = ("schedule", "ended")
"""Types of difference that the model knows as "time": when it was trained, they were a single type."""

PARTICLES = frozenset(("up", "down", "in", "out", "off", "on", "over", "back", "away"))

ELSEWHERE = frozenset(("environment", "place", "system"))
"""Types of difference that show that two statements are about different things."""

VETOES = ELSEWHERE | {"opposite", "unit"}
"""Types of difference that rule out a paraphrase, as contradicting amounts and names do."""

COPIED_APART = VETOES | {"number", "name"}
"""Types of difference that rule out a paraphrase among near copies."""

ALIKE = 2 / 3
"""The share of common words from which a negation in only one statement rules out a paraphrase.

With fewer common words, one statement may name what is forbidden and the other what is done instead.
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of comparing the words of two statements, a new and an earlier one."""

    numbers: list[float]
    """Features for the model, in addition to the encoder's scores."""
    differences: frozenset[str]
    shared: int
    share: float
    exchanged: bool
    """Whether each statement has exactly one word that the other lacks."""
    adds: bool
    """Whether one statement has words that the other lacks."""
    turned: bool
    """Whether the statements begin with different common words, or differ in modality ("may", "must")."""
    contradicts: bool
    """Whether amounts or names of the statements contradict each other."""
    copies: bool
    """Whether the statements are near copies."""
    denies: bool
    """Whether only one statement forbids or denies something."""
    negated: bool = False
    """Whether one statement is the negation of the other."""
    parallel: bool = False
    """Whether the statements have the same shape but differ in both subject and predicate."""
    counted: bool = False
    """Whether the subjects differ in a number, a letter or a day: "step 3", "rev b"."""
    persists: bool = False
    """Whether the new statement says that something is still true, denies a change, or gives up what the earlier one forbids."""
    spares: bool = False
    """Whether the new statement ends something, but only in a place, or for people, that the earlier one does not name."""
    ends: bool = False
    """Whether only the new statement takes something back."""
    listed: bool = False
    """Whether both can be true as entries of a list, and the new statement reports no change."""
    passing: bool = False
    """Whether the earlier statement is temporary, so that its end is expected."""

    def may_be_same(self, score: float = 0.0) -> bool:
        """Whether the statements can be paraphrases, judging by words; a high ``score`` of the model outweighs a negation."""
        if self.negated or self.counted or self.contradicts or self.ends:
            return False
        if self.exchanged and (self.copies or self.shared > MOST_SHARED_IF_EXCHANGED):
            return False
        if self.denies and self.share >= ALIKE and score < SAME_DENIED:
            return False
        return not self.differences & (COPIED_APART if self.copies else VETOES)

    def may_replace(self) -> bool:
        """Whether the new statement can replace the earlier one, judging by words."""
        return not (self.persists or self.spares or self.counted or self.listed or self.differences & ELSEWHERE)

    def replacing_bar(self) -> float:
        """Return the least score for a replacement."""
        return ENDS if self.passing else REPLACES

    def bar(self, encoded: float = 0.0) -> float:
        """Return the least score for a paraphrase; ``encoded`` is the encoder's own score."""
        sure = SAME_IF_READ if encoded >= READ_SURELY else SAME_SURE
        sure = SAME_TURNED if "direction" in self.differences else sure
        apart = bool(self.differences or self.turned or self.adds)
        if self.exchanged or self.shared > MOST_SHARED or (apart and self.copies):
            return sure
        if self.adds and self.share == 1:
            return sure  # the added word may change the meaning: "branches", "branch names"
        if apart and self.share >= ALIKE and "direction" in self.differences:
            return sure
        usual = SAME if apart or self.share < SHARE else SAME_WORDS
        return min(usual, SAME_READ) if encoded >= READ_SURE else usual


def compared(new: str, old: str, cosine: float) -> Compared:
    """Compare the words of two statements; ``cosine`` is that of their vectors."""
    different, one, other = differences(new, old), parse(new), parse(old)
    shared = len(one.keys & other.keys)
    share = shared / max(1, min(len(one.keys), len(other.keys)))
    rules = (same_statement(new, old, cosine), replaces(new, old), indicates_change(new))
    kinds = {"time" if kind in _TIMES else kind for kind in different}
    numbers = [
        cosine,
        *(float(sort in kinds) for sort in DIFFERENCES),
        float(len(kinds)),
        *map(float, rules),
        *_overlap(one, other),
        share,
        *_named(new, old),
        *_numbers(one, other),
        float(new.endswith("?")),
        len(new) / 100,
        len(old) / 100,
    ]
    lacking = _lacking(one, other), _lacking(other, one)
    flags = {
        "exchanged": shared >= FEWEST and lacking == (1, 1),
        "adds": any(lacking),
        "turned": begin_differently(one, other) or _modality(one) != _modality(other),
        "contradicts": amounts_contradict(new, old) or names_contradict(one, other),
        "copies": share >= SHARE and cosine >= COPY,
        "denies": denies(new, old) != denies(old, new),
        "negated": is_negated(new, old),
        "parallel": are_parallel(new, old),
    }
    numbers += map(float, flags.values())
    states = {
        "counted": any(
            apart(new, old)
            for apart in (are_counted_apart, have_numbered_subjects, are_lettered_apart, are_on_other_days)
        ),
        "persists": bool(STILL.search(new) and not STILL.search(old))
        or denies_change(new)
        or leaves_what_is_forbidden(new, old),
        "spares": spares(new, old),
        "ends": ends(new) and not ends(old),
        "passing": is_for_a_time(old),
        "listed": not indicates_change(new)
        and (flags["parallel"] or (flags["exchanged"] and name_one_of_several(new, old))),
    }
    return Compared(numbers, different, shared, share, **flags, **states)


def _lacking(one: Statement, other: Statement) -> int:
    """Return how many words of ``one`` are missing in ``other``; a verb with its particle ("speeds up") is one word."""
    found = one.heavy - other.keys
    return len(found - PARTICLES) or len(found)


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
    """Return features of the words that name things: each statement's share of common words, and 1.0 if none is common."""
    mine, its = keys(new), keys(old)
    shared = len(mine & its)
    return [shared / max(1, len(mine)), shared / max(1, len(its)), float(not shared)]


def _numbers(one: Statement, other: Statement) -> list[float]:
    found = (one.numbers & other.numbers, one.numbers, other.numbers, one.numbers == other.numbers)
    return [float(bool(some)) for some in found]
