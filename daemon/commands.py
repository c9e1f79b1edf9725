"""Finds who carries a JSON request out, and whether who asks may have it done (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pydantic import ValidationError

from subconscious import __version__
from subconscious.client import Request
from subconscious.errors import RequestError
from subconscious.flow.remembering import clean
from subconscious.kinds import KINDS
from subconscious.model import Origin

from . import peers
from .core import Core
from .requests.args import LONGEST_NAME, Args
from .requests.changes import Changes
from .requests.consolidating import Consolidating
from .requests.correcting import Correcting
from .requests.deciding import Deciding
from .requests.fading import Fading
from .requests.files import Files
from .requests.graphs import Graphs
from .requests.knowledge import Knowledge
from .requests.links import Links
from .requests.memories import Memories
from .requests.model_setup import ModelSetup
from .requests.moving import Moving
from .requests.past import Past
from .requests.privacy import Privacy
from .requests.room import Room
from .requests.running import Running
from .requests.upkeep import Upkeep
from .spool import Spool

log = logging.getLogger("subconscious.daemon")

ROOMS: tuple[type[Room], ...] = (
    Running,
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
)


class Commands:
    """Carries requests out against the store."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._rooms = {
            name.removeprefix("cmd_"): room
            for room in (each(core, spool) for each in ROOMS)
            for name in dir(room)
            if name.startswith("cmd_")
        }

    async def run(self, request: Request, caller: int) -> dict[str, Any]:
        """Carry out a request of process ``caller``. Raises SubconsciousError; RequestError for what makes no sense."""
        room = self._rooms.get(request.cmd)
        if room is None:
            unknown = request.cmd[:LONGEST_NAME]
            raise RequestError(f"the daemon ({__version__}) knows no request {unknown!r}", "update the plugin")
        try:
            args = room.arguments(**{name: value for name, value in request.args.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", "see docs/protocol.md") from error
        if args.kind is not None and args.kind not in KINDS:
            raise RequestError(f"there is no kind {args.kind!r}", f"kinds are: {', '.join(KINDS)}")
        believed = await _believed(room, request.cmd, args, caller)
        if believed.reason:
            believed = believed.model_copy(update={"reason": clean(believed.reason)})
        result: dict[str, Any] = await getattr(room, f"cmd_{request.cmd}")(believed)
        return result


async def _believed(room: Room, cmd: str, args: Args, caller: int) -> Args:
    """The arguments with the origin that we believe: a person's only if the caller looks like one."""
    doubt = "the assistant asked"
    if args.origin is Origin.USER:
        at_terminal = cmd in room.personal | room.at_terminal
        root = room.core.home.root
        doubt = await asyncio.to_thread(peers.doubt_of_person, caller, at_terminal=at_terminal, root=root)
    if cmd in room.personal and doubt:
        log.warning("%s refused to process %d: %s", cmd, caller, doubt)
        raise RequestError(
            f"a person decides on {room.decides_on}, not the assistant ({doubt})",
            f"run {_where(room)}",
        )
    return args.model_copy(update={"origin": Origin.ASSISTANT}) if doubt else args


def _where(room: Room) -> str:
    """Where a person may do what was refused."""
    outside = "in a terminal that was open before any Claude Code that runs (over ssh: ssh -t)"
    if isinstance(room, Deciding):
        return f"`subconscious review` {outside}, or type /subconscious:review in it"
    if isinstance(room, Correcting):
        return f"it {outside}, or propose what holds instead, to be reviewed: subconscious remember TEXT"
    return f"it {outside}"
