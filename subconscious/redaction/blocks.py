"""Private keys in their armour: whole blocks, and what is left of one that was cut short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .rule import Span

KIND = "private key"
HINT = "private key"

_MARK = re.compile(r"-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
_REACH = 2000
"""Characters after a mark within which its key must begin."""


def find(text: str) -> Iterator[Span]:
    """Every block; one that no mark ends reaches to the next or to the end. A mark alone is no key."""
    marks = [*_MARK.finditer(text), None]
    for mark, following in pairwise(marks):
        if mark is None or mark[1] == "END" or not _has_body(text, mark, following):
            continue
        if following is None:
            yield Span(mark.start(), len(text), KIND)
        else:
            yield Span(mark.start(), following.end() if following[1] == "END" else following.start(), KIND)


def _has_body(text: str, mark: re.Match[str], following: re.Match[str] | None) -> bool:
    end = len(text) if following is None else following.start()
    return _BODY.search(text, mark.end(), min(end, mark.end() + _REACH)) is not None
