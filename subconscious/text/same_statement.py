"""Decides whether two statements mean the same, so that one may replace the other.

Embeddings of the local model depend on the words and hardly on their order: "use tabs, not spaces" and "use spaces, not
tabs" have a cosine of 1, and one different noun in a sentence of ten words still gives 0.95. So a cosine only selects
candidates, and the words decide. Precision comes before recall: a wrong match replaces a memory, a missed one only
stores a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from subconscious.text import synonyms, vocabulary
from subconscious.text.clause_reader import Mark, Word, weighs
from subconscious.text.direction import LONGEST, is_reversed, word_order
from subconscious.text.reading import same_words
from subconscious.text.statement import Statement, parse
from subconscious.text.stems import LIGHT, PLACES, stem
from subconscious.text.words import has_letters

NEAR = 0.85
"""The lowest cosine with which two statements may be paraphrases of each other."""

NEAR_LIGHT = 0.75
"""The lowest cosine that is enough if at least ``FEWEST`` words agree, light words ("use", "run") not counted.

The statements may then differ only in light words, and in one pair of words from ``synonyms.NEAR``.
"""

FEWEST = 3
"""The minimum number of words that must agree if the cosine is too low to support a match."""

FEWEST_ALIKE = 2
"""The minimum number of words that must agree if the cosine is at least ``NEAR_LIGHT`` and no words differ."""

OF_ONE_QUOTE = 0.5
"""The share of the shorter statement's words that the other must contain if both come from the same quote."""

CONTRARY = frozenset(("number", "negation", "opposite", "direction"))
"""Kinds of differences by which two statements contradict each other and don't just apply to different things."""

DISTINCT = CONTRARY | {"name", "ended", *vocabulary.PLACES.values()}
"""Kinds of differences that count in long texts, in which modality, scope and tense ("time") can't be compared."""


def same_statement(
    one: str, other: str, cosine: float = 0.0, *, may_add: bool = False, one_quote: bool = False
) -> bool:
    """Whether two statements mean the same.

    ``cosine`` is the similarity of the embeddings, 0 if unknown; callers that check it with their own threshold pass
    1. ``may_add`` allows one statement to say more than the other, for a caller that stores the longer statement or
    makes a change that can be undone. ``one_quote`` means that both statements come from the same words of one turn:
    then half of the words must agree, and no cosine is needed.

    """
    if one == other or same_words(one, other):
        return True
    if not (has_letters(one) and has_letters(other)):
        return False  # "1.5" is not "use 1.5"
    first, second = parse(one), parse(other)
    # The cheap test comes first: merging compares each statement with hundreds of others.
    return _share_enough(first, second, cosine, may_add=may_add, one_quote=one_quote) and not _differences(
        first, second
    )


def differences(one: str, other: str) -> frozenset[str]:
    """Return the kinds of differences that change the meaning; an empty set if the statements agree.

    The kinds are number, negation, name, opposite, direction, modality, scope, time (tense, and words such as "still"),
    ended ("no longer"), and those in ``vocabulary.PLACES``.
    """
    return _differences(parse(one), parse(other)) if one != other else frozenset()


def _differences(one: Statement, other: Statement) -> frozenset[str]:
    reversal = ("direction",) if is_reversed(one, other) else ()
    return frozenset((*_in_words(one, other), *_in_marks(one, other), *reversal))


def _share_enough(one: Statement, other: Statement, cosine: float, *, may_add: bool, one_quote: bool) -> bool:
    """Whether the statements have enough words in common."""
    strict = not (may_add or one_quote)
    if strict and (len(one.heavy - other.keys) > 1 or len(other.heavy - one.keys) > 1):
        return False
    shared = one.keys & other.keys
    if not shared and not one.numbers & other.numbers:
        return False
    if one_quote and len(shared) >= OF_ONE_QUOTE * min(len(one.by_key), len(other.by_key)):
        return True
    if cosine < NEAR and not (cosine >= NEAR_LIGHT and len(one.heavy & other.heavy) >= FEWEST and strict):
        # If all words agree, a cosine adds no information.
        fewest = FEWEST_ALIKE if cosine >= NEAR_LIGHT else FEWEST
        return fewest <= len(shared) <= LONGEST and one.keys == other.keys
    lacking = one.heavy - shared, other.heavy - shared
    if may_add:
        return not all(lacking)
    short = max(len(one.by_key), len(other.by_key)) <= LONGEST
    left, right = _unmatched(one, other)
    if any(lacking) and not begin_differently(one, other):
        left, right = _without_near_words(left, right, framed=_frame(one) == _frame(other))
    if any(lacking) and cosine >= NEAR:
        left, right = _without_weak_words(left, right, one, other)
    return short and not any(map(weighs, (*left, *right))) and _are_light_words_alike(left, right)


