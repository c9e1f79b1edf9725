"""Tools on links: how memories bear on each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arguments import Conflicting, Linked, TierName, Walk, Why
from .memories import is_own
from .results import Edge, Linkage
from .tiers import cut, fitting, note
from .tool import Asking, Layer, Tool

SHOWN = ("active", "proposed")
"""Links that are told of; what a person refused, or what was taken back, is not."""

WORDS = ("summary", "content", "rationale", "evidence")
"""What a memory says."""

LONGEST_EVIDENCE = 200


def linked(answer: Mapping[str, Any], layer: Layer, daemon: Asking, tier: TierName = "minimal") -> Linkage:
    """A part of the graph: links whose both ends may be told of, and these ends.

    What is archived may have been set apart: that it is there is told, and not what it says.
    """
    own = {memory["id"]: memory for memory in answer["memories"] if is_own(memory, daemon)}
    shown = [
        link
        for link in answer["links"]
        if link["status"] in SHOWN and link["source_id"] in own and link["target_id"] in own
    ]
    edges = fitting([_edge(link) for link in shown], layer, layer.room // 2)
    ends = dict.fromkeys(number for edge in edges for number in (edge.source, edge.target))
    told = [note(_silenced(own[number]), tier) for number in ends or own]
    kept = fitting(told, layer, layer.room // 2)
    return Linkage(links=edges, memories=kept, left_out=len(shown) - len(edges))


def _edge(link: Mapping[str, Any]) -> Edge:
    return Edge(
        source=link["source_id"],
        type=link["type"],
        target=link["target_id"],
        confidence=round(link["confidence"], 2),
        status="" if link["status"] == "active" else link["status"],
        by=link["created_by"],
        evidence=cut(link["evidence"], LONGEST_EVIDENCE),
    )


def _silenced(memory: dict[str, Any]) -> dict[str, Any]:
    return memory if memory["archived_at"] is None else memory | dict.fromkeys(WORDS, "")


def links(wish: Linked, daemon: Asking) -> Linkage:
    """What a memory is linked with, both ways."""
    return linked(daemon.ask("links", id=wish.id, types=wish.types or None), Layer.SURGICAL, daemon)


def graph(wish: Walk, daemon: Asking) -> Linkage:
    """What is reached from a memory, both ways."""
    answer = daemon.ask("graph", id=wish.id, depth=wish.depth, types=wish.types or None)
    return linked(answer, Layer.EXPLORATION, daemon)


def why(wish: Why, daemon: Asking) -> Linkage:
    """The chain of causes and reasons behind a memory, or behind what answers a question."""
    answer = daemon.ask("why", id=wish.id or None, query=wish.query or None, depth=wish.depth)
    return linked(answer, Layer.SURGICAL, daemon, "standard")


def conflicts(wish: Conflicting, daemon: Asking) -> Linkage:
    """Memories that contradict each other."""
    return linked(daemon.ask("conflicts", id=wish.id or None), Layer.EXPLORATION, daemon)


TOOLS = (
    Tool("memory_links", Layer.SURGICAL, "What a memory is linked with.", Linked, Linkage, ("links",), links),
    Tool(
        "memory_why",
        Layer.SURGICAL,
        "Why something is so: the chain of causes and reasons, with evidence.",
        Why,
        Linkage,
        ("why",),
        why,
    ),
    Tool("memory_graph", Layer.EXPLORATION, "What is around a memory.", Walk, Linkage, ("graph",), graph),
    Tool(
        "memory_conflicts",
        Layer.EXPLORATION,
        "Memories that contradict each other.",
        Conflicting,
        Linkage,
        ("conflicts",),
        conflicts,
    ),
)
