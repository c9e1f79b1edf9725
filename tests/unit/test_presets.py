from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from subconscious.domain.hits import EngineHit, Hit
from subconscious.domain.model import Memory
from subconscious.domain.trust import Repute, Trust
from subconscious.recall.engines import COMMON_SHARE, FEEDBACK_HITS, FEWEST_HITS, sharpened
from subconscious.recall.fusion import PRESETS, Fused, Fusion, credited
from subconscious.recall.modes import ANY, EXTENDED, mode_of
from subconscious.recall.selection import (
    Selection,
    selected,
    successors_first,
    summaries_shown_instead,
    with_replacements,
    without_duplicates,
)
from tests.support.values import make_memory

LEAST = {"execution": 0.85, "planning": 0.65, "brainstorming": 0.5}


def scores(preset: str, rankings: dict[str, list[tuple[int, float]]], **settings: Any) -> dict[int, float]:
    fused = PRESETS[preset].fuse(rankings, Fusion(preset, **settings))
    return {hit.id: hit.relevance for hit in fused}


def test_rrf_weighs_the_graph_by_half_more_and_multiplies_agreement() -> None:
    found = scores("rrf", {"text": [(1, 9.0), (2, 8.0)], "vector": [(2, 0.7)], "graph": [(3, 0.5), (2, 0.1)]})
    best = 1.1 * (1 + 1 + 1.5) / 61
    expected = {
        1: 1 / 61,
        2: (1 / 62 + 1 / 61 + 1.5 / 62) * 1.1,
        3: 1.5 / 61,
    }
    assert found == pytest.approx({one: score / best for one, score in expected.items()})


def test_nexus_is_a_weighted_mean_of_what_answered() -> None:
    rankings = {
        "text": [(9, 7.0)],
        "vector": [(1, 0.8), (2, 0.4)],
        "graph": [(1, 0.3), (2, 0.15)],
        "belief": [(2, 0.5)],
    }
    assert scores("nexus", rankings) == pytest.approx(
        {1: 0.4 * 0.8 + 0.4 * 1.0, 2: 0.4 * 0.4 + 0.4 * 0.5 + 0.2 * 0.5, 9: 0.0}
    )
    without_links = {"text": [(9, 7.0)], "vector": [(1, 0.8)]}
    assert scores("nexus", without_links) == pytest.approx({1: 0.8, 9: 0.0})


def test_nexus_goes_by_words_where_there_is_no_meaning() -> None:
    assert scores("nexus", {"text": [(1, 8.0), (2, 2.0)], "vector": []}) == pytest.approx({1: 1.0, 2: 0.25})


def test_in_relative_the_second_look_takes_the_place_of_the_first() -> None:
    rankings = {"text": [(1, 5.0)], "vector": [(1, 0.9), (2, 0.2)], "feedback": [(2, 0.6), (1, 0.3)]}
    assert scores("relative", rankings) == pytest.approx({1: 0.5 + 0.5 * 0.1, 2: 0.5})
    (first, *_) = credited(PRESETS["relative"].fuse(rankings, Fusion()), rankings)
    assert EngineHit("vector", 1, 0.9) in first.engines


def unit(*numbers: float) -> np.ndarray:
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def test_a_second_look_moves_towards_the_best_and_away_from_what_all_share() -> None:
    query = unit(1, 0.1, 0)
    hits = [Fused(number, 1.0 if number < FEEDBACK_HITS else 0.1, ()) for number in range(FEWEST_HITS)]
    vectors = {hit.id: unit(1, 0, 0.5) if hit.id < FEEDBACK_HITS else unit(1, 0, -0.5) for hit in hits}
    found = sharpened(query, hits, vectors, 0.5)
    assert found is not None
    common = COMMON_SHARE * np.mean(list(vectors.values()), axis=0)
    own = unit(*(vectors[0] - common))
    assert found == pytest.approx(unit(*(unit(*(query - common)) + 0.5 * own)), abs=1e-6)
    assert found[2] > query[2]


def test_few_hits_give_no_second_look() -> None:
    hits = [Fused(number, 1.0, ()) for number in range(FEWEST_HITS)]
    vectors = {hit.id: unit(1, hit.id) for hit in hits[:-1]}
    assert sharpened(unit(1, 0), hits, vectors, 0.5) is None


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=FEWEST_HITS, max_size=30), st.floats(0, 2))
def test_a_second_look_is_a_direction_whatever_the_first_found(rows: list[list[float]], share: float) -> None:
    hits = [Fused(number, 0.0, ()) for number in range(len(rows))]
    found = sharpened(unit(1, 2, 3), hits, {n: np.array(row, np.float32) for n, row in enumerate(rows)}, share)
    assert found is not None
    assert float(np.linalg.norm(found)) == pytest.approx(1.0, abs=1e-4) or not found.any()


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("which port does the worker listen on", "execution"),
        ("how should we design the retry queue", "planning"),
        ("why did we drop Redis", "planning"),
        ("ideas for a better onboarding", "brainstorming"),
        ("what if we explored alternatives to our plan", "brainstorming"),
        ("the plane lands", "execution"),
    ],
)
def test_a_mode_is_read_off_the_question(text: str, mode: str) -> None:
    assert mode_of("auto", text, LEAST).name == mode


