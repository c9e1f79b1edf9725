"""The registry of link types: how one memory can bear on another.

To add a type, add a row; validation, prompts, drawing and the walk of "why" derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LinkType:
    """One row, read from source to target: source NAME target, target INVERSE source.

    ``why`` is the direction in which a chain of reasons leads on from a memory: ``in`` to the sources of links that end
    in it, ``out`` to the targets of those that begin in it. ``weight`` is how much relevance a link of it passes on.
    """

    name: str
    inverse: str
    meaning: str
    group: Literal["core", "causal", "system"]
    why: Literal["in", "out", ""] = ""
    symmetric: bool = False
    weight: float = 1.0


LINK_TYPES: dict[str, LinkType] = {
    row.name: row
    for row in (
        LinkType("SUPPORTS", "SUPPORTED_BY", "gives a reason or evidence for", "core", why="in"),
        LinkType("CONTRADICTS", "CONTRADICTS", "can't hold together with", "core", symmetric=True, weight=0.5),
        LinkType("SUPERSEDES", "SUPERSEDED_BY", "takes the place of", "core", why="out"),
        LinkType("EXTENDS", "EXTENDED_BY", "adds to, or makes more precise", "core"),
        LinkType("REQUIRES", "REQUIRED_BY", "holds or works only with", "core", why="out"),
        LinkType("CAUSED", "CAUSED_BY", "brought about", "causal", why="in"),
        LinkType("ENABLED", "ENABLED_BY", "made possible", "causal", why="in"),
        LinkType("DERIVED_FROM", "LED_TO", "was concluded from", "causal", why="out"),
        LinkType("REFERS_TO", "REFERRED_TO_BY", "names, as one note of Claude's does another", "system"),
        LinkType("CONSOLIDATES", "CONSOLIDATED_IN", "sums up, with others", "system", weight=0.5),
    )
}

DISCOVERABLE = tuple(name for name, row in LINK_TYPES.items() if row.group != "system")
"""Types that discovery and people may use; the others are the system's own."""


def named(name: str) -> tuple[LinkType, bool] | None:
    """The type that people mean by a name or an inverse, and whether it is read backwards; None: there is no such."""
    wanted = name.strip().upper().replace("-", "_").replace(" ", "_")
    for row in LINK_TYPES.values():
        if wanted in (row.name, row.inverse):
            return row, wanted != row.name
    return None


def told_from(link_type: str, *, source: bool) -> str:
    """A type as it reads from one end: from the source by its name, else by its inverse."""
    row = LINK_TYPES.get(link_type)
    return link_type if source or row is None else row.inverse
