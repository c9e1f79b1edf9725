from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.fusion import credited, relative, rrf

ranking = st.lists(st.tuples(st.integers(1, 50), st.floats(-10, 10)), max_size=20, unique_by=lambda hit: hit[0]).map(
    lambda hits: sorted(hits, key=lambda hit: -hit[1])
)
HALVES = {"text": 0.5, "vector": 0.5}


def test_relative_adds_normalised_scores_by_weight() -> None:
    fused = relative({"text": [(1, 8.0), (2, 6.0), (3, 4.0)], "vector": [(2, 0.9), (4, 0.1)]}, HALVES)
    scores = {hit.id: hit.relevance for hit in fused}
    assert scores == pytest.approx({2: 0.5 * 0.55 + 0.5, 1: 0.5, 3: 0.05, 4: 0.05})
    assert [hit.id for hit in fused] == [2, 1, 3, 4]


def test_relative_gives_an_absent_engines_weight_to_the_others() -> None:
    (hit,) = relative({"text": [(7, 3.0)], "vector": []}, HALVES)
    assert (hit.id, hit.relevance) == (7, 1.0)


def test_each_engine_that_found_a_hit_is_told_with_its_rank_and_score() -> None:
    rankings = {"text": [(7, 3.0)], "vector": [(8, 0.9), (7, 0.2)]}
    hit = next(hit for hit in credited(relative(rankings, HALVES), rankings) if hit.id == 7)
    assert [(engine.engine, engine.rank, engine.score) for engine in hit.engines] == [
        ("text", 1, 3.0),
        ("vector", 2, 0.2),
    ]


def test_rrf_counts_ranks_from_one_and_rewards_agreement() -> None:
    fused = rrf({"text": [(1, 9.0), (2, 8.0)], "vector": [(2, 0.7)]}, k=60, agreement=1.1)
    best = 1.1 * 2 / 61
    assert {hit.id: hit.relevance for hit in fused} == pytest.approx(
        {2: (1 / 62 + 1 / 61) * 1.1 / best, 1: (1 / 61) / best}
    )


@given(text=ranking, vector=ranking)
def test_relevance_is_bounded_and_ordered(text: list[tuple[int, float]], vector: list[tuple[int, float]]) -> None:
    rankings = {"text": text, "vector": vector}
    for fused in (relative(rankings, HALVES), rrf(rankings, 60, 1.1)):
        values = [hit.relevance for hit in fused]
        assert values == sorted(values, reverse=True)
        assert all(0 < value <= 1 for value in values)
        assert {hit.id for hit in fused} == {found for found, _ in text + vector}
