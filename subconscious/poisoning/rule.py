"""One row of the table of what speaks against a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from subconscious.model import Level, Threat
from subconscious.poisoning.views import fold


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. ``typed`` is False where a person's own words may say this without harm ("from now on", "never")."""

    name: str
    threat: Threat
    level: Level
    cues: frozenset[str]
    source: str
    why: str
    typed: bool = True

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, made when it is first asked for: all at once would keep the daemon's start waiting."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def row(name: str, threat: Threat, level: Level, cues: str, pattern: str, why: str, *, typed: bool = True) -> Rule:
    """Return a rule; its letters are folded as those of the texts that it is matched against."""
    folded = [cue for word in cues.split("|") for cue in {fold(word), fold(word[:1].upper() + word[1:]).lower()}]
    return Rule(name, threat, level, frozenset(folded), _either(fold(pattern)), why, typed)


_CAPITALS = {"в": "b", "к": "k", "м": "m", "н": "h", "т": "t", "β": "b", "ζ": "z", "η": "h", "μ": "m", "χ": "x"}
"""Letters of which only the capital looks like a Latin one and is folded to it: the latter, in lower case."""

_EITHER = str.maketrans({letter: f"[{letter}{latin}]" for letter, latin in _CAPITALS.items()})


def _either(pattern: str) -> str:
    """A pattern that matches a word of those alphabets also where it begins a sentence."""
    return pattern if pattern.isascii() else pattern.translate(_EITHER)
