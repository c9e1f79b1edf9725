"""Finds a claimed quote in a text and returns the text's own characters.

A model's quotes differ in white space, apostrophes and quotation marks. The result is always a span of the text itself,
so that evidence is verbatim.
"""

from __future__ import annotations

import re

from subconscious.text.wording import content_words

LEAST_WORDS = 2
"""The minimum number of content words of a quote, unless it is the whole text: a single word occurs everywhere."""

_TWINS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
"""Typographic marks and their plain forms. All are one character long, so that offsets stay valid."""

_SPEAKER = re.compile(
    r"\A\s*(?:\[\d{1,6}\]\s*)?(?:user|ai\*?|assistant(?:, after tool output)?|task|tool|plan that the user approved"
    r"|questions that the user answered|runs):\s+|\A\s*\[\d{1,6}\]\s+"
)
"""A speaker label as it is in the model's input; the model may copy it into a quote."""

_WORD = re.compile(r"\w+")
_WRAPPING = " \t\r\n\"'\u2018\u2019\u201c\u201d.\u2026"


def find(quote: str, text: str) -> str:
    """Return the first span of ``text`` that matches ``quote``, verbatim; "" if none does, or if it says too little."""
    found = _find(quote, text) or _find(_SPEAKER.sub("", quote), text)
    return found if says_enough(found, text) else ""


def _find(quote: str, text: str) -> str:
    return _exact(quote.strip(), text) or _alike(quote, text) or _alike(quote.strip(_WRAPPING), text)


def says_enough(quote: str, text: str) -> bool:
    """Whether a quote has at least two content words, or is the whole text."""
    return bool(quote.strip()) and (len(content_words(quote)) >= LEAST_WORDS or quote.strip() == text.strip())


def _exact(quote: str, text: str) -> str:
    return quote if quote and quote in text else ""


def _alike(quote: str, text: str) -> str:
    """Return the span that differs from a quote only in white space and typographic marks; "" if there is none."""
    wanted = " ".join(quote.translate(_TWINS).split())
    # A fast check first: most texts don't contain the word, and comparing a long chunk is slow.
    if max(_WORD.findall(wanted), key=len, default="") not in text:
        return ""
    plain, places = _plain(text)
    at = plain.find(wanted)
    return text[places[at] : places[at + len(wanted) - 1] + 1] if wanted and at >= 0 else ""


def _plain(text: str) -> tuple[str, list[int]]:
    """Return ``text`` with single spaces and plain marks, and the index in ``text`` of each remaining character."""
    kept: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text.translate(_TWINS)):
        blank = sign.isspace()
        if blank and (not kept or kept[-1] == " "):
            continue
        kept.append(" " if blank else sign)
        places.append(place)
    return "".join(kept), places


def overlap(one: str, other: str) -> bool:
    """Whether one of two quotes of a turn contains the other."""
    plain = [" ".join(quote.casefold().split()) for quote in (one, other)]
    return bool(plain[0] and plain[1]) and (plain[0] in plain[1] or plain[1] in plain[0])
