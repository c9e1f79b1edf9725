"""A row in the tables of poisoning rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from subconscious.domain.model import Level, Threat
from subconscious.poisoning.views import fold


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``typed`` is false if it is not applied to text that a person typed, where a match is harmless."""

    name: str
    threat: Threat
    level: Level
    cues: frozenset[str]
    source: str
    why: str
    typed: bool = True
    narrows: Callable[[str, int, int], bool] | None = None
    """Returns whether a match is only about some instructions or a part of a product, which lowers its level by one."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled on first use: compiling all patterns at once would delay the daemon's start."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


_CAPITALS = {"в": "b", "к": "k", "м": "m", "н": "h", "т": "t", "β": "b", "ζ": "z", "η": "h", "μ": "m", "χ": "x"}
"""Lower-case letters whose capital looks like a Latin capital, each with that Latin letter in lower case."""

_ALL_CAPITALS = str.maketrans(_CAPITALS)
_EITHER = str.maketrans({letter: f"[{letter}{latin}]" for letter, latin in _CAPITALS.items()})

_BETWEEN = re.compile(r"(?<!\\)\|")
"""Separates cues."""


def row(
    name: str,
    threat: Threat,
    level: Level,
    cues: str,
    pattern: str,
    why: str,
    *,
    typed: bool = True,
    narrows: Callable[[str, int, int], bool] | None = None,
) -> Rule:
    """Return a rule with its cues and pattern folded (see ``fold``), like the texts that they are matched against.

    ``cues`` are separated by "|"; within a cue, that character is escaped with a backslash.
    """
    words = [word.replace(r"\|", "|") for word in _BETWEEN.split(cues)]
    folded = {
        cue
        for word in words
        for cue in (fold(word), fold(word[:1].upper() + word[1:]).lower(), fold(word).translate(_ALL_CAPITALS))
    }
    return Rule(name, threat, level, frozenset(folded), _either(fold(pattern)), why, typed, narrows)


def _either(pattern: str) -> str:
    """Return a pattern that also matches words in which ``fold`` changed a capital of `_CAPITALS` to a Latin letter."""
    return pattern if pattern.isascii() else pattern.translate(_EITHER)
