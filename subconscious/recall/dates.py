"""Finds the time in a query: "last week", "yesterday", "in March", "since 2026-01-02", "two months ago".

A small grammar of English time expressions. Dates are relative to the time that the caller passes, in its time zone.
No I/O.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

LONGEST = 2000
"""The most characters of a query that are searched: a pasted page is unlikely to name a time on purpose."""
LONG_AGO = 100
"""The most years by which a count of months, quarters or years, as in "30 years ago", can look back."""

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_FEW = {"a": 1, "an": 1, "couple": 2, "few": 4, "several": 5}
_SHORT = {"d": "day", "w": "week", "m": "month", "y": "year"}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

_NUMBER = rf"(?:\d{{1,3}}|(?:a )?(?:couple|few)(?: of)?|several|an?|{'|'.join(_SMALL[1:])})"
_UNIT = r"(?:day|week|month|quarter|year)"
_MONTH = rf"(?:{'|'.join(f'{month}|{month[:3]}' for month in _MONTHS)}|sept)\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_ISO = rf"{_YEAR}-\d{{2}}(?:-\d{{2}})?"
_PERIOD = (
    rf"(?:{_ISO}|(?:{_DAY} (?:of )?)?{_MONTH}(?: {_DAY}(?!\d))?(?:,? {_YEAR})?|{_YEAR}|today|yesterday"
    rf"|(?:the )?day before yesterday|this (?:morning|afternoon|evening)|tonight|last night"
    rf"|(?:this|last|previous|past) (?:{_UNIT}|weekend|{'|'.join(_DAYS)}|{_MONTH}|{'|'.join(_SEASONS)})"
    rf"|q[1-4](?: {_YEAR})?"
    rf"|(?:{'|'.join(_DAYS)})|{_NUMBER} {_UNIT}s? ago)"
)
_LEAD = r"(?:since|after|from|before|until|till|by|in|on|during|within|as of|up to)"
_SPOKEN = re.compile(
    rf"(?<![\w.\-/])(?:between (?P<from>{_PERIOD}) and (?P<to>{_PERIOD})"
    rf"|from (?P<first>{_PERIOD}) (?:to|until|till) (?P<last>{_PERIOD})"
    rf"|(?:(?:in|over|during|within) )?the (?:last|past|previous) (?P<count>{_NUMBER}) (?P<units>{_UNIT})s?"
    rf"|(?:last|past|previous) (?P<count2>{_NUMBER}) (?P<units2>{_UNIT})s?"
    rf"|(?:(?P<lead>{_LEAD}) )?(?:the )?(?P<period>{_PERIOD}))(?![\w\-/]|\.\w)",
    re.IGNORECASE,
)
_BARE = frozenset({"may", "march", "mar", "sat", "sun", "dec", "jan", "fall", "second"})
"""Words that mean a time only together with a preposition or a number."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time in seconds since the epoch; None means an open end, and ``until`` is excluded."""

    since: float | None = None
    until: float | None = None

    def holds(self, at: float) -> bool:
        """Whether a time, in seconds since the epoch, lies within the span."""
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A date or period in a text, and its position there: from ``start`` to ``end`` (excluded)."""

    span: Span
    start: int
    end: int


_Days = tuple[date, date]
"""The first day of a period, and the day after its last day."""


def spoken(text: str, now: datetime) -> Spoken | None:
    """Return the first date or period in a text, such as "yesterday" or "since March"; None if there is none.

    ``now`` must have a time zone.
    """
    for found in _SPOKEN.finditer(text[:LONGEST]):
        span = _span(found, now)
        if span is not None:
            return Spoken(span, found.start(), found.end())
    return None


def moment(text: str, now: datetime, *, end: bool = False) -> float | None:
    """Return the start (with ``end``, the end) of a `--since` or `--until` value in epoch seconds; None if invalid."""
    said = " ".join(text.split())
    if (exact := _exact(said, now.tzinfo)) is not None:
        return exact
    short = re.fullmatch(r"(\d{1,3})([dwmy])", said)
    if short:
        said = f"{short[1]} {_SHORT[short[2]]} ago"
    if not re.fullmatch(rf"(?:the )?{_PERIOD}", said, re.IGNORECASE):
        return None
    days = _period(said.lower().removeprefix("the "), now)
    return None if days is None else _at(days[1 if end else 0], now)


def _exact(said: str, zone: tzinfo | None) -> float | None:
    """Return the seconds since the epoch of a date with a time of day; None for other texts."""
    if not re.match(rf"{_YEAR}-\d\d-\d\d[T ]\d", said):
        return None
    try:
        found = datetime.fromisoformat(said)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _span(found: re.Match[str], now: datetime) -> Span | None:
    first, last = found["from"] or found["first"], found["to"] or found["last"]
    if first and last:
        return _between(_period(first.lower(), now), _period(last.lower(), now), now)
    if count := found["count"] or found["count2"]:
        unit = found["units"] or found["units2"]
        start = _back(now.date(), _number(count), unit.lower())
        return None if start is None else Span(_at(start, now), _at(now.date() + timedelta(1), now))
    return _led((found["lead"] or "").lower(), found["period"].lower(), now)


def _between(first: _Days | None, last: _Days | None, now: datetime) -> Span | None:
    if first is None or last is None:
        return None
    start, end = min(first[0], last[0]), max(first[1], last[1])
    return Span(_at(start, now), _at(end, now))


def _led(lead: str, period: str, now: datetime) -> Span | None:
    if not lead and (period.rstrip(".") in _BARE or re.fullmatch(_YEAR, period)):
        return None
    days = _period(period, now)
    if days is None:
        return None
    if lead in ("since", "from", "as of"):
        return Span(since=_at(days[0], now))
    if lead == "after":
        return Span(since=_at(days[1], now))
    if lead == "before":
        return Span(until=_at(days[0], now))
    if lead in ("until", "till", "by", "up to"):
        return Span(until=_at(days[1], now))
    return Span(_at(days[0], now), _at(days[1], now))


def _at(day: date, now: datetime) -> float:
    return datetime.combine(day, time(), now.tzinfo).timestamp()


def _number(text: str) -> int:
    words = [word for word in text.lower().split() if word != "of"]
    word = words[-1]
    if word.isdigit():
        return int(word)
    return _FEW.get(word) or _SMALL.index(word)


def _back(day: date, count: int, unit: str) -> date | None:
    """Return the day that is ``count`` units before ``day``; None if there is no such day."""
    if unit in ("day", "week"):
        return _day(lambda: day - timedelta(count * (7 if unit == "week" else 1)))
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    if year < day.year - LONG_AGO:
        return None
    return _day(lambda: date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])))


def _day(make: Callable[[], date]) -> date | None:
    try:
        return make()
    except (ValueError, OverflowError):
        return None


def _period(said: str, now: datetime) -> _Days | None:
    """Return the days of a period; ``said`` matches _PERIOD, in lower case."""
    said = " ".join(said.split()).removeprefix("the ")
    today = now.date()
    for read in (_named_day, _ago, _relative, _iso, _quarter, _month, _year):
        days = read(said, today)
        if days is not None:
            return days
    return None


def _named_day(said: str, today: date) -> _Days | None:
    back = {"today": 0, "tonight": 0, "yesterday": 1, "last night": 1, "day before yesterday": 2}
    if re.fullmatch(r"this (?:morning|afternoon|evening)", said):
        back[said] = 0
    name = said.rsplit(" ", 1)[-1]
    if name in _DAYS and said in (name, f"last {name}", f"past {name}", f"previous {name}"):
        back[said] = (today.weekday() - _DAYS.index(name)) % 7 or 7
    if said == f"this {name}" and name in _DAYS:
        back[said] = (today.weekday() - _DAYS.index(name)) % 7
    return _one_day(today - timedelta(back[said])) if said in back else None


def _one_day(day: date) -> _Days:
    return day, day + timedelta(1)


def _ago(said: str, today: date) -> _Days | None:
    found = re.fullmatch(rf"({_NUMBER}) ({_UNIT})s? ago", said)
    if found is None:
        return None
    start = _back(today, _number(found[1]), found[2])
    # "two months ago" names no exact day: half a unit of tolerance before and after.
    tolerance = {"day": 0, "week": 3, "month": 15, "quarter": 45, "year": 182}[found[2]]
    return None if start is None else (start - timedelta(tolerance), start + timedelta(tolerance + 1))


def _relative(said: str, today: date) -> _Days | None:
    found = re.fullmatch(r"(this|last|previous|past) (\w+)\.?", said)
    if found is None:
        return None
    back, name = (0 if found[1] == "this" else 1), found[2]
    if name == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)
    if name == "weekend":
        saturday = today - timedelta((today.weekday() - 5) % 7 + (7 * back if today.weekday() >= 5 else 0))
        return saturday, saturday + timedelta(2)
    if name == "day":
        return _one_day(today - timedelta(back))
    if name in ("month", "quarter", "year"):
        months = {"month": 1, "quarter": 3, "year": 12}[name]
        index = (today.year * 12 + today.month - 1) // months * months - back * months
        return _months(index, months)
    return _latest_season(name, today, back) or _latest_month(name, today, back)


def _latest_season(name: str, today: date, back: int) -> _Days | None:
    if name not in _SEASONS:
        return None
    index = today.year * 12 + _SEASONS[name] - 1
    begun = today.year * 12 + today.month - 1
    while index > begun or (back and index + 3 > begun):
        index -= 12
    return _months(index, 3)


def _latest_month(name: str, today: date, back: int) -> _Days | None:
    number = _month_number(name)
    if not number:
        return None
    year = today.year - (1 if number > today.month or (back and number == today.month) else 0)
    return _months(year * 12 + number - 1, 1)


def _months(index: int, count: int) -> _Days | None:
    """Return the days of ``count`` months; ``index`` is the first month, counted from year 0. None if out of range."""
    (year, month), (end_year, end) = divmod(index, 12), divmod(index + count, 12)
    if not 1 <= year <= end_year <= 9999:
        return None
    return date(year, month + 1, 1), date(end_year, end + 1, 1)


def _month_number(name: str) -> int:
    return next((n for n, month in enumerate(_MONTHS, 1) if name[:3] == month[:3]), 0)


def _iso(said: str, today: date) -> _Days | None:
    del today
    found = re.fullmatch(r"(\d{4})-(\d\d)(?:-(\d\d))?", said)
    if found is None:
        return None
    year, month = int(found[1]), int(found[2])
    if found[3] is None:
        return _months(year * 12 + month - 1, 1) if 1 <= month <= 12 else None
    day = _day(lambda: date(year, month, int(found[3])))
    return None if day is None else _one_day(day)


def _quarter(said: str, today: date) -> _Days | None:
    found = re.fullmatch(rf"q([1-4])(?: ({_YEAR}))?", said)
    if found is None:
        return None
    start = 3 * (int(found[1]) - 1)
    year = int(found[2]) if found[2] else today.year - (1 if start >= today.month else 0)
    return _months(year * 12 + start, 3)


def _month(said: str, today: date) -> _Days | None:
    """Return the days of a month, or one day; without a year, the latest such month or day that has begun."""
    found = re.fullmatch(rf"(?:({_DAY}) (?:of )?)?({_MONTH})(?: ({_DAY}))?(?:,? ({_YEAR}))?", said)
    if found is None:
        return None
    number, day_text = _month_number(found[2]), found[1] or found[3]
    day = int(re.sub(r"\D", "", day_text)) if day_text else 1
    year = int(found[4]) if found[4] else today.year - (1 if (number, day) > (today.month, today.day) else 0)
    if not day_text:
        return _months(year * 12 + number - 1, 1)
    exact = _day(lambda: date(year, number, day))
    return None if exact is None else _one_day(exact)


def _year(said: str, today: date) -> _Days | None:
    del today
    return _months(int(said) * 12, 12) if re.fullmatch(_YEAR, said) else None
