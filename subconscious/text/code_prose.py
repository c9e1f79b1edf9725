"""Separates the prose in source code (comments, docstrings, long strings) from the code itself.

Code shows what a program does, but comments can be written by anyone and address any reader. The patterns are
independent of the programming language: anything that looks like a comment in a common language counts as prose.
"""

from __future__ import annotations

import re

from subconscious.text import unspaced

_PLACE = re.compile(r"\s*(?:[\w./@+-]{1,200}\.\w{1,8}[:-])?(?:\d{1,6}\s*[\u2192\t|:-])?")
"""A pattern of the file name and line number that a tool prints before a line."""

_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#(?=[\s!]|\w)|//|/\*|--(?=\s)|<!--).*")
_WHOLE = re.compile(r"\s*(?:#|//|/\*|--|;|%|<!--|\*|\"\"\"|''')")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
_FEWEST_WORDS = 4
"""The minimum number of words of a string that counts as a sentence."""

_GLUE = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|has|have|of|to|for|with|by|from|that|this|which|when|if|it|you|not|must|should|use|run)\b",
    re.IGNORECASE,
)
"""A pattern of function words that occur in English sentences and instructions."""

_GLUED = 2

_RUN = re.compile(r"(?<![\w'-])(?:[^\W\d_](?:[^\W\d_]|['-]){0,30}[,;:.]?\s{1,3}){3}[^\W\d_]")
"""A pattern of four words in a row."""

_FEWEST_LETTERS = 8
"""The minimum number of letters of a line of prose in a language without spaces between words."""

_BLOCKS = (("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''"), ("=begin", "=end"))
_QUOTES = frozenset(('"""', "'''"))


def split(text: str) -> tuple[str, str]:
    """Return the code of a text, and the prose in it."""
    code: list[str] = []
    prose: list[str] = []
    closing = ""
    for line in text.splitlines():
        at = match.end() if (match := _PLACE.match(line)) else 0
        prefix, body = line[:at], line[at:]
        if closing:
            prose.append(body)
            closing = "" if closing in body else closing
            continue
        closing = _unclosed_mark(body)
        if closing or _WHOLE.match(body):
            code.append(prefix)
            prose.append(body)
            continue
        comments, rest = _split_line(body)
        code.append(prefix + rest)
        prose += comments
    return "\n".join(code), "\n".join(prose)


def prose_lines(text: str) -> str:
    """Return the lines of a text that read like prose rather than code or lists."""
    return "\n".join(line for line in text.splitlines() if _RUN.search(line) or _is_unspaced_prose(line))


def has_sentences(text: str) -> bool:
    """Whether a line of a text is an English sentence, not just names and values."""
    return any(len(_GLUE.findall(line)) >= _GLUED and len(line.split()) >= _FEWEST_WORDS for line in text.splitlines())


def _is_unspaced_prose(line: str) -> bool:
    return unspaced.number_of_letters(line) >= _FEWEST_LETTERS


def _unclosed_mark(body: str) -> str:
    """Return the end mark of a comment or docstring that a line opens and doesn't close; "" if there is none."""
    bare = _STRING.sub("", body)  # a glob in a string ("**/*.ts") does not open a comment
    for opening, closing in _BLOCKS:
        before, found, rest = (body if opening in _QUOTES else bare).partition(opening)
        if opening == "=begin" and before:  # Ruby recognises this mark only at the start of a line
            continue
        if found and closing not in rest:
            return closing
    return ""


def _split_line(body: str) -> tuple[list[str], str]:
    """Return the prose in a line of code, and the line without it."""
    comments = [found[0] for found in _STRING.finditer(body) if _is_sentence(found[0])]
    rest = _STRING.sub(lambda found: "" if _is_sentence(found[0]) else found[0], body)
    if comment := _COMMENT.search(rest):
        comments.append(comment[0])
        rest = rest[: comment.start()]
    return comments, rest


def _is_sentence(string: str) -> bool:
    return len(string.split()) >= _FEWEST_WORDS or _is_unspaced_prose(string)
