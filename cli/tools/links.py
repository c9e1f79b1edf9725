"""Tools on links between memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .arguments import Conflicting, Linked, TierName, Walk, Why
from .memories import is_own
from .results import Edge, LinkedMemories
from .tiers import cut, fitting, note
from .tool import DaemonClient, Layer, Tool

if TYPE_CHECKING:
    from subconscious.wire.links import GraphResult, LinkFields
    from subconscious.wire.links import LinkedMemories as Answer
    from subconscious.wire.memories import Memory

SHOWN = ("active", "proposed")
"""Statuses of the links that are returned; refused and withdrawn links are not."""

MAX_EVIDENCE_LENGTH = 200


def linked_memories(
    answer: Answer | GraphResult, layer: Layer, daemon: DaemonClient, tier: TierName = "minimal"
) -> LinkedMemories:
    """Return links between memories of this project, with the memories at their ends, up to ``layer``'s size.

    Archived memories are returned without their text, since they may have been withdrawn.
    """
    own = {memory["id"]: memory for memory in answer["memories"] if is_own(memory, daemon)}
    shown = [
        link
        for link in answer["links"]
        if link["status"] in SHOWN and link["source_id"] in own and link["target_id"] in own
    ]
    edges = fitting([_edge(link) for link in shown], layer, layer.max_characters // 2)
    ends = dict.fromkeys(number for edge in edges for number in (edge.source, edge.target))
    notes = [note(_without_text(own[number]), tier) for number in ends or own]
    kept = fitting(notes, layer, layer.max_characters // 2)
    return LinkedMemories(links=edges, memories=kept, left_out=len(shown) - len(edges))


def _edge(link: LinkFields) -> Edge:
    return Edge(
        source=link["source_id"],
        type=link["type"],
        target=link["target_id"],
        confidence=round(link["confidence"], 2),
        status="" if link["status"] == "active" else link["status"],
        by=link["created_by"],
        evidence=cut(link["evidence"], MAX_EVIDENCE_LENGTH),
    )


def _without_text(memory: Memory) -> Memory:
    if memory["archived_at"] is None:
        return memory
    return {**memory, "summary": "", "content": "", "rationale": "", "evidence": ""}


def links(arguments: Linked, daemon: DaemonClient) -> LinkedMemories:
    """Return the links of a memory in both directions."""
    return linked_memories(daemon.ask("links", id=arguments.id, types=arguments.types or None), Layer.SURGICAL, daemon)


def graph(arguments: Walk, daemon: DaemonClient) -> LinkedMemories:
    """Return the links and memories reached from a memory in both directions."""
    answer = daemon.ask("graph", id=arguments.id, depth=arguments.depth, types=arguments.types or None)
    return linked_memories(answer, Layer.EXPLORATION, daemon)


def why(arguments: Why, daemon: DaemonClient) -> LinkedMemories:
    """Return the chain of causes and reasons for a memory, or for the memories that answer a question."""
    answer = daemon.ask("why", id=arguments.id or None, query=arguments.query or None, depth=arguments.depth)
    return linked_memories(answer, Layer.SURGICAL, daemon, "standard")


def conflicts(arguments: Conflicting, daemon: DaemonClient) -> LinkedMemories:
    """Return memories that contradict each other."""
    return linked_memories(daemon.ask("conflicts", id=arguments.id or None), Layer.EXPLORATION, daemon)


TOOLS = (
    Tool("memory_links", Layer.SURGICAL, "What a memory is linked to.", Linked, LinkedMemories, ("links",), links),
    Tool(
        "memory_why",
        Layer.SURGICAL,
        "Why something is so: the chain of causes and reasons, with evidence.",
        Why,
        LinkedMemories,
        ("why",),
        why,
    ),
    Tool(
        "memory_graph",
        Layer.EXPLORATION,
        "The memories that a memory is linked to, directly or over other memories.",
        Walk,
        LinkedMemories,
        ("graph",),
        graph,
    ),
    Tool(
        "memory_conflicts",
        Layer.EXPLORATION,
        "Memories that contradict each other.",
        Conflicting,
        LinkedMemories,
        ("conflicts",),
        conflicts,
    ),
)
