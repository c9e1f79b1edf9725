"""Results of the requests that serve the page, and of those that only it makes, as they are sent over the socket."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from subconscious.wire.daemon import Project


class UiResult(TypedDict):
    """Answer to ``ui``: a link that works once, and the port of the page."""

    url: str
    port: int


class UiClosed(TypedDict):
    """Answer to ``ui_close``. ``closed``: there was a page to close."""

    closed: bool


class CountedProject(Project):
    """A project and the number of its active memories."""

    memories: int


class ProjectsResult(TypedDict):
    """Answer to ``projects``. ``review``: captures that wait, in the project at ``cwd`` or in all."""

    projects: list[CountedProject]
    review: int


class LatestResult(TypedDict):
    """Answer to ``latest``: the ids of the newest event and of the newest surface."""

    event: int
    surface: int


class Linked(TypedDict):
    """A link that an act made, and what its memories say; it starts from the memory ``id``."""

    type: str
    id: int
    summary: str
    other: int
    other_summary: str


class ActItem(TypedDict):
    """An act, named after its most important event. ``number``: how many things that event's action was done to.

    ``effect``: whether it archived or restored a memory, and ``holds``: whether that memory is still as it left it.
    """

    sort: Literal["change"]
    id: int
    at: float
    actor: str
    action: str
    subject: str
    subject_id: str
    reason: str
    session_id: str | None
    about: str
    number: int
    speaker: str
    change: bool
    effect: Literal["archived", "restored", ""]
    holds: bool
    linked: list[Linked]
    suspicion: NotRequired[str]


class GivenMemory(TypedDict):
    """A memory that a session was given, why, and the session's response."""

    id: int
    summary: str
    reason: str
    relevance: float
    response: str


class GivenItem(TypedDict):
    """An occasion on which a session was given memories."""

    sort: Literal["given"]
    at: float
    session_id: str
    event: str
    about: str
    memories: list[GivenMemory]


class TimelineResult(TypedDict):
    """Answer to ``timeline``: a page, where the next one begins, and the titles of the sessions in it."""

    items: list[ActItem | GivenItem]
    next: LatestResult | None
    sessions: dict[str, str]
