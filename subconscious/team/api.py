"""Requests about a team's store."""

from __future__ import annotations

import asyncio
from importlib import import_module
from time import time
from typing import Any, ClassVar

from pydantic import Field

from subconscious import extras
from subconscious.app import App
from subconscious.app.reconfigure import put_in_force
from subconscious.app.request import Handler
from subconscious.context.approval import accept_only
from subconscious.context.arguments import Args, Name
from subconscious.domain.errors import RequestError, SubconsciousError, TeamError
from subconscious.settings.settings import load_settings
from subconscious.store import shares
from subconscious.store.projects import Project
from subconscious.store.team import queue
from subconscious.store.team.address import parse
from subconscious.store.team.queue import Joined
from subconscious.team.background import TeamExchange, of
from subconscious.team.store import EXTRA
from subconscious.wire.team import TeamMember, TeamResult, TeamSetupResult, TeamSyncResult

APPROVED = ("store",)
"""The settings that joining a team's store approves, out of those that need a person's approval."""

ROLES = ("reader", "author", "maintainer", "none")
EVERYBODY = "team:*"
SHOWN_REFUSALS = 20


class TeamArgs(Args):
    """``name`` is the name of a project on the server; ``create`` creates it.

    ``person`` and ``role`` are the name and the role of a member. ``store`` is the address of the team's store,
    ``password`` the password of its administrator.
    """

    name: Name = ""
    person: str = Field(default="", max_length=63)
    role: Name = ""
    create: bool = False
    store: str = Field(default="", max_length=1000)
    password: str = Field(default="", max_length=4096, repr=False)


