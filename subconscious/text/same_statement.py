"""Whether two statements say the same, so that one may take the other's place.

The local embedding model sees nearly bags of words: "use tabs, not spaces" and "use spaces, not tabs" have a cosine of
1, and one noun for another in a sentence of ten still gives .95. So a cosine only says where to look, and the words
decide. Precision goes before recall: a wrong match replaces a memory, a missed one only stores a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from subconscious.text import vocabulary
from subconscious.text.reading import same_words
from subconscious.text.statement import LIGHT, Mark, Passive, Statement, Word, parse, stem, weighs

NEAR = 0.85
"""Cosine from which two statements may be paraphrases of each other."""

NEAR_LIGHT = 0.75
"""Cosine from which they may be where only light words differ, and ``FEWEST`` others agree."""

FEWEST = 3
"""Words that must agree where no cosine says that two statements are near."""

FEWEST_ALIKE = 2
"""Words of two statements that have no others."""

FEWEST_ORDERED = 9
"""Different words from which a statement is more than what is the same as what."""

LONGEST = 24
"""Different words of a statement that may be a paraphrase of another; in a longer one too much can hide."""

OF_ONE_QUOTE = 0.5
"""Share of the shorter statement's words that the other one has when both rest on the same quote."""

CONTRARY = frozenset(("number", "negation", "opposite", "direction"))
"""Differences by which two statements contradict each other, rather than hold for different things."""

DISTINCT = CONTRARY | {"name", *vocabulary.PLACES.values()}
"""Differences by which two statements are two, in texts too long to compare their modality, scope and tense."""


def same_statement(
    one: str, other: str, cosine: float = 0.0, *, may_add: bool = False, one_quote: bool = False
) -> bool:
    """Whether two statements say the same.

    ``cosine`` is how near their embeddings are, 0 where there are none; a caller that measures it afterwards, or with
    a threshold of its own, passes 1. ``may_add``: one may say more than the other, for a caller that keeps the fuller
    one, or loses nothing for good. ``one_quote``: both rest on the same words of one turn, so that half of the words
    will do, and no cosine is needed.
    """
    if one == other or same_words(one, other):
        return True
    first, second = parse(one), parse(other)
    # The cheap test comes first: merging compares each statement with hundreds.
    return _alike(first, second, cosine, may_add=may_add, one_quote=one_quote) and not _differences(first, second)


def differences(one: str, other: str) -> frozenset[str]:
    """Return in what two statements differ that changes their meaning, by sort; none where they agree.

    Sorts: number, negation, name, opposite, direction, modality, scope, time, and those of ``vocabulary.PLACES``.
    """
    return _differences(parse(one), parse(other)) if one != other else frozenset()


def _differences(one: Statement, other: Statement) -> frozenset[str]:
    return frozenset((*_in_words(one, other), *_in_marks(one, other), *_in_direction(one, other)))


def _alike(one: Statement, other: Statement, cosine: float, *, may_add: bool, one_quote: bool) -> bool:
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
        # Where all words agree, a cosine says nothing that the words do not say better.
        fewest = FEWEST_ALIKE if cosine >= NEAR_LIGHT else FEWEST
        return fewest <= len(shared) <= LONGEST and one.keys == other.keys
    lacking = one.heavy - shared, other.heavy - shared
    if may_add:
        return not all(lacking)
    short = max(len(one.by_key), len(other.by_key)) <= LONGEST
    left, right = _unmatched(one, other)
    if any(lacking) and not turned(one, other):
        left, right = _without_near(left, right, framed=_frame(one) == _frame(other))
    if any(lacking) and cosine >= NEAR:
        left, right = _without_weak(left, right, one, other)
    return short and not any(map(weighs, (*left, *right))) and _light_alike(left, right)


def turned(one: Statement, other: Statement) -> bool:
    """Whether two statements of who does what begin with another of their common words."""
    if one.passives or other.passives or one.imperative or other.imperative:
        return False
    firsts = [
        next((word.key for word in side.words if word.key in its.by_key), "")
        for side, its in ((one, other), (other, one))
    ]
    return firsts[0] != firsts[1]


