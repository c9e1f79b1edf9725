"""Detects whether a command was run by a person in a terminal, or by the model in a coding agent's shell.

A process that detaches itself from its ancestors can evade the check; ordinary commands can't.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.system import agent_marks
from subconscious.wire import CLIENT_MARKS

MARKS = (*CLIENT_MARKS, *agent_marks.ALL)

_MARK = re.compile(rb"(?:^|\0)(?:%s)=[^\0]" % b"|".join(mark.encode() for mark in MARKS))


def origin() -> str:
    """Return ``assistant`` if the model runs this command, else ``user``."""
    return "assistant" if inside_client() else "user"


def session() -> str | None:
    """Return the id of the session that runs this command, or None. A rollback finds what the session added by it."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def require_person(action: str, instead: str = "") -> None:
    """Raise RequestError if the model runs this command; ``instead`` is what the model may do instead."""
    if inside_client():
        raise RequestError(
            f"only a person may {action}, and this was run inside a coding agent",
            f"run the command in a terminal that no coding agent started{instead and f', or {instead}'}",
        )


def inside_client() -> bool:
    """Return whether a coding agent runs this process: its model started the process or one of its ancestors."""
    return any(os.environ.get(mark) for mark in MARKS) or any(map(_marked, _ancestors()))


def _ancestors() -> Iterator[int]:
    """Yield the process ids of this process's ancestors, read from /proc; without /proc, only the parent's."""
    process = os.getppid()
    while process > 1:
        yield process
        process = _parent(process)


def _parent(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return 0
    # The name in parentheses may contain anything, so the fields are counted from its end: state, then parent.
    return int(status.rpartition(b")")[2].split()[1])


def _marked(process: int) -> bool:
    try:
        return _MARK.search(Path(f"/proc/{process}/environ").read_bytes()) is not None
    except OSError:
        return False
