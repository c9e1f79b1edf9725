"""Fuses the rankings of several engines into one. Pure; relevances are 0..1, the best hit of a query near 1.

`relative` (the default: it measured best) normalises each engine's scores between its worst and its best hit and adds
them by weight. `rrf` is reciprocal rank fusion (Cormack, Clarke, Buettcher: SIGIR 2009), scaled by its maximum.
`weighted` uses scores unchanged, for engines whose scores are probabilities or shares.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from subconscious.domain.hits import EngineHit

Ranking = Sequence[tuple[int, float]]
"""An engine's answer: ids with scores, best first."""


@dataclass(frozen=True, slots=True)
class Fused:
    """One id with its fused relevance and, after `credited`, the ranks and scores that engines gave it."""

    id: int
    relevance: float
    engines: tuple[EngineHit, ...] = ()


def relative(rankings: Mapping[str, Ranking], weights: Mapping[str, float]) -> list[Fused]:
    """Weighted sum of min-max normalised scores. Weights are renormalised over the engines that found anything."""
    answered = {name: ranking for name, ranking in rankings.items() if ranking}
    total = sum(weights[name] for name in answered) or 1.0
    scores: dict[int, float] = {}
    for name, ranking in answered.items():
        for (found, _), share in zip(ranking, _normalised(ranking), strict=True):
            scores[found] = scores.get(found, 0.0) + share * weights[name] / total
    return _ordered(scores)


def _normalised(ranking: Ranking) -> list[float]:
    """Scores scaled to .1 (the worst hit, which is still a hit) .. 1 (the best)."""
    values = [score for _, score in ranking]
    low, high = min(values), max(values)
    if high == low:
        return [1.0] * len(values)
    return [0.1 + 0.9 * (value - low) / (high - low) for value in values]


def rrf(
    rankings: Mapping[str, Ranking], k: int, agreement: float, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Sum of weight / (k + rank), ranks from 1, times ``agreement`` for ids of two or more engines.

    An engine without a weight weighs 1.
    """
    answered = {name: ranking for name, ranking in rankings.items() if ranking}
    weigh = {name: (weights or {}).get(name, 1.0) for name in answered}
    scores: dict[int, float] = {}
    found_by: dict[int, int] = {}
    for name, ranking in answered.items():
        for rank, (found, _) in enumerate(ranking, start=1):
            scores[found] = scores.get(found, 0.0) + weigh[name] / (k + rank)
            found_by[found] = found_by.get(found, 0) + 1
    best = (agreement if len(answered) > 1 else 1.0) * sum(weigh.values()) / (k + 1)
    factor = {found: agreement if count > 1 else 1.0 for found, count in found_by.items()}
    return _ordered({found: score * factor[found] / best for found, score in scores.items()})


def weighted(rankings: Mapping[str, Ranking], weights: Mapping[str, float], by_best: Collection[str]) -> list[Fused]:
    """Weighted mean of scores in 0..1, over the engines that answered.

    Scores of the engines ``by_best`` have no upper bound and are divided by their best.
    """
    answered = {name: ranking for name, ranking in rankings.items() if ranking}
    total = sum(weights[name] for name in answered) or 1.0
    scores: dict[int, float] = {}
    for name, ranking in answered.items():
        most = max(score for _, score in ranking) if name in by_best else 1.0
        for found, score in ranking:
            share = max(0.0, score / most) if most > 0 else 0.0
            scores[found] = scores.get(found, 0.0) + share * weights[name] / total
    return _ordered(scores)


def _ordered(scores: Mapping[int, float]) -> list[Fused]:
    order = sorted(scores, key=lambda found: (-scores[found], found))
    return [Fused(found, min(1.0, scores[found])) for found in order]


def credited(fused: Sequence[Fused], rankings: Mapping[str, Ranking]) -> list[Fused]:
    """Return the hits with the rank and score that each engine gave them. Only the last fusion needs them."""
    seen: dict[int, list[EngineHit]] = {hit.id: [] for hit in fused}
    for name, ranking in rankings.items():
        for rank, (found, score) in enumerate(ranking, start=1):
            seen[found].append(EngineHit(name, rank, score))
    return [Fused(hit.id, hit.relevance, tuple(seen[hit.id])) for hit in fused]
