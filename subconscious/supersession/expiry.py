"""Finds the time limit in a statement's own words: "until Friday", "for the next three days". Does no I/O.

Only words that limit the statement itself count (``temporary.py``). The date of an event is no time limit, and a
recurring period ("every week until Friday") is none either.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from subconscious.supersession.temporary import Sort, limits
from subconscious.text.due_dates import MONTHS, triggers_of, utc_seconds

LETTERS = 600
"""The most characters of a statement that are read."""

MOST_EXPRESSIONS = 8
"""The most matches of one time pattern that are examined in a text."""

SPRINT_DAYS = 14
"""The longest duration of "this sprint", in days; most teams plan two weeks."""


def ends_at(text: str, said_at: float) -> float | None:
    """Return the end of the last day on which a statement is valid, in epoch seconds; None if it names no time limit."""
    text = _written_out(text[:LETTERS])
    if _RETAINS.search(text) or not _MAY_END.search(text):
        return None
    said = datetime.fromtimestamp(max(0.0, said_at), UTC).date()
    last = _last_day(text, said, said_at)
    return None if last is None else utc_seconds(last + timedelta(days=1))


def _written_out(text: str) -> str:
    """Return a text with "until" for "til" and "thru", and without abbreviations such as "eow" (end of the week)."""
    text = _SHORT_DAY.sub(
        lambda found: f"{found['until']} {_DAY_NAMES[found['day'].casefold()[:3]]}", _TIL.sub("until", text)
    )
    return _ABBREVIATED.sub(lambda found: f"{found['until']} {_MEANS[found['end'].casefold()]}", text)


def _last_day(text: str, said: date, said_at: float) -> date | None:
    dates = [one.due_at for one in triggers_of(text, said_at) if one.due_at and _is_an_end(one.words, text)]
    if dates:
        return datetime.fromtimestamp(max(dates), UTC).date()
    if days := _days_ahead(text):
        return said + timedelta(days=days)
    if (day := _limit(_DAY_OF_MONTH, text)) and (found := _next_day(said, int(day["day"] or day["dotted"]))):
        return found
    if weekday := _limit(_UNTIL_WEEKDAY, text):
        return said + timedelta(days=(_WEEKDAYS[weekday["weekday"].casefold()[:3]] - said.weekday()) % 7 or 7)
    if month := _limit(_UNTIL_MONTH, text):
        return _around_month(said, MONTHS[month["month"][:3].casefold()], end=bool(month["end"]))
    return _end_of_period(text, said)


def _limit(pattern: re.Pattern[str], text: str, sort: Sort = Sort.UNTIL) -> re.Match[str] | None:
    """Return the first match of a time pattern that limits what a text states; None if there is none."""
    found = islice(pattern.finditer(text), MOST_EXPRESSIONS)
    return next((one for one in found if limits(text, *one.span(), sort)), None)


def _days_ahead(text: str) -> int:
    """Return how many days a limit such as "for the next two weeks" lasts; 0 if there is none."""
    for pattern in _AHEAD:
        if found := _limit(pattern, text, Sort.AHEAD):
            count = _COUNTS.get(found["count"].casefold(), 0) or int(found["count"])
            return count * _UNIT_DAYS[found["unit"][:3].casefold()]
    return 0


def _next_day(said: date, day: int) -> date | None:
    """Return the next date with a given day of the month ("until the 14th"); None if no month has that day."""
    for months in (0, 1, 2):  # at least one of two successive months has 31 days
        index = said.year * 12 + said.month - 1 + months
        try:
            found = date(index // 12, index % 12 + 1, day)
        except ValueError:  # no such day in that month
            continue
        if found > said:
            return found
    return None


def _around_month(said: date, month: int, *, end: bool) -> date:
    """Return the last day before the next month with this number, or with ``end`` the last day of that month."""
    first = date(said.year + (month <= said.month and not (end and month == said.month)), month, 1)
    index = first.year * 12 + first.month - 1 + end
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


def _end_of_period(text: str, said: date) -> date | None:
    for pattern, days in _SPANS:
        if _limit(pattern, text, Sort.PERIOD):
            return said + timedelta(days=days)
    for pattern, unit, sort in _PERIODS:
        if _limit(pattern, text, sort) and not _LASTS.search(text):
            return _last_of(unit, said)
    if _LASTS.search(text):
        return None
    return next((_last_of(unit, said) for pattern, unit, sort in _DAYS if _limit(pattern, text, sort)), None)


def _last_of(unit: str, said: date) -> date:
    """Return the last day of the week, month or other period in which a statement was made."""
    if unit in _DAYS_LATER:
        return said + timedelta(days=_DAYS_LATER[unit])
    if unit in {"week", "next week"}:
        return said + timedelta(days=6 - said.weekday() + 7 * (unit == "next week"))
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    index = (said.year * 12 + said.month - 1) // months * months + months
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


def _is_an_end(words: str, text: str) -> bool:
    """Whether the date ``words`` limits the statement ``text``, as in "until Friday"; the date of an event does not."""
    until = "" if _UNTIL.match(words) else r"\b(?:until|till) (?:the )?"
    spaced = r"\s+".join(map(re.escape, words.split()))
    return _limit(_pattern(until + spaced), text) is not None


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_TIL = _pattern(r"(?<!\w)['\u2019]?til\b|\b(?:thru|through)(?= (?:the )?(?:end\b|\d|\w{3,6}day\b(?!['\u2019])))")
_SHORT_DAY = _pattern(r"\b(?P<until>until|till) (?P<day>mon|tues?|weds?|thurs?|thu|fri|sat|sun)\b(?!day)")
_DAY_NAMES = {day[:3]: day for day in "monday tuesday wednesday thursday friday saturday sunday".split()}
_ABBREVIATED = _pattern(r"\b(?P<until>until|till|before|for|rest of) (?:the )?(?P<end>eod|cob|eow|eom|eoq|eoy)\b")
_MEANS = {
    "eod": "tonight",
    "cob": "tonight",
    "eow": "the end of the week",
    "eom": "the end of the month",
    "eoq": "the end of the quarter",
    "eoy": "the end of the year",
}
_UNTIL = _pattern(r"(?:until|till|ends?|expires?|bis|hasta|at[eé]|fino al|tot|t/m|indtil|inntil)\b|jusqu['\u2019]au\b")
_UP_TO = r"\b(?:until|till|bis(?: zum)?|jusqu'(?:au|à)|hasta el|hasta|até(?: o| a)?)"
_THIS = r"(?:this|the current|diese[nrsm]?|cette|ce|est[ea]|ess[ea]|n?est[ea]|neste|nesta)"
_MAY_END = _pattern(
    r"\b(?:until|till|ends?|expires?|today|tonight|tomorrow|rest of|end of|for the|the weekend|next|from (?:today|now)|"
    r"(?:starting|beginning) \w+|bis|heute|morgen|nächsten|ende|jusqu|aujourd|demain|prochain\w*|fin|hasta|hoy|mañana|"
    r"próxim\w*|siguientes|até|hoje|amanhã|fim|fino al|tot|t/m|indtil|inntil)\b|jusqu'|"
    rf"\b{_THIS} (?:week\w*|sprint|month|quarter|year|woche|monat|quartal|semaine|mois|trimestre|semana|mes|mês)\b"
)
_COUNTS = {
    word: count
    for count, words in enumerate(
        (
            "a an one ein eine einen un une una um uma",
            "two zwei deux dos dois duas",
            "three drei trois tres três",
            "four vier quatre cuatro quatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete sete",
            "eight acht huit ocho oito",
            "nine neun neuf nueve nove",
            "ten zehn dix diez dez",
        ),
        start=1,
    )
    for word in words.split()
}
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT_DAYS = {
    beginning: days
    for days, beginnings in (
        (1, "day tag jou día dia"),
        (7, "wee wks woc sem"),
        (SPRINT_DAYS, "spr"),
        (30, "mon moi mes mês"),
    )
    for beginning in beginnings.split()
}
_UNIT = (
    r"(?P<unit>days?|weeks?|wks|sprints?|months?|tage?n?|wochen?|monate?n?|jours?|semaines?|mois|días?|dias?|semanas?|"
    r"mes(?:es)?|mês)\b"
)
_AHEAD = (
    _pattern(rf"(?:\bfor )?(?:\bthe )?\bnext {_COUNT} {_UNIT}"),
    _pattern(
        rf"\bfor {_COUNT} {_UNIT} (?:(?:starting|beginning|as of|counting)(?: from)?|from) (?:today|now|tomorrow)\b"
    ),
    _pattern(rf"\b(?:den|die|der) nächsten {_COUNT} {_UNIT}"),
    _pattern(rf"\bles {_COUNT} prochaine?s {_UNIT}"),
    _pattern(rf"\b(?:l[ao]s|n?[ao]s) (?:próxim[ao]s|siguientes) {_COUNT} {_UNIT}"),
)
_RETAINS = _pattern(r"\b(?:retain\w*|retention|aufbewahr\w*|aufzubewahren|conserver|conservar|guardar)\b")
"""Words of a rule that keeps something until a date: the rule itself goes on."""

_DAY_OF_MONTH = _pattern(
    rf"{_UP_TO}(?: the)? (?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b|(?<=bis zum )(?P<dotted>\d{{1,2}})\.(?!\d))"
)
_UNTIL_MONTH = _pattern(
    r"\b(?:until|till) (?:the )?(?:(?P<end>end of )|(?:start|beginning) of )?(?P<month>january|february|march|april|may"
    r"|june|july|august|september|october|november|december)\b(?! \d)"
)
_WEEKDAYS = {
    word: place % 7
    for words in (
        "mon die mit don fre sam son",
        "lun mar mer jeu ven sam dim",
        "lun mar mié jue vie sáb dom",
        "seg ter qua qui sex sáb dom",
    )
    for place, word in enumerate(words.split())
}
_UNTIL_WEEKDAY = _pattern(
    rf"{_UP_TO} (?P<weekday>montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|"
    r"vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|segunda|terça|quarta|quinta|sexta)\b"
)
_SPANS = (
    (_pattern(r"\b(?:for|only|just) today\b(?!['\u2019])|\btoday only\b|\b(?:for|rest of) (?:the|this) day\b"), 0),
    (_pattern(r"\b(?:until|till) (?:the )?end of (?:the )?day\b"), 0),
    (_pattern(r"\b(?:nur heute|heute nur|für heute|seulement aujourd'hui|solo hoy|por hoy|só hoje|por hoje)\b"), 0),
    (_pattern(r"\b(?:until|till) (?:tonight|this evening|noon|midnight)\b"), 0),
    (_pattern(r"\b(?:until|till) tomorrow\b|\bbis morgen\b|\bjusqu'à demain\b|\bhasta mañana\b|\baté amanhã\b"), 1),
)
_REST = r"\b(?:rest of (?:the |this )?|rest (?:der|des|dieser|dieses) )"
_END = (
    r"\b(?:(?:until|till) (?:the )?end of (?:the |this )?|bis (?:zum )?ende (?:der|des|dieser|dieses) "
    r"|jusqu'à la fin d(?:e la|u) |hasta (?:el )?fin(?:al)? del? (?:la )?|até (?:o )?(?:fim|final) d[ao] )"
)
_WEEK = r"week(?:end)?|woche|semaine|semana"
_PERIODS = (
    (_pattern(rf"\b{_THIS} (?:{_WEEK}|fin de semana)\b(?!['\u2019])(?: only\b)?|(?<=for )the week\b|{_REST}(?:{_WEEK})\b"), "week",
     Sort.PERIOD),
    (_pattern(rf"{_END}(?:{_WEEK})\b"), "week", Sort.BOUND),
    (_pattern(r"\b(?:over|for|during) the weekend\b"), "week", Sort.WEEKEND),
    (_pattern(rf"\b{_THIS} sprint\b|{_REST}sprint\b"), "sprint", Sort.PERIOD),
    (_pattern(rf"\b{_THIS} (?:month|monat|mois|mes|mês)\b|{_REST}(?:month|monats)\b"), "month", Sort.PERIOD),
    (_pattern(rf"{_END}(?:month|monats|mois|mes|mês)\b"), "month", Sort.BOUND),
    (_pattern(rf"\b{_THIS} (?:quarter|quartal|trimestre)\b|{_REST}(?:quarter|quartals)\b"), "quarter", Sort.PERIOD),
    (_pattern(rf"{_END}(?:quarter|quartals|trimestre)\b"), "quarter", Sort.BOUND),
    (_pattern(rf"{_REST}(?:year|jahres)\b"), "year", Sort.PERIOD),
    (_pattern(rf"{_END}(?:year|jahres|año|ano)\b"), "year", Sort.BOUND),
)  # fmt: skip
_DAYS = (
    (_pattern(r"\b(?:today|tonight|heute|aujourd['\u2019]hui|hoy|hoje)(?!['\u2019\w])"), "today", Sort.DAY),
    (_pattern(r"\b(?:tomorrow|demain|amanhã)(?!['\u2019\w])"), "tomorrow", Sort.LATER),
    (_pattern(r"\b(?:next week|nächste woche|la semaine prochaine|la próxima semana|próxima semana)(?!['\u2019\w])"), "next week",
     Sort.LATER),
)  # fmt: skip
_DAYS_LATER = {"today": 0, "tomorrow": 1, "sprint": SPRINT_DAYS}
_LASTS = _pattern(
    r"\b(?:any ?more|no longer|nowadays|n?ever|from (?:now|today|tomorrow|next|this)|mehr|nie|plus|jamais|más|nunca|mais)\b"
)
"""Words that show that a restriction has no end: "from next week on no deploys"."""
