"""Separates a statement from what it answers: capture appends the question, proposal or plan in brackets."""

from __future__ import annotations

import re

FEWEST_WORDS = 3
"""The fewest words of a reply that is compared alone; a shorter reply is compared together with its question."""

_OCCASION = re.compile(r" \((?:asked|replying to|plan): .*\)\Z", re.DOTALL)


_LEANS = re.compile(
    r"(?:neither|none|both|either|keine?[rs]?|weder|beides?|aucune?"
    r"|(?:les|los|os) d(?:eux|os|ois)|ni l'un|ningun[oa]|ambos"
    r"|ambas|nenhum\w*|geen|allebei)\b(?=\W*\Z|\s?[,.;:!-]|\s(?:for|of|von|pour|por|para|voor|now|please|pls|bitte)\b"
    r"| \()",
    re.IGNORECASE,
)
"""The beginning of a reply that is unclear without the alternatives in its question: "neither for now"."""


def question(content: str) -> str:
    """Return the question that capture appended to a statement ("(asked: ...)"); "" if there is none."""
    found = _ASKED.search(content)
    return found[1] if found else ""


_ASKED = re.compile(r" \(asked: (.*)\)\Z", re.DOTALL)


def bare(content: str) -> str:
    """Return a statement without the question, proposal or plan that it answers; unchanged if unclear without that."""
    alone = _OCCASION.sub("", content)
    if _LEANS.match(alone):
        return content
    return alone if len(alone.split()) >= FEWEST_WORDS or not alone.isascii() else content
