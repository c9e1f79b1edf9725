"""Dispatches JSON requests to their handlers, and checks the caller's permission (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pydantic import ValidationError

from subconscious import __version__
from subconscious.app import App
from subconscious.app.request import Handler
from subconscious.authorship import peers
from subconscious.consolidation.api import Consolidating
from subconscious.context.arguments import LONGEST_NAME, Args
from subconscious.domain.errors import RequestError
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Origin
from subconscious.files.api import Files
from subconscious.history.api import Changes
from subconscious.history.sessions_api import Past
from subconscious.imports.model_setup_api import ModelSetup
from subconscious.knowledge.api import Knowledge
from subconscious.links.api import Links
from subconscious.links.graph_api import Graphs
from subconscious.memories.api import Memories, Moving
from subconscious.memories.corrections_api import Correcting
from subconscious.memories.fading_api import Fading
from subconscious.page.api import Pages
from subconscious.privacy.api import Privacy
from subconscious.redaction.cleaning import clean
from subconscious.review.api import Deciding
from subconscious.sharing.api import Sharing
from subconscious.team.api import Team
from subconscious.upkeep.api import Upkeep
from subconscious.wire import Request

from .api import DaemonControl
from .spool import Spool

log = logging.getLogger("subconscious.daemon")

HANDLERS: tuple[type[Handler], ...] = (
    DaemonControl,
    Memories,
    Deciding,
    Past,
    Privacy,
    Links,
    Graphs,
    Fading,
    Correcting,
    Changes,
    Upkeep,
    Consolidating,
    Knowledge,
    ModelSetup,
    Moving,
    Files,
    Sharing,
    Team,
    Pages,
)


EXCEEDED = {
    "less_than_equal": "must be {le:g} or less",
    "greater_than_equal": "must be {ge:g} or more",
    "string_too_long": "must have at most {max_length} characters",
    "too_long": "is too long: {actual_length}, at most {max_length}",
}
"""The error message for a value beyond a limit, by the type of Pydantic's error."""

RESTART = "`subconscious daemon stop`: the next command starts it with the installed code"
"""The remedy for a request that the daemon does not know: a running daemon keeps the code that it started with."""


class Commands:
    """Runs each request with the handler of its command."""

    def __init__(self, app: App, spool: Spool) -> None:
        self._pages = Pages(app, self.run_for_person)
        own = {DaemonControl: DaemonControl(app, spool), Pages: self._pages}
        self._handlers = {
            name.removeprefix("cmd_"): handler
            for handler in (own.get(each) or each(app) for each in HANDLERS)
            for name in dir(handler)
            if name.startswith("cmd_")
        }

    async def run(self, request: Request, caller: int) -> dict[str, Any]:
        """Run a request of the process ``caller`` and return its result.

        Raises SubconsciousError; RequestError for an invalid request.
        """
        handler, args = self._parsed(request.cmd, request.args)
        return await _run(handler, request.cmd, await _verified(handler, request.cmd, args, caller))

    async def run_for_person(self, cmd: str, args: dict[str, Any]) -> dict[str, Any]:
        """Run a request of the web page as a person's request; page/guard.py has checked that a person uses it."""
        handler, parsed = self._parsed(cmd, args)
        return await _run(handler, cmd, parsed.model_copy(update={"origin": Origin.USER}))

    async def close(self) -> None:
        """Close the local web page, if it is open."""
        await self._pages.close()

    def _parsed(self, cmd: str, values: dict[str, Any]) -> tuple[Handler, Args]:
        """Return the handler of a request and its arguments."""
        handler = self._handlers.get(cmd)
        if handler is None:
            raise RequestError(f"the running daemon ({__version__}) knows no request {cmd[:LONGEST_NAME]!r}", RESTART)
        try:
            args = handler.arguments(**{name: value for name, value in values.items() if value is not None})
        except ValidationError as error:
            raise _invalid(error) from error
        if args.kind is not None and args.kind not in KINDS:
            raise RequestError(f"there is no kind {args.kind!r}", f"kinds are: {', '.join(KINDS)}")
        return handler, args


def _invalid(error: ValidationError) -> RequestError:
    """Return an error about the first invalid argument, in words for a user if it is unknown or exceeds a limit."""
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return RequestError(f"the running daemon ({__version__}) knows no argument {name[:LONGEST_NAME]!r}", RESTART)
    if wording := EXCEEDED.get(first["type"]):
        return RequestError(f"{name}: {wording.format(**first.get('ctx', {}))}", "try again within this limit")
    return RequestError(f"{name}: {first['msg']}", "see docs/protocol.md")


async def _run(handler: Handler, cmd: str, args: Args) -> dict[str, Any]:
    if args.reason:
        args = args.model_copy(update={"reason": clean(args.reason)})
    result: dict[str, Any] = await getattr(handler, f"cmd_{cmd}")(args)
    return result


async def _verified(handler: Handler, cmd: str, args: Args, caller: int) -> Args:
    """Return the arguments with a verified origin: the user's only if the caller appears to be a person.

    Raises RequestError if only a person may make the request, and the caller does not appear to be one.
    """
    doubt = "the assistant asked for it"
    if args.origin is Origin.USER:
        at_terminal = cmd in handler.personal | handler.at_terminal
        root = handler.app.home.root
        doubt = await asyncio.to_thread(peers.doubt_of_person, caller, at_terminal=at_terminal, root=root)
        allowed = await _allowed_to_script(handler, cmd, args, caller) if doubt and cmd in handler.personal else None
        if allowed is not None:
            return allowed
    if cmd in handler.personal and doubt:
        log.warning("%s refused to process %d: %s", cmd, caller, doubt)
        raise RequestError(
            f"only a person decides {handler.decides}, and this request does not seem to come from a person: {doubt}",
            f"run {_where(handler)}",
        )
    return args.model_copy(update={"origin": Origin.ASSISTANT}) if doubt else args


async def _allowed_to_script(handler: Handler, cmd: str, args: Args, caller: int) -> Args | None:
    """Return the request that a person's script may make; None if the caller is none, or the handler forbids it."""
    root = handler.app.home.root
    doubt = await asyncio.to_thread(peers.doubt_of_person, caller, at_terminal=False, root=root)
    return None if doubt else await handler.allowed_to_script(cmd, args)


def _where(handler: Handler) -> str:
    """Return where a person can run the rejected command."""
    outside = "in a terminal that you opened before Claude Code (over ssh: ssh -t)"
    if isinstance(handler, Deciding):
        return f"`subconscious review` {outside}, or type /subconscious:review in Claude Code"
    if isinstance(handler, Correcting):
        return f"it {outside}, or propose the correct statement for review: subconscious remember TEXT"
    return f"it {outside}"
