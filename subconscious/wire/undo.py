"""Results of the requests that revert changes, as they are sent over the socket."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from subconscious.wire.memories import Memory

Columns = dict[str, Any] | None
"""Columns of a row by name; None if there is no row."""


class Step(TypedDict):
    """One reverted event. ``before`` and ``after`` are the changed columns, each None if there was no row."""

    id: int
    action: str
    subject: str
    subject_id: str
    about: str
    suspicion: NotRequired[str]
    before: Columns
    after: Columns


class Undone(TypedDict):
    """A group of changes that belong together, named after its newest event."""

    id: int
    at: float
    actor: str
    reason: str
    speaker: str
    steps: list[Step]


class AffectedMemory(TypedDict):
    """A memory that an undo archives or restores as a consequence."""

    id: int
    about: str
    suspicion: NotRequired[str]


class UndoResult(TypedDict):
    """Response to the request ``undo_acts``. ``done`` is false for a preview.

    ``fallen`` are memories that are archived as a consequence, ``revived`` those that are restored.
    """

    acts: list[Undone]
    fallen: list[AffectedMemory]
    revived: list[AffectedMemory]
    done: bool


class Closed(TypedDict):
    """A capture or a link that a rollback closes, with its previous status."""

    id: int
    status: str


class RollbackResult(TypedDict):
    """Response to the request ``rollback``: what a session added. ``done`` is false for a preview.

    ``repeated`` are memories of other sessions that the session stated again, ``revived`` memories of other sessions
    that become active again. ``unread`` counts parts of its transcripts that a model had yet to read.
    """

    session_id: str
    memories: list[Memory]
    repeated: list[Memory]
    revived: list[Memory]
    captures: list[Closed]
    unread: int
    links: list[Closed]
    done: bool
