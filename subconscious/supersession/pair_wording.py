"""Compares the wording of two statements: negations, amounts, days, and names that contradict each other."""

from __future__ import annotations

import re

from subconscious.supersession.ended import keys
from subconscious.supersession.ending_patterns import End
from subconscious.supersession.endings import endings
from subconscious.text import vocabulary
from subconscious.text.statement import Statement

SHARE = 0.8
"""The share of words that two statements must have in common if one is the negation of the other."""


def name_one_of_several(new: str, old: str) -> bool:
    """Whether both statements have a verb that can have several objects at once: "supports", "accepts"."""
    return bool(_SEVERAL.search(new) and _SEVERAL.search(old))


def ends(text: str) -> bool:
    """Whether a statement takes something back. "X is over" does not count: it may be a rule or a fact."""
    return any(ending.end is not End.OVER for ending in endings(text))


STILL = re.compile(
    r"\b(?:still|immer noch|weiterhin|toujours|todavía|sigue|ainda|continua|almost|nearly|"
    r"not\b.*\b(?:yet|over)|noch nicht|fast fertig|pas encore|presque|todavía no|aún no|casi)\b|n't\b.*\b(?:yet|over)\b",
    re.IGNORECASE,
)
"""Words that say that something is still true, or not over yet."""

_SEVERAL = re.compile(r"\b(?:support|accept|offer|allow|include|contain|provide)s?\b", re.IGNORECASE)
"""Verbs that can have several objects at once."""


def leaves_what_is_forbidden(new: str, old: str) -> bool:
    """Whether the new statement gives up something that the earlier one forbids, so that they agree."""
    return denies(old) and any(ending.end is End.LEFT for ending in endings(new))


def denies(text: str, other: str = "") -> bool:
    """Whether a statement forbids or denies something.

    A rejected alternative next to a choice does not count ("tabs, not spaces"), unless ``other`` names it.
    """
    text = text.replace("\u2019", "'")
    named = keys(other)
    chosen = _CONTRAST.sub(lambda found: found[0] if keys(found[0]) & named else " ", text)
    return bool(_DENIES.search(chosen)) and not _DENIED_TWICE.search(text)


_CONTRAST = re.compile(
    r"(?:(?<=\w),|(?<=\w) [-\u2013])\s*(?:and )?(?:not?|never|nicht|kein\w*|pas(?: de)?|sin|nada de|não|sem) [\w.+#-]+(?: \w+)?\W*$"
    r"|(?<=\w) (?:instead of|rather than|(?:an)?statt|au lieu de|en vez de|em vez de) [\w.+#-]+"
    r"|(?<!\bdo)(?<!\bis)(?<!\bare)(?<!\bdoes)(?<!\bmay)(?<!\bcan)(?<!\bmust)(?<!\bwill)(?<!\bshould)(?<=[a-z]) not "
    r"(?!to\b|be\b|a\b|the\b|in\b|on\b|allowed\b|needed\b|be\w*\b|yet\b|\w+ed\b|\w+ing\b)[\w.+#-]+",
    re.IGNORECASE,
)
"""An alternative that is rejected next to a choice."""

_DENIED_TWICE = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|don't|do not|kein\w*|nicht|nie|nichts|pas|jamais|rien|nunca|nada|não)\b[^,;.]{0,120}"
    r"\b(?:without|but|except|other(?: \w+)? than|below|less than|fewer than|ohne|außer|unter|weniger als|sans|sauf|"
    r"moins de|sin|salvo|menos de|sem|exceto)\b",
    re.IGNORECASE,
)
"""A demand that is worded as a double negation: "no function without a test"."""


_DENIES = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|without|avoid|only|forbidden|off limits|banned|out of|instead|stop|frozen|"
    r"freeze|down|offline|hands off|(?:do|does|is|are|ca|can|must|need|should|wo|would)n'?t|cannot|"
    r"kein\w*|nicht|nie|nur|nichts|ohne|pas|sans|jamais|rien|ne|nada|sin|nunca|no|não|sem|só|solo)\b",
    re.IGNORECASE,
)
"""Words that forbid, deny or limit. A paraphrase nearly always keeps such a word."""


