"""Finds in a text what somebody claims to quote from it, and gives it back letter by letter.

A model quotes nearly right: white space, apostrophes and the marks around it differ. What is found is always a span of
the text itself, so that what is shown as evidence stands there.
"""

from __future__ import annotations

import re

from subconscious.text.wording import content_words

LEAST_WORDS = 2
"""Words with a meaning that a quote must have, unless it is all that was said: a single word stands anywhere."""

_TWINS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
"""Typographer's marks and the typist's: of one length, so that places stay the same."""

_SPEAKER = re.compile(
    r"\A\s*(?:\[\d{1,6}\]\s*)?(?:user|ai\*?|assistant(?:, after tool output)?|task|tool|plan that the user approved"
    r"|questions that the user answered|runs):\s+|\A\s*\[\d{1,6}\]\s+"
)
"""Who speaks, as a model is told it, and may copy with the words."""

_WORD = re.compile(r"\w+")
_WRAPPING = " \t\r\n\"'\u2018\u2019\u201c\u201d.\u2026"


def find(quote: str, text: str) -> str:
    """Return the span of ``text`` that ``quote`` means, verbatim; "" where there is none, or any would do."""
    found = _find(quote, text) or _find(_SPEAKER.sub("", quote), text)
    return found if says_enough(found, text) else ""


def _find(quote: str, text: str) -> str:
    return _exact(quote.strip(), text) or _alike(quote, text) or _alike(quote.strip(_WRAPPING), text)


def says_enough(quote: str, text: str) -> bool:
    """Whether a quote says something of its own: two words at least, or all there is."""
    return bool(quote.strip()) and (len(content_words(quote)) >= LEAST_WORDS or quote.strip() == text.strip())


def _exact(quote: str, text: str) -> str:
    return quote if quote and quote in text else ""


def _alike(quote: str, text: str) -> str:
    """Find the quote where only white space and the shape of marks differ."""
    wanted = " ".join(quote.translate(_TWINS).split())
    # Cheap to ask, and most texts don't hold it: a chunk is long, and laying it out sign by sign is slow.
    if max(_WORD.findall(wanted), key=len, default="") not in text:
        return ""
    plain, places = _plain(text)
    at = plain.find(wanted)
    return text[places[at] : places[at + len(wanted) - 1] + 1] if wanted and at >= 0 else ""


def _plain(text: str) -> tuple[str, list[int]]:
    """Return ``text`` with single spaces and plain marks, and for each of its characters the place in ``text``."""
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
    """Whether two quotes of one turn are of the same words: either holds the other."""
    plain = [" ".join(quote.casefold().split()) for quote in (one, other)]
    return bool(plain[0] and plain[1]) and (plain[0] in plain[1] or plain[1] in plain[0])
