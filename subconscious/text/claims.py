"""Decides whether a statement replaces an earlier one, by the claims of both (see ``claim_reader``).

A subject has one value at a time. So a later statement with another value for the same subject replaces the earlier
one, even if it does not mention a change. A wrong replacement is worse than a missed one, so in doubt,
two statements count as having different subjects.
"""

from __future__ import annotations

import re
from dataclasses import replace

from subconscious.text import vocabulary
from subconscious.text.alternatives import STORES
from subconscious.text.claim_reader import FAMILY, PLACE_STEMS, SLOT_STEMS, Claim, claim, key_of
from subconscious.text.parallel import are_lettered_apart, are_parallel, have_numbered_subjects
from subconscious.text.same_statement import same_statement
from subconscious.text.stems import stem

ENOUGH = 0.75
"""The share of words (0 to 1) that two statements must have in common for one to negate the other."""

_GENERIC = frozenset(
    map(
        key_of,
        "we our everything all every each service system thing stuff project repo code team job new current whole"
        " only way one always whenever anything here there commit merge".split(),
    )
)
_POLAR = frozenset(map(key_of, "always never again any more longer ever allow allowed fine ok okay please".split()))


def replaces(new: str, old: str) -> bool:
    """Whether a statement contradicts an earlier one about the same subject and so replaces it."""
    pair = _comparable(new, old)
    return pair is not None and (_negates(*pair) or _renames(*pair) or _revalues(*pair))


def changes_value(new: str, old: str) -> bool:
    """Whether a statement replaces an earlier one by stating another value, not by negating it."""
    pair = _comparable(new, old)
    return pair is not None and not _negates(*pair) and (_renames(*pair) or _revalues(*pair))


def indicates_change(content: str) -> bool:
    """Whether a statement has words that indicate a change."""
    return bool(_CHANGE_WORDS.search(content))


_CHANGE_WORDS = re.compile(
    r"\b(?:now|moved|moves|moving|switch(?:ed|ing)?|migrat(?:ed|ing)|changed|instead|no longer|any ?more|ran out|left|"
    r"gone|replac(?:ed|es)|dropped|settled on|renamed|back to|overkill|yesterday|last (?:night|week|month)|as of|"
    r"from (?:now|here|today) on|these days|nowadays|starting today|(?:went|goes) (?:up|down|back) to|"
    r"used to|took over|takes over|turns out|actually|correction|scratch that|not .{1,40} after all|"
    r"since (?:\w+day|yesterday|last|this|january|february|march|april|may|june|july|august|september|october|"
    r"november|december)|jetzt|inzwischen|umgezogen|gewechselt|ab (?:sofort|jetzt|heute|morgen)|künftig|fortan|"
    r"stattdessen|nicht mehr|maintenant|désormais|dorénavant|finalement|à partir d(?:e maintenant|'aujourd'hui)|mejor|"
    r"a partir de (?:ahora|hoy|agora|hoje)|desde (?:ahora|hoy|hoje)|en adelante|em vez disso|"
    r"ahora|ya no|agora|já não)\b|\bthen\W",
    re.IGNORECASE,
)
"""A pattern of words that indicate a change; without a new value, a statement with such words replaces nothing."""


def _comparable(new: str, old: str) -> tuple[Claim, Claim] | None:
    """Return the claims of two statements if they differ in content and apply to the same place, else None."""
    if are_parallel(new, old) or are_lettered_apart(new, old) or have_numbered_subjects(new, old):
        return None
    if same_statement(new, old, cosine=1.0):
        return None
    later, earlier = claim(new), claim(old)
    if later is None or earlier is None or later.places != earlier.places:
        return None
    return later, earlier


