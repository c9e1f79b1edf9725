"""Decides whether a found link becomes active, becomes proposed, or is dropped. Pure.

Links have stricter rules than memories: a wrong link misleads the ranking and every chain of reasons that uses it.
"""

from __future__ import annotations

from subconscious.domain.model import Memory
from subconscious.links.judge import PairVerdict
from subconscious.settings.settings import Settings

OVERTURNS = frozenset({"SUPERSEDES", "CONTRADICTS"})
"""Link types that weaken the memory they point to."""


def status(found: PairVerdict, source: Memory, target: Memory, settings: Settings) -> str:
    """Return the status of a found link: ``active``, ``proposed`` (not used for ranking), or "" for no link."""
    if found.linked < settings.link_proposal_threshold:
        return ""
    return status_for(found.type, found.confidence, source, target, settings)


def status_for(type_: str, confidence: float, source: Memory, target: Memory, settings: Settings) -> str:
    """Return the status of a link: ``active`` or ``proposed``.

    A link is only proposed if its confidence is low, if one of its memories comes from a tool's output or a teammate,
    or if it would overturn a memory that is more trusted than the other memory, or verified while the other is not.
    """
    if confidence < settings.link_threshold or source.origin.is_foreign or target.origin.is_foreign:
        return "proposed"
    weaker = source.origin.distrust > target.origin.distrust or (target.verified and not source.verified)
    if type_ == "CONTRADICTS":
        weaker = weaker or target.origin.distrust > source.origin.distrust
    return "proposed" if type_ in OVERTURNS and weaker else "active"
