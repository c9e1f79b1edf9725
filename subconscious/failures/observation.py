"""Defines observations: a failed tool call and, if there was one, the call that then worked."""

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
    """A failed call and, if it is known, its way out: what worked instead.

    ``sort`` is the name of the template that describes the way out. ``trouble`` is a hash that identifies the failure
    together with its way out; ``command`` is a hash that identifies the failed call alone. ``doubt`` is the reason why
    a person must approve the memory about it, else "". ``quote`` is the evidence from the transcript: a
    command, a name or a file. ``needle`` has words of the way out, and ``until`` is a byte offset in the transcript: if
    a line of a file, page or output before this offset has all these words, that text suggested the way out.
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
        """Return the values of the template's placeholders."""
        return {"failed": self.failed, "way_out": self.way_out, "dropped": self.dropped}


def digest(*parts: str) -> str:
    """Return a hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:20]


def command_key(tool: str, given: Mapping[str, object]) -> str:
    """Return a key that calls of the same kind share, made from the command or the input; "" if there is neither."""
    if tool == "Bash":
        command = only(str(given.get("command", "")))
        return digest(tool, *command.shape) if command is not None else ""
    if tool in EDITS:
        return digest("Edit", PurePosixPath(str(given.get("file_path", ""))).suffix)
    name = given.get("skill") or given.get("subagent_type") or given.get("file_path") or given.get("path")
    return digest(tool, name) if isinstance(name, str) and name else ""


def inside(path: str, root: str) -> str:
    """Return a path inside the folder ``root`` as a path relative to it; other paths unchanged."""
    whole = PurePosixPath(path)
    return str(whole.relative_to(root)) if root and whole.is_relative_to(root) else path
