"""Resolves replies that pick an option by its number, letter or position: "2 pls", "the second", "b but only in prod".

Such a reply is judged and stored as if the user had typed the option's text. The message before it must contain a list
of options and a question that asks for one of them: otherwise, a number may be an amount, or an item of another list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.capture.detectors.references import Choice, is_telling, options_in, sentences_in
from subconscious.capture.passages import plain
from subconscious.text import wording

LONGEST_OPTION = 220
"""The maximum number of characters that are stored of an option, and of the question about the options."""

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
"""A reply that only rejects an option, or may do so: "no 2" can also mean "number 2"."""

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
"""What follows a picked option if the reply goes on about it. Another word may be a counted noun: "2 retries"."""

_CHOOSES = (
    r"(?:us(?:e|ing)|go(?:ing)? with|take(?! (?:up|on|care|a\b))|choose|pick(?! up)|prefer\w*|preference|favou?r|adopt"
    r"|(?:do|would|should|shall) (?:you|we) (?:want|like|have)(?! (?:me|us)\b)"
    r"|(?:be)?nutz(?:en?|t)|verwende[nt]?|einsetzen|nehmen|w\u00e4hlen|bevorzug\w*|lieber|willst|wollt|wollen|m\u00f6chte\w*"
    r"|utilis\w+|prendre|prends|prenons|pr\u00e9f\u00e8r\w+|pr\u00e9f\u00e9r\w+|veux|voulez|voulons|choisi\w*|opt(?:er|ons)"
    r"|us(?:o|ar|amos|emos)|utiliz\w+|prefier\w+|preferimos|prefer[\u00eds]\w*|quieres?|queremos|elegi\w+|eleg\w+|elij\w+|escog\w+"
    r"|quer|adot\w+|escolh\w+)"
)
"""Verbs for choosing what to use, in a few languages."""

_ASKS_FOR_CHOICE = re.compile(
    rf"\b{_CHOOSES}\b"
    r"|\b(?:where|how)\b(?! (?:come|many|much|about|did|was|were|had)\b)|\b(?:wo|wohin|wie|o\u00f9|comment|d\u00f3nde|c\u00f3mo|onde|como)\b"
    r"|\b(?:which|what|welche\w*|quel\w*|qu\u00e9|qual|quais)(?! (?:ones?|of)\b)(?: [\w/-]+){1,3}? (?:for|f\u00fcr|pour|para)\b"
    r"|\bwhat should (?:the|our|an?)\b.{1,80}\bbe\b",
    re.IGNORECASE,
)
"""Questions about what to use, or about where or how something is done in the project."""

_ASKS_WHICH = re.compile(
    r"\W*(?:(?:so|which|which (?:one|option)|(?:any )?thoughts|your (?:pick|choice|call)|tell me which|let me know which"
    r"|(?:the )?(?:options|choices|alternatives|variants|optionen|m\u00f6glichkeiten|varianten|opciones|op\u00e7\u00f5es)"
    r"|welche[rns]?|lequel|laquelle|cu\u00e1l|qual)\W*)+\Z",
    re.IGNORECASE,
)
"""A question that names no subject, such as "which one?": the words around the options must name it."""

_COMMANDS = re.compile(r"\W*(?:(?:please|just) )?(?:pick|choose|tell me|let me know)\b", re.IGNORECASE)

_WAYS = re.compile(
    r"\b(?:ways?|options|approaches|alternatives|choices|candidates|stores?|m\u00f6glichkeiten|wege|varianten|optionen|fa\u00e7ons"
    r"|solutions|opciones|formas|maneras|op\u00e7\u00f5es|maneiras)"
    r" (?:to|for|of|f\u00fcr|zu[rm]?|pour|de|d['\u2019]|para)(?= ?\w)",
    re.IGNORECASE,
)

_OF_THE_WORK = re.compile(
    r"\b(?:next|first|start\w*|begin|proceed|continue|go on|now|today|instead of waiting|als n\u00e4chstes|zuerst|anfangen|weiter"
    r"|ensuite|d['\u2019]abord|commencer|continuer|ahora|primero|empezar|seguir|agora|primeiro|come\u00e7ar|continuar)\b",
    re.IGNORECASE,
)
"""Words of a question about the order of the work. Its answer no longer matters after the work."""

_OF_THE_MOMENT = re.compile(
    r"\b(?:bugs?|fix(?:es|ed)?|tackle|investigate|look(?: (?:at|into))?|debug|review|discuss|break(?:s|ing)?|broken|fail(?:s|ing)?"
    r"|crash\w*|wrong|likely|cause[sd]?|culprit|reason|suspect|symptoms?|flaky|issues?|problems?|findings?|worr\w+|concern\w*"
    r"|you (?:mean|meant|see|seeing|run|running)|are you|merge conflicts?|conflicts|which branch"
    r"|phras\w+|word(?:s|ed|ing)?|say|titles?|headlines?|headings?|captions?|sentences?|summary|description|readme|report"
    r"|label\w*|lauten|hei\u00dfen|(?:der|the|le|el|o) text[eo]?"
    r"|(?:commit|error|release|pr) (?:messages?|names?|notes)|which message(?! (?:queue|broker|bus|format)\b)"
    r"|fehler (?!behandel|handhab|meld|log)\w+|welche\w* fehler|beheben|untersuchen|anschauen|formulier\w+|ursache|kaputt|meinst|titel"
    r"|bogues?|corrig\w+|r\u00e9parer|formul\w+|titre|panne|arregl\w+|redact\w+|t\u00edtulo|falla|consert\w+|redig\w+|causa)\b"
    r"|\b(?:how|where|wie|comment|c\u00f3mo|como)\b[^?]{0,200}\b(?:this|that|it|das|damit|\u00e7a|cela|esto|eso|isso|isto)\W*\Z"
    r"|\bi (?:can|could)(?: also)?(?: do\b[^?]{0,200})?\W*\Z"
    r"|\b(?:want|like|should|shall)(?: me| us| we| i)?(?: to)? do\W*\Z|\b(?:machen|tun|faire|hacer|hago|fazer)\W*\Z",
    re.IGNORECASE,
)
"""Words of a question about a bug, a cause or a wording, or about something that only this conversation names."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A reply in which the option's text replaces its number or letter, and the question about the options."""

    text: str
    question: str


