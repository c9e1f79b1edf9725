"""Splits a Markdown file into its front matter, the YAML between two lines of dashes, and its text."""

from __future__ import annotations

import re

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\n|(?<=---\n)|(?<=---\r\n))---[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*\r?\n")


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the front matter without its lines of dashes (None if there is none), and the text after it."""
    front = _FRONT.match(text)
    return (front[1], text[front.end() :]) if front else (None, text)


def is_cut_off(text: str) -> bool:
    """Whether a text starts front matter that has no end, such as a file that is half written."""
    return bool(_OPENED.match(text)) and not _FRONT.match(text)
