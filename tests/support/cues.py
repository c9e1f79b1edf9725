"""Finds a match of a poisoning rule without any of the rule's cues, by reading the rule's pattern."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from subconscious.poisoning.rule import Rule

PARSER: Any = import_module("re._parser")

SIGNS = string.ascii_lowercase + string.digits + string.punctuation + " \t\n\u0e01"
EITHER = re.compile(r"\[([^\x00-\x7f])([a-z])\]")
"""A letter that matches in two forms: that of small letters and that of capitals."""

REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
ANYTHING = [("MAX_REPEAT", (0, 60, [("ANY", None)]))]
IS: dict[str, Any] = {
    "WORD": lambda sign: sign.isalnum() or sign == "_",
    "SPACE": str.isspace,
    "DIGIT": str.isdigit,
}
Ends = dict[str, str]
"""The ends of texts that could become a cue, each with one such text."""


def uncued(rule: Rule) -> str | None:
    """Return a text without cues that the pattern matches, as far as it can be told, or None if there is none.

    Look-around and references to groups are not evaluated: a text may be returned that the pattern does not match.
    """
    written = {rule.source, EITHER.sub(r"\1", rule.source), EITHER.sub(r"\2", rule.source)}
    for source in sorted(written - ({rule.source} if len(written) > 1 else set())):
        for text in _Search(rule, source).after({"": ""}, PARSER.parse(source)).values():
            return text
    return None


class _Search:
    """Follows a pattern with all texts at once: those with the same end are the same from there on."""

    def __init__(self, rule: Rule, source: str) -> None:
        self._cues = tuple(rule.cues)
        self._begun = {cue[:length] for cue in self._cues for length in range(len(cue))}
        self._signs = sorted({*SIGNS, *(sign for sign in source + "".join(self._cues) if not sign.isascii())})
        self._known: dict[tuple[str, str], str | None] = {}
        self._sets: dict[str, list[str]] = {}

    def after(self, ends: Ends, parsed: Iterable[Any]) -> Ends:
        """Return the ends that the texts may have after a part of a pattern, without those that contain a cue."""
        for op, value in parsed:
            ends = self._after_one(ends, str(op), value)
        return ends

    def _after_one(self, ends: Ends, op: str, value: Any) -> Ends:
        if op in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._with(ends, self._signs_of(op, value))
        if op in REPEATS:
            return self._repeated(ends, *value)
        if op == "BRANCH":
            return _joined(self.after(ends, branch) for branch in value[1])
        if op == "SUBPATTERN":
            return self.after(ends, value[3])
        if op == "ATOMIC_GROUP":
            return self.after(ends, value)
        if op == "GROUPREF":
            return self.after(ends, ANYTHING)
        assert op in ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF_EXISTS"), op
        return ends

    def _repeated(self, ends: Ends, fewest: int, most: int, parsed: Any) -> Ends:
        for _ in range(fewest):
            ends = self.after(ends, parsed)
        found = new = ends
        for _ in range(fewest, int(most)):
            new = {end: text for end, text in self.after(new, parsed).items() if end not in found}
            if not new:
                break
            found = _joined((found, new))
        return found

    def _signs_of(self, op: str, value: Any) -> list[str]:
        name = f"{op} {value}"
        if name not in self._sets:
            items = value if op == "IN" else [(op, value)]
            self._sets[name] = [sign for sign in self._signs if _holds(items, sign)]
            if op == "LITERAL":
                self._sets[name] = [chr(value)]
        return self._sets[name]

    def _with(self, ends: Ends, signs: Iterable[str]) -> Ends:
        found: Ends = {}
        for end, text in ends.items():
            for sign in signs:
                longer = self._end(end, sign)
                if longer is not None:
                    found.setdefault(longer, text + sign)
        return found

    def _end(self, end: str, sign: str) -> str | None:
        key = end, sign
        if key not in self._known:
            text = end + sign
            ends = (text[at:] for at in range(len(text) + 1))
            self._known[key] = None if text.endswith(self._cues) else next(one for one in ends if one in self._begun)
        return self._known[key]


def _joined(groups: Iterable[Ends]) -> Ends:
    found: Ends = {}
    for group in groups:
        for end, text in group.items():
            found.setdefault(end, text)
    return found


def _holds(items: Iterable[tuple[Any, Any]], sign: str) -> bool:
    """Whether a set of a pattern has a sign."""
    inside, negated = False, False
    for op, value in items:
        match str(op):
            case "NEGATE":
                negated = True
            case "ANY":
                inside = sign != "\n"
            case "LITERAL":
                inside |= ord(sign) == value
            case "NOT_LITERAL":
                inside |= ord(sign) != value
            case "RANGE":
                inside |= value[0] <= ord(sign) <= value[1]
            case _:
                name = str(value).removeprefix("CATEGORY_")
                inside |= IS[name.removeprefix("NOT_")](sign) != name.startswith("NOT_")
    return inside != negated
