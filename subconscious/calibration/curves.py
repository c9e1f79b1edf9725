"""Maps the confidence that an extractor states to the rate at which such captures were right.

The rates are learned from people's decisions, for each tenth of stated confidence. Each rate is drawn towards a prior,
so that three decisions change it little and a hundred change it much. The rates are then made monotone (pool adjacent
violators), so that a higher stated confidence never has a lower rate. Between the tenths the curve is interpolated;
without any outcome, the stated confidence is used unchanged.

Each kind of memory has a curve of its own; its prior is the curve of the same extractor's other kinds. Two rules keep
automatic capture from stopping after a few rejections: one act of a person counts as at most one outcome, however many
captures it decides on (`shared`); and a single outcome never moves a confidence below a threshold (`Curve.at`).

A decision is weighed as evidence about the quality of a capture. The reasons "outdated" and "known already" are not
evidence of a wrong capture. If a person forgets an old memory without a reason, it is most likely no longer valid; if
they forget a new memory, it should not have been captured.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time

from subconscious.settings.settings import Settings
from subconscious.store import capture_statistics
from subconscious.store.connect import Database

TENTHS = 10

SINGLE = 1.0
"""The maximum total weight of one act's outcomes. One act alone never moves a confidence below a threshold."""

Knot = tuple[float, float]
"""A point of a curve: a stated confidence and its calibrated value."""

Prior = Callable[[float], float]
"""A function that maps a stated confidence to the calibrated value that is assumed before there are outcomes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one capture: whether it was right.

    ``weight`` is below 1 for old decisions, and for captures that count as right because nobody objected. Outcomes with
    the same ``act`` were decided together.
    """

    extractor: str
    stated: float
    right: bool
    weight: float = 1.0
    kind: str = ""
    act: str = ""


@dataclass(frozen=True, slots=True)
class Tenth:
    """The outcomes of all captures with a stated confidence in one band of 0.1, and the band's calibrated value."""

    low: float
    samples: float
    right: float
    stated: float
    worth: float

    @property
    def observed(self) -> float | None:
        """The share of captures that were right; None without outcomes."""
        return self.right / self.samples if self.samples else None


@dataclass(frozen=True, slots=True)
class Curve:
    """A monotone mapping of confidences, 0 to 1.

    ``lenient`` is the curve with one fewer negative outcome in each tenth.
    """

    tenths: tuple[Tenth, ...]
    lenient: tuple[Knot, ...] = ()
    thresholds: tuple[float, ...] = ()

    def at(self, stated: float) -> float:
        """Return the calibrated confidence for a stated confidence.

        If a stated confidence reaches a threshold, a single negative outcome never lowers it below that threshold:
        automatic capture must not depend on a single decision.
        """
        lenient = min(stated, self.lenient_at(stated))
        held = [min(limit, lenient) for limit in self.thresholds if stated >= limit]
        return max([self.plain_at(stated), *held])

    def plain_at(self, stated: float) -> float:
        """Return the calibrated confidence from all outcomes, without regard to the thresholds."""
        return _interpolated([(tenth.stated, tenth.worth) for tenth in self.tenths], stated)

    def lenient_at(self, stated: float) -> float:
        """Return the calibrated confidence with one fewer negative outcome in each tenth."""
        return _interpolated(self.lenient, stated)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of all extractors and kinds with outcomes; others keep their stated confidence."""

    curves: Mapping[str, Curve] = field(default_factory=dict)
    kinds: Mapping[tuple[str, str], Curve] = field(default_factory=dict)

    def at(self, extractor: str, stated: float, kind: str = "") -> float:
        """Return the calibrated value of an extractor's stated confidence, from the curve of ``kind`` if any."""
        curve = self.kinds.get((extractor, kind)) or self.curves.get(extractor)
        return stated if curve is None else curve.at(stated)


UNCALIBRATED = Calibration()
"""The calibration before any decision: stated confidences are used unchanged."""


def fit(outcomes: Iterable[Outcome], prior: float, thresholds: Sequence[float] = ()) -> Calibration:
    """Return the curves of all extractors and kinds. The prior weighs as much as ``prior`` outcomes."""
    found = shared(outcomes)
    curves = {
        extractor: curve_of([one for one in found if one.extractor == extractor], prior, thresholds)
        for extractor in {one.extractor for one in found}
    }
    kinds = {key: _of_kind(found, key, prior, thresholds) for key in {(one.extractor, one.kind) for one in found}}
    return Calibration(curves, {key: curve for key, curve in kinds.items() if key[1]})


def _of_kind(found: Sequence[Outcome], key: tuple[str, str], prior: float, thresholds: Sequence[float]) -> Curve:
    """Return the curve of one kind. The prior leaves out the kind's own outcomes, so that no outcome counts twice."""
    own = [one for one in found if (one.extractor, one.kind) == key]
    others = [one for one in found if one.extractor == key[0] and one.kind != key[1]]
    return curve_of(own, prior, thresholds, curve_of(others, prior))


