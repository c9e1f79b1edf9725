"""Parses a search query: exact phrases, excluded words, a time, a kind of memory. No I/O.

In a query that a person types or a model sends to search, quotation marks and ``-word`` are operators that filter. A
time or kind beside other words only ranks matching memories higher, because people are often wrong about both; without
other words, it is a filter. Prompts are not parsed in this way: in them, ``ls -la`` and quoted messages are words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory
from subconscious.recall.dates import Span, spoken
from subconscious.store.filters import Filter, phrase
from subconscious.text.terms import terms

MOST = 8
"""The most phrases, and the most excluded words, of a query that are used; further ones are ignored."""

_QUOTED = re.compile(r"(?<!\S)(-?)[\"\u201c\u201d]([^\"\u201c\u201d]{1,200})[\"\u201c\u201d](?!\w)")
# At least three letters, so that `rm -rf` excludes nothing.
_WITHOUT = re.compile(r"(?<!\S)-(?=[^\W\d])([\w./:]{3,100})(?![\w-])")

_KINDS = {name: re.compile(rf"\b(?:{kind.asked})\b", re.IGNORECASE) for name, kind in KINDS.items() if kind.asked}


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A search: words, a filter, and the time and kinds that the query mentions.

    ``lent`` are words that a model added: engines search for them, but relevance ignores them.
    """

    text: str
    which: Filter = field(default_factory=Filter)
    span: Span | None = None
    kinds: tuple[str, ...] = ()
    lent: str = ""

    @property
    def sought(self) -> str:
        """Return the words that the engines search for."""
        return f"{self.text} {self.lent}" if self.lent else self.text

    @property
    def wordless(self) -> bool:
        """Whether there are no words to rank by, only a time, kind or filter, as in "what was it yesterday?"."""
        return not terms(self.text) and (self.span is not None or bool(self.kinds) or self.which.narrow)

    @property
    def outright(self) -> Filter:
        """Return the filter ``which`` with the time and kinds of the query as further conditions."""
        span = self.span or Span()
        since = span.since if self.which.since is None else self.which.since
        until = span.until if self.which.until is None else self.which.until
        return replace(self.which, since=since, until=until, kinds=self.which.kinds or self.kinds)

    def fits_time(self, memory: Memory) -> bool:
        """Whether a memory is from the time that the query mentions."""
        return self.span is not None and self.span.holds(memory.said_at)

    def fits_kind(self, memory: Memory) -> bool:
        """Whether a memory is of a kind that the query mentions."""
        return memory.kind in self.kinds


def understand(query: str, which: Filter, now: datetime) -> ParsedQuery:
    """Parse the query of a search; ``which`` is the filter from its options."""
    text, phrases, without = _commands(query)
    when = spoken(text, now)
    if when is not None:
        text = f"{text[: when.start]} {text[when.end :]}"
    kinds = tuple(kind for kind, words in _KINDS.items() if words.search(text))
    narrowed = replace(which, phrases=(*which.phrases, *phrases), without=(*which.without, *without))
    return ParsedQuery(" ".join(text.split()), narrowed, when.span if when else None, kinds)


def _commands(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the words of a query, the phrases that must occur (their words are included), and the excluded words."""
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
