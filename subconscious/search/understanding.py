"""What a query asks for besides its words: exact phrases, what must not occur, a time, a sort of memory.

Of what somebody types or a model asks outright, quotation marks and ``-word`` are commands, and narrow; a time or a
sort that is spoken of only raises what fits it, for people err about both. Prompts are not read like that: there,
``ls -la`` and quoted messages are words like others. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime

from subconscious.kinds import KINDS
from subconscious.model import Memory
from subconscious.search.dates import Span, spoken
from subconscious.search.words import terms
from subconscious.store.filters import Filter, phrase

MOST = 8
"""Phrases, or words left out, that are obeyed."""

_QUOTED = re.compile(r"(?<!\S)(-?)[\"\u201c\u201d]([^\"\u201c\u201d]{1,200})[\"\u201c\u201d](?!\w)")
# Three letters at least: `rm -rf` leaves out nothing.
_WITHOUT = re.compile(r"(?<!\S)-(?=[^\W\d])([\w./:]{3,100})(?![\w-])")

_KINDS = {name: re.compile(rf"\b(?:{kind.asked})\b", re.IGNORECASE) for name, kind in KINDS.items() if kind.asked}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody looks for: words, which memories may be meant at all, and what is rather meant.

    ``lent`` are further words that an answer may use: they help to find it, and say nothing of how relevant it is.
    """

    text: str
    which: Filter = field(default_factory=Filter)
    span: Span | None = None
    kinds: tuple[str, ...] = ()
    lent: str = ""

    @property
    def sought(self) -> str:
        """What the engines look for."""
        return f"{self.text} {self.lent}" if self.lent else self.text

    @property
    def wordless(self) -> bool:
        """Whether there is nothing to rank by, but something to list by: "what was it yesterday?"."""
        return not terms(self.text) and (self.span is not None or bool(self.kinds) or self.which.narrow)

    @property
    def outright(self) -> Filter:
        """What is meant where no words say which: then a time and a sort are all there is, and narrow."""
        span = self.span or Span()
        since = span.since if self.which.since is None else self.which.since
        until = span.until if self.which.until is None else self.which.until
        return replace(self.which, since=since, until=until, kinds=self.which.kinds or self.kinds)

    def fits_time(self, memory: Memory) -> bool:
        """Whether a memory is of the time that was spoken of."""
        return self.span is not None and self.span.holds(memory.said_at)

    def fits_kind(self, memory: Memory) -> bool:
        """Whether a memory is of a kind that was spoken of."""
        return memory.kind in self.kinds


def understand(query: str, which: Filter, now: datetime) -> Wanted:
    """Read a query of somebody who searches; ``which`` is what they said besides it."""
    text, phrases, without = _commands(query)
    when = spoken(text, now)
    if when is not None:
        text = f"{text[: when.start]} {text[when.end :]}"
    kinds = tuple(kind for kind, words in _KINDS.items() if words.search(text))
    narrowed = replace(which, phrases=(*which.phrases, *phrases), without=(*which.without, *without))
    return Wanted(" ".join(text.split()), narrowed, when.span if when else None, kinds)


def _commands(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The words of a query, the phrases that must occur (they are words too), and what must not occur."""
    phrases: list[str] = []
    without: list[str] = []

    def quoted(found: re.Match[str]) -> str:
        if not phrase(found[2]):
            return found[0]
        (without if found[1] else phrases).append(found[2])
        return " " if found[1] else f" {found[2]} "

    def left_out(found: re.Match[str]) -> str:
        without.append(found[1])
        return " "

    text = _WITHOUT.sub(left_out, _QUOTED.sub(quoted, query))
    return text, tuple(phrases[:MOST]), tuple(without[:MOST])
