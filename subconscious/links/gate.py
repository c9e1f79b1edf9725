"""What becomes of a link that was found: in force, proposed or nothing. Pure.

Links have a gate of their own: a wrong one misleads the ranking and every chain of reasons that leads over it.
"""

from __future__ import annotations

from subconscious.links.judge import Found
from subconscious.model import Memory, Origin
from subconscious.settings import Settings

OVERTURNS = frozenset({"SUPERSEDES", "CONTRADICTS"})
"""Types that turn against their target."""


def status(found: Found, source: Memory, target: Memory, settings: Settings) -> str:
    """``active``, ``proposed`` (shown, but counted in nothing) or "" for none."""
    if found.linked < settings.link_proposal_threshold:
        return ""
    return standing(found.type, found.confidence, source, target, settings)


def standing(type_: str, confidence: float, source: Memory, target: Memory, settings: Settings) -> str:
    """``active`` or ``proposed``: a tool's words bind nothing, nor does the less trusted overturn the more trusted."""
    if confidence < settings.link_threshold or Origin.TOOL in (source.origin, target.origin):
        return "proposed"
    weaker = source.origin.distrust > target.origin.distrust or (target.verified and not source.verified)
    if type_ == "CONTRADICTS":
        weaker = weaker or target.origin.distrust > source.origin.distrust
    return "proposed" if type_ in OVERTURNS and weaker else "active"
