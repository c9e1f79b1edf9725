"""Requests about memories as files: pages of an export, the preview of an import, and the import."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from subconscious.errors import RequestError
from subconscious.store import events, projects, transfer
from subconscious.store.projects import Project
from subconscious.store.transfer import Selection

from .. import files
from .args import NO_NUL, WORDY, Args, Number
from .room import Room, refuse_forgery

A_REQUEST = 500
"""Notes that one request may bring."""


class FilesArgs(Args):
    """``notes`` are records and statements as `subconscious.files` reads them; ``links`` restores what joins them."""

    project: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    statuses: tuple[Literal["active", "unconfirmed", "archived"], ...] = ("active", "unconfirmed", "archived")
    after: Number = 0
    notes: tuple[dict[str, Any], ...] = Field(default=(), max_length=A_REQUEST)
    links: bool = False


class Files(Room):
    """Requests about memories as files."""

    arguments: ClassVar[type[Args]] = FilesArgs
    personal: ClassVar[frozenset[str]] = frozenset({"files_take"})
    decides_on: ClassVar[str] = "what is imported"

    async def cmd_export(self, args: FilesArgs) -> dict[str, Any]:
        """Return a page of memories as signed records."""
        project = None if args.everywhere else (await self._meant(args)).id
        page = await files.export(self.core, Selection(project, args.statuses), args.after, args.limit)
        return page | {
            "quarantined": await transfer.in_quarantine(self.core.database, project),
            "newest": await events.newest(self.core.database),
        }

    async def cmd_files_plan(self, args: FilesArgs) -> dict[str, Any]:
        """Say what an import would do with each note; changes nothing."""
        judged = await files.plan(self.core, args.notes, await self.here(args))
        return {"notes": [files.as_answer(one) for one in judged]}

    async def cmd_files_take(self, args: FilesArgs) -> dict[str, Any]:
        """Import notes; a person's deed, for a file could claim anybody's words."""
        refuse_forgery(args)
        if args.links:
            return {"links": await files.connect(self.core, args.notes)}
        return {"notes": await files.take(self.core, args.notes, await self.here(args), vouched=args.vouched)}

    async def _meant(self, args: FilesArgs) -> Project:
        """The project that a request names, or else the one that it is made in."""
        if not args.project:
            return await self.here(args)
        found = await projects.named(self.core.database, args.project)
        if len(found) == 1:
            return found[0]
        hint = (
            "name its folder instead: " + ", ".join(one.root for one in found) if found else "subconscious export --all"
        )
        raise RequestError(f"{'several projects are' if found else 'no project is'} called {args.project}", hint)
