"""Whose words and deeds these are: a person's in a terminal, or the model's in the client's shell.

A process that tears itself loose from its ancestors can still pretend; every ordinary way is caught here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from subconscious.client import CLIENT_MARKS
from subconscious.errors import RequestError

MARKS = CLIENT_MARKS

_MARK = re.compile(rb"(?:^|\0)(?:%s)=[^\0]" % b"|".join(mark.encode() for mark in MARKS))


def origin() -> str:
    """``assistant`` when the client's model runs this command, else ``user``."""
    return "assistant" if inside_client() else "user"


def session() -> str | None:
    """The session whose model runs this command, as the client names it; so that its rollback finds what it did."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def require_person(deed: str, instead: str = "") -> None:
    """Refuse what only a person may do; raises RequestError inside the client. ``instead`` is what anybody may."""
    if inside_client():
        raise RequestError(
            f"only a person may {deed}, and this command was run from inside Claude Code",
            f"run it yourself in a terminal outside Claude Code{instead and f', or {instead}'}",
        )


def inside_client() -> bool:
    """Whether this process, or one above it, was started by the client for its model."""
    return any(os.environ.get(mark) for mark in MARKS) or any(map(_marked, _ancestors()))


def _ancestors() -> Iterator[int]:
    """The processes above this one, as far as Linux tells; elsewhere none."""
    process = os.getppid()
    while process > 1:
        yield process
        process = _parent(process)


def _parent(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return 0
    # The name in parentheses may hold anything, so count from its end: state, then parent.
    return int(status.rpartition(b")")[2].split()[1])


def _marked(process: int) -> bool:
    try:
        return _MARK.search(Path(f"/proc/{process}/environ").read_bytes()) is not None
    except OSError:
        return False
