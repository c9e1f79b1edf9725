"""Clusters: everybody near everybody, in sizes that are allowed, and the same ones in whatever order memories come."""

from __future__ import annotations

from itertools import combinations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.consolidation.clusters import MOST, clusters
from subconscious.consolidation.gate import clash

Vectors = dict[int, numpy.ndarray]


def never(one: int, other: int) -> bool:
    del one, other
    return False


@st.composite
def stores(draw: st.DrawFn) -> Vectors:
    """Some points around a few centres, closer and farther."""
    rng = numpy.random.default_rng(draw(st.integers(0, 10_000)))
    centres = rng.normal(size=(draw(st.integers(1, 4)), 8))
    count = draw(st.integers(0, 30))
    points = centres[rng.integers(0, len(centres), count)] + draw(st.floats(0.01, 0.6)) * rng.normal(size=(count, 8))
    points /= numpy.linalg.norm(points, axis=1, keepdims=True)
    return dict(zip(rng.permutation(1000)[:count].tolist(), points.astype(numpy.float32), strict=True))


@given(stores(), st.floats(0.5, 0.99))
@settings(max_examples=100, deadline=None)
def test_every_member_is_near_every_other_one(found: Vectors, least: float) -> None:
    made = clusters(found, never, least)
    members = [number for one in made for number in one.members]
    assert len(members) == len(set(members))
    for one in made:
        assert 2 <= len(one.members) <= MOST
        cosines = [float(found[a].astype(float) @ found[b].astype(float)) for a, b in combinations(one.members, 2)]
        assert min(cosines) >= least - 1e-9
        assert one.cohesion == pytest.approx(min(cosines))
    assert [one.cohesion for one in made] == sorted((one.cohesion for one in made), reverse=True)


@given(stores(), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_in_which_they_come_changes_nothing(found: Vectors, random: object) -> None:
    ids = list(found)
    random.shuffle(ids)  # type: ignore[attr-defined]
    assert clusters({number: found[number] for number in ids}, never, 0.7) == clusters(found, never, 0.7)


@given(stores(), st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_excluded_pairs_stay_in_separate_clusters(found: Vectors, step: int) -> None:
    def apart(one: int, other: int) -> bool:
        return (one + other) % step == 0

    made = clusters(found, apart, 0.6)
    assert not any(apart(a, b) for one in made for a, b in combinations(one.members, 2))


def test_a_chain_of_neighbours_is_no_cluster() -> None:
    angles = {number: number * 0.6 for number in range(1, 5)}  # neighbours at .83, those next to them at .36
    found = {number: numpy.array([numpy.cos(a), numpy.sin(a)], numpy.float32) for number, a in angles.items()}
    assert [one.members for one in clusters(found, never, 0.7)] == [(1, 2), (3, 4)]


def test_the_most_central_one_comes_first() -> None:
    angles = {1: 0.0, 2: 0.3, 3: 0.5}
    found = {number: numpy.array([numpy.cos(a), numpy.sin(a)], numpy.float32) for number, a in angles.items()}
    (one,) = clusters(found, never, 0.7)
    assert one.members == (2, 3, 1)
    assert one.cohesion == pytest.approx(float(numpy.cos(0.5)), abs=1e-6)


def test_eleven_of_the_same_make_two_clusters() -> None:
    found = {number: numpy.array([1, 0], numpy.float32) for number in range(11)}
    assert [len(one.members) for one in clusters(found, never, 0.7)] in ([10], [8, 3], [9, 2])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tests run on port 5433.", "Tests run on port 5432.", True),
        ("Never squash commits here.", "Squash commits here.", True),
        ("We use Redis for the session cache.", "We use Memcached for the session cache.", True),
        ("Tests run on port 5433.", "Tests run on port 5433, always.", False),
        ("Debug logging is on in staging.", "Debug logging is on in production.", True),
        ("The tests enable the cache.", "The tests disable the cache.", True),
        ("Commits must be signed by hand.", "Commits may be signed by hand.", False),
        ("The queue retries 3 times.", "Invoices are kept for 10 years in the archive.", False),
    ],
)
def test_two_versions_of_one_statement_are_never_summed_up(one: str, other: str, expected: bool) -> None:
    assert clash(one, other) is expected
    assert clash(other, one) is expected
