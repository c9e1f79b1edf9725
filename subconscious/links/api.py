"""Requests about links: list, make, confirm, refuse and change them."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from subconscious.app.request import Handler, memory_results
from subconscious.context.arguments import MANY, Args, Name, Number
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Origin
from subconscious.links import link_commands
from subconscious.links.link_commands import LinkRequest
from subconscious.poisoning.quarantine import refuse_held
from subconscious.store import links, memories
from subconscious.store.links import LinkFilter
from subconscious.wire import links as wire

STATUSES = ("active", "proposed", "refused", "withdrawn")


class LinkArgs(Args):
    """The arguments of requests about links."""

    source: Number | None = None
    target: Number | None = None
    type: Name = ""
    types: tuple[Name, ...] = Field(default=(), max_length=MANY)
    reverse: bool = False
    depth: int = Field(default=3, ge=1, le=6)
    worded: bool = False


class Links(Handler):
    """Requests about links: list, make, confirm, refuse and change them."""

    arguments = LinkArgs
    personal: ClassVar[frozenset[str]] = frozenset({"unlink", "relink", "confirm_link"})
    at_terminal: ClassVar[frozenset[str]] = frozenset({"link"})
    decides: ClassVar[str] = "which links exist"

    async def cmd_links(self, args: LinkArgs) -> wire.LinkedMemories:
        """Return the links of one memory, in both directions; without a memory, the project's proposed links."""
        return await self._listed(args, links.SHOWN if args.id else ("proposed",))

    async def cmd_conflicts(self, args: LinkArgs) -> wire.LinkedMemories:
        """Return the contradictions among the memories of a project, or those of one memory."""
        return await self._listed(args.model_copy(update={"types": ("CONTRADICTS",)}), links.SHOWN)

    async def _listed(self, args: LinkArgs, statuses: tuple[str, ...]) -> wire.LinkedMemories:
        place = await self._project_of(args)
        which = self._which(args, statuses, place)
        found = await links.listing(self.app.database, which, args.limit)
        ends = await link_commands.ends(self.app.database, found)
        return {
            "links": await link_commands.as_rows(self.app.database, found, args.id),
            "memories": await memory_results(self.app, list(ends.values()), place),
        }

    async def _project_of(self, args: LinkArgs) -> str:
        """Return the id of the requested memory's project; failing that, of the project of the request's folder.

        The result is "" if there is no such project, or if all projects are requested without a memory.
        """
        if args.id is None:
            return "" if args.everywhere else (await self.here(args)).id
        memory = await memories.get(self.app.database, args.id)
        if args.origin is not Origin.USER:
            await refuse_held(self.app.database, [memory.id])
        here = None if memory.project_id else await self.project(args)
        return memory.project_id or (here.id if here else "")

    def _which(self, args: LinkArgs, statuses: tuple[str, ...], place: str) -> LinkFilter:
        if args.status not in (None, "all", *STATUSES):
            raise RequestError(f"there is no link status {args.status!r}", f"statuses are: {', '.join(STATUSES)}, all")
        chosen = {None: statuses, "all": STATUSES}.get(args.status) or (str(args.status),)
        types = tuple(link_commands.type_of(name)[0].name for name in args.types)
        # Archived memories may be in quarantine, which only a person may read.
        archived = args.status is not None and args.origin is Origin.USER
        return LinkFilter(args.id, None if args.everywhere else place, chosen, types, archived)

    async def cmd_link(self, args: LinkArgs) -> wire.LinkResult:
        """Link two memories. A person's link is active, the assistant's is proposed."""
        if args.source is None or args.target is None:
            raise RequestError("a link needs two memories", "give the ids of both: subconscious link ID TYPE ID")
        session = None if args.origin is Origin.USER else args.session_id
        wanted = LinkRequest(args.source, args.target, args.type, args.reason, args.origin, session)
        made, changed = await link_commands.link(self.app.database, wanted)
        (row,) = await link_commands.as_rows(self.app.database, [made])
        return {"link": row, "changed": changed}

    async def cmd_confirm_link(self, args: LinkArgs) -> wire.LinksResult:
        """Confirm links. Only a person may request it."""
        found = await link_commands.confirm(self.app.database, args.ids, args.reason)
        return {"links": await link_commands.as_rows(self.app.database, found)}

    async def cmd_unlink(self, args: LinkArgs) -> wire.LinksResult:
        """Refuse links. Only a person may request it."""
        found = await link_commands.refuse(self.app.database, args.ids, args.reason)
        return {"links": await link_commands.as_rows(self.app.database, found)}

    async def cmd_relink(self, args: LinkArgs) -> wire.RelinkResult:
        """Change the type or direction of a link. Only a person may request it."""
        if args.id is None or not (args.type or args.reverse):
            raise RequestError(
                "the request lacks the id of a link, or the change to make",
                "give the link's id, and its new type or --reverse: subconscious relink LINK TYPE",
            )
        found = await link_commands.retype(self.app.database, args.id, args.type, args.reverse, args.reason)
        return {"link": (await link_commands.as_rows(self.app.database, [found]))[0]}