def test_the_modes_are_those_of_the_specification() -> None:
    found = {name: mode_of(name, "", LEAST) for name in EXTENDED}
    assert {name: (mode.hits, mode.relevance, mode.tokens) for name, mode in found.items()} == {
        "execution": (5, 0.85, 5_000),
        "planning": (20, 0.65, 10_000),
        "brainstorming": (30, 0.5, 20_000),
    }
    assert mode_of("any", "an idea", LEAST) is ANY


def hit(number: int, relevance: float = 0.9, content: str = "", **changes: Any) -> Hit:
    return Hit(make_memory(content or f"Fact {number}.", id=number, **changes), relevance, 1.0)


def ids(hits: list[Hit]) -> list[int]:
    return [one.memory.id for one in hits]


def never(one: Memory, other: Memory) -> bool:
    return False


def test_of_hits_that_say_the_same_the_best_is_shown() -> None:
    vectors = {1: unit(1, 0), 2: unit(1, 0.1), 3: unit(0, 1)}
    ranked = [hit(1), hit(2), hit(3), hit(4)]
    assert ids(without_duplicates(ranked, vectors, 0.95, never)) == [1, 3, 4]
    assert ids(without_duplicates(ranked, vectors, 0.999, never)) == [1, 2, 3, 4]
    assert ids(without_duplicates(ranked, vectors, 0.95, lambda one, other: True)) == [1, 2, 3, 4]


def test_promoted_knowledge_leads_where_it_answers() -> None:
    ranked = [hit(1), hit(2, 0.7, verified=True), hit(3, 0.8, pinned=True), hit(4, 0.4, kind="meta"), hit(5, 0.2)]
    assert ids(selected(ranked, Selection(first=0.65))) == [2, 3, 1, 4, 5]
    assert ids(selected(ranked, Selection(first=0.65, alone=True))) == [2, 3]
    assert ids(selected(ranked, Selection(first=0.95, alone=True))) == [1, 2, 3, 4, 5]
    assert ids(selected(ranked, Selection(relevance=0.75, hits=1))) == [1]


def test_a_summing_up_stands_in_for_what_it_says_about_as_well() -> None:
    ranked = [hit(1, 0.9), hit(2, 0.2), hit(3, 0.65), hit(4, 0.6, kind="meta"), hit(5, 0.3, pinned=True), hit(6, 0.2)]
    sums = {4: (1, 3, 5, 7)}
    assert summaries_shown_instead(ranked, sums, 1.0) == {3: 4}, (
        "the first is closer to the question, the fifth is pinned"
    )
    assert summaries_shown_instead(ranked, sums, 0.6) == {1: 4, 3: 4}, "it answers the question"
    assert summaries_shown_instead(ranked, {}, 0.6) == {}
    assert ids(with_replacements(ranked, {3: 4})) == [1, 2, 4, 5, 6]
    assert ids(with_replacements(ranked, {1: 4, 3: 4})) == [4, 2, 5, 6]
    assert with_replacements(ranked, {}) == ranked


def test_decay_is_no_threshold() -> None:
    faded = Hit(make_memory(id=1), 0.9, 0.01, rank=1.0)
    assert selected([faded], Selection(relevance=0.85)) == [faded]


def replaced(number: int, *newer: int) -> Hit:
    return replace(hit(number), repute=Repute(Trust.HIGH, superseded_by=newer))


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=9), st.randoms())
@example([[1], [2], []], Random(0))
@example([[1], [0]], Random(0))
def test_what_took_a_place_stands_before_it_however_long_the_chain(newer: list[list[int]], order: Random) -> None:
    hits = [replaced(number, *(one for one in ones if one > number)) for number, ones in enumerate(newer)]
    order.shuffle(hits)
    places = {number: place for place, number in enumerate(ids(successors_first(hits)))}
    assert sorted(places) == list(range(len(newer)))
    for number, ones in enumerate(newer):
        assert all(places[one] < places[number] for one in ones if number < one < len(newer))


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=9))
def test_hits_that_took_each_others_place_are_all_shown_once(newer: list[list[int]]) -> None:
    hits = [replaced(number, *ones) for number, ones in enumerate(newer)]
    assert sorted(ids(successors_first(hits))) == list(range(len(newer)))


def test_what_stands_alone_keeps_its_place() -> None:
    assert ids(successors_first([hit(4), replaced(1, 2), hit(3), replaced(2, 5), hit(5)])) == [4, 5, 2, 1, 3]
