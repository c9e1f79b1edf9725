"""Finds what must not be kept, and puts a mark in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from . import blocks, encoded, known, policy, readings, wallets
from .plausible import is_distinct
from .policy import Policy
from .rule import LONG_RUN, Rule, Span

VERSION = "3+gitleaks-8.30.1"
"""Changes with the rules: data that was stored under other rules is checked again."""

ROUNDS = 8
"""A replacement can join the parts of another secret, so the text is searched until nothing more is found."""

SHOWN = 4
"""Last signs that a masked value keeps, of those at least three times as long."""

_RUN = re.compile(r"[A-Za-z0-9_+/=-]*+")
_BREAKS = {ord(sign): None for sign in " \t\r\n\"'`\\+|>"}
"""Characters that may separate the parts of a divided token."""

_MARK = re.compile(r"\[(?:redacted|masked|blocked): [^\]\n]{1,60}\]")


@dataclass(frozen=True, slots=True)
class Find:
    """Something that was found, without itself: its sort, and the hash and length by which it is known again."""

    kind: str
    sort: str
    strategy: str
    hash: str
    length: int
    distinct: bool = False
    """Whether it differs from ordinary words, so that it can be recognised in other texts."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the findings."""

    text: str
    finds: tuple[Find, ...] = ()

    @property
    def count(self) -> int:
        """How many were replaced, without those that are only warned about."""
        return sum(find.strategy != policy.WARN for find in self.finds)


def redact(text: str, held: Policy | None = None) -> Redacted:
    """Replace each secret by ``[redacted: kind]``; the text around it stays readable.

    The search is repeated until it finds nothing, so redacting twice has no further effect.
    """
    held = held or policy.in_use()
    finds: list[Find] = []
    for _ in range(ROUNDS):
        found = _repeated(text, _merged(text, _spans(text, held), held), held)
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
    reading = readings.visible(text)
    found: list[tuple[str, Span]] = []
    if held.strategy(policy.SECRETS) != policy.OFF:
        found = [(policy.SECRETS, span) for span in _secrets(reading.text, held)]
    for sort in policy.PERSONAL:
        if held.strategy(sort) != policy.OFF:
            found += [(sort, span) for span in _by_rules(reading.text, sort)]
    return [(sort, Span(*reading.original(span.start, span.end), span.kind)) for sort, span in found]


def _secrets(text: str, held: Policy) -> Iterator[Span]:
    yield from _plain_secrets(text)
    yield from _divided(text)
    yield from wallets.find(text)
    yield from encoded.find(text, lambda decoded: _kind(decoded, held))
    yield from held.known.find(text, held.hash)


def _plain_secrets(text: str) -> Iterator[Span]:
    if blocks.HINT in text.lower():
        yield from blocks.find(text)
    yield from _by_rules(text, policy.SECRETS)


def _kind(decoded: str, held: Policy) -> str:
    """The kind of the first secret in a text that was encoded."""
    spans = chain(_plain_secrets(decoded), held.known.find(decoded, held.hash))
    return next((span.kind for span in spans), "")


def _by_rules(text: str, sort: str) -> Iterator[Span]:
    lowered = text.lower()
    rules, calls = _book(sort)
    called = sorted({number for hint, numbers in calls if hint in lowered for number in numbers})
    has_run = LONG_RUN.search(text) is not None
    for rule in (rules[number] for number in called):
        if has_run or not rule.needs_run:
            yield from rule.find(text)


def _divided(text: str) -> Iterator[Span]:
    """Tokens that line breaks or spaces divide: only such as begin with a service's own sign."""
    from . import shapes

    collapsed = text.translate(_BREAKS)
    if not any(prefix in collapsed for prefix in shapes.PREFIXES):
        return
    for reading in (readings.unwrapped(text), readings.unspaced(text)):
        for rule in shapes.PREFIXED if reading.cuts else ():
            for span in rule.find(reading.text):
                if reading.crosses(span.start, span.end) and _has_digits(reading.text[span.start : span.end]):
                    yield Span(*reading.original(span.start, span.end), span.kind)


def _has_digits(token: str) -> bool:
    """Whether a token was drawn at random: words that were put together have no digits."""
    return sum(sign.isdigit() for sign in token) >= 3


def _repeated(text: str, found: list[_Sorted], held: Policy) -> list[_Sorted]:
    """Return the findings, and every other occurrence of the same secrets."""
    values = [(text[place.start : place.end], place.kind) for place in found if place.sort == policy.SECRETS]
    again = [(policy.SECRETS, span) for span in known.repetitions(text, values)] if values else []
    if not again:
        return found
    first = [(place.sort, Span(place.start, place.end, place.kind)) for place in found]
    return _merged(text, first + again, held)


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
    """Return the real end of a finding: a rule's maximum length does not cut a token in two."""
    runs_on = place.end < len(text) and text[place.end - 1].isalnum() and text[place.end].isalnum()
    run = _RUN.match(text, place.end) if runs_on else None
    return run.end() if run else place.end


def _open_to(text: str, places_: list[_Sorted], held: Policy) -> Iterator[_Sorted]:
    """Return findings that overlap no mark of ours and that no person allowed."""
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
    return Find(place.kind, place.sort, held.strategy(place.sort), held.hash(value), len(value), is_distinct(value))


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
