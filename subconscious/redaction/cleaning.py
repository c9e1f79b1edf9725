"""Removes from a text what must never be stored, and records the findings."""

from __future__ import annotations

import re

from . import ledger
from .redactor import redact

_PRIVATE = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_OWN = re.compile(r"<(/?)subconscious-memory(?:\s[^<>]{0,1000})?>", re.IGNORECASE)


def clean(text: str) -> str:
    """Return a text without private spans, memories that this plugin added, and secrets."""
    redacted = redact(cut_own(cut_private(text)))
    ledger.note(redacted.detections)
    return redacted.text


def cut_private(text: str) -> str:
    """Return a text without spans that the user marked as private. An unclosed span ends with the text."""
    return _cut_spans(text, _PRIVATE)


def cut_own(text: str) -> str:
    """Return a text without the memories that this plugin added to a session, so that they are not captured again."""
    return _cut_spans(text, _OWN)


def _cut_spans(text: str, tag: re.Pattern[str]) -> str:
    parts: list[str] = []
    depth = at = 0
    for match in tag.finditer(text):
        if depth == 0:
            parts.append(text[at : match.start()])
        depth = max(0, depth - 1) if match[1] else depth + 1
        at = match.end()
    return "".join(parts) if depth else "".join(parts) + text[at:]
