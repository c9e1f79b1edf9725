"""Whether JSON is small enough to be parsed: its values count, not its bytes.

The parser holds the interpreter's lock for as long as it builds values. A text of 8 MB is built in milliseconds; as
3 million empty lists the same bytes take a second, in which the daemon would answer nobody, and hundreds of megabytes.
"""

from __future__ import annotations

import re

SMALL_BYTES = 256 << 10
"""Bytes that are parsed without counting values: the worst take some 20 ms."""

MOST_VALUES = 200_000
"""Values of one document. What a tool did to a file of 1 MB has one for each line that was there or is."""

_STRUCTURE = (b",", b"[", b"{")
# In steps, for each call holds the lock: a string of 8 MB in one would take as long as what this is to avoid.
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.){0,4096}+', re.DOTALL)


def has_too_many_values(raw: bytes, most: int = MOST_VALUES) -> bool:
    """Whether a JSON document has more than ``most`` values, told without building any. Broken JSON is no error."""
    if len(raw) <= SMALL_BYTES or sum(raw.count(sign) for sign in (*_STRUCTURE, b'"')) <= most:
        return False
    values = at = 0
    while values <= most:
        quote = raw.find(b'"', at)
        end = len(raw) if quote < 0 else quote
        values += 1 + sum(raw.count(sign, at, end) for sign in _STRUCTURE)
        if quote < 0:
            break
        at = _behind_string(raw, quote + 1)
    return values > most


def _behind_string(raw: bytes, at: int) -> int:
    """Where the string ends whose first character stands at ``at``: behind its quotation mark, or at the very end."""
    while (match := _IN_STRING.match(raw, at)) and match.end() > at:
        at = match.end()
    return min(at + 1, len(raw)) if raw[at : at + 1] == b'"' else len(raw)
