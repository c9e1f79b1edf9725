"""Calibration curves from the decisions on record, each weighed as evidence about the quality of a capture.

"Outdated" and "known already" are no evidence. Forgetting an old memory without a reason most likely means that it is
no longer valid; forgetting a new one means that it should not have been captured.
"""

from __future__ import annotations

import re
from time import time

from subconscious.calibration.curves import UNCALIBRATED, Calibration, Outcome, fit
from subconscious.settings.settings import Settings
from subconscious.store import capture_statistics
from subconscious.store.connect import Database

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
_FOLLOWS = re.compile(r"it (?:rested on what went|was derived from a removed memory)\b")
"""Reasons of memories that were removed together with another one."""

_WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|not true|not right|never (?:said|decided|meant)|did ?n[o']?t say|mistake\w*"
    r"|misunderst\w+|misread|nonsense|invented|made up|falsch|faux|falso)\b",
    re.IGNORECASE,
)


def weight_against(reason: str, age_days: float | None = None) -> float:
    """Return the weight of a rejection as evidence of a wrong capture, 0..1.

    ``age_days`` is the age of the forgotten memory; None for a capture that waited for review.
    """
    if _WRONG.search(reason):
        return 1.0
    if _OUTDATED.search(reason) or _KNOWN.search(reason) or _FOLLOWS.match(reason):
        return 0.0
    return 1.0 if age_days is None else 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS)


DAY = 86_400.0


async def calibrate(database: Database, settings: Settings) -> Calibration:
    """Fit the calibration to all decisions so far."""
    if not settings.calibration:
        return UNCALIBRATED
    now = time()
    found = [_outcome(row, settings, now) for row in await capture_statistics.outcomes(database)]
    thresholds = (settings.review_threshold, settings.auto_threshold)
    return fit([one for one in found if one.weight > 0.0], settings.calibration_prior, thresholds)


def _outcome(row: capture_statistics.Outcome, settings: Settings, now: float) -> Outcome:
    """Return the outcome of a decision. Old decisions count less, so that a tenth that was judged badly can recover."""
    faded = 0.5 ** (max(0.0, now - row.at) / (settings.calibration_days * DAY))
    return Outcome(row.extractor, row.stated, row.right, faded * _weight(row, settings), row.kind, _act(row))


def _weight(row: capture_statistics.Outcome, settings: Settings) -> float:
    if row.silent:
        return settings.calibration_silence
    return 1.0 if row.right else weight_against(row.reason, None if row.age is None else row.age / DAY)


def _act(row: capture_statistics.Outcome) -> str:
    """The act of a decision; events of old versions have none, so their second identifies it."""
    return row.act or ("" if row.silent else f"at {int(row.at)}")
