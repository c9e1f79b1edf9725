"""A transcript as a model of language is given it: numbered turns, who spoke, and of tools no more than a name.

Only what the reader of transcripts has cleaned comes in here. A turn's own line ends are set in, so that no turn can
pretend to be another one.
"""

from __future__ import annotations

from subconscious.model import Act, Origin, Role, Turn

LONGEST_TURN = 6000
"""Characters of one turn that are told; of a longer one its beginning and its end."""

LONGEST_COMMAND = 600
_MOST_COMMANDS = 5
_TAIL = 0.3
"""Share of a cut turn's room that its end has: conclusions stand there."""

_ACTS = {Act.APPROVED: "plan that the user approved", Act.ANSWERED: "questions that the user answered"}


def retell(turn: Turn) -> str:
    """Tell one turn, without its number."""
    if turn.role is Role.TOOL:
        return f"tool {', '.join(turn.tools) or 'of unknown name'}: {'failed' if turn.failed else 'ok'}"
    words = [cut(turn.text, LONGEST_TURN)] if turn.text else []
    commands = [f"runs: {cut(command, LONGEST_COMMAND)}" for command in turn.commands[:_MOST_COMMANDS]]
    uses = [f"uses: {', '.join(turn.tools)}"] if turn.tools and not words and not commands else []
    return _set_in(f"{_speaker(turn)}: " + "\n".join((*words, *commands, *uses)))


def has_words(turn: Turn) -> bool:
    """Whether a turn says anything that could be quoted; what only tools did is no reason to ask a model."""
    return turn.role is not Role.TOOL and bool(turn.text or turn.commands)


def _speaker(turn: Turn) -> str:
    if turn.act in _ACTS:
        return _ACTS[turn.act]
    if turn.role is Role.USER:
        return "user" if turn.origin is Origin.USER else "task for a sub-agent"
    return "assistant" if turn.origin is Origin.ASSISTANT else "assistant, after tool output"


def cut(text: str, length: int) -> str:
    """Shorten ``text`` to about ``length`` characters, leaving out its middle."""
    if len(text) <= length:
        return text
    end = int(length * _TAIL)
    return f"{text[: length - end]} [... {len(text) - length} characters left out ...] {text[-end:]}"


def _set_in(text: str) -> str:
    return "\n  ".join(line for line in text.splitlines() if line.strip())
