"""Requests that correct memories, and that say what became of them in use."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar, Literal

from subconscious.errors import RequestError

from .. import correcting
from ..correcting import Wish
from .args import Args, Number
from .room import Room


class CorrectingArgs(Args):
    """The arguments of these requests."""

    way: Literal["superseded", "deprecated", "refined", "merged"] = "superseded"
    other: Number | None = None
    outcome: Literal["accepted", "modified", "rejected"] = "accepted"


class Correcting(Room):
    """Requests that correct memories, and that say what became of them in use."""

    arguments: ClassVar[type[Args]] = CorrectingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"correct", "feedback"})
    decides_on: ClassVar[str] = "what a memory is worth"

    async def cmd_correct(self, args: CorrectingArgs) -> dict[str, Any]:
        """A person says that a memory no longer holds, is put better, or is another one's."""
        if (args.other is None) == (args.way in ("superseded", "merged")) or bool(args.text) != (args.way == "refined"):
            raise RequestError(f"{args.way} does not say what holds instead", "see `subconscious correct --help`")
        done = await correcting.correct(self.core, Wish(args.id or 0, args.way, args.other, args.text, args.reason))
        replacement = asdict(done.replacement) if done.replacement else None
        return {"memory": asdict(done.memory), "replacement": replacement, "act": done.act}

    async def cmd_feedback(self, args: CorrectingArgs) -> dict[str, Any]:
        """A person says that memories were useful, or wrong."""
        found = await correcting.judge(self.core, args.ids, args.outcome, args.reason)
        return {"memories": [asdict(memory) for memory in found]}
