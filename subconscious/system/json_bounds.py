"""Checks whether JSON is small enough to be parsed, by counting its values instead of its bytes.

The parser holds the interpreter's lock while it builds values. 8 MB of text are parsed in milliseconds; 8 MB of empty
lists (3 million) take hundreds of megabytes and a second, in which the daemon can't respond.
"""

from __future__ import annotations

import re

SMALL_BYTES = 256 << 10
"""JSON of at most this many bytes is parsed without counting its values first: parsing takes about 20 ms at worst."""

MOST_VALUES = 200_000
"""The maximum number of values of one document. The record of an edit has one value for each changed line."""

_STRUCTURE = (b",", b"[", b"{")
# In steps, because each call holds the lock: matching 8 MB in one call would block as long as the parser.
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.){0,4096}+', re.DOTALL)


def has_too_many_values(raw: bytes, most: int = MOST_VALUES) -> bool:
    """Whether a JSON document has more than ``most`` values, without parsing it. Invalid JSON raises no error."""
    if len(raw) <= SMALL_BYTES or sum(raw.count(sign) for sign in (*_STRUCTURE, b'"')) <= most:
        return False
    values = at = 0
    while values <= most:
        quote = raw.find(b'"', at)
        end = len(raw) if quote < 0 else quote
        values += 1 + sum(raw.count(sign, at, end) for sign in _STRUCTURE)
        if quote < 0:
            break
        at = _after_string(raw, quote + 1)
    return values > most


def _after_string(raw: bytes, at: int) -> int:
    """Return the index after the string whose first character is at ``at``; the end of the text if it is not closed."""
    while (match := _IN_STRING.match(raw, at)) and match.end() > at:
        at = match.end()
    return min(at + 1, len(raw)) if raw[at : at + 1] == b'"' else len(raw)