def _frame(side: Statement) -> tuple[bool, bool]:
    return side.imperative, bool(side.passives)


def _without_near(left: list[Word], right: list[Word], *, framed: bool) -> tuple[list[Word], list[Word]]:
    """The words without the first two that may stand for each other in otherwise equal statements.

    ``framed``: both say who does it, or neither. Then to use something is not what else is done with it: "the parser
    follows redirects" is not "uses redirects", as "use the standard for messages" is "messages follow the standard".
    """
    for mine in left:
        for its in right:
            pair = frozenset((mine.key, its.key))
            if pair in _NEAR_WORDS and not (framed and _USE in pair):
                return [word for word in left if word is not mine], [word for word in right if word is not its]
    return left, right


_USE = stem("use")


def _without_weak(
    left: list[Word], right: list[Word], one: Statement, other: Statement
) -> tuple[list[Word], list[Word]]:
    """The words without what adds nothing, where only one side has words that weigh."""
    if any(map(weighs, left)) and any(map(weighs, right)):
        return left, right
    return (
        [word for word in left if word.stem not in _WEAK and not _left_out(word, one, other)],
        [word for word in right if word.stem not in _WEAK and not _left_out(word, other, one)],
    )


def _left_out(word: Word, active: Statement, passive: Statement) -> bool:
    """Whether a word says who does what is only done in the other: "CI retries the jobs", "the jobs are retried"."""
    done = [one.verb for one in passive.passives if not one.agents]
    order = _order(active)
    if active.passives or active.imperative or word.role or word.negated or not done or done[0] not in order:
        return False
    return active.words[0] is word and order[done[0]] == 1


_WEAK = {parse(word).words[0].stem for word in vocabulary.WEAK}
_NEAR_WORDS = {
    frozenset((parse(one).words[0].key, parse(other).words[0].key))
    for group in vocabulary.NEAR
    for one, other in combinations(sorted(group), 2)
}


