"""What limits kept from sessions lately: in memory alone, for who asks why nothing was said."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import asdict
from time import time
from typing import Any

from subconscious.surfacing.limits import Held

SESSIONS = 100
A_SESSION = 50


class Withheld:
    """The last of each session, of the sessions heard last."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, deque[dict[str, Any]]] = OrderedDict()

    def note(self, session_id: str, event: str, held: Sequence[Held]) -> None:
        """Remember what was held back at an event."""
        if not held:
            return
        kept = self._held.setdefault(session_id, deque(maxlen=A_SESSION))
        kept.extend({"session_id": session_id, "event": event, "at": time()} | asdict(one) for one in held)
        self._held.move_to_end(session_id)
        while len(self._held) > SESSIONS:
            self._held.popitem(last=False)

    def of(self, session_id: str | None = None, memory_id: int | None = None) -> list[dict[str, Any]]:
        """What was kept from a session, or of a memory, the latest first."""
        found = [
            one
            for session, kept in self._held.items()
            for one in kept
            if session_id in (None, session) and memory_id in (None, one["memory_id"])
        ]
        return sorted(found, key=lambda one: -float(one["at"]))
