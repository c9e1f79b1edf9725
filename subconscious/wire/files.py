"""Results of the requests about exports, imports of notes, and sharing, as they are sent over the socket."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from subconscious.wire.history import Suspicion

Document = dict[str, Any]
"""The signed record of a memory, or a version of a shared memory, as JSON. It is checked before it is used."""


class Page(TypedDict):
    """A page of an export. ``next`` is the id after which the next page starts; None at the end."""

    records: list[Document]
    next: int | None


class ExportResult(Page):
    """Response to the request ``export``. ``newest`` is the id of the store's latest event."""

    quarantined: int
    newest: int


class PlannedNote(Suspicion):
    """What an import would do with a note.

    ``project`` is the name of the project that it would change, or "all projects"; "" if it is the one of the request.
    ``ends`` counts the links, corrections and merges of another store's record that end memories or contradict them.
    """

    name: str
    state: str
    about: str
    id: int | None
    now: str
    reason: str
    project: str
    ends: int


class FilesPlanResult(TypedDict):
    """Response to the request ``files_plan``."""

    notes: list[PlannedNote]


class NoteOutcome(TypedDict):
    """The outcome of an import for a note. ``became`` is "" if nothing was changed."""

    became: str
    memory_id: int | None
    reason: NotRequired[str]


class ImportedNote(PlannedNote):
    """A note with its outcome."""

    became: str
    memory_id: int | None


class FilesTakeResult(TypedDict):
    """Response to ``files_take``: the number of restored links if the request has ``links``, else the imported notes.

    ``event`` is the id of the import's newest event, with which the whole import can be undone; 0 if nothing changed.
    """

    notes: NotRequired[list[ImportedNote]]
    links: NotRequired[int]
    event: int


class SharedMemory(Suspicion):
    """A memory that a project shares."""

    id: int
    kind: str
    summary: str


class TrustResult(TypedDict):
    """Response to the request ``trust``: the authors that the user trusts."""

    trusted: list[str]


class SharedResult(TrustResult):
    """Response to ``shared``, ``share`` and ``unshare``. ``uids`` includes memories that are no longer shared.

    ``team`` is the name of the project in a team's store that this project is connected to; "" if there is none.
    """

    memories: list[SharedMemory]
    uids: list[str]
    rules: list[str]
    team: str


class SharedEntry(TypedDict):
    """One memory as it is stored in Git: its current versions, the digests of replaced versions, and its commit."""

    uid: str
    versions: list[Document]
    replaced: list[str]
    commit: str


class OfferedVersion(TypedDict):
    """An argument of ``sync_take``: one version of a memory, and who committed it according to Git."""

    uid: str
    digest: str
    version: Document
    author: str
    key: str


class HeldMemory(TypedDict):
    """A memory that is not published, and why."""

    id: int
    reason: str


class SyncPublishResult(TypedDict):
    """Response to the request ``sync_publish``: the entries to write to Git."""

    entries: list[SharedEntry]
    held: list[HeldMemory]


class ReceivedVersion(Suspicion):
    """The outcome of receiving a version of a memory that a teammate shared."""

    uid: str
    became: str
    by: str
    reason: str
    id: int | None
    about: str


class SyncTakeResult(TypedDict):
    """Response to the request ``sync_take``."""

    versions: list[ReceivedVersion]