class Team(Handler):
    """Requests about a team's store."""

    arguments: ClassVar[type[Args]] = TeamArgs
    personal: ClassVar[frozenset[str]] = frozenset(
        {"team_join", "team_leave", "team_sync", "team_confirm", "team_member", "team_setup"}
    )
    at_terminal: ClassVar[frozenset[str]] = personal
    decides: ClassVar[str] = "what is shared"

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._team: TeamExchange = of(app)

    async def cmd_team(self, args: TeamArgs) -> TeamResult:
        """Return the state of this project's exchange; with ``check``, also the members and projects on the server."""
        project = await self.here(args)
        return await self._state(project, check=args.check)

    async def cmd_team_join(self, args: TeamArgs) -> TeamResult:
        """Connect this project with a project on the server (with ``create``: a new one), and trust its members."""
        project = await self.here(args)
        if not args.name:
            raise RequestError(
                "the name of the project in the team's store is missing", "run `subconscious team join NAME`"
            )
        if args.store:
            await self._approve(args.store)
        server = await self._server()
        queries = self._queries()
        if args.create:
            await server.run(queries.create_project, args.name)
        hello = await server.run(queries.hello)
        found = next((one for one in hello.projects if one.name == args.name), None)
        if found is None:
            known = ", ".join(one.name for one in hello.projects[:20]) or "none"
            raise RequestError(
                f"{hello.person} is not a member of a project {args.name} in the team's store (member of: {known})",
                f"ask a maintainer to run `subconscious team member {hello.person} author`,"
                " or add --create to create the project",
            )
        made = Joined(
            project.id, server.address.place, found.id, found.name, hello.person, found.role, 0, "", 0, time(), None
        )
        async with self.app.database.write() as tx:
            await queue.join(tx, project.id, made)
            await shares.trust(tx, EVERYBODY, on=True)
        return await self._state(project)

    async def cmd_team_leave(self, args: TeamArgs) -> TeamResult:
        """Stop exchanging this project's memories."""
        project = await self.here(args)
        await self._joined(project)
        async with self.app.database.write() as tx:
            await queue.leave(tx, project.id)
        return await self._state(project)

    async def cmd_team_sync(self, args: TeamArgs) -> TeamSyncResult:
        """Exchange this project's memories now, including changes that the server refused before."""
        project = await self.here(args)
        joined, server = await self._joined(project), await self._server()
        server.breaker.forgive()
        async with self.app.database.write() as tx:
            await queue.retry(tx, project.id)
        done = await self._team.exchange(joined, everything=True)
        return {
            "sent": done.sent,
            "held": done.held,
            "refused": done.refused,
            "received": done.received,
            "broken": done.broken,
        }

    async def cmd_team_confirm(self, args: TeamArgs) -> TeamResult:
        """Confirm memories for the team as a maintainer, or withdraw the confirmation."""
        project = await self.here(args)
        joined = await self._joined(project)
        if joined.member != "maintainer":
            raise RequestError(
                "only a maintainer can confirm memories for the team", "run `subconscious team` to see your role"
            )
        async with self.app.database.write() as tx:
            for number in args.ids:
                known = await queue.version_of(tx, number)
                if known is None:
                    raise RequestError(
                        f"memory {number} is not shared with the team",
                        "run `subconscious share` to list the shared memories",
                    )
                await queue.queue(tx, project.id, "doubt" if args.back else "confirm", *known)
        return await self._state(project)

    async def cmd_team_member(self, args: TeamArgs) -> TeamResult:
        """List the members of this project; with ``person`` and ``role``, set a member's role as a maintainer."""
        project = await self.here(args)
        joined, server = await self._joined(project), await self._server()
        if args.person:
            if args.role not in ROLES:
                raise RequestError(f"there is no role {args.role!r}", f"roles are: {', '.join(ROLES)}")
            role = "" if args.role == "none" else args.role
            await server.run(self._queries().set_member, joined.remote_id, args.person, role)
        return await self._state(project, check=True)

    async def cmd_team_setup(self, args: TeamArgs) -> TeamSetupResult:
        """Prepare a database as a team's store, logged in as its administrator: apply the migrations."""
        if absence := await asyncio.to_thread(extras.install, EXTRA):
            raise TeamError(absence.message, absence.remedy)
        module = await asyncio.to_thread(import_module, "subconscious.store.team.migrate")
        return {"applied": await module.migrate(args.store, args.password)}

    async def _approve(self, store: str) -> None:
        """Approve the team's store that config.toml names; other changes in config.toml still wait for approval."""
        parse(store)
        settings = load_settings(self.app.home.root)
        if settings.store != store:
            raise RequestError(
                "the settings name a different store from the one to join",
                "unset the variable SUBCONSCIOUS_STORE, which has priority over config.toml",
            )
        values = await accept_only(self.app.database, settings, self.app.config.accepted, APPROVED)
        self.app.settings = settings
        await put_in_force(self.app, values)

    async def _server(self) -> Any:
        if absence := await asyncio.to_thread(extras.install, EXTRA):
            raise TeamError(absence.message, absence.remedy)
        server = await self._team.store.server()
        server.breaker.forgive()
        return server

    @staticmethod
    def _queries() -> Any:
        return import_module("subconscious.store.team.queries")

    async def _joined(self, project: Project) -> Joined:
        joined = await self._team.store.joined(project.id)
        if joined is None:
            raise RequestError("this project is not connected to the team's store", "run `subconscious team join NAME`")
        return joined

    async def _state(self, project: Project, *, check: bool = False) -> TeamResult:
        address = self._team.store.address
        joined = await self._team.store.joined(project.id)
        counts = await queue.counts(self.app.database, project.id)
        refused = await queue.troubles(self.app.database, project.id, SHOWN_REFUSALS)
        trouble = self._team.trouble
        members: list[TeamMember] = []
        projects: list[str] = []
        if check and address is not None:
            try:
                members, projects = await self._from_server(joined)
                trouble = None
            except SubconsciousError as error:
                trouble = error
        return {
            "store": address.shown if address else "",
            "name": joined.name if joined else "",
            "person": joined.person if joined else "",
            "role": joined.member if joined else "",
            "waiting": counts.waiting,
            "received": counts.received,
            "synced_at": joined.synced_at if joined else None,
            "trouble": trouble.message if trouble else "",
            "remedy": trouble.remedy if trouble else "",
            "refused": [{"act": one.act, "uid": one.uid, "reason": one.trouble} for one in refused],
            "projects": projects,
            "members": members,
        }

    async def _from_server(self, joined: Joined | None) -> tuple[list[TeamMember], list[str]]:
        """Return the members of the project, and the projects on the server that this person is a member of."""
        server, queries = await self._server(), self._queries()
        hello = await server.run(queries.hello)
        known = await server.run(queries.members, joined.remote_id) if joined else []
        return (
            [{"person": one.person, "role": one.role} for one in known],
            [one.name for one in hello.projects],
        )
