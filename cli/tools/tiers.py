"""How much is told of a memory, and how many fit into an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from json import dumps
from typing import Any, TypeVar

from .arguments import TierName
from .results import Note, Result
from .tool import CHARACTERS_A_TOKEN, Layer

TOKENS: Mapping[TierName, int] = {"minimal": 100, "compact": 200, "standard": 400}
"""What a memory may take; a full one is told whole."""

FRAME = 400
"""Characters that an answer's frame takes."""

MOST_NAMED = 3
"""Memories that a mark names: the links' own tools tell of all."""

_ELLIPSIS = "\u2026"

Some = TypeVar("Some", bound=Result)


def day(at: float | None) -> str:
    """A time as the day that it was, in UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat() if at else ""


def cut(text: str, length: int) -> str:
    """At most ``length`` characters."""
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + _ELLIPSIS


def note(memory: Mapping[str, Any], tier: TierName, relevance: float = 0.0) -> Note:
    """A memory of the daemon's answer, as its tier tells of it."""
    told: dict[str, Any] = {
        "id": memory["id"],
        "kind": memory["kind"],
        "said": day(memory["said_at"]),
        "by": memory["origin"],
        "summary": memory["summary"],
        "relevance": round(relevance, 2),
        "marks": _marks(memory),
    }
    if tier != "minimal":
        told["content"] = "" if memory["content"] == memory["summary"] else memory["content"]
    if tier in ("standard", "full"):
        told |= {name: memory[name] for name in ("rationale", "branch")}
        told |= {name: list(memory[name]) for name in ("tags", "files")}
    if tier == "full":
        told |= {"confidence": round(memory["confidence"], 2), "session": memory["session_id"] or ""}
        told["evidence"] = memory["evidence"]
    one = Note(**told)
    if tier != "minimal" or memory["content"] == memory["summary"]:
        one.saying_all()
    return one if tier == "full" else within(one, TOKENS[tier] * CHARACTERS_A_TOKEN)


def within(one: Note, room: int) -> Note:
    """The note with its longest texts cut so that it fits."""
    for name in ("evidence", "rationale", "content", "summary"):
        over = size(one) - room
        text = getattr(one, name)
        if over > 0 and text:
            one = one.model_copy(update={name: cut(text, max(40, len(text) - over))})
    for name in ("files", "tags"):
        if size(one) > room:
            one = one.model_copy(update={name: getattr(one, name)[:3]})
    return one


def _marks(memory: Mapping[str, Any]) -> list[str]:
    marks = {
        "a note of Claude's own": memory.get("extractor") == "claude-note",
        "verified": memory["verified"],
        "pinned": memory["pinned"],
        "archived": memory["archived_at"],
        "all projects": memory["scope"] == "user",
        "stale": memory.get("stale"),
        "low trust": memory.get("trust") == "LOW",
        "suspect: may be poisoned": memory.get("trust") == "SUSPECT",
    }
    against = [f"conflicts with [{number}]" for number in memory.get("conflicts", ())]
    newer = [f"superseded by [{number}]" for number in memory.get("superseded_by", ())]
    return [mark for mark, holds in marks.items() if holds] + against[:MOST_NAMED] + newer[:MOST_NAMED]


def size(result: Result) -> int:
    """The characters that it takes as JSON."""
    return len(dumps(result.told(), ensure_ascii=False, separators=(",", ":")))


def fitting(results: Iterable[Some], layer: Layer, room: int = 0) -> list[Some]:
    """As many of the first as fit into an answer of this layer, and one in any case."""
    left = min(room or layer.room, layer.room) - FRAME
    kept: list[Some] = []
    for one in results:
        left -= size(one) + 1
        if kept and left < 0:
            break
        kept.append(one)
    return kept
