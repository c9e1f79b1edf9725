"""Finds the dates and milestones in a memory's text that were still in the future when it was stated."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from subconscious.text.month_names import DATE_NAMES, MONTH_NUMBERS
from subconscious.text.terms import names, stem, terms

VERSION = 2
"""The version of these rules; texts that were scanned with an older version are scanned again."""

MOST = 5
BEHIND = 6
"""One more than the number of words after a verb such as "upgrade" that are searched for the milestone's name."""

FARTHEST_YEARS = 30
LEAP_YEARS = 8

MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}
DAYS = {name: number for number, name in enumerate("mon tue wed thu fri sat sun".split())}

_MONTH = (
    r"(?P<month>jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|tember|ober|ember)?\.?"
)
_CUE = (
    r"\b(?:until|till|by|before|on|from|after|starting|beginning|as of|effective|due|expires?|expiring|ends?|deadline"
    r"(?: is)?|no later than|not before)(?: on| at)?(?: the)?\s+"
)
_FOREIGN_CUE = (
    r"(?<!\w)(?:bis(?: einschließlich| inkl\.)?(?: zum?)?|(?:vor|ab|nach)(?: dem)?|am|vom|"
    r"jusqu['\u2019]au|(?:avant|après|dès)(?: le)?|à partir du|"
    r"hasta(?: el)?|antes d(?:el?|o)|a partir d(?:el?|o)|después del?|at[eé](?: [oa])?|depois d[eo]|"
    r"fino al|entro il|prima del|dal|tot(?: en met)?|t/m|vanaf|(?:till|indtil|inntil|efter|från|fra)(?: den)?)"
    r"\s+(?:(?:el|le|o) )?(?:d[ií]a )?"
)
_FOREIGN = re.compile(
    rf"(?P<cue>{_FOREIGN_CUE})?(?<![\w.:/-])(?P<day>\d{{1,2}})(?:\.[ºo]?|er|º|°)?\s?(?:d[ei] |d['\u2019])?"
    rf"(?P<name>{DATE_NAMES})\b(?:,? (?:del? )?(?P<year>20\d\d)\b)?",
    re.IGNORECASE,
)
"""A date with the name of a month in another language. Without its year it counts only after a word such as "bis"."""

_DOTTED = re.compile(
    r"(?P<first>\A\W{0,3})?(?P<cue>(?<!\w)(?:bis(?P<to> zum)?|ab(?: dem)?|vor dem|nach dem|am|vom)\s+)"
    r"(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.(?:(?P<year>20\d\d)\b|(?(to)|(?(first)(?=\s+\w)|(?!))))",
    re.IGNORECASE,
)
"""A German date in digits. Without a year, it may be a version ("Ubuntu bis 20.04."), except after "bis zum" or at the
beginning of a text."""

_ISO = re.compile(r"(?<![\w./-])(?P<year>20\d\d)-(?P<number>[01]\d)-(?P<day>[0-3]\d)(?![\w-])")
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? {_MONTH},? (?P<year>20\d\d)\b", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>20\d\d)\b", re.IGNORECASE)
_NO_YEAR = re.compile(
    rf"{_CUE}(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? )?{_MONTH}(?: (?P<second>\d{{1,2}})(?:st|nd|rd|th)?)?\b"
    r"(?!,? \d{4})",
    re.IGNORECASE,
)
_WHOLE_MONTH = re.compile(rf"(?P<end>\bend of )?\b{_MONTH} (?P<year>20\d\d)\b", re.IGNORECASE)
_QUARTER = re.compile(r"(?P<end>\bend of )?\bQ(?P<quarter>[1-4])[ /]?(?P<year>20\d\d)\b", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:in|within) (?P<count>\d{1,3}|an?|one|two|three|four|five|six) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"{_CUE}(?:(?P<end>end of )?(?:the )?(?P<which>next|this) (?P<unit>week|month|quarter|year)"
    r"|(?P<tomorrow>tomorrow)|(?:next )?(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day)\b",
    re.IGNORECASE,
)
_MILESTONE = re.compile(
    r"\b(?:when(?:ever)?|once|after|as soon as|until|before)\s+(?P<what>(?:[^.,;:!?\n]|(?<=\d)\.(?=\d)){4,120})",
    re.IGNORECASE,
)
_HAPPENS = re.compile(
    r"\b(?:upgrad|migrat|releas|ship|launch|switch|mov|drop|merg|deploy|rewrit|adopt|land|cut ?over|go(?:es)? live|bump"
    r"|deprecat|reach|renam|retir|replac|introduc|roll)\w*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\bv?\d+(?:\.\d+)*\b")
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


@dataclass(frozen=True, slots=True)
class Trigger:
    """What makes a memory due: a time (seconds since the epoch) or, without one, the event that ``words`` describe."""

    words: str
    due_at: float | None = None


def triggers_of(text: str, said_at: float) -> list[Trigger]:
    """Return at most ``MOST`` triggers: the dates after the day of ``said_at``, soonest first, then the milestones."""
    said_on = datetime.fromtimestamp(max(0.0, said_at), UTC).date()
    dated = {
        at: words
        for words, at in _dates(text, said_on)
        if said_on < at <= said_on + timedelta(days=366 * FARTHEST_YEARS)
    }
    found = [Trigger(words, utc_seconds(at)) for at, words in sorted(dated.items())]
    return (found + [Trigger(words) for words in dict.fromkeys(_milestones(text))])[:MOST]


