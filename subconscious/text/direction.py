"""Decides whether two statements with the same words reverse who does what to whom."""

from __future__ import annotations

from itertools import combinations

from subconscious.text.clause_reader import Passive, weighs
from subconscious.text.statement import Statement
from subconscious.text.stems import PLACES, stem

FEWEST_ORDERED = 9
"""Statements with at least this many different words are compared by word order even if a verb is symmetric."""

LONGEST = 24
"""The maximum number of different words that are compared; in longer statements, differences can go unnoticed."""


def is_reversed(one: Statement, other: Statement) -> bool:
    """Whether one statement says, or may say, the reverse of the other."""
    return any(check(one, other) for check in _DIRECTION_CHECKS)


def _roles_swapped(one: Statement, other: Statement) -> bool:
    """Whether words have exchanged roles ("from A to B", "from B to A"), or one word has contradictory roles."""
    first, second = one.by_key, other.by_key
    roles = {
        (first[key][0].role, second[key][0].role)
        for key in first.keys() & second.keys()
        if weighs(first[key][0]) and len(first[key]) == len(second[key]) == 1
    }
    return any(mine != its and ((its, mine) in roles or {mine, its} in _EXCLUSIVE_ROLES) for mine, its in roles)


_EXCLUSIVE_ROLES = tuple(
    set(pair.split())
    for pair in ("from to", "from into", "from onto", "over under", "by to", "by for", "by from", "from for", "in to")
)
"""Pairs of roles that contradict each other if the same word has one of them in each statement."""


def _agents_swapped(one: Statement, other: Statement) -> bool:
    """Whether agent and object are exchanged between two statements."""
    if bool(one.passives) != bool(other.passives):
        passive, active = (one, other) if one.passives else (other, one)
        return any(_contradicts_passive(done, active) for done in passive.passives)
    if _is_location_inversion(one, other) or _is_location_inversion(other, one):
        return False
    if _gives_reason(one) != _gives_reason(other):
        return _effect_first(one, other) if _gives_reason(one) else _effect_first(other, one)
    if len(one.keys) < FEWEST_ORDERED and not one.keys.isdisjoint(_SYMMETRIC):
        return False
    order = word_order(one), word_order(other)
    shared = sorted(order[0].keys() & order[1].keys(), key=lambda key: order[0][key])[:LONGEST]
    parts = [[key for key in shared if (one.by_key[key][0].role in _SUBORDINATE) is part] for part in (False, True)]
    return any(
        order[1][left] > order[1][middle] > order[1][right]
        for part in parts
        for left, middle, right in combinations(part, 3)
    )


_SYMMETRIC = {stem(word) for word in ("match", "differ", "conflict", "collide")}
"""Verbs that mean the same in both directions."""


def _effect_first(reasoned: Statement, other: Statement) -> bool:
    """Whether ``other`` begins with the effect that ``reasoned`` explains.

    If ``reasoned`` is "the build broke because of the lock", this is true for "the build broke the lock", and false for
    "the lock broke the build".
    """
    if other.imperative:
        return False
    shared = [word.key for word in other.words if not word.role and word.key in reasoned.by_key]
    causes = {word.key for word in reasoned.words if word.role == "because"}
    return bool(shared) and shared[0] not in causes and not causes.isdisjoint(shared)


def _is_location_inversion(one: Statement, other: Statement) -> bool:
    """Whether subject and place are exchanged with the same meaning: "jobs run on the host", "the host runs jobs"."""
    first, second = ([word.key for word in side.words] for side in (one, other))
    end = next((index for index, word in enumerate(one.words) if word.role in _ACTORS), 0)
    if end < 2 or not {word.role for word in one.words[end:]} <= _ACTORS:
        return False
    return second == [*first[end:], first[end - 1], *first[: end - 1]]


_ACTORS = frozenset("by in on with as".split())
"""Roles of words that may also be the subject of the verb: "breaks on tabs", "tabs break"."""

_SUBORDINATE = frozenset("before after if unless until".split())
"""Roles of phrases that may come first or last: their words are compared only with each other."""


