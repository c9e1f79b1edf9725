"""Single-use codes for decisions that were typed where a tool of Claude's could have typed them.

A code is shown in a person's terminal outside of Claude Code, beside the decision that it is for, and typed in the
session that asked. It lives in the daemon's memory alone, and is bound to that session, to the decision and to the
captures as they were shown.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import Any

from .wish import Wish

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that can't be taken for one another."""

LENGTH = 8
LIFE_SECONDS = 900.0
MOST_WAITING = 20
"""Decisions that wait for a code: of more, the oldest are dropped."""

MOST_GUESSES = 5
"""Wrong codes after which all codes are dropped."""

READ = ("id", "content", "summary", "kind", "status", "level", "project_id")
"""What of a capture is bound by a code."""


@dataclass(slots=True)
class Waiting:
    """A decision that waits for its code. ``code`` is empty until a terminal has shown it."""

    session_id: str
    wish: Wish
    digest: str
    since: float
    code: str = ""


def digest_of(wish: Wish, captures: Sequence[dict[str, Any]]) -> str:
    """The digest of a decision and of the captures that it is about."""
    shown = [{name: capture.get(name) for name in READ} for capture in captures]
    bound = [wish.deed, list(wish.ids), wish.reason, wish.wording, wish.kind, shown]
    return sha256(json.dumps(bound).encode()).hexdigest()


class Codes:
    """The decisions that wait, the newest of each session."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self._guesses = 0

    def ask(self, session_id: str, wish: Wish, digest: str) -> None:
        """Let a decision wait for its code, in the place of an earlier one of its session."""
        self._waiting.pop(session_id, None)
        self._waiting[session_id] = Waiting(session_id, wish, digest, monotonic())
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)

    def waiting(self) -> list[Waiting]:
        """The decisions that wait, oldest first."""
        since = monotonic() - LIFE_SECONDS
        self._waiting = OrderedDict((key, one) for key, one in self._waiting.items() if one.since > since)
        return list(self._waiting.values())

    def show(self, one: Waiting, digest: str) -> str:
        """Give a decision a new code, for the captures as they are shown now."""
        one.digest, one.code = digest, "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        return f"{one.code[:4]}-{one.code[4:]}"

    def redeem(self, session_id: str, typed: str) -> Waiting | None:
        """The decision of a session that a code is for, once; None for a wrong code."""
        code = "".join(sign for sign in typed.upper() if sign in LETTERS)
        one = next((one for one in self.waiting() if one.session_id == session_id), None)
        if one is not None and one.code and secrets.compare_digest(one.code, code):
            del self._waiting[session_id]
            return one
        self._guesses += 1
        if self._guesses >= MOST_GUESSES:
            self._waiting.clear()
            self._guesses = 0
        return None
