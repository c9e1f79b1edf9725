"""Fuses the rankings of several engines into one. Relevances are 0 to 1, the best hit near 1. No I/O.

`relative` (the default, which gave the best results in benchmarks) normalises each engine's scores between its worst
and its best hit and adds them by weight. `rrf` is reciprocal rank fusion (Cormack, Clarke, Buettcher: SIGIR 2009),
scaled by its maximum. `weighted` doesn't normalise scores, for engines whose scores are probabilities or shares.
The formulas are listed in PRESETS; `rrf` and `nexus` are published formulas, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from subconscious.domain.hits import EngineHit

Ranking = Sequence[tuple[int, float]]
"""The result of an engine: ids with scores, best first."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A memory id with its fused relevance and, after `credited`, its rank and score by engine."""

    id: int
    relevance: float
    engines: tuple[EngineHit, ...] = ()


def relative(rankings: Mapping[str, Ranking], weights: Mapping[str, float]) -> list[Fused]:
    """Return the hits, best first, by the weighted mean of their min-max normalised scores.

    A hit scores 0 with an engine that did not find it. Engines that found nothing at all don't count.
    """
    answered = {name: ranking for name, ranking in rankings.items() if ranking}
    total = sum(weights[name] for name in answered) or 1.0
    scores: dict[int, float] = {}
    for name, ranking in answered.items():
        for (found, _), share in zip(ranking, _normalised(ranking), strict=True):
            scores[found] = scores.get(found, 0.0) + share * weights[name] / total
    return _ordered(scores)


def _normalised(ranking: Ranking) -> list[float]:
    """Return the scores scaled to .1 (for the worst hit, which still is a hit) .. 1 (for the best)."""
    values = [score for _, score in ranking]
    low, high = min(values), max(values)
    if high == low:
        return [1.0] * len(values)
    return [0.1 + 0.9 * (value - low) / (high - low) for value in values]


def rrf(
    rankings: Mapping[str, Ranking], k: int, agreement: float, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Return hits by the sum of weight / (k + rank) over engines, times ``agreement`` for hits of several engines."""
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
    """Return the hits, best first, by the weighted mean of their scores, which are 0 to 1.

    A hit scores 0 with an engine that did not find it. Engines that found nothing at all don't count. The scores of the
    engines in ``by_best`` have no upper bound, so each is divided by the best score of its engine.
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
    """Return the hits with their rank and score in each engine's ranking, which only the final result needs."""
    seen: dict[int, list[EngineHit]] = {hit.id: [] for hit in fused}
    for name, ranking in rankings.items():
        for rank, (found, score) in enumerate(ranking, start=1):
            seen[found].append(EngineHit(name, rank, score))
    return [Fused(hit.id, hit.relevance, tuple(seen[hit.id])) for hit in fused]


Rankings = Mapping[str, Ranking]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The settings of the fusion. ``shares`` are the weights of `nexus`: vector, graph, belief."""

    preset: str = "relative"
    alpha: float = 0.5
    feedback: float = 0.5
    graph: float = 0.3
    kin: float = 0.0
    damping: float = 0.5
    k: int = 60
    agreement: float = 1.1
    rrf_graph: float = 1.5
    shares: tuple[float, float, float] = (0.4, 0.4, 0.2)


@dataclass(frozen=True, slots=True)
class Preset:
    """One way to fuse rankings: its function, whether there is a second search, and whether beliefs are computed.

    ``hits`` is how many each engine is asked for; 0 means as many as the budget allows. ``mode`` is the default mode.
    """

    fuse: Callable[[Rankings, Fusion], list[Fused]]
    again: bool = False
    beliefs: bool = False
    hits: int = 0
    mode: str = "any"


def _relative(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    # The second vector search is better, so the first one has no weight and only reports the cosines of its hits.
    again = bool(rankings.get("feedback"))
    weights = {
        "text": 1.0 - fusion.alpha,
        "vector": 0.0 if again else fusion.alpha,
        "feedback": fusion.alpha,
        "graph": fusion.graph,
    }
    return relative(rankings, weights)


def _rrf(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    return rrf(rankings, fusion.k, fusion.agreement, {"graph": fusion.rrf_graph})


def _nexus(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    # The published formula has no weight for full text. Without vectors, full text gets their weight.
    vector, graph, belief = fusion.shares
    words = 0.0 if rankings.get("vector") else vector
    weights = {"text": words, "vector": vector, "graph": graph, "belief": belief}
    return weighted(rankings, weights, by_best=("text", "graph"))


PRESETS = {
    "relative": Preset(_relative, again=True),
    "rrf": Preset(_rrf),
    "nexus": Preset(_nexus, beliefs=True, hits=50, mode="auto"),
}
