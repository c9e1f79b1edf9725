"""Finds the words of a text that carry meaning, and the names among these words."""

from __future__ import annotations

import re
import unicodedata

PLAIN_LENGTH = 400
"""The maximum number of characters of a sentence that the trained models read."""

_STOP_WORDS = frozenset(  # one string per word would fill a page
    """
    a about actually after again all also always am an and any are as at be because been before being but by can could
    did do does doing don don't down for from get go going had has have he her here him his how i if in into is it
    its it's just let lets let's like me more most my never no not now of off ok on one only or our out over own
    please same she should so some such than that that's the their them then there these they this those through
    to too under until up very was we we'll we're we've were what when where which while who
    why will with would yes you your
    """.split()
)
_WORD = re.compile(r"[^\W_][\w'./@:#-]*[^\W_]|[^\W_]")
_NAME = re.compile(r"[a-z][A-Z]|[A-Z]{2}|\w_\w|\w[./:@#]\w|\d|\A[A-Z][a-z]")


def content_words(text: str) -> list[str]:
    """Return the words of ``text`` that carry meaning."""
    return [word for word in _WORD.findall(text) if word.lower() not in _STOP_WORDS]


def has_letters(text: str) -> bool:
    """Whether a text has a letter of any script: numbers and symbols alone state nothing."""
    return any(map(str.isalpha, text))


def is_latin(letter: str) -> bool:
    """Whether a letter belongs to the Latin script; so do those with accents, such as "\u00e9" and "\u1ebf"."""
    return letter < "\u0250" or "\u1e00" <= letter <= "\u1eff"


def is_name(word: str) -> bool:
    """Whether a word is a name: code, a path, a number, a proper name."""
    return bool(_NAME.search(word))


def cut(text: str, length: int) -> str:
    """Return ``text`` cut to ``length`` characters at a word boundary."""
    if len(text) <= length:
        return text
    return text[: length - 1].rsplit(" ", 1)[0].rstrip(",;:") + "\u2026"


def plain(text: str) -> str:
    """Return the first ``PLAIN_LENGTH`` characters of a sentence in lower case, without a full stop at the end."""
    text = unicodedata.normalize("NFKC", text[:PLAIN_LENGTH]).lower().replace("\u2019", "'").strip()
    return text[:-1] if text.endswith((".", "\u3002")) and not text.endswith("..") else text
