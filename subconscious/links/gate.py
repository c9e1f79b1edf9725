"""Decides whether a link that was found is active, proposed or dropped. Pure.

Links have stricter rules than memories: a wrong link misleads the ranking and every chain of reasons that uses it.
"""

from __future__ import annotations

from subconscious.domain.model import Memory
from subconscious.links.judge import PairVerdict
from subconscious.settings.settings import Settings

OVERTURNS = frozenset({"SUPERSEDES", "CONTRADICTS"})
"""Types that weaken their target."""


def status(found: PairVerdict, source: Memory, target: Memory, settings: Settings) -> str:
    """Return ``active``, ``proposed`` (shown, but ignored by the ranking) or "" for none."""
    if found.linked < settings.link_proposal_threshold:
        return ""
    return status_for(found.type, found.confidence, source, target, settings)


def status_for(type_: str, confidence: float, source: Memory, target: Memory, settings: Settings) -> str:
    """Return ``active`` or ``proposed``.

    Only proposed: links with a low confidence, links to or from words of a tool, and links by which a less trusted
    memory would overturn a more trusted one.
    """
    if confidence < settings.link_threshold or source.origin.is_foreign or target.origin.is_foreign:
        return "proposed"
    weaker = source.origin.distrust > target.origin.distrust or (target.verified and not source.verified)
    if type_ == "CONTRADICTS":
        weaker = weaker or target.origin.distrust > source.origin.distrust
    return "proposed" if type_ in OVERTURNS and weaker else "active"
