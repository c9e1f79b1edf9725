"""The registry of link types: how one memory relates to another.

To add a type, add a row; validation, prompts, graph drawings and the search for reasons (`why`) derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LinkType:
    """A link type. ``name`` describes the link from source to target, ``inverse`` from target to source.

    Links of the groups ``core`` and ``causal``, which are treated alike, are found by discovery or made by users. Only
    the program itself makes links of the group ``system``. ``why`` is the direction in which a chain of reasons
    continues from a memory: ``in`` to the sources of its incoming links, ``out`` to the targets of its outgoing ones.
    ``weight`` is the share of a memory's relevance that a link of this type passes on to the other memory.

    Three sets elsewhere define further properties of some types: ``gate.OVERTURNS`` in ``links``,
    ``fading.NO_CITATIONS`` and ``links.AFFECTS_VALIDITY`` in ``store``.
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
        LinkType("REFERS_TO", "REFERRED_TO_BY", "names (one of Claude's notes names another)", "system"),
        LinkType("CONSOLIDATES", "CONSOLIDATED_IN", "summarizes, together with other memories", "system", weight=0.5),
    )
}

DISCOVERABLE = tuple(name for name, row in LINK_TYPES.items() if row.group != "system")
"""The link types that discovery and users may create; the program itself creates links of other types."""


def find_link_type(name: str) -> tuple[LinkType, bool] | None:
    """Return the link type whose name or inverse is ``name``, and whether ``name`` is the inverse; None if unknown."""
    wanted = name.strip().upper().replace("-", "_").replace(" ", "_")
    for row in LINK_TYPES.values():
        if wanted in (row.name, row.inverse):
            return row, wanted != row.name
    return None


def directed_name(link_type: str, *, source: bool) -> str:
    """Return the name of a link type as seen from one end: its name from the source, its inverse from the target."""
    row = LINK_TYPES.get(link_type)
    return link_type if source or row is None else row.inverse
