"""The MCP server: the table's tools over stdin and stdout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError

from subconscious.errors import DaemonError, RequestError, SubconsciousError
from subconscious.quoting import quote

from .arguments import Query
from .asking import Daemon
from .declared import tools
from .framing import as_text, framed
from .protocol import INVALID_PARAMS, Message, Offer, ProtocolError
from .results import Notes, Result, Telling
from .stdio import Connection, Wire, was_greeted
from .table import INSTRUCTIONS, TOOLS
from .tool import Tool

BY_NAME = {tool.name: tool for tool in TOOLS}


def serve(handed: int | None, *, offered: bool) -> None:
    """Serve until the client closes stdin; without tools where they are switched off."""
    offer = Offer(INSTRUCTIONS, tools(), partial(_called, Daemon())) if offered else Offer()
    Connection(offer, Wire(handed), greeted=was_greeted(handed)).serve()


def _called(daemon: Daemon, name: str, arguments: Mapping[str, Any]) -> Message:
    tool = BY_NAME.get(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"there is no tool {name!r}")
    return result(tool, arguments, daemon)


def result(tool: Tool, arguments: Mapping[str, Any], daemon: Daemon) -> Message:
    """The result of a call; an error names what to do about it."""
    try:
        told = _answer(tool, arguments, daemon)
    except SubconsciousError as error:
        return _failed(error)
    except KeyError as error:
        # A newer daemon serves older programs too, and may have changed an answer.
        return _failed(DaemonError(f"the daemon's answer lacks {error}", "start a new session"))
    except OSError as error:
        return _failed(DaemonError(str(error), "the user may run `subconscious doctor`"))
    structured = framed(told)
    return {"content": [_text(as_text(structured))], "structuredContent": structured, "isError": False}


def _answer(tool: Tool, said: Mapping[str, Any], daemon: Daemon) -> dict[str, Any]:
    try:
        wish = tool.arguments.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or tool.name
        raise RequestError(f"{where}: {first['msg']}", "call it again with other arguments") from error
    answer: Result = tool.answer(wish, daemon)
    if (
        isinstance(wish, Query)
        and isinstance(answer, Notes)
        and answer.memories
        and daemon.was_answered(*_asked(tool, wish, answer))
    ):
        return _again(answer).told()
    notes = answer.memories if isinstance(answer, Telling) else []
    # Before the answer leaves: what the session says of it from now on is no news.
    daemon.note_given([note.id for note in notes if note.whole], tool.name)
    return answer.told()


def _asked(tool: Tool, wish: Query, answer: Notes) -> tuple[str, str]:
    """A question and its answer, as they are compared."""
    return f"{tool.name} {wish.model_dump_json()}", answer.model_dump_json()


def _again(answer: Notes) -> Notes:
    """Replace an answer that the session has already by the ids of its memories."""
    ids = ", ".join(str(note.id) for note in answer.memories)
    words = f"the same answer as a moment ago: {ids}; memory_get reads them"
    return Notes(memories=[], next=answer.next, total=answer.total, again=words)


def _failed(error: SubconsciousError) -> Message:
    words = "\n".join(quote(part) for part in (error.message, error.remedy) if part)
    return {"content": [_text(words)], "isError": True}


def _text(words: str) -> Message:
    return {"type": "text", "text": words}
