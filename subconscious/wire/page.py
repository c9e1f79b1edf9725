"""Results of the requests about the web page, and of the requests that only the web page sends."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from subconscious.wire.daemon import Project


class UiResult(TypedDict):
    """Response to the request ``ui``: a link to the web page that works once, and the page's port."""

    url: str
    port: int


class UiClosed(TypedDict):
    """Response to the request ``ui_close``. ``closed``: the web page was open, and was closed."""

    closed: bool


class CountedProject(Project):
    """A project and the number of its active memories."""

    memories: int


class ProjectsResult(TypedDict):
    """Response to ``projects``. ``review`` counts captures that wait for review, in the project of ``cwd`` or all."""

    projects: list[CountedProject]
    review: int


class LatestResult(TypedDict):
    """Response to ``latest``: ids of the newest event, and of the newest record that a session got a memory."""

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
    """Changes that were made together, named after their main event. ``number`` counts the rows with the same change.

    ``effect`` says whether they archived or restored a memory; ``holds``: the memory is still in that state.
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
    """Response to the request ``timeline``: a page of items, where the next page begins, and titles by session id."""

    items: list[ActItem | GivenItem]
    next: LatestResult | None
    sessions: dict[str, str]
