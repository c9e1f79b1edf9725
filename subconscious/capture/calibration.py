"""What a stated confidence has turned out to be worth, learned from what people decided (SPEC N3).

Tenth by tenth: the rate at which captures were right, drawn towards the stated confidence by a Beta prior, so that
three decisions change little and a hundred much; then made monotone (pool adjacent violators), since more confidence
must never mean less. Between the tenths it is interpolated. Without any outcome it is the identity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

TENTHS = 10

Knot = tuple[float, float]
"""A stated confidence and what it is worth."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one capture. ``weight`` is below 1 for what is old or was only not objected to."""

    extractor: str
    stated: float
    right: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Tenth:
    """The outcomes of one tenth of stated confidence, and what they make of it."""

    low: float
    samples: float
    right: float
    stated: float
    worth: float

    @property
    def observed(self) -> float | None:
        """The share that was right, where there is any outcome."""
        return self.right / self.samples if self.samples else None


@dataclass(frozen=True, slots=True)
class Curve:
    """One extractor's mapping: monotone, within 0..1."""

    tenths: tuple[Tenth, ...]

    def at(self, stated: float) -> float:
        """What a stated confidence is worth."""
        knots = [(tenth.stated, tenth.worth) for tenth in self.tenths]
        place = bisect_right(knots, stated, key=lambda knot: knot[0])
        if place == 0:
            return knots[0][1] * max(0.0, stated) / knots[0][0]
        if place == len(knots):
            # Beyond the last knot in proportion: the identity stays one, a drop holds up to the end.
            return min(1.0, knots[-1][1] * stated / knots[-1][0])
        return _between(knots[place - 1], knots[place], stated)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of all extractors that have outcomes; the others are taken at their word."""

    curves: Mapping[str, Curve] = field(default_factory=dict)

    def at(self, extractor: str, stated: float) -> float:
        """What an extractor's stated confidence is worth."""
        curve = self.curves.get(extractor)
        return stated if curve is None else curve.at(stated)


def fit(outcomes: Iterable[Outcome], prior: float) -> Calibration:
    """Learn every extractor's curve. ``prior`` is how many outcomes the stated confidence itself counts for."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.extractor, []).append(outcome)
    return Calibration({extractor: curve_of(of_one, prior) for extractor, of_one in found.items()})


def curve_of(outcomes: Sequence[Outcome], prior: float) -> Curve:
    """The curve of one extractor."""
    heaps: list[list[Outcome]] = [[] for _ in range(TENTHS)]
    for outcome in outcomes:
        heaps[tenth_of(outcome.stated)].append(outcome)
    raw = [_weighed(place / TENTHS, heap) for place, heap in enumerate(heaps)]
    drawn = [(tenth.right + prior * tenth.stated) / (tenth.samples + prior) for tenth in raw]
    # A tenth without outcomes has little to say against its neighbour's.
    worths = monotone(drawn, [tenth.samples + 1.0 for tenth in raw])
    return Curve(
        tuple(
            Tenth(tenth.low, tenth.samples, tenth.right, tenth.stated, worth)
            for tenth, worth in zip(raw, worths, strict=True)
        )
    )


def tenth_of(stated: float) -> int:
    """Which tenth a confidence falls into; 1.0 belongs to the last."""
    return min(TENTHS - 1, max(0, int(stated * TENTHS + 1e-9)))


def _weighed(low: float, heap: Sequence[Outcome]) -> Tenth:
    samples = sum(outcome.weight for outcome in heap)
    right = sum(outcome.weight for outcome in heap if outcome.right)
    middle = low + 0.5 / TENTHS
    stated = sum(outcome.weight * outcome.stated for outcome in heap) / samples if samples else middle
    return Tenth(low, samples, min(right, samples), stated or middle, 0.0)


def monotone(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-falling sequence nearest to ``values``: neighbours out of order share their weighted mean."""
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


def _between(left: Knot, right: Knot, stated: float) -> float:
    if right[0] <= left[0]:
        return right[1]
    share = (stated - left[0]) / (right[0] - left[0])
    return left[1] + share * (right[1] - left[1])
