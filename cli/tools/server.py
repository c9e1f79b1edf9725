"""The MCP server: serves the tools over stdin and stdout."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from subconscious.domain.errors import DaemonError, RequestError, SubconsciousError
from subconscious.text.quoting import quote
from subconscious.wire import AbsentError

from .. import ask as daemon_client
from .arguments import Query
from .declared import tools
from .framing import as_text, framed
from .protocol import INVALID_PARAMS, Message, Offer, ProtocolError
from .results import MemoryResult, Notes, Result
from .stdio import Connection, Wire, was_greeted
from .table import INSTRUCTIONS, TOOLS
from .tool import Tool

if TYPE_CHECKING:
    from subconscious.wire.requests import Ask

BY_NAME = {tool.name: tool for tool in TOOLS}

SESSION = "CLAUDE_CODE_SESSION_ID"

REPEATED_SECONDS = 600.0
"""Seconds for which a repeated search with the same answer returns only the ids of the memories."""


class Daemon:
    """Sends requests to the daemon for one folder, always with the origin ``assistant``, never as a person."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._folder = os.environ.get("CLAUDE_PROJECT_DIR") or daemon_client.here()
        self.session = os.environ.get(SESSION, "")
        self._clock = clock
        self._answered: dict[str, tuple[float, str]] = {}

    @cached_property
    def project(self) -> str:
        """The id of the folder's project. Raises RequestError if it has none."""
        found = self.ask("status")["project"]
        if found is None:
            raise RequestError("this folder belongs to no project", "start the client within one")
        return str(found["id"])

    @property
    def ask(self) -> Ask:
        """Sends a request to the daemon and returns its answer; arguments that are None are left out."""
        return self._ask

    def _ask(self, cmd: str, timeout_seconds: float = daemon_client.TIMEOUT_SECONDS, /, **args: Any) -> Any:
        args = args | {"cwd": self._folder, "origin": "assistant"}
        try:
            return daemon_client.send(cmd, timeout_seconds, **args)
        except AbsentError:
            # The daemon exited before it read the request, because it was idle or replaced by a newer one.
            return daemon_client.send(cmd, timeout_seconds, **args)

    def is_repeated(self, question: str, answer: str) -> bool:
        """Return whether the question got the same answer in the last REPEATED_SECONDS; if not, record the answer.

        The time is limited, because the session's context may be compacted or cleared, and then lacks the answer.
        """
        at, before = self._answered.get(question, (-REPEATED_SECONDS, ""))
        now = self._clock()
        if answer == before and now - at < REPEATED_SECONDS:
            return True
        self._answered[question] = (now, answer)
        return False

    def report_given(self, ids: list[int], tool: str) -> None:
        """Report to the daemon which memories the session is about to be shown, if the session is known."""
        if ids and self.session:
            self.ask("given", session_id=self.session, ids=ids, reason=tool)


def serve(handed: int | None, *, offered: bool) -> None:
    """Serve the client until it closes stdin; offer no tools unless ``offered``.

    ``handed`` is the descriptor of a file with messages that hooks/greet.py has read already; None if there is none.
    """
    offer = Offer(INSTRUCTIONS, tools(), partial(_called, Daemon())) if offered else Offer()
    Connection(offer, Wire(handed), greeted=was_greeted(handed)).serve()


def _called(daemon: Daemon, name: str, arguments: Mapping[str, Any]) -> Message:
    tool = BY_NAME.get(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"there is no tool {name!r}")
    return result(tool, arguments, daemon)


def result(tool: Tool, arguments: Mapping[str, Any], daemon: Daemon) -> Message:
    """Return the result of a call; an error includes its remedy."""
    try:
        values = _answer(tool, arguments, daemon)
    except SubconsciousError as error:
        return _failed(error)
    except KeyError as error:
        # The daemon may be newer than this program, and its answer may lack a field that this program reads.
        return _failed(DaemonError(f"the daemon's answer lacks {error}", "start a new session"))
    except OSError as error:
        return _failed(DaemonError(str(error), "the user may run `subconscious doctor`"))
    structured = framed(values)
    return {"content": [_text(as_text(structured))], "structuredContent": structured, "isError": False}


def _answer(tool: Tool, given: Mapping[str, Any], daemon: Daemon) -> dict[str, Any]:
    try:
        arguments = tool.arguments.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or tool.name
        raise RequestError(f"{where}: {first['msg']}", "call it again with other arguments") from error
    answer: Result = tool.answer(arguments, daemon)
    if (
        isinstance(arguments, Query)
        and isinstance(answer, Notes)
        and answer.memories
        and daemon.is_repeated(*_asked(tool, arguments, answer))
    ):
        return _again(answer).values()
    notes = answer.memories if isinstance(answer, MemoryResult) else []
    # Before the answer is sent, so that what the session later says about these memories counts as a repetition.
    daemon.report_given([note.id for note in notes if note.whole], tool.name)
    return answer.values()


def _asked(tool: Tool, arguments: Query, answer: Notes) -> tuple[str, str]:
    """Return a question and its answer as strings for comparison."""
    return f"{tool.name} {arguments.model_dump_json()}", answer.model_dump_json()


def _again(answer: Notes) -> Notes:
    """Return only the ids of an answer's memories, because the session got the same answer a few minutes ago."""
    ids = ", ".join(str(note.id) for note in answer.memories)
    words = f"the same answer as a moment ago: {ids}; memory_get reads them"
    return Notes(memories=[], next=answer.next, total=answer.total, again=words)


def _failed(error: SubconsciousError) -> Message:
    words = "\n".join(quote(part) for part in (error.message, error.remedy) if part)
    return {"content": [_text(words)], "isError": True}


def _text(words: str) -> Message:
    return {"type": "text", "text": words}
