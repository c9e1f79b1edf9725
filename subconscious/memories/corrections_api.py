"""Requests that correct memories, and record feedback on them."""

from __future__ import annotations

from typing import ClassVar, Literal

from subconscious.app.request import Handler
from subconscious.context.arguments import Args, Number
from subconscious.domain.errors import RequestError
from subconscious.memories import corrections
from subconscious.memories.corrections import CorrectionRequest
from subconscious.wire.fields import list_of
from subconscious.wire.memories import CorrectResult, MemoriesResult, Memory, memory_fields


class CorrectingArgs(Args):
    """Arguments: the kind of a correction (``way``) and the replacing memory (``other``), or feedback (``outcome``)."""

    way: Literal["superseded", "deprecated", "refined", "merged"] = "superseded"
    other: Number | None = None
    outcome: Literal["accepted", "modified", "rejected"] = "accepted"


class Correcting(Handler):
    """Requests that correct memories, and record feedback on them."""

    arguments: ClassVar[type[Args]] = CorrectingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"correct", "feedback"})
    decides: ClassVar[str] = "what a memory is worth"

    async def cmd_correct(self, args: CorrectingArgs) -> CorrectResult:
        """Replace, reword, merge or deprecate a memory."""
        if (args.other is None) == (args.way in ("superseded", "merged")) or bool(args.text) != (args.way == "refined"):
            raise RequestError(
                f"{args.way} needs the memory or text that replaces it", "see `subconscious correct --help`"
            )
        done = await corrections.correct(
            self.app, CorrectionRequest(args.id or 0, args.way, args.other, args.text, args.reason)
        )
        replacement = memory_fields(done.replacement) if done.replacement else None
        return {"memory": memory_fields(done.memory), "replacement": replacement, "act": done.act}

    async def cmd_feedback(self, args: CorrectingArgs) -> MemoriesResult:
        """Record that a person found memories useful or wrong."""
        found = await corrections.record_feedback(self.app, args.ids, args.outcome, args.reason)
        return {"memories": list_of(Memory, found)}
