"""Finds the time limit in a statement's own words: "until Friday", "for the next three days". Does no I/O.

Only words that limit the statement itself count. The date of an event ends nothing, and neither does anything that
recurs ("every week until Friday").
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from subconscious.text.due_dates import NUMBERS, triggers_of, utc_seconds

LETTERS = 600
"""The most characters of a statement that are read."""

SPRINT_DAYS = 14
"""The longest duration of "this sprint", in days; most teams plan two weeks."""


def ends_at(text: str, said_at: float) -> float | None:
    """Return the end of the last day on which a statement is valid (seconds since the epoch); None if it has no limit."""
    text = text[:LETTERS]
    if _RECURS.search(text) or not _MAY_END.search(text):
        return None
    said = datetime.fromtimestamp(max(0.0, said_at), UTC).date()
    last = _last_day(text, said, said_at)
    return None if last is None else utc_seconds(last + timedelta(days=1))


def _last_day(text: str, said: date, said_at: float) -> date | None:
    dates = [one.due_at for one in triggers_of(text, said_at) if one.due_at and _is_an_end(one.words, text)]
    if dates:
        return datetime.fromtimestamp(max(dates), UTC).date()
    if ahead := _AHEAD.search(text):
        count = NUMBERS.get(ahead["count"].casefold(), 0) or int(ahead["count"])
        return said + timedelta(days=count * (7 if ahead["unit"].casefold() == "week" else 1))
    if (day := _DAY_OF_MONTH.search(text)) and (found := _next_day(said, int(day["day"] or day["dotted"]))):
        return found
    if weekday := _UNTIL_WEEKDAY.search(text):
        return said + timedelta(days=(_WEEKDAYS[weekday["weekday"].casefold()[:3]] - said.weekday()) % 7 or 7)
    return _end_of_period(text, said)


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


def _end_of_period(text: str, said: date) -> date | None:
    for pattern, days in _SPANS:
        if pattern.search(text):
            return said + timedelta(days=days)
    for pattern, unit in _PERIODS:
        found = pattern.search(text)
        if found and (found["limits"] or (_RESTRICTS.search(text) and not _TELLS_OF_THE_PAST.search(text))):
            return _last_of(unit, said)
    return None


def _last_of(unit: str, said: date) -> date:
    """Return the last day of the week, month or other period in which a statement was made."""
    if unit == "week":
        return said + timedelta(days=6 - said.weekday())
    if unit == "sprint":
        return said + timedelta(days=SPRINT_DAYS)
    months = {"month": 1, "quarter": 3}[unit]
    index = (said.year * 12 + said.month - 1) // months * months + months
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


def _is_an_end(words: str, text: str) -> bool:
    """Whether the date ``words`` limits the statement ``text``, as in "until Friday"; the date of an event does not."""
    return bool(_UNTIL.match(words) or re.search(rf"\b(?:until|till) (?:the )?{re.escape(words)}", text, re.IGNORECASE))


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_UNTIL = _pattern(r"(?:until|till|ends?|expires?)\b")
_UP_TO = r"\b(?:until|till|bis(?: zum)?|jusqu'(?:au|à)|hasta el|hasta|até(?: o| a)?)"
_THIS = r"(?:this|the current|diese[nrsm]?|cette|ce|est[ea]|ess[ea]|n?est[ea]|neste|nesta)"
_MAY_END = _pattern(
    r"\b(?:until|till|ends?|expires?|today|tonight|tomorrow|rest of the|for the (?:day|week|next|moment)|bis|heute|"
    r"jusqu|aujourd|hasta|hoy|até|hoje)\b|jusqu'|"
    rf"\b{_THIS} (?:week\w*|sprint|month|quarter|woche|monat|quartal|semaine|mois|trimestre|semana|mes|mês)\b"
)
_AHEAD = _pattern(
    r"\bfor the next (?P<count>\d{1,2}|an?|one|two|three|four|five|six) (?P<unit>day|week)s?\b",
)
_RECURS = _pattern(
    r"\b(?:always|every|each|from \w+ (?:until|till)|between|wait(?:s|ing)? (?:until|till)|von \w+ bis|de \w+ à|"
    r"immer|jede\w*|toujours|chaque|siempre|cada|sempre)\b"
)
_DAY_OF_MONTH = _pattern(
    rf"{_UP_TO}(?: the)? (?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b|(?<=bis zum )(?P<dotted>\d{{1,2}})\.(?!\d))"
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
    (_pattern(r"\b(?:for|only|just|rest of the|the) (?:today|day)\b|\btoday only\b"), 0),
    (_pattern(r"\b(?:nur heute|heute nur|für heute|seulement aujourd'hui|solo hoy|por hoy|só hoje|por hoje)\b"), 0),
    (_pattern(r"\b(?:until|till) (?:tonight|this evening|noon|midnight)\b"), 0),
    (_pattern(r"\b(?:until|till) tomorrow\b|\bbis morgen\b|\bjusqu'à demain\b|\bhasta mañana\b|\baté amanhã\b"), 1),
)
_LIMITS = r"(?P<limits>\b(?:for|during|only|just|rest of|until the end of|nur|für|pendant|solo|durante|só)\s+)?"
_PERIODS = (
    (_pattern(rf"{_LIMITS}\b(?:{_THIS} (?:week(?:end)?|woche|semaine|semana)|(?<=for )the week)\b|"
              r"(?:rest|end) of the week\b|\bthis week only\b"), "week"),
    (_pattern(rf"{_LIMITS}\b{_THIS} sprint\b"), "sprint"),
    (_pattern(rf"{_LIMITS}\b{_THIS} (?:month|monat|mois|mes|mês)\b"), "month"),
    (_pattern(rf"{_LIMITS}\b{_THIS} (?:quarter|quartal|trimestre)\b"), "quarter"),
)  # fmt: skip
_RESTRICTS = _pattern(
    r"\b(?:no|not|don't|never|only|nothing|nobody|freeze|frozen|skip|hold|avoid|instead|use|keep|ask|kein\w*|nicht|nur|"
    r"nichts|pas|rien|seulement|nada|solo|sin|no|não|só|nenhum\w*|rest|end)\b"
)
"""Words of rules: "this week" limits a rule. In other statements, it says when something happens."""

_TELLS_OF_THE_PAST = _pattern(
    r"\b(?:decided|moved|switched|migrated|shipped|released|learned|found|fixed|merged|changed|was|were|did|had|entschieden|"
    r"haben|décidé|decidimos|mudamos)\b"
)