def begin_differently(one: Statement, other: Statement) -> bool:
    """Whether two active statements differ in which of their shared words comes first."""
    if one.passives or other.passives or one.imperative or other.imperative:
        return False
    firsts = [
        next((word.key for word in side.words if word.key in its.by_key), "")
        for side, its in ((one, other), (other, one))
    ]
    return firsts[0] != firsts[1]


def _frame(side: Statement) -> tuple[bool, bool]:
    return side.imperative, bool(side.passives)


def _without_near_words(left: list[Word], right: list[Word], *, framed: bool) -> tuple[list[Word], list[Word]]:
    """Return the words without the first pair that is interchangeable in otherwise equal statements.

    ``framed`` means that both statements or neither are instructions, and that both or neither have a passive verb.
    Then "use" is not interchangeable: "the parser follows redirects" does not mean "uses redirects". Otherwise it is:
    "use the standard for messages" means "messages follow the standard".
    """
    for mine in left:
        for its in right:
            pair = frozenset((mine.key, its.key))
            if pair in _NEAR_WORDS and not (framed and _USE in pair):
                return [word for word in left if word is not mine], [word for word in right if word is not its]
    return left, right


_USE = stem("use")


def _without_weak_words(
    left: list[Word], right: list[Word], one: Statement, other: Statement
) -> tuple[list[Word], list[Word]]:
    """Return the words that only one of two statements has, without weak words and omitted agents.

    If each statement has a word that the other lacks and that a paraphrase must contain, all words are returned.
    """
    if any(map(weighs, left)) and any(map(weighs, right)):
        return left, right
    return (
        [word for word in left if word.stem not in _WEAK and not _is_omitted_agent(word, one, other)],
        [word for word in right if word.stem not in _WEAK and not _is_omitted_agent(word, other, one)],
    )


def _is_omitted_agent(word: Word, active: Statement, passive: Statement) -> bool:
    """Whether a word is an agent that the passive statement omits: "CI retries the jobs", "the jobs are retried"."""
    done = [one.verb for one in passive.passives if not one.agents]
    order = word_order(active)
    if active.passives or active.imperative or word.role or word.negated or not done or done[0] not in order:
        return False
    return active.words[0] is word and order[done[0]] == 1


_WEAK = {parse(word).words[0].stem for word in synonyms.WEAK}
_NEAR_WORDS = {
    frozenset((parse(one).words[0].key, parse(other).words[0].key))
    for group in synonyms.NEAR
    for one, other in combinations(sorted(group), 2)
}


