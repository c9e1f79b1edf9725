"""How tools reach the daemon: one that stops, is replaced or is not there yet is started or asked again."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from time import monotonic
from typing import Any

from subconscious.client import AbsentError
from subconscious.errors import RequestError

from .. import ask as daemon

SESSION = "CLAUDE_CODE_SESSION_ID"

REPEATED_SECONDS = 600.0
"""Time in which the same answer to the same search is named and not repeated."""


class Daemon:
    """The daemon, asked for one folder and always as the model: never as a person."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._folder = os.environ.get("CLAUDE_PROJECT_DIR") or daemon.here()
        self.session = os.environ.get(SESSION, "")
        self._clock = clock
        self._answered: dict[str, tuple[float, str]] = {}

    @cached_property
    def project(self) -> str:
        """The id of the folder's project. Raises RequestError where there is none."""
        found = self.ask("status")["project"]
        if found is None:
            raise RequestError("this folder belongs to no project", "start the client within one")
        return str(found["id"])

    def ask(self, cmd: str, **args: Any) -> dict[str, Any]:
        """Put one request to the daemon; arguments that are None are left out."""
        asked = args | {"cwd": self._folder, "origin": "assistant"}
        try:
            return daemon.ask(cmd, **asked)
        except AbsentError:
            # It left between the greeting and the request: for a newer one, or for being idle. It has not read it.
            return daemon.ask(cmd, **asked)

    def was_answered(self, question: str, answer: str) -> bool:
        """Whether this very question got this very answer a while ago; if not, it is remembered.

        Only for some minutes: a context that is compacted or cleared loses what it was told.
        """
        at, before = self._answered.get(question, (-REPEATED_SECONDS, ""))
        now = self._clock()
        if answer == before and now - at < REPEATED_SECONDS:
            return True
        self._answered[question] = (now, answer)
        return False

    def note_given(self, ids: list[int], tool: str) -> None:
        """Let the session's ledger know what it is about to be told; other clients have no session."""
        if ids and self.session:
            self.ask("given", session_id=self.session, ids=ids, reason=tool)
