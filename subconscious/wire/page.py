"""Results of the requests about the page, and of the requests that only the page makes, as they are sent."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from subconscious.wire.daemon import Project


class UiResult(TypedDict):
    """Response to the request ``ui``: a link that works once, and the port of the page."""

    url: str
    port: int


class UiClosed(TypedDict):
    """Response to the request ``ui_close``. ``closed``: a page was open."""

    closed: bool


class CountedProject(Project):
    """A project and the number of its active memories."""

    memories: int


class ProjectsResult(TypedDict):
    """Response to the request ``projects``. ``review``: captures that wait, in the project at ``cwd`` or in all."""

    projects: list[CountedProject]
    review: int


class LatestResult(TypedDict):
    """Response to ``latest``: the ids of the newest event, and of the newest record of a memory that a session got."""

    event: int
    surface: int


class Linked(TypedDict):
    """A link that a change made, with the texts of both memories; it starts from the memory ``id``."""

    type: str
    id: int
    summary: str
    other: int
    other_summary: str


class ActItem(TypedDict):
    """An act: changes made together, named after their main event. ``number`` counts the items that it changed alike.

    ``effect`` says whether the act archived or restored a memory; ``holds``: the memory is still in that state.
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
    """A memory that a session got, the reason, and whether the session used it."""

    id: int
    summary: str
    reason: str
    relevance: float
    response: str


class GivenItem(TypedDict):
    """One event (such as a start or a prompt) at which a session got memories."""

    sort: Literal["given"]
    at: float
    session_id: str
    event: str
    about: str
    memories: list[GivenMemory]


class TimelineResult(TypedDict):
    """Response to the request ``timeline``: a page, where the next one begins, and the titles of the sessions in it."""

    items: list[ActItem | GivenItem]
    next: LatestResult | None
    sessions: dict[str, str]