def mentions_milestone(milestone: str, text: str) -> bool:
    """Whether a text reports that a milestone was reached: it has the milestone's names, versions and verb."""
    has = {stem(word) for word in terms(text, 200)} | _marks(text)
    marks = _marks(milestone)
    happens = {stem(found.casefold())[:5] for found in _HAPPENS.findall(milestone)}
    happened = {stem(found.casefold())[:5] for found in _HAPPENS.findall(text)}
    return bool(marks) and marks <= has | _marks(text.casefold()) and bool(happens & happened)


def utc_seconds(day: date) -> float:
    """Return when a day begins in UTC, in seconds since the epoch."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _marks(text: str) -> set[str]:
    """Return the versions and names that identify a milestone."""
    numbers = {found.removeprefix("v") for found in _NUMBERED.findall(text.casefold())}
    return numbers | {stem(name) for name in names(text) if not _NUMBERED.fullmatch(name)}


def _milestones(text: str) -> Iterator[str]:
    for found in _MILESTONE.finditer(text):
        happens = _HAPPENS.search(found["what"])
        if happens is None:
            continue
        before = found["what"][: happens.end()]
        # The milestone is named before its verb ("the 2.0 release") or right after it ("upgrade to Python 3.13").
        what = before if _marks(before) else before + " ".join(found["what"][happens.end() :].split(" ")[:BEHIND])
        if _marks(what):
            yield f"{found[0].split()[0].casefold()} {what}"


def _dates(text: str, said_on: date) -> Iterator[tuple[str, date]]:
    days = [found for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST) for found in pattern.finditer(text)]
    for found in days:
        yield from _valid_date(found[0], int(found["year"]), _month(found), int(found["day"]))
    for found in _WHOLE_MONTH.finditer(text):
        if not any(day.start() <= found.end() - 1 < day.end() for day in days):
            year, month = int(found["year"]), _month(found)
            yield from _valid_date(found[0], year, month, monthrange(year, month)[1] if found["end"] else 1)
    for found in _QUARTER.finditer(text):
        year, last = int(found["year"]), 3 * int(found["quarter"])
        yield from _valid_date(found[0], year, *((last, monthrange(year, last)[1]) if found["end"] else (last - 2, 1)))
    yield from _without_year(text, said_on)
    yield from _in_other_languages(text, said_on)
    yield from _relative(text, said_on)


def _month(found: re.Match[str]) -> int:
    groups = found.groupdict()
    return int(groups["number"]) if groups.get("number") else MONTHS[groups["month"][:3].casefold()]


def _valid_date(words: str, year: int, month: int, day: int) -> Iterator[tuple[str, date]]:
    if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
        yield " ".join(words.split()), date(year, month, day)


def _without_year(text: str, said_on: date) -> Iterator[tuple[str, date]]:
    """Yield the dates in a text that have a day and a month but no year: the next such date is meant."""
    for found in _NO_YEAR.finditer(text):
        day = found["first"] or found["second"]
        if day is not None:
            yield from _next_date(found[0], said_on, _month(found), int(day))


def _in_other_languages(text: str, said_on: date) -> Iterator[tuple[str, date]]:
    for found in (*_FOREIGN.finditer(text), *_DOTTED.finditer(text)):
        groups = found.groupdict()
        month = MONTH_NUMBERS.get(groups["name"].casefold(), 0) if "name" in groups else int(found["number"])
        if found["year"]:
            yield from _valid_date(found[0], int(found["year"]), month, int(found["day"]))
        elif found["cue"]:
            yield from _next_date(found[0], said_on, month, int(found["day"]))


def _next_date(words: str, said_on: date, month: int, day: int) -> Iterator[tuple[str, date]]:
    """Yield the first date after ``said_on`` with a month and a day; none if there is no such day."""
    dates = (one for year in range(LEAP_YEARS + 1) for one in _valid_date(words, said_on.year + year, month, day))
    yield from [(words, at) for words, at in dates if at > said_on][:1]


def _relative(text: str, said_on: date) -> Iterator[tuple[str, date]]:
    for found in _AHEAD.finditer(text):
        count = NUMBERS.get(found["count"].casefold()) or int(found["count"])
        yield (
            found[0].strip(),
            said_on + timedelta(days=count * {"day": 1, "week": 7, "month": 30, "year": 365}[found["unit"].casefold()]),
        )
    for found in _NEXT.finditer(text):
        if found["tomorrow"]:
            yield found[0], said_on + timedelta(days=1)
        elif found["weekday"]:
            ahead = (DAYS[found["weekday"].casefold()] - said_on.weekday()) % 7
            yield found[0], said_on + timedelta(days=ahead or 7)
        else:
            yield (
                found[0],
                _period(said_on, found["unit"].casefold(), found["which"].casefold() == "next", bool(found["end"])),
            )


def _period(said_on: date, unit: str, following: bool, end: bool) -> date:
    """Return the day that is meant by words such as "next week"; ``unit`` is "week", "month", "quarter" or "year".

    ``following``: the words name the next period, not this one. ``end``: they name the end of the period. The next
    period without ``end`` means its first day, anything else the last day of the period.
    """
    begins = _begin_after(said_on, unit)
    if following and end:
        begins = _begin_after(begins, unit)
    return begins - timedelta(days=1) if end or not following else begins


def _begin_after(day: date, unit: str) -> date:
    """Return the first day of the period after the period that contains ``day``."""
    if unit == "week":
        return day + timedelta(days=7 - day.weekday())
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    index = (day.year * 12 + day.month - 1) // months * months + months
    return date(index // 12, index % 12 + 1, 1)
