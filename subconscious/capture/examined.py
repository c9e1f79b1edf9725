"""How much of a message capture examines: what a person or an assistant wrote, and not what was pasted into it.

Much larger than anything that people type, the bounds keep hostile text from costing more than its length. What is
left out is neither stored nor shown; the redaction has seen all of it before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from subconscious.model import Turn

FIRST, LAST = 60_000, 40_000
"""Characters of a message that are examined: its beginning and its end."""

LONGEST_LINE = 3_000
"""Characters of a line; longer ones are data. The longest line of some 13,000 recorded messages has 2,548."""

LONGEST_WORD = 600
"""Characters without a blank between them; the longest of the same messages has 431."""

_WORD = re.compile(r"\S++")
_BREAK = "\n\n"


def examined(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with the text that capture examines; most are returned as they are."""
    return [turn if (text := examined_text(turn.text)) == turn.text else replace(turn, text=text) for turn in turns]


def examined_text(text: str) -> str:
    """Return the two ends of ``text``, without lines and words that nobody writes."""
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
