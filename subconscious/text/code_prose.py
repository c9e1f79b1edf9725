"""Separates the prose in source code (comments, docstrings, long strings) from the code itself.

What a program does stands in its code. Its comments may have been written by anybody, for whoever reads them. The
patterns know no language: what looks like a comment in any common one counts as prose.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"\s*(?:[\w./@+-]{1,200}\.\w{1,8}[:-])?(?:\d{1,6}\s*[\u2192\t|:-])?")
"""What a tool puts before a line: its file and its number."""

_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#(?=[\s!]|\w)|//|/\*|--(?=\s)|<!--).*")
_WHOLE = re.compile(r"\s*(?:#|//|/\*|--|;|%|<!--|\*|\"\"\"|''')")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
_FEWEST_WORDS = 4
"""Words that make a string a sentence."""

_GLUE = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|has|have|of|to|for|with|by|from|that|this|which|when|if|it|you|not|must|should|use|run)\b",
    re.IGNORECASE,
)
"""Words that hold sentences together, and those that orders need."""

_GLUED = 2

_RUN = re.compile(r"(?<![\w'-])(?:[A-Za-z][A-Za-z'-]{0,30}[,;:.]?\s{1,3}){3}[A-Za-z]")
"""Four words in a row."""

_BLOCKS = (("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''"), ("=begin", "=end"))
_QUOTES = frozenset(('"""', "'''"))


def split(text: str) -> tuple[str, str]:
    """Return the code of a text, and the prose that stands within it."""
    code: list[str] = []
    prose: list[str] = []
    closing = ""
    for line in text.splitlines():
        at = match.end() if (match := _PLACE.match(line)) else 0
        place, body = line[:at], line[at:]
        if closing:
            prose.append(body)
            closing = "" if closing in body else closing
            continue
        closing = _left_open(body)
        if closing or _WHOLE.match(body):
            code.append(place)
            prose.append(body)
            continue
        said, kept = _parted(body)
        code.append(place + kept)
        prose += said
    return "\n".join(code), "\n".join(prose)


def worded(text: str) -> str:
    """Return the lines of a text in which words follow each other as they do in prose, and not in code or in lists."""
    return "\n".join(line for line in text.splitlines() if _RUN.search(line))


def has_sentences(text: str) -> bool:
    """Whether a line of a text says something in English, and isn't just names and values."""
    return any(len(_GLUE.findall(line)) >= _GLUED and len(line.split()) >= _FEWEST_WORDS for line in text.splitlines())


def _left_open(body: str) -> str:
    """Return what closes the comment or docstring that a line opens and doesn't close."""
    bare = _STRING.sub("", body)  # a glob in a string ("**/*.ts") opens no comment
    for opening, closing in _BLOCKS:
        _, found, rest = (body if opening in _QUOTES else bare).partition(opening)
        if found and closing not in rest:
            return closing
    return ""


def _parted(body: str) -> tuple[list[str], str]:
    """Return the prose within a line of code, and the line without it."""
    said = [found[0] for found in _STRING.finditer(body) if len(found[0].split()) >= _FEWEST_WORDS]
    kept = _STRING.sub(lambda found: "" if len(found[0].split()) >= _FEWEST_WORDS else found[0], body)
    if comment := _COMMENT.search(kept):
        said.append(comment[0])
        kept = kept[: comment.start()]
    return said, kept
