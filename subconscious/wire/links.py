"""Results of the requests about links, as they are sent over the socket."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from subconscious.wire.memories import Memory


class LinkFields(TypedDict):
    """A link: the columns of its row."""

    id: int
    source_id: int
    target_id: int
    type: str
    status: str
    confidence: float
    created_by: str
    evidence: str
    created_at: float


class LinkEnd(TypedDict):
    """A memory that a link connects. ``suspicion`` is why the memory looks poisoned."""

    id: int
    kind: str
    summary: str
    said_at: float
    origin: str
    extractor: str
    project_id: str | None
    archived_at: float | None
    suspicion: NotRequired[str]


class Link(LinkFields):
    """A link with both memories. In a list for one memory, ``other`` is the other end, ``name`` the relation to it."""

    name: str
    source: LinkEnd
    target: LinkEnd
    other: NotRequired[LinkEnd]


class LinkedMemories(TypedDict):
    """Links, and the memories at their ends."""

    links: list[Link]
    memories: list[Memory]


class LinksResult(TypedDict):
    """Response to the requests ``confirm_link`` and ``unlink``."""

    links: list[Link]


class RelinkResult(TypedDict):
    """Response to the request ``relink``: the changed link."""

    link: Link


class LinkResult(RelinkResult):
    """Response to the request ``link``. ``changed`` is false if there was such a link already."""

    changed: bool


class DistantMemory(Memory):
    """A memory, and its distance from the requested memory in links."""

    distance: int


class Branch(TypedDict):
    """One line of the tree. ``again``: the memory's branches are shown below another line of the same memory."""

    depth: int
    memory_id: int
    name: str
    link: LinkFields
    again: bool


class GraphResult(TypedDict):
    """Response to the request ``graph``: the neighbourhood of a memory, as data, as a tree and as a Mermaid diagram."""

    root: int
    memories: list[DistantMemory]
    links: list[Link]
    tree: list[Branch]
    mermaid: str
    left_out: int


class ReasonMemory(LinkEnd):
    """A memory in a chain of reasons, with its trust."""

    content: str
    rationale: str
    evidence: str
    session_id: str | None
    branch: str
    scope: str
    pinned: bool
    verified: bool
    trust: NotRequired[str]
    conflicts: NotRequired[list[int]]
    superseded_by: NotRequired[list[int]]
    stale: NotRequired[bool]


class ReasonStep(TypedDict):
    """One step of a chain: the link, and the memory that it leads to."""

    name: str
    link: Link
    memory: ReasonMemory


class Reasons(TypedDict):
    """A memory with the chains of reasons for it. ``cut``: some chains were left out."""

    memory: ReasonMemory
    chains: list[list[ReasonStep]]
    cut: bool


class WhyResult(LinkedMemories):
    """Response to ``why``. ``worded`` is the answer in a model's words, ``text`` the answer for the assistant."""

    answers: list[Reasons]
    worded: str
    text: str