def is_negated(new: str, old: str) -> bool:
    """Whether one statement negates the other: only one has an odd number of negations, and nearly all words agree."""
    mine, its = (_NEGATES.subn(" ", text.casefold().replace("\u2019", "'")) for text in (new, old))
    words, others = ({word.removesuffix("s") for word in _WORD.findall(text)} - _AUXILIARY for text, _ in (mine, its))
    alike = len(words & others) >= SHARE * max(len(words), len(others), 1)
    return alike and mine[1] % 2 != its[1] % 2


_WORD = re.compile(r"[^\W_]+")
_AUXILIARY = frozenset(("do", "doe", "did"))
"""Auxiliary verbs without their last "s"."""


_NEGATES = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|cannot|(?:do|does|did|is|are|was|were|ca|can|must|need|should|wo|would)n'?t|"
    r"kein\w*|nicht|nie|nichts|pas|jamais|rien|nunca|não)\b",
    re.IGNORECASE,
)


def are_on_other_days(new: str, old: str) -> bool:
    """Whether both name a weekday and an amount and differ in both, as two entries of a timetable do.

    If only the day differs, an appointment may have moved to another day.
    """
    days, amounts = ([find(text) for text in (new, old)] for find in (_days, _amounts))
    return all(map(all, (days, amounts))) and days[0].isdisjoint(days[1]) and amounts[0].isdisjoint(amounts[1])


def _days(text: str) -> set[str]:
    return {day.casefold() for day in _DAY.findall(text)}


_DAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)


def amounts_contradict(one: str, other: str) -> bool:
    """Whether the amounts of two statements differ; "6 to 22" and "from 22h till 6h" agree.

    One statement may name more amounts than the other. The amounts differ if each statement has an amount that the
    other lacks, or if only one statement has amounts.
    """
    mine, its = _amounts(one), _amounts(other)
    missing = [any(not any(_equal(a, b) for b in theirs) for a in ours) for ours, theirs in ((mine, its), (its, mine))]
    return all(missing) or bool(mine) != bool(its)


def _amounts(text: str) -> set[tuple[str, str]]:
    """Return the numbers of a text, each with its unit; the unit is "" for a number without one.

    "10k" and "10,000" are 10000, and "15.0" is 15.
    """
    found = set()
    for match in _AMOUNT.finditer(_GROUPED.sub("", text.casefold())):
        number = vocabulary.NUMBERS.get(match["number"], match["number"]).removesuffix(":00").replace(":", ".")
        number = _ZEROS.sub("", number) + ("000" if match["unit"] == "k" and number.isdecimal() else "")
        found.add((number, vocabulary.UNITS.get(match["unit"] or "", "")))
    return found


_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ZEROS = re.compile(r"(?<=\d)(?:\.0)+$")


_AMOUNT = re.compile(
    rf"(?<![\w.])[v#~]?(?P<number>\d+(?:[.:]\d+)*|(?:{'|'.join(vocabulary.NUMBERS)})\b)(?:[\s-]?(?P<unit>[a-z]+))?"
)


def _equal(one: tuple[str, str], other: tuple[str, str]) -> bool:
    units = {one[1], other[1]}
    if units <= vocabulary.SECONDS.keys() and len(units) == 2:
        return _seconds(*one) == _seconds(*other)
    return one[0] == other[0] and (len(units) == 1 or "" in units)


def _seconds(number: str, unit: str) -> float | None:
    """Return a time in seconds; None if ``number`` is not a decimal number but, say, a version."""
    return float(number) * vocabulary.SECONDS[unit] if number.count(".") < 2 else None


def names_contradict(one: Statement, other: Statement) -> bool:
    """Whether each statement names something that the other does not name; amounts are compared elsewhere."""
    named = [
        any(word.name and word.key not in its.keys and not word.key[:1].isdecimal() for word in side.words)
        for side, its in ((one, other), (other, one))
    ]
    return all(named)
