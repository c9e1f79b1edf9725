"""Splits camelCase names into words, because the full-text index splits only snake_case and paths."""

from __future__ import annotations

import re

_MIXED = re.compile(r"\b[A-Za-z]*[a-z][A-Z]\w*|\b[A-Z]{2,}[a-z]\w*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def code_parts(text: str) -> str:
    """Return the words in the camelCase names of a text: "getUserName" becomes "get User Name"."""
    return " ".join(part for name in _MIXED.findall(text) for part in _PART.findall(name))
