"""Single-use codes that confirm decisions in a session if it is uncertain whether a person typed them.

A code is shown, with its decision, in a person's terminal outside of Claude Code, and the person types it in the
session. Codes are kept only in the daemon's memory. A code is valid only for its session, its decision, and the
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

from subconscious.wire.captures import Capture


@dataclass(frozen=True, slots=True)
class Wish:
    """A person's decision (``deed``) on captures: approve, reject, teach, edit, release, restore or undo.

    To teach is to reject a capture and to flag later statements that say the same. To release a capture is to take it
    out of quarantine. ``once`` is the id of the message with the decision if the message may arrive twice; the decision
    is applied only once.
    """

    deed: str
    ids: tuple[int, ...]
    reason: str = ""
    wording: str = ""
    kind: str | None = None
    once: str = ""


LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""The characters of codes: letters and digits, without those that look alike."""

LENGTH = 8
LIFE_SECONDS = 900.0
MOST_WAITING = 20
"""The most decisions that can wait for a code; beyond that, the oldest are dropped."""

MOST_GUESSES = 5
"""The number of wrong codes after which all waiting decisions are dropped."""

READ = ("id", "content", "summary", "kind", "status", "level", "project_id")
"""Fields of a capture that must not change between showing a code and typing it."""


@dataclass(slots=True)
class Waiting:
    """A decision that waits for its code. ``code`` is "" until a terminal has shown one."""

    session_id: str
    wish: Wish
    digest: str
    since: float
    code: str = ""


def digest_of(wish: Wish, captures: Sequence[Capture]) -> str:
    """Return the digest of a decision and its captures."""
    shown = [{name: capture.get(name) for name in READ} for capture in captures]
    bound = [wish.deed, list(wish.ids), wish.reason, wish.wording, wish.kind, shown]
    return sha256(json.dumps(bound).encode()).hexdigest()


class Codes:
    """The waiting decisions, one per session."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self._guesses = 0

    def add(self, session_id: str, wish: Wish, digest: str) -> None:
        """Add a decision that needs a code; it replaces an earlier one of its session."""
        self._waiting.pop(session_id, None)
        self._waiting[session_id] = Waiting(session_id, wish, digest, monotonic())
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)

    def waiting(self) -> list[Waiting]:
        """Return the waiting decisions, oldest first; expired ones are dropped."""
        since = monotonic() - LIFE_SECONDS
        self._waiting = OrderedDict((key, one) for key, one in self._waiting.items() if one.since > since)
        return list(self._waiting.values())

    def issue(self, one: Waiting, digest: str) -> str:
        """Return a new code for a decision, bound to the captures as they are shown now."""
        one.digest, one.code = digest, "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        return f"{one.code[:4]}-{one.code[4:]}"

    def redeem(self, session_id: str, typed: str) -> Waiting | None:
        """Return the session's decision if the code is right, and remove it from the waiting ones; None otherwise."""
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
