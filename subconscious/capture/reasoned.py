"""What a plan changed, with what the plan was for: a point of the plan, or of the last word on it, and the plan's reason.

A point alone tells what was done, which the code shows too; the reason stands once, at the head of the plan, and the
code never shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from subconscious.capture.chosen import REASONED, reason_of
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import CAUSE
from subconscious.capture.narration import is_narration, sentence_spans
from subconscious.capture.passages import LONGEST
from subconscious.capture.wording import content_words, tags
from subconscious.model import Act

_LONGEST_REASON = 170
_LEAST = 45
"""Characters that a reason must have."""

_BEFORE = re.compile(r"\b(?:current(?:ly)?|now|today)\b", re.IGNORECASE)
"""A plan tells what was so when it was made: its being carried out has changed that."""

_FEWEST_NAMES = 1
_SOURCES = frozenset(("finding", "plan", "point", "stretch"))


def reasoned(exchange: Exchange, drafted: Iterator[Draft]) -> Iterator[Draft]:
    """Give those of an exchange's drafts that a plan's reason completes, with it."""
    opener = exchange.turns[0]
    why = reason_of(opener) if opener.act is Act.APPROVED and exchange.task else None
    reason = _short(why.wording) if why else ""
    if len(reason) < _LEAST or not REASONED.search(reason):
        return
    lead = "Before the change" if _BEFORE.search(reason) else "Why"
    words = set(content_words(reason))
    for draft in drafted:
        room = LONGEST - len(reason) - 21
        done = draft.turn.id == exchange.last_said or bool(CAUSE.search(draft.content))
        told = draft.turn.id in (opener.id, exchange.last_said) and done and draft.source in _SOURCES
        fresh = len(words & set(content_words(draft.content))) * 2 < len(words)
        if told and fresh and len(draft.content) <= room and len(tags(draft.content)) >= _FEWEST_NAMES:
            content = f"{draft.content.rstrip('.')}. {lead}: {reason}"
            yield replace(draft, content=content, source="reasoned", signs=(*draft.signs, "cut:reasoned"))


def _short(wording: str) -> str:
    """Return the first sentences of a reason that fit."""
    kept = ""
    for start, end in sentence_spans(wording, 0, len(wording)):
        one = impersonal(wording[start:end])
        if one.endswith(":") and not kept:
            continue
        if len(kept) + len(one) > _LONGEST_REASON or is_narration(one):
            break
        kept = f"{kept} {one}".strip()
    return "" if kept.endswith(":") else kept
