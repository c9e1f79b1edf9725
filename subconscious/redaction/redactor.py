"""Finds what must not be kept, and puts a mark in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from . import blocks, policy
from .policy import Policy
from .rule import Rule, Span

VERSION = "1+gitleaks-8.30.1"
"""Changes with the rules: what was stored under others is looked through again."""

ROUNDS = 8
"""What is taken out may bring together what was apart: the text is looked through until nothing more is found."""

SHOWN = 4
"""Last signs that a masked value keeps, of those at least three times as long."""

_RUN = re.compile(r"[A-Za-z0-9_+/=-]*+")
_MARK = re.compile(r"\[(?:redacted|masked|blocked): [^\]\n]{1,60}\]")


@dataclass(frozen=True, slots=True)
class Find:
    """Something that was found, without itself: its sort, and the hash and length by which it is known again."""

    kind: str
    sort: str
    strategy: str
    hash: str
    length: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was found in it."""

    text: str
    finds: tuple[Find, ...] = ()

    @property
    def count(self) -> int:
        """How many were taken out; what is only warned of stays."""
        return sum(find.strategy != policy.WARN for find in self.finds)


def redact(text: str, held: Policy | None = None) -> Redacted:
    """Replace each secret by ``[redacted: kind]``; what stands around it stays readable.

    Doing so twice finds nothing more: it is repeated here until nothing is left to find.
    """
    held = held or policy.in_use()
    finds: list[Find] = []
    for _ in range(ROUNDS):
        found = _merged(text, _spans(text, held), held)
        if not found:
            break
        said = [_find(text, span, held) for span in found]
        finds += [find for find in said if find.strategy != policy.WARN or find not in finds]
        taken = [(span, find) for span, find in zip(found, said, strict=True) if find.strategy != policy.WARN]
        if not taken:
            break
        if blocked := next((find for find in said if find.strategy == policy.BLOCK), None):
            text = f"[blocked: {blocked.kind}]"
        else:
            text = _replaced(text, taken)
    return Redacted(text, tuple(finds))


@lru_cache(maxsize=8)
def _book(sort: str) -> tuple[tuple[Rule, ...], tuple[tuple[str, tuple[int, ...]], ...]]:
    """The rules of a sort, and by each hint the numbers of those that it calls for."""
    # Imported only now: the rules are read when the first text is looked at, and no start waits for them.
    from . import gitleaks, personal, places, shapes

    if sort == policy.SECRETS:
        rules: tuple[Rule, ...] = (*shapes.RULES, *places.RULES, *gitleaks.rules())
    else:
        rules = personal.RULES[sort]
    calls: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        for hint in rule.hints or ("",):
            calls.setdefault(hint, []).append(number)
    return rules, tuple((hint, tuple(numbers)) for hint, numbers in calls.items())


def _spans(text: str, held: Policy) -> list[tuple[str, Span]]:
    """All that any rule finds, with its sort; the surer rules first."""
    lowered = text.lower()
    found = [(policy.SECRETS, span) for span in blocks.find(text)] if blocks.HINT in lowered else []
    for sort in (policy.SECRETS, *policy.PERSONAL):
        if held.strategy(sort) != policy.OFF:
            rules, calls = _book(sort)
            called = sorted({number for hint, numbers in calls if hint in lowered for number in numbers})
            found += [(sort, span) for number in called for span in rules[number].find(text)]
    return found


@dataclass(frozen=True, slots=True)
class _Sorted:
    start: int
    end: int
    kind: str
    sort: str
    rank: int


def _merged(text: str, found: Iterable[tuple[str, Span]], held: Policy) -> list[_Sorted]:
    """The places in order; those that overlap are one, called as the surest rule calls it."""
    ranked = [_Sorted(*span, sort, rank) for rank, (sort, span) in enumerate(found)]
    merged: list[_Sorted] = []
    for place in sorted(_open_to(text, ranked, held), key=lambda place: (place.start, place.rank)):
        if not merged or place.start >= merged[-1].end:
            merged.append(replace(place, end=_end(text, place)))
            continue
        last = merged[-1]
        surest = min(last, place, key=lambda each: each.rank)
        merged[-1] = _Sorted(last.start, max(last.end, place.end), surest.kind, surest.sort, surest.rank)
    return merged


def _end(text: str, place: _Sorted) -> int:
    """Where what was found ends in truth: a rule's longest length does not cut a token in two."""
    runs_on = place.end < len(text) and text[place.end - 1].isalnum() and text[place.end].isalnum()
    run = _RUN.match(text, place.end) if runs_on else None
    return run.end() if run else place.end


def _open_to(text: str, places_: list[_Sorted], held: Policy) -> Iterator[_Sorted]:
    """Those that touch no mark of ours and that no person has allowed."""
    if not places_:
        return
    marked = bytearray(len(text))
    for mark in _MARK.finditer(text):
        marked[mark.start() : mark.end()] = b"\x01" * len(mark[0])
    for place in places_:
        if 1 in marked[place.start : place.end]:
            continue
        if not held.allowed or held.hash(text[place.start : place.end]) not in held.allowed:
            yield place


def _find(text: str, place: _Sorted, held: Policy) -> Find:
    value = text[place.start : place.end]
    return Find(place.kind, place.sort, held.strategy(place.sort), held.hash(value), len(value))


def _replaced(text: str, taken: list[tuple[_Sorted, Find]]) -> str:
    kept: list[str] = []
    at = 0
    for place, find in taken:
        kept += [text[at : place.start], _mark(text[place.start : place.end], find)]
        at = place.end
    return "".join(kept) + text[at:]


def _mark(value: str, find: Find) -> str:
    if find.strategy != policy.MASK:
        return f"[redacted: {find.kind}]"
    shown = value[-SHOWN:] if len(value) >= 3 * SHOWN and value[-SHOWN:].isalnum() else ""
    return f"[masked: {find.kind}{f' ...{shown}' if shown else ''}]"