def _are_light_words_alike(left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Whether the light words that only one statement has are interchangeable."""
    if {word.key for word in (*left, *right)} & _NEED:
        left, right = ([word for word in words if word.stem not in _NEEDED] for words in (left, right))
    groups = [[LIGHT[word.stem] for word in words] for words in (left, right)]
    return not any(mine[0] == its[0] and mine != its for mine in groups[0] for its in groups[1])


_NEED = {stem("need")}
_NEEDED = {*_NEED, *map(stem, "add use set write keep put get define prefer".split())}
"""Verbs that can express a need: "new tables need an owner", "add an owner to new tables"."""
_OPPOSITES = {
    (stem(left), stem(right))
    for pair in synonyms.OPPOSITES
    for left, right in (sorted(pair), sorted(pair, reverse=True))
}


def _unmatched(one: Statement, other: Statement) -> tuple[list[Word], list[Word]]:
    first, second = one.by_key, other.by_key
    return (
        [words[0] for key, words in first.items() if key not in second],
        [words[0] for key, words in second.items() if key not in first],
    )


def _in_words(one: Statement, other: Statement) -> Iterator[str]:
    if one.numbers != other.numbers:
        yield "number"
    if any(_is_negated_in_one(one.by_key[key], other.by_key[key]) for key in one.by_key.keys() & other.by_key.keys()):
        yield "negation"
    left, right = _unmatched(one, other)
    if any(word.name for word in left) and any(word.name for word in right):
        yield "name"
    yield from {PLACES[word.stem] for word in left if word.stem in PLACES} & {
        PLACES[word.stem] for word in right if word.stem in PLACES
    }
    if any((mine.stem, its.stem) in _OPPOSITES for mine in left for its in right):
        yield "opposite"


def _is_negated_in_one(ones: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether one statement negates a word that the other affirms."""
    return {word.negated for word in ones}.isdisjoint({word.negated for word in others})


def _in_marks(one: Statement, other: Statement) -> Iterator[str]:
    for sort in ("scope", "time", "ended"):
        if _marks_of(one, sort) != _marks_of(other, sort):
            yield sort
    if _marks_of(one, "modality") != _marks_of(other, "modality") and not _same_duty(one, other):
        yield "modality"
    if bool(_marks_of(one, "order")) != bool(_marks_of(other, "order")) and not _same_cause(one, other):
        yield "direction"
    if _differ_in_tense(one, other):
        yield "time"
    if _lacks_condition(one, other) or _lacks_condition(other, one):
        yield "scope"
    if _marks_of(one, "join") != _marks_of(other, "join") and (("scope", "if") in one.marks ^ other.marks):
        yield "scope"
    if one.only and other.only and "?" not in (one.only, other.only) and one.only != other.only:
        yield "scope"


_COMPARED_APART = {("scope", "if"), ("time", "past")}
"""Properties that one statement alone may have: a noun may replace a condition, a verb form may show the past."""


def _marks_of(side: Statement, sort: str) -> set[Mark]:
    return {mark for mark in side.marks if mark[0] == sort and mark not in _COMPARED_APART}


def _lacks_condition(one: Statement, other: Statement) -> bool:
    """Whether the condition of one statement is missing completely from the other."""
    condition = [word.key for word in one.words if word.role == "if"]
    return bool(condition) and other.by_key.keys().isdisjoint(condition)


def _differ_in_tense(one: Statement, other: Statement) -> bool:
    """Whether one statement is in the past and the other is not."""
    for side, its in ((one, other), (other, one)):
        if ("time", "past") in side.marks - its.marks and not any(word.past for word in its.words):
            return True
    return any(_past_in_one(one.by_key[key], other.by_key[key]) for key in one.by_key.keys() & other.by_key.keys())


def _past_in_one(ones: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether one statement has a word in the past that the other has in the present: "crashed", "crashes"."""
    return any(
        all(word.past for word in mine) and not any(word.past or (word.done and not word.participle) for word in its)
        for mine, its in ((ones, others), (others, ones))
    )


def _both_duties(one: Statement, other: Statement) -> bool:
    """Whether one statement is an instruction and the other says "must"."""
    modes = [{value for sort, value in side.marks if sort == "modality"} for side in (one, other)]
    sides = zip(modes, (one, other), (other, one), strict=True)
    return all(mode == {"must"} or (not mode and _instructs(side, its)) for mode, side, its in sides)


def _same_duty(one: Statement, other: Statement) -> bool:
    """Whether two statements state the same duty, although only one says "must"."""
    return any(same(one, other) for same in (_both_duties, _same_limit, _holds_for_all, _both_done, _both_exclusive))


def _both_done(one: Statement, other: Statement) -> bool:
    """Whether one statement says that something must be done, and the other that it is done: both state conventions."""
    verbs = [[passive.verb for passive in side.passives] for side in (one, other)]
    modes = [{value for _, value in _marks_of(side, "modality")} for side in (one, other)]
    return verbs[0] == verbs[1] != [] and set() in modes and {"must"} in modes


def _both_exclusive(one: Statement, other: Statement) -> bool:
    """Whether two statements restrict an action to one actor: "only admins may delete it", "deleted by admins only"."""
    modes = {value for side in (one, other) for _, value in _marks_of(side, "modality")}
    alike = one.only == other.only or "?" in (one.only, other.only)
    return ("scope", "only") in one.marks & other.marks and alike and modes <= {"may", "must"}


def _holds_for_all(one: Statement, other: Statement) -> bool:
    """Whether one statement says "must" and the other "all": "services must expose it", "each service exposes it"."""
    modes = [{value for _, value in _marks_of(side, "modality")} for side in (one, other)]
    declarative = one if not modes[0] else other
    return (
        {"must"} in modes
        and set() in modes
        and ("all", "") in declarative.marks
        and not declarative.by_key.keys() & _OUTCOMES
    )


_OUTCOMES = {parse(word).words[0].key for word in "pass fail work run succeed".split()}
"""Verbs for an outcome: "all tests pass" is not a rule."""


def _same_cause(one: Statement, other: Statement) -> bool:
    """Whether one statement has "after", and the other names the same cause with "at" or "if" or as its subject."""
    after, its = (one, other) if _marks_of(one, "order") else (other, one)
    if _marks_of(after, "order") != {("order", "after")}:
        return False
    shared = [word for word in its.words if word.key in after.by_key]
    cause = {word.key for word in after.words if not word.role}
    conditions = {word.key for word in shared if word.role == "if"}
    if conditions:
        return conditions <= cause
    return bool(shared) and not its.imperative and not shared[0].role and shared[0].key in cause


def _same_limit(one: Statement, other: Statement) -> bool:
    """Whether two statements set a limit, so that "must" adds nothing: "at least 12 letters", "the minimum is 12"."""
    bounded = one.by_key.keys() & other.by_key.keys() & _BOUNDS
    modes = {value for side in (one, other) for sort, value in side.marks if sort == "modality"}
    return bool(bounded and one.numbers == other.numbers and one.numbers) and modes <= {"must", "may"}


_BOUNDS = {parse(word).words[0].key for word in ("minimum", "maximum", "smaller", "larger")}


def _instructs(side: Statement, other: Statement) -> bool:
    """Whether a statement is an instruction, or begins with a verb that is a participle in the other statement."""
    return side.imperative or any(word.participle for one in side.words[:1] for word in other.by_key.get(one.key, ()))
