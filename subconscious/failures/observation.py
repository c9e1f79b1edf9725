"""A failure of a tool call, and what then worked, if anything did."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from subconscious.failures.commands import only
from subconscious.failures.runs import Run

EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


@dataclass(frozen=True, slots=True)
class Observation:
    """A failure, with its way out where ``sort`` names a template.

    ``trouble`` is the same for the same trouble with the same way out; ``command`` for the same normalised command or
    input, whatever became of it. ``doubt`` says why a person must decide. ``needle`` are the words that must not have
    stood together in what tools brought before ``until``. ``quote`` is what worked, as it was run.
    """

    run: Run
    signatures: tuple[str, ...]
    command: str
    sort: str = ""
    failed: str = ""
    way_out: str = ""
    dropped: str = ""
    trouble: str = ""
    doubt: str = ""
    needle: tuple[str, ...] = ()
    until: int = 0
    quote: str = ""
    way_out_key: str = ""

    @property
    def slots(self) -> dict[str, str]:
        """What stands in the template."""
        return {"failed": self.failed, "way_out": self.way_out, "dropped": self.dropped}


def digest(*parts: str) -> str:
    """A key of some texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:20]


def command_key(tool: str, given: Mapping[str, object]) -> str:
    """What a call is known by: its normalised command, or the sort of its input; "" where there is nothing to know."""
    if tool == "Bash":
        command = only(str(given.get("command", "")))
        return digest(tool, *command.shape) if command is not None else ""
    if tool in EDITS:
        return digest("Edit", PurePosixPath(str(given.get("file_path", ""))).suffix)
    name = given.get("skill") or given.get("subagent_type") or given.get("file_path") or given.get("path")
    return digest(tool, name) if isinstance(name, str) and name else ""


def inside(path: str, root: str) -> str:
    """A path as the project knows it; unchanged where it lies elsewhere."""
    whole = PurePosixPath(path)
    return str(whole.relative_to(root)) if root and whole.is_relative_to(root) else path
