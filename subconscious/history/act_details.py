"""Details of an act (all changes of one action) in the timeline: what it archived, restored or linked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from subconscious.domain.model import Memory
from subconscious.wire.page import Linked

Effect = Literal["archived", "restored", ""]


def effect_of(event: Mapping[str, Any]) -> Effect:
    """Return "archived" or "restored" if an event did so to an existing memory; "" for any other event."""
    before, after = event["before"] or {}, event["after"] or {}
    if event["subject"] != "memory" or not before or "archived_at" not in after:
        return ""
    return "restored" if after["archived_at"] is None else "archived"


def still_holds(event: Mapping[str, Any], memory: Memory | None) -> bool:
    """Whether a memory is still as an event left it, active or archived; True for events that did neither."""
    if event["subject"] != "memory" or not (effect_of(event) or event["action"] == "create"):
        return True
    return memory is not None and (event["after"] or {}).get("archived_at") == memory.archived_at


def linked_pairs(act: Iterable[Mapping[str, Any]]) -> list[tuple[str, int, int]]:
    """Return the active links that an act made, as (type, id of the source memory, id of the target memory)."""
    made = [event["after"] or {} for event in act if (event["subject"], event["action"]) == ("link", "link")]
    return [
        (str(link["type"]), int(link["source_id"]), int(link["target_id"]))
        for link in made
        if link.get("status") == "active"
    ]


def linked(pairs: Sequence[tuple[str, int, int]], known: Mapping[int, Memory]) -> list[Linked]:
    """Return links with the summaries of their memories, except links of purged memories."""
    return [
        {"type": sort, "id": one, "summary": known[one].summary, "other": other, "other_summary": known[other].summary}
        for sort, one, other in pairs
        if one in known and other in known
    ]
