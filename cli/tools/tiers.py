"""Limits the detail of each memory, and the number of memories in an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from json import dumps
from typing import TYPE_CHECKING, Any, TypeVar

from .arguments import TierName
from .results import Note, Result
from .tool import CHARACTERS_PER_TOKEN, Layer

if TYPE_CHECKING:
    from subconscious.wire.memories import Memory, TeamHit

TOKENS: Mapping[TierName, int] = {"minimal": 100, "compact": 200, "standard": 400}
"""Tokens per memory; the tier ``full`` has no limit."""

FRAME = 400
"""Characters that are reserved for the frame around an answer."""

MAX_NAMED = 3
"""The most conflicting memories, and the most superseding ones, that a note names; the tools on links return all."""

_ELLIPSIS = "\u2026"

AnyResult = TypeVar("AnyResult", bound=Result)


def day(at: float | None) -> str:
    """Return the date of a time, in UTC; "" for None."""
    return datetime.fromtimestamp(at, UTC).date().isoformat() if at else ""


def cut(text: str, length: int) -> str:
    """Return the text, cut to at most ``length`` characters."""
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + _ELLIPSIS


def note(memory: Memory, tier: TierName, relevance: float = 0.0) -> Note:
    """Return a memory of the daemon's answer as a note; the tier determines its fields and its length."""
    values: dict[str, Any] = {
        "id": memory["id"],
        "kind": memory["kind"],
        "said": day(memory["said_at"]),
        "by": memory["origin"],
        "summary": memory["summary"],
        "relevance": round(relevance, 2),
        "marks": _marks(memory),
    }
    if tier != "minimal":
        values["content"] = "" if memory["content"] == memory["summary"] else memory["content"]
    if tier in ("standard", "full"):
        values |= {name: memory[name] for name in ("rationale", "branch")}
        values |= {name: list(memory[name]) for name in ("tags", "files")}
    if tier == "full":
        values |= {"confidence": round(memory["confidence"], 2), "session": memory["session_id"] or ""}
        values["evidence"] = memory["evidence"]
    one = Note(**values)
    if tier != "minimal" or memory["content"] == memory["summary"]:
        one.marked_whole()
    return one if tier == "full" else within(one, TOKENS[tier] * CHARACTERS_PER_TOKEN)


def team_note(found: TeamHit, tier: TierName) -> Note:
    """Return a memory found in the team's store as a note. Its id is 0, since it has no local id."""
    state = f"confirmed by {found['confirmed_by']}" if found["confirmed_by"] else "unconfirmed"
    one = Note(
        id=0,
        kind=found["kind"],
        said=day(found["said_at"]),
        by=f"teammate {found['by']}",
        summary=found["content"],
        marks=[f"from the team's store, {state}"],
    )
    return within(one, TOKENS.get(tier, TOKENS["standard"]) * CHARACTERS_PER_TOKEN)


def within(one: Note, max_characters: int) -> Note:
    """Return a note with texts and lists cut to ``max_characters`` of JSON; each text keeps at least 40 characters."""
    for name in ("evidence", "rationale", "content", "summary"):
        over = size(one) - max_characters
        text = getattr(one, name)
        if over > 0 and text:
            one = one.model_copy(update={name: cut(text, max(40, len(text) - over))})
    for name in ("files", "tags"):
        if size(one) > max_characters:
            one = one.model_copy(update={name: getattr(one, name)[:3]})
    return one


def _marks(memory: Memory) -> list[str]:
    marks = {
        "an agent's own note": memory.get("extractor") == "claude-note",
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
    return [mark for mark, applies in marks.items() if applies] + against[:MAX_NAMED] + newer[:MAX_NAMED]


def size(result: Result) -> int:
    """Return the length of the result as JSON."""
    return len(dumps(result.values(), ensure_ascii=False, separators=(",", ":")))


def fitting(results: Iterable[AnyResult], layer: Layer, max_characters: int = 0) -> list[AnyResult]:
    """Return the first results that fit into an answer of ``layer``; at least one result if there are any.

    ``max_characters`` lowers the limit; 0 means the limit of the layer.
    """
    left = min(max_characters or layer.max_characters, layer.max_characters) - FRAME
    kept: list[AnyResult] = []
    for one in results:
        left -= size(one) + 1
        if kept and left < 0:
            break
        kept.append(one)
    return kept
