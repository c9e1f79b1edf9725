"""Requests about links: looking at them, making them, and a person's word on those that are proposed."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from subconscious.errors import RequestError
from subconscious.model import Origin
from subconscious.store import links, memories
from subconscious.store.links import Which

from .. import bonds
from ..acts import refuse_held
from ..bonds import Wanted
from .args import MANY, Args, Name, Number
from .room import Room, stood

STATUSES = ("active", "proposed", "refused", "withdrawn")


class LinkArgs(Args):
    """What requests about links take besides."""

    source: Number | None = None
    target: Number | None = None
    type: Name = ""
    types: tuple[Name, ...] = Field(default=(), max_length=MANY)
    reverse: bool = False
    depth: int = Field(default=3, ge=1, le=6)
    worded: bool = False


class Links(Room):
    """Requests about links: looking at them, making them, and a person's word on those that are proposed."""

    arguments = LinkArgs
    personal: ClassVar[frozenset[str]] = frozenset({"unlink", "relink", "confirm_link"})
    at_terminal: ClassVar[frozenset[str]] = frozenset({"link"})
    decides_on: ClassVar[str] = "links"

    async def cmd_links(self, args: LinkArgs) -> dict[str, Any]:
        """The links of one memory, from both ends; without one, what is proposed in the project and waits."""
        return await self._listed(args, links.SHOWN if args.id else ("proposed",))

    async def cmd_conflicts(self, args: LinkArgs) -> dict[str, Any]:
        """What contradicts each other in the project, or one memory."""
        return await self._listed(args.model_copy(update={"types": ("CONTRADICTS",)}), links.SHOWN)

    async def _listed(self, args: LinkArgs, statuses: tuple[str, ...]) -> dict[str, Any]:
        place = await self._place(args)
        which = self._which(args, statuses, place)
        found = await links.listing(self.core.database, which, args.limit)
        met = await bonds.ends(self.core.database, found)
        return {
            "links": await bonds.told(self.core, found, args.id),
            "memories": await stood(self.core, list(met.values()), place),
        }

    async def _place(self, args: LinkArgs) -> str:
        """The project that is meant: a memory's own, else where the question is asked; "" for what is of none."""
        if args.id is None:
            return (await self.here(args)).id
        memory = await memories.get(self.core.database, args.id)
        if args.origin is not Origin.USER:
            await refuse_held(self.core, [memory.id])
        here = None if memory.project_id else await self.project(args)
        return memory.project_id or (here.id if here else "")

    def _which(self, args: LinkArgs, statuses: tuple[str, ...], place: str) -> Which:
        if args.status not in (None, "all", *STATUSES):
            raise RequestError(f"there is no status {args.status!r}", f"statuses are: {', '.join(STATUSES)}, all")
        chosen = {None: statuses, "all": STATUSES}.get(args.status) or (str(args.status),)
        types = tuple(bonds.type_of(name)[0].name for name in args.types)
        # What is archived may be in quarantine, and is for a person to read.
        archived = args.status is not None and args.origin is Origin.USER
        return Which(args.id, None if args.everywhere else place, chosen, types, archived)

    async def cmd_link(self, args: LinkArgs) -> dict[str, Any]:
        """Link two memories: a person's word holds, the assistant's waits for one."""
        if args.source is None or args.target is None:
            raise RequestError("a link has two ends", "subconscious link ID TYPE ID")
        session = None if args.origin is Origin.USER else args.session_id
        wanted = Wanted(args.source, args.target, args.type, args.reason, args.origin, session)
        made, changed = await bonds.link(self.core, wanted)
        (row,) = await bonds.told(self.core, [made])
        return {"link": row, "changed": changed}

    async def cmd_confirm_link(self, args: LinkArgs) -> dict[str, Any]:
        """A person says that links are right."""
        found = await bonds.confirm(self.core, args.ids, args.reason)
        return {"links": await bonds.told(self.core, found)}

    async def cmd_unlink(self, args: LinkArgs) -> dict[str, Any]:
        """A person says that links are wrong."""
        found = await bonds.refuse(self.core, args.ids, args.reason)
        return {"links": await bonds.told(self.core, found)}

    async def cmd_relink(self, args: LinkArgs) -> dict[str, Any]:
        """A person says how a link really is."""
        if args.id is None or not (args.type or args.reverse):
            raise RequestError("say which link, and what it should be", "subconscious relink LINK TYPE, or --reverse")
        found = await bonds.retype(self.core, args.id, args.type, args.reverse, args.reason)
        return {"link": (await bonds.told(self.core, [found]))[0]}
