"""Separates a statement from what it answers: capture appends the question, proposal or plan in brackets."""

from __future__ import annotations

import re

FEWEST_WORDS = 3
"""The fewest words of a reply that is compared alone; a shorter reply is compared together with its question."""

_OCCASION = re.compile(r" \((?:asked|replying to|plan): .*\)\Z", re.DOTALL)


def bare(content: str) -> str:
    """Return a statement without the question, proposal or plan that it answers; unchanged if the rest is too short."""
    alone = _OCCASION.sub("", content)
    return alone if len(alone.split()) >= FEWEST_WORDS or not alone.isascii() else content
