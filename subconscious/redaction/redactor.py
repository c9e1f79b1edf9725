"""Finds secrets and personal data in a text, and replaces them with marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise, takewhile

from . import encoded, known, policy, readings, wallets
from .plausible import is_distinct
from .policy import Policy
from .rule import LONG_RUN, Rule, Span

VERSION = "10+gitleaks-8.30.1"
"""The version of the rules: data that was stored under other rules is scanned again."""

ROUNDS = 8
"""The most searches of one text. A replacement can join the parts of another secret, so the search is repeated."""

SHOWN = 4
"""The number of last characters of a masked value that are shown, if the value is at least three times as long."""

_RUN = re.compile(r"[A-Za-z0-9_+/=-]*+")
_BREAKS = {ord(sign): None for sign in " \t\r\n\"'`\\+|>"}
"""Characters that may separate the parts of a divided token."""

_MARK = re.compile(r"\[(?:redacted|masked|blocked): [^\]\n]{1,60}\]")

_PEM_HINT = "private key"

_PEM_MARK = re.compile(r"-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
_PEM_LINE = re.compile(r"(?:(?!\\n)[^\n])++")
_PEM_LONGEST = 8000
"""The number of characters before an end mark that are searched for the lines of its key."""

_PEM_REACH = 2000
"""The number of characters after a PEM mark within which its key must begin."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A finding without its value: its kind, and the hash and length that identify the value."""

    kind: str
    sort: str
    strategy: str
    hash: str
    length: int
    distinct: bool = False
    """Whether the value differs from plain words, so that it can be recognised in other texts."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the findings in it."""

    text: str
    detections: tuple[Detection, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of replacements; findings that are only reported are not counted."""
        return sum(find.strategy != policy.WARN for find in self.detections)


def redact(text: str, active: Policy | None = None) -> Redacted:
    """Return a text with each secret replaced by ``[redacted: kind]``; the text around it stays readable.

    The policy may set another strategy for a type of data, see `policy`. The search is repeated until nothing is found,
    at most ``ROUNDS`` times, so redacting twice has no further effect.
    """
    active = active or policy.in_use()
    detections: list[Detection] = []
    for _ in range(ROUNDS):
        found = _repeated(text, _merged(text, _spans(text, active), active), active)
        if not found:
            break
        descriptions = [_detection(text, span, active) for span in found]
        detections += [find for find in descriptions if find.strategy != policy.WARN or find not in detections]
        replaced = [
            (span, find) for span, find in zip(found, descriptions, strict=True) if find.strategy != policy.WARN
        ]
        if not replaced:
            break
        if blocked := next((find for find in descriptions if find.strategy == policy.BLOCK), None):
            text = f"[blocked: {blocked.kind}]"
        else:
            text = _replaced(text, replaced)
    return Redacted(text, tuple(detections))


@lru_cache(maxsize=8)
def _rules_of(sort: str) -> tuple[tuple[Rule, ...], tuple[tuple[str, tuple[int, ...]], ...]]:
    """Return the rules for a type of data, and for each hint the indices of the rules that have it."""
    # Imported here, so that the rules are loaded with the first text and delay no start.
    from . import (
        command_rules,
        context_rules,
        gitleaks,
        numbered_words,
        paired_rules,
        passphrases,
        personal,
        shapes,
        spoken_rules,
    )

    if sort == policy.SECRETS:
        rules: tuple[Rule, ...] = (
            *shapes.RULES,
            *context_rules.RULES,
            *spoken_rules.RULES,
            *passphrases.RULES,
            *numbered_words.RULES,
            *command_rules.RULES,
            *paired_rules.RULES,
            *gitleaks.rules(),
        )
    else:
        rules = personal.RULES[sort]
    calls: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        for hint in rule.hints or ("",):
            calls.setdefault(hint, []).append(number)
    return rules, tuple((hint, tuple(numbers)) for hint, numbers in calls.items())


def _spans(text: str, active: Policy) -> list[tuple[str, Span]]:
    """Return the findings of all rules, each with its type of data; findings of more reliable rules come first."""
    reading = readings.visible(text)
    found: list[tuple[str, Span]] = []
    if active.strategy(policy.SECRETS) != policy.OFF:
        found = [(policy.SECRETS, span) for span in _secrets(reading.text, active)]
    for sort in policy.PERSONAL:
        if active.strategy(sort) != policy.OFF:
            found += [(sort, span) for span in _by_rules(reading.text, sort)]
    return [(sort, Span(*reading.original(span.start, span.end), span.kind)) for sort, span in found]


def _secrets(text: str, active: Policy) -> Iterator[Span]:
    yield from _plain_secrets(text)
    yield from _divided(text)
    yield from wallets.find(text)
    yield from encoded.find(text, lambda decoded: _kind(decoded, active))
    yield from active.known.find(text, active.hash)


def _plain_secrets(text: str) -> Iterator[Span]:
    if _PEM_HINT in text.lower():
        yield from _pem_keys(text)
    yield from _by_rules(text, policy.SECRETS)
    yield from _in_tables(text)


def _in_tables(text: str) -> Iterator[Span]:
    from .paired_rules import find_in_tables

    yield from find_in_tables(text)


def _pem_keys(text: str) -> Iterator[Span]:
    """Yield every private key in PEM format. A key without an end mark ends at the next mark or with the text.

    Lines before an end mark without a begin mark are the rest of a key. A mark alone is not a key.
    """
    marks = [*_PEM_MARK.finditer(text), None]
    if marks[0] is not None and marks[0][1] == "END":
        yield from _pem_rest(text, marks[0])
    for mark, following in pairwise(marks):
        if mark is None or mark[1] == "END" or not _has_body(text, mark, following):
            continue
        if following is None:
            yield Span(mark.start(), len(text), "private key")
        else:
            yield Span(mark.start(), following.end() if following[1] == "END" else following.start(), "private key")


def _pem_rest(text: str, end: re.Match[str]) -> Iterator[Span]:
    """Yield the last lines of a key whose begin mark is not in the text. The line before the end mark may be short."""
    lines = [*_PEM_LINE.finditer(text, max(0, end.start() - _PEM_LONGEST), end.start())]
    full = list(takewhile(lambda line: _PEM_BODY.search(line[0]), reversed(lines)))
    for skipped in (1, 2):
        full = full or list(takewhile(lambda line: _PEM_BODY.search(line[0]), reversed(lines[:-skipped])))
    if full:
        yield Span(full[-1].start(), end.end(), "private key")


def _has_body(text: str, mark: re.Match[str], following: re.Match[str] | None) -> bool:
    end = len(text) if following is None else following.start()
    return _PEM_BODY.search(text, mark.end(), min(end, mark.end() + _PEM_REACH)) is not None


def _kind(decoded: str, active: Policy) -> str:
    """Return the kind of the first secret in a decoded text; "" if there is none."""
    spans = chain(_plain_secrets(decoded), active.known.find(decoded, active.hash))
    return next((span.kind for span in spans), "")


def _by_rules(text: str, sort: str) -> Iterator[Span]:
    lowered = text.lower()
    rules, calls = _rules_of(sort)
    called = sorted({number for hint, numbers in calls if hint in lowered for number in numbers})
    has_run = LONG_RUN.search(text) is not None
    for rule in (rules[number] for number in called):
        if has_run or not rule.needs_run:
            yield from rule.find(text)


def _divided(text: str) -> Iterator[Span]:
    """Yield tokens that line breaks or spaces divide. Only tokens that begin with a service's known prefix are found."""
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
    """Whether a token has digits, so that it looks random: compound words have none."""
    return sum(sign.isdigit() for sign in token) >= 3


def _repeated(text: str, found: list[_SortedSpan], active: Policy) -> list[_SortedSpan]:
    """Return the findings together with every other occurrence of the same secrets."""
    values = [(text[span.start : span.end], span.kind) for span in found if span.sort == policy.SECRETS]
    again = [(policy.SECRETS, span) for span in known.repetitions(text, values)] if values else []
    if not again:
        return found
    first = [(span.sort, Span(span.start, span.end, span.kind)) for span in found]
    return _merged(text, first + again, active)


@dataclass(frozen=True, slots=True)
class _SortedSpan:
    start: int
    end: int
    kind: str
    sort: str
    rank: int


def _merged(text: str, found: Iterable[tuple[str, Span]], active: Policy) -> list[_SortedSpan]:
    """Return the findings by position. Overlapping ones are merged, with the kind from the most reliable rule."""
    ranked = [_SortedSpan(*span, sort, rank) for rank, (sort, span) in enumerate(found)]
    merged: list[_SortedSpan] = []
    for span in sorted(_not_allowed(text, ranked, active), key=lambda span: (span.start, span.rank)):
        if not merged or span.start >= merged[-1].end:
            merged.append(replace(span, end=_end(text, span)))
            continue
        last = merged[-1]
        surest = min(last, span, key=lambda each: each.rank)
        merged[-1] = _SortedSpan(last.start, max(last.end, span.end), surest.kind, surest.sort, surest.rank)
    return merged


def _end(text: str, span: _SortedSpan) -> int:
    """Return the real end of a finding: a rule's maximum length must not leave the rest of a token unredacted."""
    runs_on = span.end < len(text) and text[span.end - 1].isalnum() and text[span.end].isalnum()
    run = _RUN.match(text, span.end) if runs_on else None
    return run.end() if run else span.end


def _not_allowed(text: str, found: list[_SortedSpan], active: Policy) -> Iterator[_SortedSpan]:
    """Yield the findings that do not overlap a redaction mark and that no person has allowed."""
    if not found:
        return
    marked = bytearray(len(text))
    for mark in _MARK.finditer(text):
        marked[mark.start() : mark.end()] = b"\x01" * len(mark[0])
    for span in found:
        if 1 in marked[span.start : span.end]:
            continue
        if not active.allowed or active.hash(text[span.start : span.end]) not in active.allowed:
            yield span


def _detection(text: str, span: _SortedSpan, active: Policy) -> Detection:
    value = text[span.start : span.end]
    return Detection(
        span.kind, span.sort, active.strategy(span.sort), active.hash(value), len(value), is_distinct(value)
    )


def _replaced(text: str, replaced: list[tuple[_SortedSpan, Detection]]) -> str:
    parts: list[str] = []
    at = 0
    for span, find in replaced:
        parts += [text[at : span.start], _mark(text[span.start : span.end], find)]
        at = span.end
    return "".join(parts) + text[at:]


def _mark(value: str, find: Detection) -> str:
    if find.strategy != policy.MASK:
        return f"[redacted: {find.kind}]"
    shown = value[-SHOWN:] if len(value) >= 3 * SHOWN and value[-SHOWN:].isalnum() else ""
    return f"[masked: {find.kind}{f' ...{shown}' if shown else ''}]"
