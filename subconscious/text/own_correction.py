"""Recognises a message that corrects its writer's previous message: "hold on wait no, millis"."""

from __future__ import annotations

import re

LONGEST = 14
"""The maximum number of words in the first sentence of a correction, without its opening."""

_HESITATES = (
    r"(?:hold on|hang on|wait(?: a (?:sec|second|minute|moment))?|actually|oops|attends|attendez|en fait|warte"
    r"|moment(?: mal)?|halt|eigentlich|espera|espere|en realidad|na verdade|wacht)"
)
_DENIES = r"(?:no+|nope|nah|nein|doch nicht|non|n\u00e3o|nee)"
_FILLS = r"(?:oh|ah|ach|ok(?:ay)?|hm+|uh+|um+|sorry|pardon|perd\u00f3n|desculpa)"
_SIGN = r"[\s,.:;!\u2026\u2013-]{1,5}"
_LEAD = re.compile(
    rf"\W{{0,3}}(?:{_FILLS}{_SIGN}){{0,2}}(?:(?:{_HESITATES}{_SIGN}){{1,3}}{_DENIES}(?=\s?[,.:;!\u2026\u2013-])|(?:{_DENIES}{_SIGN}){{1,2}}{_HESITATES}"
    rf"|(?:(?:{_HESITATES}|{_DENIES}){_SIGN}){{0,3}}(?:scratch that|correction|i mean(?:t)?|ich meine?|je voulais dire"
    rf"|quise decir|quis dizer))\b{_SIGN}(?=\w)",
    re.IGNORECASE,
)


def without_lead(text: str) -> str:
    """Return a correction without its opening: "millis" for "wait no, millis"; "" if the message corrects nothing."""
    found = _LEAD.match(text)
    rest = text[found.end() :] if found else ""
    first = re.split(r"[.!?\n]", rest, maxsplit=1)[0]
    return rest if rest and "?" not in rest and len(first.split()) <= LONGEST else ""
