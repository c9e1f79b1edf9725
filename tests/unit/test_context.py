from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.context import ContextWeights, lift
from subconscious.recall.fusion import Fused

ALONE = ContextWeights(near=0.0, session=0.0)
NEAR = ContextWeights(near=0.2, session=0.0)


def found(**scores: float) -> list[Fused]:
    return [Fused(int(name[1:]), score, ()) for name, score in scores.items()]


def order(hits: list[Fused]) -> list[int]:
    return [hit.id for hit in hits]


def test_without_surroundings_nothing_changes() -> None:
    hits = found(_3=0.9, _1=0.5)
    assert lift(hits, [[1, 2, 3]], ALONE) == hits


def test_a_neighbour_that_no_engine_found_joins_before_a_weak_hit() -> None:
    lifted = lift(found(_2=1.0, _9=0.1), [[1, 2, 3], [9]], NEAR)
    assert order(lifted) == [2, 1, 3, 9]
    assert lifted[1].engines == ()


def test_the_best_results_within_the_limit_are_returned() -> None:
    whole = lift(found(_2=1.0, _9=0.1), [[1, 2, 3], [9]], NEAR)
    assert lift(found(_2=1.0, _9=0.1), [[1, 2, 3], [9]], NEAR, 2) == whole[:2]


def test_neighbours_reach_two_places_and_not_across_sessions() -> None:
    lifted = lift(found(_1=1.0), [[1, 2, 3, 4], [5, 6]], NEAR)
    assert order(lifted) == [1, 2, 3]


def test_the_session_in_which_more_was_found_is_preferred() -> None:
    hits = found(_1=0.5, _2=0.5, _3=0.4)
    lifted = lift(hits, [[1], [2, 30, 31, 32, 3]], ContextWeights(near=0.0, session=0.2))
    assert order(lifted) == [2, 1, 3]
    assert lifted[0].relevance > lifted[1].relevance


@given(
    st.dictionaries(st.integers(1, 20), st.floats(0, 1), max_size=12),
    st.lists(st.lists(st.integers(1, 20), max_size=6), max_size=4),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_scores_stay_between_0_and_1_in_order_and_no_hit_is_lost(
    scores: dict[int, float], sessions: list[list[int]], near: float, session: float
) -> None:
    lifted = lift([Fused(one, score, ()) for one, score in scores.items()], sessions, ContextWeights(near, session))
    values = [hit.relevance for hit in lifted]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)
    assert scores.keys() <= {hit.id for hit in lifted}
    assert len({hit.id for hit in lifted}) == len(lifted)
