"""How much a person's decision says about how well something was captured.

"Outdated" and "known already" are no judgement of it. A person who forgets an old memory without a word most likely
means that it no longer holds; one who forgets what was captured a moment ago means that it should not have been.
"""

from __future__ import annotations

import re

HALF_LIFE_DAYS = 3.0
"""Days of a memory's age after which forgetting it without a reason counts half."""

_OUTDATED = re.compile(
    r"\b(?:out\W?dated|out of date|stale|obsolete|no longer|not any ?more|any ?more|supersed\w+|deprecated|replaced"
    r"|moved (?:on|off|to)|(?:has|have|was|were) changed|changed (?:since|now)|expired|used to|was (?:true|right)|old news"
    r"|over now|finished|veraltet|nicht mehr|überholt|obsolète|n'est plus|ya no)\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"\b(?:duplicate\w*|dup|dupe|redundant|already (?:known|there|stored|have|in|said)|same as|known already|twice)\b",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"it rested on what went\b")
"""The memory went because another one did."""

_WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|not true|not right|never (?:said|decided|meant)|did ?n[o']?t say|mistake\w*"
    r"|misunderst\w+|misread|nonsense|invented|made up|falsch|faux|falso)\b",
    re.IGNORECASE,
)


def weight_against(reason: str, age_days: float | None = None) -> float:
    """Return how much a rejection counts as a capture that was wrong, 0..1.

    ``age_days`` is how old the memory was when it was forgotten; None for what had only waited for review.
    """
    if _WRONG.search(reason):
        return 1.0
    if _OUTDATED.search(reason) or _KNOWN.search(reason) or _FOLLOWS.match(reason):
        return 0.0
    return 1.0 if age_days is None else 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS)
