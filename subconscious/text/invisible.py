"""Recognises invisible characters. This module imports little, because every terminal command loads it."""

from __future__ import annotations

import unicodedata
from functools import cache

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters without a visible shape that Unicode classifies as letters, marks or symbols."""
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


@cache
def is_invisible(character: str) -> bool:
    """Whether a character is invisible, or controls the display."""
    return character in _BLANK or unicodedata.category(character) in _HIDDEN
