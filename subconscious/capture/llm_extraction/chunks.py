"""Divides a transcript into chunks that a model can read at once, and numbers the turns in them.

A chunk repeats the last turns of the previous one. Of tool output only error lines and test results are included;
successful calls are left out. The input is redacted already. Further lines of a turn are indented, so that its text
can't imitate the beginning of another turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from subconscious.domain.model import Act, Origin, Role, Turn

CHARACTERS_A_TOKEN = 4
_MARK = 8
"""How many characters the number and the line break of a turn take in a chunk."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The maximum length of a chunk in tokens, and how many turns of the previous chunk it repeats."""

    tokens: int = 50_000
    overlap: int = 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """Turns that a model reads at once. The first ``known`` turns were read before and only give context."""

    turns: tuple[Turn, ...]
    known: int = 0

    @property
    def fresh(self) -> tuple[Turn, ...]:
        """Return the turns that no earlier chunk contains."""
        return self.turns[self.known :]

    @property
    def speaks(self) -> bool:
        """Whether a new turn says more than a greeting."""
        return any(map(has_words, self.fresh)) and not is_talk(self.fresh)

    @property
    def text(self) -> str:
        """Return the text of the chunk for the model, with the turns numbered from 1."""
        told = ((number, retell(turn)) for number, turn in enumerate(self.turns, start=1))
        return "\n".join(f"[{number}] {words}" for number, words in told if words)


def length(turn: Turn) -> int:
    """Return the number of characters that a turn takes in a chunk."""
    told = retell(turn)
    return len(told) + _MARK if told else 0


def tokens(turns: Sequence[Turn]) -> int:
    """Return the estimated number of tokens that turns take in a chunk."""
    return sum(map(length, turns)) // CHARACTERS_A_TOKEN


def take(turns: Sequence[Turn], seen: int, measure: Measure) -> Chunk | None:
    """Return the chunk after the first ``seen`` turns, which earlier chunks contain; None if there are no more turns.

    A chunk repeats the last turns of the previous chunk, and adds at least one turn. It repeats none if the first added
    turn fills the chunk.
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
    """Yield the turns in chunks; each turn is new in exactly one chunk."""
    seen = 0
    while chunk := take(turns, seen, measure):
        yield chunk
        seen += len(chunk.fresh)


LONGEST_TURN = 6000
"""The maximum length of a turn in characters; of a longer turn, the beginning and the end are included."""

LONGEST_PLAN = 12_000
LONGEST_COMMAND = 600
LONGEST_RECORD = 1500
"""The maximum length in characters of a command that writes a commit or a pull request: its message gives reasons."""

LONGEST_TALK = 400
"""The maximum length in characters of a reply to a greeting; longer replies have content."""

_MOST_COMMANDS = 5
_TAIL = 0.3
"""The share of a shortened turn that is taken from the turn's end, because conclusions are there."""

_RECORD = re.compile(r"\bgit\b[^\n]{0,200}\bcommit\b|\bgh\s+(?:pr|issue|release)\s+\w+|\bglab\s+mr\b")
_GREETING = re.compile(
    r"(?:\W*\b(?:hi|hello|hey|hiya|yo|howdy|good (?:morning|afternoon|evening|day)|there|claude|again|thanks?|thank you"
    r"|thx|cheers|ok(?:ay)?|bye|goodbye|ciao|hallo|moin|guten (?:tag|morgen|abend)|danke|hola|buenos dias|gracias|bonjour"
    r"|salut|merci|ol\u00e1|obrigad[oa]|how are you|test|ping)\b)+\W*",
    re.IGNORECASE,
)
_MARKS = {Act.APPROVED: "plan that the user approved", Act.ANSWERED: "questions that the user answered"}


def retell(turn: Turn) -> str:
    """Return one turn as text, without its number; "" if there is nothing to include."""
    if turn.role is Role.TOOL:
        told = f": {turn.shown}" if turn.shown else ""
        return _set_in(f"tool {', '.join(turn.tools)}{' failed' * turn.failed}{told}") if turn.failed or told else ""
    longest = LONGEST_PLAN if turn.act is Act.APPROVED else LONGEST_TURN
    words = [cut(turn.text, longest)] if turn.text else []
    commands = [f"runs: {_command(command)}" for command in turn.commands[:_MOST_COMMANDS]]
    shown = [turn.shown] if turn.shown else []
    uses = [f"uses: {', '.join(turn.tools)}"] if turn.tools and not (words or commands or shown) else []
    return _set_in(f"{_speaker(turn)}: " + "\n".join((*words, *commands, *shown, *uses)))


def _command(command: str) -> str:
    return cut(command, LONGEST_RECORD if _RECORD.search(command) else LONGEST_COMMAND)


def has_words(turn: Turn) -> bool:
    """Whether a turn has text or shell commands to quote. Other tool calls alone don't justify a request."""
    return turn.role is not Role.TOOL and bool(turn.text or turn.commands)


def is_talk(turns: Iterable[Turn]) -> bool:
    """Whether turns are only a greeting and its reply, which a model need not read."""
    return all(_is_talk(turn) for turn in turns)


def _is_talk(turn: Turn) -> bool:
    if turn.tools or turn.commands or turn.act is not Act.NONE:
        return False
    return len(turn.text) <= LONGEST_TALK if turn.role is Role.ASSISTANT else bool(_GREETING.fullmatch(turn.text[:200]))


def _speaker(turn: Turn) -> str:
    if turn.act in _MARKS:
        return _MARKS[turn.act]
    if turn.role is Role.USER:
        return "user" if turn.origin is Origin.USER else "task"
    return "ai" if turn.origin is Origin.ASSISTANT else "ai*"


def cut(text: str, length: int) -> str:
    """Shorten ``text`` to about ``length`` characters by leaving out its middle."""
    if len(text) <= length:
        return text
    end = int(length * _TAIL)
    return f"{text[: length - end]} [... {len(text) - length} characters left out ...] {text[-end:]}"


def _set_in(text: str) -> str:
    return "\n  ".join(line for line in text.splitlines() if line.strip())
