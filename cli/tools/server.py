"""The MCP server, on the official SDK: the table's tools, over stdin and stdout.

Imported by nothing but `subconscious mcp`: the SDK costs a second and 60 MB.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from subconscious import __version__
from subconscious.errors import DaemonError, RequestError, SubconsciousError
from subconscious.quoting import quote

from .arguments import Query
from .asking import Daemon
from .declared import NAME, tools
from .framing import as_text, framed
from .handover import handed_over
from .results import Notes, Result, Telling
from .table import INSTRUCTIONS, TOOLS
from .tool import Tool

BY_NAME = {tool.name: tool for tool in TOOLS}


def serve(handed: int | None, *, offered: bool) -> None:
    """Serve until the client closes stdin; without tools where they are switched off."""
    asyncio.run(_serve(handed, offered=offered))


async def _serve(handed: int | None, *, offered: bool) -> None:
    server = _with_tools() if offered else Server[Any](NAME, version=__version__)
    async with AsyncExitStack() as stack:
        heard, said = await stack.enter_async_context(stdio_server() if handed is None else handed_over(handed))
        await server.run(heard, said, server.create_initialization_options())


def _with_tools() -> Server[Any]:
    daemon = Daemon()

    async def listed(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools())

    async def called(_: ServerRequestContext[Any], call: CallToolRequestParams) -> CallToolResult:
        tool = BY_NAME.get(call.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name!r}")
        return await asyncio.to_thread(result, tool, call.arguments or {}, daemon)

    return Server[Any](NAME, version=__version__, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)


def result(tool: Tool, said: dict[str, Any], daemon: Daemon) -> CallToolResult:
    """Answer a call; what is wrong is told with what to do about it."""
    try:
        told = _answer(tool, said, daemon)
    except SubconsciousError as error:
        return _failed(error)
    except KeyError as error:
        # A newer daemon serves older programs too, and may have changed an answer.
        return _failed(DaemonError(f"the daemon's answer lacks {error}", "start a new session"))
    except OSError as error:
        return _failed(DaemonError(str(error), "the user may run `subconscious doctor`"))
    structured = framed(told)
    return CallToolResult(content=[TextContent(text=as_text(structured))], structured_content=structured)


def _answer(tool: Tool, said: dict[str, Any], daemon: Daemon) -> dict[str, Any]:
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
    """In place of an answer that the session has: which memories it told."""
    ids = ", ".join(str(note.id) for note in answer.memories)
    words = f"the same answer as a moment ago: {ids}; memory_get reads them"
    return Notes(memories=[], next=answer.next, total=answer.total, again=words)


def _failed(error: SubconsciousError) -> CallToolResult:
    words = "\n".join(quote(part) for part in (error.message, error.remedy) if part)
    return CallToolResult(content=[TextContent(text=words)], is_error=True)