def shared(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes, with the weight of each act divided among its outcomes: a bulk decision counts as one."""
    found = list(outcomes)
    sizes = Counter(one.act for one in found if one.act)
    return [replace(one, weight=one.weight * SINGLE / sizes[one.act]) if one.act else one for one in found]


def curve_of(
    outcomes: Sequence[Outcome], prior: float, thresholds: Sequence[float] = (), base: Curve | None = None
) -> Curve:
    """Return the curve of some outcomes. Its prior is the curve ``base``; if that is None, the stated confidence."""
    heaps: list[list[Outcome]] = [[] for _ in range(TENTHS)]
    for outcome in outcomes:
        heaps[tenth_of(outcome.stated)].append(outcome)
    raw = [_weighed(place / TENTHS, heap, prior) for place, heap in enumerate(heaps)]
    worths = _worths(raw, prior, base.plain_at if base else _identity)
    lenient = _worths([_spared(tenth) for tenth in raw], prior, base.lenient_at if base else _identity)
    return Curve(
        tuple(replace(tenth, worth=worth) for tenth, worth in zip(raw, worths, strict=True)),
        tuple((tenth.stated, worth) for tenth, worth in zip(raw, lenient, strict=True)),
        tuple(thresholds),
    )


def _identity(stated: float) -> float:
    return stated


def _worths(tenths: Sequence[Tenth], prior: float, expected: Prior) -> list[float]:
    drawn = [(tenth.right + prior * expected(_middle(tenth.low))) / (tenth.samples + prior) for tenth in tenths]
    # A tenth without outcomes has little weight against its neighbour.
    return monotone(drawn, [tenth.samples + 1.0 for tenth in tenths])


def _spared(tenth: Tenth) -> Tenth:
    """Return a tenth with one fewer negative outcome."""
    return replace(tenth, samples=tenth.samples - min(SINGLE, tenth.samples - tenth.right))


def tenth_of(stated: float) -> int:
    """Return the index of a confidence's tenth, 0 to 9; 1.0 belongs to the last tenth."""
    return min(TENTHS - 1, max(0, int(stated * TENTHS + 1e-9)))


def _weighed(low: float, heap: Sequence[Outcome], prior: float) -> Tenth:
    """Return the tenth that starts at ``low``, with the sums of its outcomes.

    Its position on the curve is the weighted mean of their stated confidences and the tenth's middle (the prior).
    """
    samples = sum(outcome.weight for outcome in heap)
    right = sum(outcome.weight for outcome in heap if outcome.right)
    stated = sum(outcome.weight * outcome.stated for outcome in heap)
    place = (stated + prior * _middle(low)) / (samples + prior)
    return Tenth(low, samples, min(right, samples), place, 0.0)


def _middle(low: float) -> float:
    return low + 0.5 / TENTHS


def monotone(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the nearest non-decreasing sequence: neighbours in the wrong order are replaced by their weighted mean."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            block = _pooled(blocks.pop(), block)
        blocks.append(block)
    return [value for value, _, length in blocks for _ in range(length)]


def _pooled(one: tuple[float, float, int], other: tuple[float, float, int]) -> tuple[float, float, int]:
    weight = one[1] + other[1]
    return (one[0] * one[1] + other[0] * other[1]) / weight, weight, one[2] + other[2]


def _interpolated(knots: Sequence[Knot], stated: float) -> float:
    place = bisect_right(knots, stated, key=lambda knot: knot[0])
    if place == 0:
        return knots[0][1] * max(0.0, stated) / knots[0][0]
    if place == len(knots):
        # Proportional beyond the last knot: an unchanged curve stays unchanged, a lowered one stays lowered.
        return min(1.0, knots[-1][1] * stated / knots[-1][0])
    return _between(knots[place - 1], knots[place], stated)


def _between(left: Knot, right: Knot, stated: float) -> float:
    if right[0] <= left[0]:
        return right[1]
    share = (stated - left[0]) / (right[0] - left[0])
    return left[1] + share * (right[1] - left[1])


HALF_LIFE_DAYS = 3.0
"""The age of a memory in days at which forgetting it without a reason counts half."""

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
"""Matches the reason in the event of a memory that was removed because another memory was removed."""

_WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|not true|not right|never (?:said|decided|meant)|did ?n[o']?t say|mistake\w*"
    r"|misunderst\w+|misread|nonsense|invented|made up|falsch|faux|falso)\b",
    re.IGNORECASE,
)


def weight_against(reason: str, age_days: float | None = None) -> float:
    """Return how strongly a rejection shows that a capture was wrong: 0 (not at all) to 1.

    A reason such as "wrong" (1) or "outdated" (0) decides alone. With another reason or none, the rejection of a
    capture in a review counts fully (``age_days`` is None); forgetting a memory counts less the older the memory was
    (``age_days``).
    """
    if _WRONG.search(reason):
        return 1.0
    if _OUTDATED.search(reason) or _KNOWN.search(reason) or _FOLLOWS.match(reason):
        return 0.0
    return 1.0 if age_days is None else 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS)


DAY = 86_400.0


async def calibrate(database: Database, settings: Settings) -> Calibration:
    """Return the calibration learned from all decisions so far; ``UNCALIBRATED`` if the settings turn it off."""
    if not settings.calibration:
        return UNCALIBRATED
    now = time()
    found = [_outcome(row, settings, now) for row in await capture_statistics.outcomes(database)]
    thresholds = (settings.review_threshold, settings.auto_threshold)
    return fit([one for one in found if one.weight > 0.0], settings.calibration_prior, thresholds)


def _outcome(row: capture_statistics.Outcome, settings: Settings, now: float) -> Outcome:
    """Return the outcome of a decision. Old decisions count less, so that a tenth with many rejections can recover."""
    faded = 0.5 ** (max(0.0, now - row.at) / (settings.calibration_days * DAY))
    return Outcome(row.extractor, row.stated, row.right, faded * _weight(row, settings), row.kind, _act(row))


def _weight(row: capture_statistics.Outcome, settings: Settings) -> float:
    if row.silent:
        return settings.calibration_silence
    return 1.0 if row.right else weight_against(row.reason, None if row.age is None else row.age / DAY)


def _act(row: capture_statistics.Outcome) -> str:
    """Return the id of the act that a decision was part of; "" if nobody decided.

    Events of old versions have no act id, so events in the same second count as one act.
    """
    return row.act or ("" if row.silent else f"at {int(row.at)}")
