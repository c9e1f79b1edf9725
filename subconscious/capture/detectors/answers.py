"""Decides whether commands of the assistant succeeded, from the tool results that follow them."""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.model import Role, Turn


def worked(turns: Sequence[Turn], asked: Turn, command: str) -> bool:
    """Whether ``command`` of the turn ``asked`` worked: the tool result that follows reports no failure or refusal."""
    later = turns[turns.index(asked) + 1 :]
    answers = (turn for turn in later if turn.role is Role.TOOL and any(map(command.startswith, turn.commands)))
    answer = next(answers, None)
    return answer is not None and not answer.failed
