"""Divides a transcript into chunks that a model can read at once; each repeats the last turns of the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from subconscious.capture.llm_extraction.transcript_view import has_words, is_talk, retell
from subconscious.domain.model import Turn

CHARACTERS_A_TOKEN = 4
_MARK = 8
"""Characters for a turn's number and line end."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The maximum length of a chunk in tokens, and the number of turns that it repeats of the previous one."""

    tokens: int = 50_000
    overlap: int = 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """Turns to be read at once. The first ``known`` of them were read before and only give context."""

    turns: tuple[Turn, ...]
    known: int = 0

    @property
    def fresh(self) -> tuple[Turn, ...]:
        """The turns that were not read before."""
        return self.turns[self.known :]

    @property
    def speaks(self) -> bool:
        """Whether a new turn says more than a greeting."""
        return any(map(has_words, self.fresh)) and not is_talk(self.fresh)

    @property
    def text(self) -> str:
        """The text of the chunk for the model, turns numbered from 1."""
        told = ((number, retell(turn)) for number, turn in enumerate(self.turns, start=1))
        return "\n".join(f"[{number}] {words}" for number, words in told if words)


def length(turn: Turn) -> int:
    """Return the characters that a turn takes in a chunk."""
    told = retell(turn)
    return len(told) + _MARK if told else 0


def tokens(turns: Sequence[Turn]) -> int:
    """Return the tokens of turns as the model gets them."""
    return sum(map(length, turns)) // CHARACTERS_A_TOKEN


def take(turns: Sequence[Turn], seen: int, measure: Measure) -> Chunk | None:
    """Return the next chunk after the first ``seen`` turns; None at the end.

    It has at least one new turn. If that alone exceeds the limit, the chunk has no repeated turns.
    """
    if seen >= len(turns):
        return None
    room = measure.tokens * CHARACTERS_A_TOKEN - length(turns[seen])
    begin = seen
    while begin > max(0, seen - measure.overlap) and length(turns[begin - 1]) <= room:
        begin -= 1
        room -= length(turns[begin])
    end = seen + 1
    while end < len(turns) and length(turns[end]) <= room:
        room -= length(turns[end])
        end += 1
    return Chunk(tuple(turns[begin:end]), seen - begin)


def chunks(turns: Sequence[Turn], measure: Measure) -> Iterator[Chunk]:
    """Divide turns into chunks; each turn is new in exactly one of them."""
    seen = 0
    while chunk := take(turns, seen, measure):
        yield chunk
        seen += len(chunk.fresh)
