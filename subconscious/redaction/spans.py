"""Passages between tags that are cut out whole: what a person marked as private, and our own injected text."""

from __future__ import annotations

import re

_PRIVATE = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_OWN = re.compile(r"<(/?)subconscious-memory(?:\s[^<>]{0,1000})?>", re.IGNORECASE)


def cut_private(text: str) -> str:
    """Cut what a person marked as private: nested spans whole, an unclosed one to the end of the text."""
    return _cut_spans(text, _PRIVATE)


def cut_own(text: str) -> str:
    """Cut the memories that we gave to a session, so that memory never feeds on itself."""
    return _cut_spans(text, _OWN)


def _cut_spans(text: str, tag: re.Pattern[str]) -> str:
    kept: list[str] = []
    depth = at = 0
    for match in tag.finditer(text):
        if depth == 0:
            kept.append(text[at : match.start()])
        depth = max(0, depth - 1) if match[1] else depth + 1
        at = match.end()
    return "".join(kept) if depth else "".join(kept) + text[at:]
