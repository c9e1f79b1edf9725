"""Events of the history, as they are sent over the socket."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Suspicion(TypedDict):
    """Why something may be poisoned; the dictionary is empty if nothing was found."""

    suspicion: NotRequired[str]


class Succession(TypedDict):
    """The memory ``by`` superseded another one (``holds``), or no longer does."""

    at: float
    actor: str
    by: int
    holds: bool


class Event(TypedDict):
    """One change: the ``actor``, the ``action``, and the changed row (``subject``, ``subject_id``).

    ``before`` and ``after`` are the changed columns by name; None before a row was inserted or after it was deleted.
    """

    id: int
    at: float
    actor: str
    action: str
    subject: str
    subject_id: str
    session_id: str | None
    reason: str
    before: Any
    after: Any
    act: str


class DescribedEvent(Event):
    """An event with a summary of its subject. ``change``: the event changed something that can be restored."""

    about: str
    change: bool
    speaker: str
    suspicion: NotRequired[str]


class HistoryResult(TypedDict):
    """Response to the request ``history``."""

    events: list[DescribedEvent]
