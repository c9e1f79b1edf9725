"""The sentence that tells of a failure and its way out: our words around slots, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping

from subconscious.failures.checks import CHECKS

OBSERVED = "observed-"
EXTRACTOR = f"{OBSERVED}1"
"""The extractor of what was learned from tool calls alone."""

ONCE = f"{OBSERVED}once-1"
"""The extractor of what tool calls showed in one session only."""

FAILED_HERE = " failed here"

TEMPLATES: Mapping[str, str] = {
    "instead": "`{failed}` failed here; `{way_out}` then worked.",
    "without": "`{failed}` with `{dropped}` failed here; without it, it then worked.",
    "directory": "`{failed}` failed here in {dropped}; in {way_out} it then worked.",
    "repository": "`{failed}` for the repository `{dropped}` failed here; with `{way_out}` it then worked.",
    "repair": "`{failed}` failed here; after `{way_out}` the same command then worked.",
    "skill": "Calling the skill `{failed}` failed here: that skill does not exist.",
    "agent": "Starting the agent `{failed}` failed here: that type of agent does not exist.",
    "check": "The lint check `{failed}` failed here: {way_out}.",
    "path": "Looking for `{failed}` failed here; the file then found is `{way_out}`.",
    "tabs": (
        "Editing files of type `{failed}` failed here, as the indentation of the text to replace was not that of the"
        " file: such files are indented with tabs; the same text with one or more tabs added to each line then worked."
    ),
    "spaces": (
        "Editing files of type `{failed}` failed here, as the indentation of the text to replace was not that of the"
        " file; the same text with the file's own spaces then worked."
    ),
    "unread": "Editing files that had not been read failed here; reading them first, then editing them worked.",
    "changed": (
        "Editing files that had changed since they were read failed here; reading them again just before each edit then"
        " worked."
    ),
}
"""What is told, by how the way out differs from what failed."""

_TIMES = re.compile(re.escape(FAILED_HERE))


def is_observed(extractor: str) -> bool:
    """Whether something was learned from tool calls alone, by any version."""
    return extractor.startswith(OBSERVED)


def told(sort: str, slots: Mapping[str, str]) -> str:
    """Word a way out."""
    return TEMPLATES[sort].format(**{name: slots.get(name, "") for name in ("failed", "way_out", "dropped")})


def is_ours(content: str, sort: str, slots: Mapping[str, str]) -> bool:
    """Whether a sentence is the one of its slots: nothing was added on the way, and no slot ends its quotation."""
    if sort == "check" and CHECKS.get(slots.get("failed", "")) != slots.get("way_out"):
        return False
    quoted = {name: slot for name, slot in slots.items() if sort != "check" or name == "failed"}
    return sort in TEMPLATES and not any("`" in slot for slot in quoted.values()) and content == told(sort, slots)


def with_times(content: str, sessions: int) -> str:
    """The sentence with the number of sessions that met it."""
    return _TIMES.sub(f"{FAILED_HERE} in {sessions} sessions", content, count=1) if sessions > 1 else content
