"""The part of a message that capture examines: text that a person wrote, without pasted data.

The limits are much larger than anything people type; they bound the cost of hostile text. Omitted text is neither
stored nor shown; redaction has already processed the whole message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from subconscious.domain.model import Turn

FIRST, LAST = 60_000, 40_000
"""How many characters are examined at the beginning and at the end of a message that is longer than their sum."""

LONGEST_LINE = 3_000
"""The maximum length, in characters, of a line that a person may have typed; longer lines count as pasted data.

The longest typed line in about 13,000 recorded messages has 2,548.
"""

LONGEST_WORD = 600
"""The longest word, in characters, that a person may have typed; the longest in those messages has 431."""

_WORD = re.compile(r"\S++")
_BREAK = "\n\n"


def examined(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns reduced to the text that capture examines; most are unchanged."""
    return [turn if (text := examined_text(turn.text)) == turn.text else replace(turn, text=text) for turn in turns]


def examined_text(text: str) -> str:
    """Return the beginning and end of ``text``, without lines and words too long to be written by a person."""
    if len(text) > FIRST + LAST:
        text = text[:FIRST] + _BREAK + text[-LAST:]
    if len(text) <= LONGEST_WORD:
        return text
    return "\n".join(_examined_line(line) for line in text.split("\n"))


def _examined_line(line: str) -> str:
    if len(line) <= LONGEST_WORD:
        return line
    if len(line) > LONGEST_LINE:
        return ""
    return _WORD.sub(lambda word: word[0] if len(word[0]) <= LONGEST_WORD else "\u2026", line)
