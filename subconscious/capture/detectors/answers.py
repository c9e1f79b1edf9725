"""Whether what the assistant ran came to pass: the tool's turn that answers a command tells it."""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.model import Role, Turn


def worked(turns: Sequence[Turn], asked: Turn, command: str) -> bool:
    """Whether a command that a turn gives neither failed nor was refused: its answer tells how it begins."""
    later = turns[turns.index(asked) + 1 :]
    answers = (turn for turn in later if turn.role is Role.TOOL and any(map(command.startswith, turn.commands)))
    answer = next(answers, None)
    return answer is not None and not answer.failed