def _light_alike(left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Whether the light words that one has and the other lacks can stand for each other."""
    if {word.key for word in (*left, *right)} & _NEED:
        left, right = ([word for word in words if word.stem not in _NEEDED] for words in (left, right))
    groups = [[LIGHT[word.stem] for word in words] for words in (left, right)]
    return not any(mine[0] == its[0] and mine != its for mine in groups[0] for its in groups[1])


_NEED = {stem("need")}
_NEEDED = {*_NEED, *map(stem, "add use set write keep put get define prefer".split())}
"""Verbs of what is needed: "new tables need an owner", "add an owner to new tables"."""
_OPPOSITES = {
    (stem(left), stem(right))
    for pair in vocabulary.OPPOSITES
    for left, right in (sorted(pair), sorted(pair, reverse=True))
}
_PLACES = {stem(word): sort for word, sort in vocabulary.PLACES.items()}


def _unmatched(one: Statement, other: Statement) -> tuple[list[Word], list[Word]]:
    first, second = one.by_key, other.by_key
    return (
        [words[0] for key, words in first.items() if key not in second],
        [words[0] for key, words in second.items() if key not in first],
    )


def _in_words(one: Statement, other: Statement) -> Iterator[str]:
    if one.numbers != other.numbers:
        yield "number"
    if any(_denied(one.by_key[key], other.by_key[key]) for key in one.by_key.keys() & other.by_key.keys()):
        yield "negation"
    left, right = _unmatched(one, other)
    if any(word.name for word in left) and any(word.name for word in right):
        yield "name"
    yield from {_PLACES[word.stem] for word in left if word.stem in _PLACES} & {
        _PLACES[word.stem] for word in right if word.stem in _PLACES
    }
    if any((mine.stem, its.stem) in _OPPOSITES for mine in left for its in right):
        yield "opposite"


def _denied(ones: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether one statement denies a word of which the other one says that it holds."""
    return {word.negated for word in ones}.isdisjoint({word.negated for word in others})


def _in_marks(one: Statement, other: Statement) -> Iterator[str]:
    for sort in ("scope", "time"):
        if _marks_of(one, sort) != _marks_of(other, sort):
            yield sort
    if _marks_of(one, "modality") != _marks_of(other, "modality") and not _same_duty(one, other):
        yield "modality"
    if bool(_marks_of(one, "order")) != bool(_marks_of(other, "order")) and not _follows(one, other):
        yield "direction"
    if _tense(one, other):
        yield "time"
    if _unconditional(one, other) or _unconditional(other, one):
        yield "scope"
    if _marks_of(one, "join") != _marks_of(other, "join") and (("scope", "if") in one.marks ^ other.marks):
        yield "scope"
    if one.only and other.only and "?" not in (one.only, other.only) and one.only != other.only:
        yield "scope"


_COMPARED_APART = {("scope", "if"), ("time", "past")}
"""Marks that one of two statements may have alone: a condition may be a noun in the other, or its past be in a verb."""


def _marks_of(side: Statement, sort: str) -> set[Mark]:
    return {mark for mark in side.marks if mark[0] == sort and mark not in _COMPARED_APART}


def _unconditional(one: Statement, other: Statement) -> bool:
    """Whether nothing of a condition of one is in the other."""
    condition = [word.key for word in one.words if word.role == "if"]
    return bool(condition) and other.by_key.keys().isdisjoint(condition)


def _tense(one: Statement, other: Statement) -> bool:
    """Whether one tells of the past and the other does not."""
    for side, its in ((one, other), (other, one)):
        if ("time", "past") in side.marks - its.marks and not any(word.past for word in its.words):
            return True
    return any(_past(one.by_key[key], other.by_key[key]) for key in one.by_key.keys() & other.by_key.keys())


def _past(ones: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether one tells in the past what the other tells in the present: "crashed", "crashes"."""
    return any(
        all(word.past for word in mine) and not any(word.past or (word.done and not word.participle) for word in its)
        for mine, its in ((ones, others), (others, ones))
    )


def _both_duties(one: Statement, other: Statement) -> bool:
    """Whether one instructs and the other says "must"."""
    modes = [{value for sort, value in side.marks if sort == "modality"} for side in (one, other)]
    sides = zip(modes, (one, other), (other, one), strict=True)
    return all(mode == {"must"} or (not mode and _instructs(side, its)) for mode, side, its in sides)


def _same_duty(one: Statement, other: Statement) -> bool:
    """Whether both lay down the same, though only one says "must"."""
    return any(same(one, other) for same in (_both_duties, _same_limit, _holds_for_all, _both_done))


def _both_done(one: Statement, other: Statement) -> bool:
    """Whether one says that something must be done, and the other that it is: a convention is put either way."""
    verbs = [[passive.verb for passive in side.passives] for side in (one, other)]
    modes = [{value for _, value in _marks_of(side, "modality")} for side in (one, other)]
    return verbs[0] == verbs[1] != [] and set() in modes and {"must"} in modes


def _holds_for_all(one: Statement, other: Statement) -> bool:
    """Whether one says "must", and the other that all do: "every service must expose it", "each service exposes it"."""
    modes = [{value for _, value in _marks_of(side, "modality")} for side in (one, other)]
    told = one if not modes[0] else other
    return {"must"} in modes and set() in modes and ("all", "") in told.marks and not told.by_key.keys() & _OUTCOMES


_OUTCOMES = {parse(word).words[0].key for word in "pass fail work run succeed".split()}
"""Verbs of how something turns out: that all tests pass is no rule."""


def _follows(one: Statement, other: Statement) -> bool:
    """Whether one says after what something happens, and the other at what, or what makes it happen."""
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
    """Whether both set a bound, so that "must" adds nothing: "at least 12 characters", "the minimum is 12"."""
    bounded = one.by_key.keys() & other.by_key.keys() & _BOUNDS
    modes = {value for side in (one, other) for sort, value in side.marks if sort == "modality"}
    return bool(bounded and one.numbers == other.numbers and one.numbers) and modes <= {"must", "may"}


_BOUNDS = {parse(word).words[0].key for word in ("minimum", "maximum", "smaller", "larger")}


def _instructs(side: Statement, other: Statement) -> bool:
    """Whether a statement is an instruction; it is, too, where it opens with what the other says must be done."""
    return side.imperative or any(word.participle for one in side.words[:1] for word in other.by_key.get(one.key, ()))


def _in_direction(one: Statement, other: Statement) -> Iterator[str]:
    if any(found(one, other) for found in _TURNS):
        yield "direction"


def _roles_swapped(one: Statement, other: Statement) -> bool:
    """Whether two words have each other's roles: "from A to B", "from B to A"."""
    first, second = one.by_key, other.by_key
    roles = {
        (first[key][0].role, second[key][0].role)
        for key in first.keys() & second.keys()
        if weighs(first[key][0]) and len(first[key]) == len(second[key]) == 1
    }
    return any(mine != its and ((its, mine) in roles or {mine, its} in _CONTRARY) for mine, its in roles)


_CONTRARY = tuple(
    set(pair.split())
    for pair in ("from to", "from into", "from onto", "over under", "by to", "by for", "by from", "from for", "in to")
)
"""Roles of one word that contradict each other."""


def _agents_swapped(one: Statement, other: Statement) -> bool:
    """Whether who does something and whom it is done to have changed places."""
    if bool(one.passives) != bool(other.passives):
        passive, active = (one, other) if one.passives else (other, one)
        return any(_against(done, active) for done in passive.passives)
    if _turned_about(one, other) or _turned_about(other, one):
        return False
    if _gives_reason(one) != _gives_reason(other):
        return _effect_first(one, other) if _gives_reason(one) else _effect_first(other, one)
    if len(one.keys) < FEWEST_ORDERED and not one.keys.isdisjoint(_SYMMETRIC):
        return False
    order = _order(one), _order(other)
    shared = sorted(order[0].keys() & order[1].keys(), key=lambda key: order[0][key])[:LONGEST]
    parts = [[key for key in shared if (one.by_key[key][0].role in _SUBORDINATE) is part] for part in (False, True)]
    return any(
        order[1][left] > order[1][middle] > order[1][right]
        for part in parts
        for left, middle, right in combinations(part, 3)
    )


_SYMMETRIC = {stem(word) for word in ("match", "differ", "conflict", "collide")}
"""Verbs that hold in both directions."""


def _effect_first(reasoned: Statement, told: Statement) -> bool:
    """Whether a statement begins with what is the effect in another: "the lock broke it", "it broke the lock"."""
    if told.imperative:
        return False
    shared = [word.key for word in told.words if not word.role and word.key in reasoned.by_key]
    causes = {word.key for word in reasoned.words if word.role == "because"}
    return bool(shared) and shared[0] not in causes and not causes.isdisjoint(shared)


def _turned_about(one: Statement, other: Statement) -> bool:
    """Whether what something runs on is what runs it in the other: "jobs run on the host", "the host runs jobs"."""
    first, second = ([word.key for word in side.words] for side in (one, other))
    end = next((place for place, word in enumerate(one.words) if word.role in _ACTORS), 0)
    if end < 2 or not {word.role for word in one.words[end:]} <= _ACTORS:
        return False
    return second == [*first[end:], first[end - 1], *first[: end - 1]]


_ACTORS = frozenset("by in on with as".split())
"""Roles of what may be the subject of the same verb: "breaks on tabs", "tabs break"."""

_SUBORDINATE = frozenset("before after if unless until".split())
"""Roles of what may stand before or behind what it belongs to: its words are compared among themselves."""


def _told_to_another(one: Statement, other: Statement) -> bool:
    """Whether one instructs to do something to what does it in the other: "ask the team", "the team asks"."""
    if one.bids == other.bids:
        return False
    order, says = (_order(one), other) if one.bids else (_order(other), one)
    told = _order(says)
    verb = min(order, key=lambda key: order[key], default="")
    if verb not in told or says.by_key[verb][0].participle or says.by_key[verb][0].noun:
        return False
    thing = min((key for key in order if order[key] > order[verb]), key=lambda key: order[key], default="")
    return says.by_key[verb][0].stem not in _PLACED | _MIDDLE and told.get(thing, told[verb]) < told[verb]


_PLACED = frozenset(map(stem, ("live", "reside", "belong")))
"""Verbs of what is somewhere, because somebody put it there."""

_MIDDLE = frozenset(map(stem, ("run", "start", "stop", "restart", "build", "load", "deploy")))
"""Verbs of what something does and of what is done to it: "run the tests", "the tests run"."""


def _rearranged(one: Statement, other: Statement) -> bool:
    """Whether words that come twice come in another order: which belongs to which can't be told then."""
    done = {passive.verb for passive in (*one.passives, *other.passives)} if one.passives != other.passives else set()
    orders = [[word.key for word in side.words if weighs(word) and word.key not in done] for side in (one, other)]
    twice = any(len(set(order)) < len(order) for order in orders)
    return twice and orders[0] != orders[1] and set(orders[0]) == set(orders[1])


def _acts_upon_it(one: Statement, other: Statement) -> bool:
    """Whether what one acts upon acts upon it in the other: "breaks the parser", "breaks on the parser"."""
    if one.bids or other.bids or one.passives or other.passives or len(one.words) != len(other.words):
        return False
    pairs = list(zip(one.words, other.words, strict=True))
    return all(mine.key == its.key for mine, its in pairs) and any(
        {mine.role, its.role} in _UPON and _PLACES.get(mine.stem) != "time" for mine, its in pairs
    )


_UPON = ({"", "on"}, {"", "with"}, {"", "against"})


def _identity_turned(one: Statement, other: Statement) -> bool:
    """Whether each says of what the other one is: "warnings are errors", "errors are warnings"."""
    orders = [[word.key for word in side.words] for side in (one, other)]
    said = one.copula and other.copula and len(one.words) == 2
    return said and orders[0] == orders[1][::-1] and not any(word.name for word in one.words)


def _owners_swapped(one: Statement, other: Statement) -> bool:
    """Whether two words have changed places around "of": "the mock of the client", "the client of the mock"."""
    return any((owner, owned) in other.of for owned, owner in one.of if owned != owner)


_TURNS = (
    *(_roles_swapped, _agents_swapped, _told_to_another, _rearranged),
    *(_acts_upon_it, _identity_turned, _owners_swapped),
)


def _gives_reason(side: Statement) -> bool:
    return any(word.role == "because" for word in side.words)


def _order(side: Statement) -> dict[str, int]:
    """Where the words stand that stand in one place."""
    found = side.by_key
    return {word.key: place for place, word in enumerate(side.words) if len(found[word.key]) == 1 and not word.adverb}


def _objects(active: Statement, verb: int) -> bool:
    """Whether something stands behind a verb that it may be done to."""
    return any(not word.role and not word.adverb for word in active.words[verb + 1 :])


_TOWARDS = frozenset("from to into onto".split())


def _against(done: Passive, active: Statement) -> bool:
    """Whether a statement has for the one who does it what another one has for that to which it is done."""
    order = _order(active)
    verb = order.get(done.verb)
    if verb is None or active.by_key[done.verb][0].noun or active.by_key[done.verb][0].stem in _PLACED:
        return False
    agents = [order[key] for key in done.agents if key in order]
    ends = [key for key in done.ends if key in order and key not in done.patients]
    if any(order[key] < verb and active.by_key[key][0].role not in _TOWARDS for key in ends):
        return True  # "rows are sent to the API", "the API sends rows"
    patients = [order[key] for key in done.patients if key in order]
    if not done.agents and active.by_key[done.verb][0].stem in _MIDDLE:
        return False
    if not done.by and not _objects(active, verb):
        return False  # "it is run on a deploy", "it runs on a deploy"
    turned = not agents or any(place > verb for place in agents)
    return turned and any(place < verb for place in patients)