def pick_in(text: str, before: str) -> Pick | None:
    """Return a reply with the option that it picks from the assistant's message ``before``; None if it picks none."""
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
    """Whether a reply only rejects an option, or may do so ("no 2"): it does not say what to use instead."""
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
    """Return the question that asks for one of the options, and its subject; "" if none asks for a lasting choice."""
    if any(before[one.end :].lstrip("*_ )")[:1] in ("?", "\uff1f") for one in options[:-1]):
        return ""  # the items are questions themselves
    lead = "".join(sentences_in(before[: options[0].start])[-1:]).strip("*( ")
    behind = sentences_in(before[options[-1].end :].lstrip("."))
    rest = plain(" ".join(behind[:1])) if behind and behind[0][:1].islower() else ""
    asked = _asked(lead, behind, rest)
    questions = [asked, *(one for one in behind if _is_question(one))]
    if not asked or any(_OF_THE_WORK.search(one) for one in questions):
        return ""
    if any(_OF_THE_MOMENT.search(one) for one in (lead, rest, *questions)):
        return ""
    about = [one.rstrip(":") for one in (lead, rest) if one and is_telling(one)]
    question = [asked.rstrip(":")] if asked.endswith(("?", "\uff1f")) or not about else []
    return wording.shorten(": ".join(dict.fromkeys([*about, *question])), LONGEST_OPTION)


def _asked(lead: str, behind: list[str], rest: str) -> str:
    """Return the sentence before or after the options that asks for a lasting choice; "" if there is none.

    ``rest`` is the end of a sentence that contains the list of options and continues after it.
    """
    for one in (lead, *behind):
        if _ASKS_FOR_CHOICE.search(one) and _is_question(one):
            return one
    if behind[:1] == ["?"] or rest.endswith(("?", "\uff1f")):  # "should I use 1) Redis or 2) NATS?"
        return lead if _ASKS_FOR_CHOICE.search(lead) else ""
    which = next((one for one in (lead, *behind) if _ASKS_WHICH.match(one)), "")
    about = f"{lead} {rest}"
    return which if _WAYS.search(about) or (_ASKS_FOR_CHOICE.search(about) and "?" in about) else ""


def _is_question(sentence: str) -> bool:
    return sentence.endswith(("?", "\uff1f")) or bool(_COMMANDS.match(sentence))
