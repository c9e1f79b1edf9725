"""Requests for a page of an export, the preview of an import, and the import."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from subconscious.app.request import Handler, refuse_forgery
from subconscious.context.arguments import NO_NUL, WORDY, Args, Number
from subconscious.files import export, import_plan, importing
from subconscious.files.record import Key
from subconscious.store import events, transfer
from subconscious.store.connect import shared_act
from subconscious.store.transfer import Selection
from subconscious.wire.files import Document, ExportResult, FilesPlanResult, FilesTakeResult

NOTES_PER_REQUEST = 500
"""The most notes that one request may contain."""
MOST_RESTORED = 100_000
"""The most restored memories that a request about links may name."""


class FilesArgs(Args):
    """The arguments of the requests for exports and imports.

    ``notes`` are the notes to import (`files.reading.Item`). With ``links``, no note is imported; the links,
    corrections and merges between stored memories are restored. With ``assigned``, notes of unknown projects are
    imported into the project of the request; otherwise they are left out. ``restored`` maps the uids of records to the
    memories that the same import restored from another store's export: ``links`` connects only these memories. Requests
    with the same ``act`` belong to one import, and are undone together.
    """

    project: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    statuses: tuple[Literal["active", "unconfirmed", "archived"], ...] = ("active", "unconfirmed", "archived")
    after: Number = 0
    notes: tuple[Document, ...] = Field(default=(), max_length=NOTES_PER_REQUEST)
    links: bool = False
    assigned: bool = False
    restored: dict[Key, Number] = Field(default={}, max_length=MOST_RESTORED)
    act: str = Field(default="", max_length=32, pattern=r"^[0-9a-f]*$")


class Files(Handler):
    """Requests for exports and imports."""

    arguments: ClassVar[type[Args]] = FilesArgs
    personal: ClassVar[frozenset[str]] = frozenset({"files_take"})
    decides: ClassVar[str] = "what is imported"

    async def cmd_export(self, args: FilesArgs) -> ExportResult:
        """Return a page of memories as signed records."""
        project = None
        if not args.everywhere:
            project = (await self.named_project(args, args.project, "subconscious export --all")).id
        page = await export.export(self.app, Selection(project, args.statuses), args.after, args.limit)
        return {
            **page,
            "quarantined": await transfer.in_quarantine(self.app.database, project),
            "newest": await events.latest_id(self.app.database),
        }

    async def cmd_files_plan(self, args: FilesArgs) -> FilesPlanResult:
        """Return what an import would do with each note. Read-only."""
        planned = await import_plan.plan(self.app, args.notes, await self.here(args), assigned=args.assigned)
        return {"notes": [import_plan.as_answer(one) for one in planned]}

    async def cmd_files_take(self, args: FilesArgs) -> FilesTakeResult:
        """Import notes, or restore links; only a person may do this, because a file can attribute text to anybody."""
        refuse_forgery(args)
        done: FilesTakeResult = {"event": 0}
        with shared_act(args.act):
            if args.links:
                restored = args.restored if args.vouched else {}
                done["links"] = await importing.restore_links(self.app, args.notes, restored=restored)
            else:
                values = {"vouched": args.vouched, "assigned": args.assigned}
                project = await self.here(args)
                done["notes"] = await importing.import_notes(self.app, args.notes, project, **values)
        return {**done, "event": await events.newest_of_act(self.app.database, args.act)}