def _agent_instructed(one: Statement, other: Statement) -> bool:
    """Whether the object of an instruction is the agent of the other statement: "ask the team", "the team asks"."""
    if one.names_object == other.names_object:
        return False
    order, declared = (word_order(one), other) if one.names_object else (word_order(other), one)
    declared_order = word_order(declared)
    verb = min(order, key=lambda key: order[key], default="")
    if verb not in declared_order or declared.by_key[verb][0].participle or declared.by_key[verb][0].noun:
        return False
    thing = min((key for key in order if order[key] > order[verb]), key=lambda key: order[key], default="")
    return (
        declared.by_key[verb][0].stem not in _PLACED | _MIDDLE
        and declared_order.get(thing, declared_order[verb]) < declared_order[verb]
    )


_PLACED = frozenset(map(stem, ("live", "reside", "belong")))
"""Verbs that say where a thing is located."""

_MIDDLE = frozenset(map(stem, ("run", "start", "stop", "restart", "build", "load", "deploy")))
"""Verbs whose object can become the subject without a change of meaning: "run the tests", "the tests run"."""


def _rearranged(one: Statement, other: Statement) -> bool:
    """Whether a word occurs twice and the order differs: then it is unclear which words belong together."""
    done = {passive.verb for passive in (*one.passives, *other.passives)} if one.passives != other.passives else set()
    orders = [[word.key for word in side.words if weighs(word) and word.key not in done] for side in (one, other)]
    twice = any(len(set(order)) < len(order) for order in orders)
    return twice and orders[0] != orders[1] and set(orders[0]) == set(orders[1])


def _acts_upon_it(one: Statement, other: Statement) -> bool:
    """Whether the object of one statement is only a circumstance in the other: "breaks X", "breaks on X"."""
    if one.names_object or other.names_object or one.passives or other.passives or len(one.words) != len(other.words):
        return False
    pairs = list(zip(one.words, other.words, strict=True))
    return all(mine.key == its.key for mine, its in pairs) and any(
        {mine.role, its.role} in _UPON and PLACES.get(mine.stem) != "schedule" for mine, its in pairs
    )


_UPON = ({"", "on"}, {"", "with"}, {"", "against"})


def _identity_turned(one: Statement, other: Statement) -> bool:
    """Whether subject and complement are exchanged: "warnings are errors", "errors are warnings"."""
    orders = [[word.key for word in side.words] for side in (one, other)]
    said = one.copula and other.copula and len(one.words) == 2
    return said and orders[0] == orders[1][::-1] and not any(word.name for word in one.words)


def _owners_swapped(one: Statement, other: Statement) -> bool:
    """Whether two words are exchanged around "of": "the mock of the client", "the client of the mock"."""
    return any((owner, owned) in other.of for owned, owner in one.of if owned != owner)


_DIRECTION_CHECKS = (
    *(_roles_swapped, _agents_swapped, _agent_instructed, _rearranged),
    *(_acts_upon_it, _identity_turned, _owners_swapped),
)


def _gives_reason(side: Statement) -> bool:
    return any(word.role == "because" for word in side.words)


def word_order(side: Statement) -> dict[str, int]:
    """Return the positions of words by key, except adverbs and words that occur more than once."""
    found = side.by_key
    return {word.key: index for index, word in enumerate(side.words) if len(found[word.key]) == 1 and not word.adverb}


def _has_object(active: Statement, verb: int) -> bool:
    """Whether a word that can be the object follows the verb at the index ``verb``."""
    return any(not word.role and not word.adverb for word in active.words[verb + 1 :])


_TOWARDS = frozenset("from to into onto".split())


def _contradicts_passive(done: Passive, active: Statement) -> bool:
    """Whether the active statement has the passive verb's object as its agent, or the verb's target before the verb."""
    order = word_order(active)
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
    if not done.by and not _has_object(active, verb):
        return False  # "it is run on a deploy", "it runs on a deploy"
    turned = not agents or any(index > verb for index in agents)
    return turned and any(index < verb for index in patients)
