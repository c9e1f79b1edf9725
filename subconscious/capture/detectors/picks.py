"""Resolves replies that only pick an option by number, letter or position: "2 pls", "the second", "b but only in prod".

Such a reply is judged and stored as if the user had typed the option's text. That needs a list of options together with a
question that asks for one of them: a number may also be an amount, or an item of any other list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.capture.detectors.references import Choice, is_telling, options_in, sentences_in
from subconscious.capture.passages import plain
from subconscious.text import wording

LONGEST_OPTION = 220
"""The maximum number of characters of an option, and of the question about the options, that are stored."""

_ORDINALS = (
    r"first|1st|erste[nrs]?|premi(?:er|ère)|primer[oa]?|primeir[oa]",
    r"second|2nd|zweite[nrs]?|deuxième|second[eo]|segund[oa]",
    r"third|3rd|dritte[nrs]?|troisième|tercer[oa]?|terceir[oa]",
    r"fourth|4th|vierte[nrs]?|quatrième|cuart[oa]|quart[oa]",
    r"last|latter|letzte[nrs]?|derni(?:er|ère)|últim[oa]|ultim[oa]",
    r"former",
)
_PLACES = (0, 1, 2, 3, -1, 0)
_NOUNS = (
    r"(?:options?|variante?|approach|choice|alternative|number|no\.|nr\.?|nummer|numéro|número|opci[oó]n|opç[aã]o|one)"
)
_PICK = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|yeah|yep|hmm*|well|definitely|i(?:['\u2019]?d| would)? (?:say|prefer|pick|choose|take|go with|go for)"
    r"|let['\u2019]?s (?:do|use|take|go with|go for)|go(?:ing)? (?:with|for)|take|use|pick|choose|prefer|please|pls"
    r"|ja|lieber|bitte|nimm|ich nehme|oui|plutôt|prends|je prends|on prend|s[ií]|prefiero|vamos con|sim|prefiro|vamos com"
    r")\b[\s,.:!]*){0,2}"
    r"(?:(?:the|die|das|den|der|la|le|l['\u2019]|el|a|o|your|to)\s*)?"
    rf"(?:{_NOUNS} ?)?[#(]?"
    rf"(?:(?P<name>[a-e]|\d)\)?|(?P<ordinal>{'|'.join(_ORDINALS)}))(?!\w)(?: {_NOUNS}(?!\w))?",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    rf"\W*(?:ok(?:ay)?\W+)?(?:(?:not?|nope|nein|nicht|kein|non|pas|n[a\u00e3]o)\b[\s#(]*(?:{_NOUNS} ?)?(?:[a-e]|\d)\b"
    r"|(?:[a-e]|\d) no\b)\W*(?:(?:please|pls|bitte|stp|svp|por favor)\W*)?\Z",
    re.IGNORECASE,
)
"""A reply that only rules an option out, or may: "no 2"."""

_ENDS = re.compile(
    r"[\s.!)]*(?:(?:please|pls|plz|thx|thanks|then|bitte|stp|svp|por favor|it is|for sure)\b[\s.!]*){0,2}\Z",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*[,;:\u2013\u2014-]\s*(?!\d|[a-e]\b|(?:no|nope|nein|non|n\u00e3o|wait|sorry|actually)\b)(?=\w)"
    r"|\s+(?=(?:but|because|cause|cuz|since|as|with|w|without|w/|only|just|for now|everywhere|and (?!\d|[a-e]\b|the )"
    r"|aber|weil|denn|mit|ohne|nur|und (?!\d|[a-e]\b|die |das )|mais|car|avec|sans|et (?!\d|[a-e]\b|l[ea] )"
    r"|pero|porque|con|sin|y (?!\d|[a-e]\b|l[ao] |el )|mas|com|sem|e (?!\d|[a-e]\b|[ao] ))\b)",
    re.IGNORECASE,
)
"""What follows a picked option if the reply goes on about it. Another word may be a noun: "2 retries"."""

_ASKS_TO_CHOOSE = re.compile(
    r"\b(?:which|what|where|how|who|or|prefer\w*|preference|pick|choose|choice|options?|thoughts|welche\w*|was|wie|wo|oder"
    r"|lieber|quel\w*|o[uù]|préfér\w*|cu[aá]l\w*|qu[eé]|prefier\w*|qual|quais|prefere\w*)\b[^?\uff1f]{0,200}[?\uff1f]"
    r"|\b(?:options|choices|alternatives|variants|optionen|möglichkeiten|varianten|opciones|opções)\W*\Z"
    r"|\b(?:pick|choose|tell me which|let me know which)\b",
    re.IGNORECASE,
)
_OF_THE_WORK = re.compile(
    r"\b(?:next|first|start\w*|begin|proceed|continue|go on|now|today|instead of waiting|als nächstes|zuerst|anfangen|weiter"
    r"|ensuite|d['\u2019]abord|commencer|continuer|ahora|primero|empezar|seguir|agora|primeiro|começar|continuar)\b",
    re.IGNORECASE,
)
"""Words of a question about the order of the work, whose answer is over with the work."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A reply with the option's text in place of its number, and the question about the options."""

    text: str
    question: str


def pick_in(text: str, before: str) -> Pick | None:
    """Return what a reply picks of the options in the assistant's message ``before``; None if it picks none."""
    found = _PICK.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    if not (ends := _ENDS.match(rest)) and not _GOES_ON.match(rest):
        return None
    options = options_in(before)
    option = _named(found, options)
    question = _question(options, before) if option else ""
    if option is None or not question:
        return None
    return Pick(wording.squeeze(wording.shorten(option.text, LONGEST_OPTION) + ("" if ends else rest)), question)


def rejects(text: str) -> bool:
    """Whether a reply only rules an option out, or may: nothing says what holds instead."""
    return bool(_REJECTS.match(text))


def _named(found: re.Match[str], options: list[Choice]) -> Choice | None:
    """Return the option that a reply names, if the options are numbered or lettered in order."""
    names = [one.name for one in options]
    if len(names) < 2 or names not in (list("123456789"[: len(names)]), list("abcde"[: len(names)])):
        return None
    if found["name"]:
        return next((one for one in options if one.name == found["name"].casefold()), None)
    place = next(
        at for at, one in zip(_PLACES, _ORDINALS, strict=True) if re.fullmatch(one, found["ordinal"], re.IGNORECASE)
    )
    return options[place] if place < len(options) else None


def _question(options: list[Choice], before: str) -> str:
    """Return the question that asks for one of the options, with what it is about; "" if nothing asks for a choice."""
    if any(before[one.end :].lstrip("*_ )")[:1] in ("?", "\uff1f") for one in options[:-1]):
        return ""  # the items are questions themselves
    lead = "".join(sentences_in(before[: options[0].start])[-1:]).strip("*( ")
    behind = sentences_in(before[options[-1].end :].lstrip("."))
    asked = next((one for one in (lead, *behind) if _ASKS_TO_CHOOSE.search(one)), "")
    if not asked and behind[:1] == ["?"]:  # "should I use 1) Redis or 2) NATS?"
        asked = lead
    if not asked or _OF_THE_WORK.search(asked):
        return ""
    rest = plain(" ".join(behind[:1])) if behind and behind[0][:1].islower() else ""
    about = [one.rstrip(":") for one in (lead, rest) if one and is_telling(one)]
    question = [asked.rstrip(":")] if asked.endswith(("?", "\uff1f")) or not about else []
    return wording.shorten(": ".join(dict.fromkeys([*about, *question])), LONGEST_OPTION)
