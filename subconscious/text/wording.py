"""Derives a memory's summary, tags, files, rationale and sentiment from the words of a statement."""

from __future__ import annotations

import re

from subconscious.domain.model import Scope
from subconscious.text.words import content_words as content_words  # most modules of capture import it from here
from subconscious.text.words import is_name as is_name

_PATH = re.compile(
    r"(?<![\w:/@.])@?(?P<path>(?:\.{0,2}/|~/)?(?:[\w.@+-]{1,80}/){0,12}[\w@+-][\w.@+-]{0,80}"
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|md|mdx|rst|txt|"
    r"json|jsonl|yaml|yml|toml|ini|cfg|env|lock|xml|html|css|scss|vue|svelte|tf|proto|gradle|ipynb|csv))(?![\w/-])"
)
_CODE = re.compile(r"`([^`\n]{2,60})`")
_SYMBOL = re.compile(r"(?<![\w`/.-])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[\w]+-\d+)(?![\w`/-])")

_RATIONALE = re.compile(
    r"\b(?:because|since|so that|otherwise|due to)\b\s*(?P<why>.{3,300})", re.IGNORECASE | re.DOTALL
)
_USER_WIDE = re.compile(
    r"\b(?:in|across|for|on) (?:all|every|each|any)(?: of)?(?: my| our)? "
    r"(?:projects?|repos?|repositor(?:y|ies)|codebases?)\b"
    r"|\bglobally for me\b|\beverywhere i work\b|\bno matter (?:which|what) (?:project|repo)\b",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(r"\beverywhere\b", re.IGNORECASE)
_THE_CODE = re.compile(r"\b(?:in|across|throughout) (?:the|this|our|that) \w+|\breplace|\brename", re.IGNORECASE)

_POSITIVE = re.compile(
    r"\b(?:love|great|nice|perfect|excellent|awesome|works well|happy|good|prefer|thanks)\b", re.IGNORECASE
)
_NEGATIVE = re.compile(
    r"\b(?:hate|bad|wrong|broken|terrible|ugly|annoying|fail\w*|didn'?t|doesn'?t|don'?t|never|stop|problem|issue|"
    r"blocked|not correct)\b",
    re.IGNORECASE,
)

SUMMARY_LENGTH = 100
CONTENT_LENGTH = 400
_SEPARATORS = " :;,\u2013\u2014"
_MOST_TAGS = 5


def squeeze(text: str) -> str:
    """Return ``text`` on one line."""
    return " ".join(text.split())


def shorten(text: str, length: int) -> str:
    """Return ``text`` cut to ``length`` characters at a word boundary, with an ellipsis if it was cut."""
    if len(text) <= length:
        return text
    cut = text[:length]
    return cut[: cut.rfind(" ") if cut.rfind(" ") > length // 2 else length - 1].rstrip(" ,;:-") + "…"


def summary(text: str) -> str:
    """Return ``text`` as a summary: on one line, capitalised, without leading separators."""
    line = squeeze(text)
    line = line.lstrip(_SEPARATORS) or line
    return shorten(line[:1].upper() + line[1:], SUMMARY_LENGTH)


def cut_clause(text: str, length: int) -> str:
    """Return ``text`` cut to ``length`` characters, after a clause if possible; the result is a verbatim prefix."""
    if len(text) <= length:
        return text
    cut = text[:length]
    at = max(cut.rfind(mark) for mark in (". ", "; ", ", ", ": "))
    return cut[: at + 1] if at > length // 2 else cut[: max(cut.rfind(" "), 0) or length]


def files(text: str) -> tuple[str, ...]:
    """Return the files that ``text`` names."""
    return tuple(dict.fromkeys(match["path"] for match in _PATH.finditer(text)))


def tags(text: str) -> tuple[str, ...]:
    """Return at most five terms of ``text`` that look like code."""
    found = [*_CODE.findall(text), *files(text), *_SYMBOL.findall(text)]
    return tuple(dict.fromkeys(found))[:_MOST_TAGS]


def rationale(text: str) -> str:
    """Return the reason that ``text`` states; "" if it states none."""
    found = _RATIONALE.search(text)
    return squeeze(found["why"]).rstrip(".") if found else ""


def sentiment(text: str) -> str:
    """Return the tone of ``text``: negative, positive or neutral."""
    if _NEGATIVE.search(text):
        return "negative"
    return "positive" if _POSITIVE.search(text) else "neutral"


def scope(text: str, kind: str) -> Scope:
    """Return where a statement applies: in all projects of the user if it says so explicitly, else in its project."""
    everywhere = _EVERYWHERE.search(text) and kind == "preference" and not _THE_CODE.search(text)
    return Scope.USER if everywhere or _USER_WIDE.search(text) else Scope.PROJECT
