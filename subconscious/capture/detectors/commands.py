"""Shortens commands for memories, and recognises the checks that commands run."""

from __future__ import annotations

import re

CHECKS = {
    "typecheck": re.compile(r"type.?script|type.?check|type errors?\b", re.IGNORECASE),
    "lint": re.compile(r"\blint\w*|\bbiome\b", re.IGNORECASE),
    "test": re.compile(r"\btests?\b", re.IGNORECASE),
}
"""The checks that a hook or script may run, with a pattern for each. A text may match several patterns."""

_NOISE = re.compile(
    r"^(?:(?:cd|export|source)\s[^&;|]*(?:&&|;)\s*)+|(?<!\s)\s*2>\s*(?:&1|/dev/null)|"
    r"(?<!\s)\s*\|\s*(?:tail|head|grep|cat|wc|sed|awk|rg)\b.*\Z|(?<!\s)\s*;\s*echo\b.*\Z",
    re.DOTALL,
)
_LONGEST = 80


def short_command(command: str) -> str:
    """Return a command without directory changes, redirections and filters; "" if it is longer than one short line."""
    line = command.strip()
    for _ in range(3):
        line = _NOISE.sub("", line).strip()
    return "" if "\n" in line or "<<" in line or len(line) > _LONGEST else line