def _negates(new: Claim, old: Claim) -> bool:
    """Whether one statement asserts what the other negates, in nearly the same words.

    If each statement has words that the other lacks, they may be about different things: "mock it in unit tests",
    "never mock it in browser tests".
    """
    if new.negative == old.negative or new.numbers != old.numbers:
        return False
    mine, its = ({word for word in one.words if word not in _POLAR} for one in (new, old))
    if mine - its and its - mine:
        return False
    shared = mine & its
    return len(shared) >= 1 and len(shared) >= ENOUGH * max(len(mine), len(its)) and not new.names ^ old.names


def _renames(new: Claim, old: Claim) -> bool:
    """Whether the new claim rejects the old value for the same subject: "NATS for the queue, not Redis"."""
    if not new.without or new.negative or old.negative:
        return False
    rejected = new.without & old.value
    return bool(rejected) and not (new.value & rejected) and _same_subject(new, old, certain=True)


def _revalues(new: Claim, old: Claim) -> bool:
    """Whether two claims assign different values of the same kind to the same subject."""
    mine, its = new.value - old.value, old.value - new.value
    if new.negative or old.negative or not mine or not its:
        return False
    if mine & new.numbers and its & old.numbers:
        return _differ_in_numbers(new, old)
    ours, theirs = _families(mine), _families(its)
    if ours.keys() & theirs.keys():
        return _rest_agrees(mine, its) and _same_subject(new, old, certain=True)
    if ours and theirs:  # a language can't replace a framework, but data can move to a store of another group
        return new.changes and {*ours, *theirs} <= STORES and _same_subject(new, old, certain=False)
    return _is_single(new, old) and bool(new.about & old.about) and _same_subject(new, old, certain=False)


def _families(values: frozenset[str]) -> dict[str, str]:
    """Map each group of alternatives to its word in ``values``; groups with several such words are left out."""
    chosen = [FAMILY[word] for word in values if word in FAMILY]
    return {FAMILY[word]: word for word in values if word in FAMILY and chosen.count(FAMILY[word]) == 1}


def _rest_agrees(mine: frozenset[str], its: frozenset[str]) -> bool:
    """Whether two values have the same words besides the chosen alternatives, or one of them has no other words."""
    rest = [{word for word in words if word not in FAMILY and word not in _GENERIC} for words in (mine, its)]
    return not all(rest) or rest[0] == rest[1]


def _differ_in_numbers(new: Claim, old: Claim) -> bool:
    """Whether two claims differ only in their numbers.

    The claims must have equally many numbers, unless the new one states a change ("from 3 to 5").
    """
    if len(new.numbers) != len(old.numbers) and not new.changes:
        return False
    mine, its = (replace(one, about=one.words - one.numbers - _UNITS) for one in (new, old))
    return _same_subject(mine, its, certain=False)


_UNITS = frozenset(stem(unit) for unit in vocabulary.UNITS)


def _is_single(new: Claim, old: Claim) -> bool:
    """Whether the subject has one value at a time, so that the old and the new value can't both be true."""
    if not new.frame or not old.frame:
        return False
    if new.frame != old.frame:
        return new.changes and "is" not in (new.frame, old.frame)
    if new.changes or new.frame in ("place", "lead"):
        return True
    return new.frame in ("is", "use") and any(word in SLOT_STEMS for word in new.about & old.about)


def _same_subject(new: Claim, old: Claim, *, certain: bool) -> bool:
    """Whether two claims have the same subject.

    ``certain`` means that the values already show that the subject is the same, even if it is not named. If the new
    statement reports a change, it may omit words of the old one, and with ``certain`` it may also add words; otherwise
    added words make it an exception to the old one.
    """
    mine, its = (
        frozenset(word for word in one - other if word not in _GENERIC)
        for one, other in ((new.about, old.about), (old.about, new.about))
    )
    shared = {word for word in new.about & old.about if word not in _GENERIC}
    if mine and its:
        return False
    if not shared:
        return certain and not mine and (not its or new.changes) and not (new.names | old.names) & (mine | its)
    if mine | its:
        return new.changes and not (mine | its) & (PLACE_STEMS | new.names | old.names) and (certain or not mine)
    return True
