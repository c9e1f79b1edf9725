"""Recognises failures of shell commands that the error message alone explains, without a later call that worked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from subconscious.failures import hazards
from subconscious.failures.commands import parse
from subconscious.failures.observation import digest
from subconscious.failures.variants import SHORT_OUTPUT

_STATUS = r"(?:Exit code \d+\s+)?"
_NO_MATCH = re.compile(rf"{_STATUS}(?:\(eval\):\d+:|zsh(?::\d+)?:)\s*no matches found: ")
"""The message of zsh, the usual shell of macOS, for a pattern that matches no file. The command did not run then."""

_ELSEWHERE = re.compile(
    rf"{_STATUS}fatal: '(?P<branch>[^'\s]{{1,100}})' is already (?:checked out|used by worktree) at "
)


@dataclass(frozen=True, slots=True)
class ShellError:
    """A failure that its error explains. ``doubt`` is why a person must approve a memory about it, or ""."""

    sort: str
    failed: str = ""
    doubt: str = ""

    @property
    def trouble(self) -> str:
        """Return the key of this failure."""
        return digest(self.sort, self.failed)


def shell_error(tool: str, given: Mapping[str, object], output: str, *, failed: bool = True) -> ShellError | None:
    """Return the failure that an output explains; None for other outputs. ``failed`` is whether the call failed."""
    command = given.get("command")
    if tool != "Bash" or not isinstance(command, str) or not (failed or output.strip().count("\n") < SHORT_OUTPUT):
        return None
    if _NO_MATCH.match(output):
        return ShellError("glob")
    found = _ELSEWHERE.match(output)
    # The branch is what the session asked for, not only a word of the output.
    if found and any(one.program == "git" and found["branch"] in one.words[2:] for one in parse(command)):
        branch = found["branch"]
        doubt = "" if hazards.tellable(branch) else "the name of the branch has unusual characters"
        return ShellError("worktree", branch, doubt or hazards.doubtful(branch))
    return None
