"""The graph engine: PageRank against networkx, noisy-or against the whole table of causes, and the bounds of a walk."""

from __future__ import annotations

from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

from subconscious.domain.model import Link
from subconscious.recall.fusion import Fused
from subconscious.recall.graph import (
    PARENTS,
    Edge,
    Reach,
    by_belief,
    by_links,
    linked,
    noisy_or,
    pagerank,
    similarity_edges,
)
from subconscious.store import links, memories
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.values import NOON, make_memory

FAR = Reach(hops=2, nodes=300)

pair = st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda ends: ends[0] != ends[1])
edge = st.tuples(pair, st.floats(0.05, 1)).map(lambda told: Edge(told[0][0], told[0][1], told[1]))
edges = st.lists(edge, min_size=1, max_size=30)
share = st.floats(0, 1)


def solved(found: list[Edge], seeds: dict[int, float], damping: float) -> dict[int, float]:
    """The ranks as the solution of their linear system; who has no edges jumps back to the seeds."""
    ids = sorted({end for edge in found for end in (edge.one, edge.other)} | seeds.keys())
    matrix = np.zeros((len(ids), len(ids)))
    for edge in found:
        one, other = ids.index(edge.one), ids.index(edge.other)
        matrix[one, other] += edge.weight
        matrix[other, one] += edge.weight
    start = np.array([seeds.get(one, 0.0) for one in ids])
    start /= start.sum()
    sums = matrix.sum(axis=1, keepdims=True)
    walk = np.where(sums > 0, matrix / np.where(sums > 0, sums, 1.0), start)
    ranks = np.linalg.solve(np.eye(len(ids)) - damping * walk.T, (1 - damping) * start)
    return dict(zip(ids, ranks.tolist(), strict=True))


@given(edges, st.dictionaries(st.integers(1, 12), st.floats(0.05, 1), min_size=1, max_size=5), st.floats(0.1, 0.9))
def test_pagerank_is_the_solution_of_its_linear_system(
    found: list[Edge], seeds: dict[int, float], damping: float
) -> None:
    assert pagerank(found, seeds, damping) == pytest.approx(solved(found, seeds, damping), abs=1e-6)


def test_pagerank_agrees_with_networkx() -> None:
    found = [Edge(1, 2, 1.0), Edge(2, 3, 0.5), Edge(3, 4, 1.0), Edge(4, 1, 0.2), Edge(2, 5, 0.9)]
    graph = networkx.DiGraph()
    for edge in found:
        graph.add_edge(edge.one, edge.other, weight=edge.weight)
        graph.add_edge(edge.other, edge.one, weight=edge.weight)
    seeds = {1: 0.7, 3: 0.3}
    # The one of networkx's three that needs no scipy.
    expected = _pagerank_python(graph, alpha=0.5, personalization=seeds, tol=1e-10)
    assert pagerank(found, seeds, 0.5) == pytest.approx(expected, abs=1e-7)


@given(share, st.lists(st.tuples(share, share), max_size=PARENTS))
def test_noisy_or_equals_the_full_probability_table(own: float, parents: list[tuple[float, float]]) -> None:
    """Sum over every state of the parents: its probability, times that of the effect in it."""
    whole = 0.0
    for state in product((False, True), repeat=len(parents)):
        probability, silent = 1.0, 1.0 - own
        for present, (prior, strength) in zip(state, parents, strict=True):
            probability *= prior if present else 1.0 - prior
            silent *= 1.0 - strength if present else 1.0
        whole += probability * (1.0 - silent)
    assert noisy_or(own, parents) == pytest.approx(whole)


def test_only_the_four_strongest_parents_count() -> None:
    strong = [(0.9, 0.5)] * PARENTS
    assert noisy_or(0.1, [*strong, (0.2, 0.2)]) == noisy_or(0.1, strong)


def test_beliefs_cover_memories_related_to_a_hit() -> None:
    found = dict(by_belief({1: 0.8, 2: 0.0}, [Edge(1, 2, 0.5), Edge(2, 3, 1.0)], 10))
    assert found == pytest.approx({2: 0.4})


def test_direct_links_of_a_hit_rank_before_indirect_ones() -> None:
    hits = [Fused(1, 1.0, ())]
    order = [one for one, _ in by_links(hits, [Edge(1, 2, 1.0), Edge(2, 3, 1.0)], 0.5, 10)]
    assert order == [1, 2, 3]
    assert by_links(hits, [], 0.5, 10) == []


def test_kin_are_near_when_what_all_have_in_common_is_left_out() -> None:
    common = np.array([5.0, 0, 0])
    own = {1: [0, 1, 0], 2: [0, 1, 0.1], 3: [0, -1, 0], 4: [0, -1, 0.1]}
    vectors = {one: (common + np.array(way)).astype(np.float32) for one, way in own.items()}
    assert {(edge.one, edge.other) for edge in similarity_edges(vectors, 1.0)} == {(1, 2), (3, 4)}
    assert similarity_edges(vectors, 0.0) == []


async def store(database: Database, project: str | None, count: int) -> list[int]:
    async with database.write() as tx:
        kept = [
            await memories.insert(tx, make_memory(f"Fact {n} of {project}.", project_id=project)) for n in range(count)
        ]
    return [memory.id for memory in kept]


async def link(database: Database, source: int, target: int, status: str = "active", confidence: float = 0.8) -> None:
    async with database.write() as tx:
        await links.add(tx, Link(0, source, target, "CONSOLIDATES", status, confidence, "test", "", NOON), "test")


def ends(found: list[Edge]) -> set[tuple[int, int]]:
    return {(edge.one, edge.other) for edge in found}


async def test_links_are_followed_both_ways_and_weighed(database: Database, project: Project) -> None:
    a, b, c, far = await store(database, project.id, 4)
    await link(database, a, b)
    await link(database, c, b)
    await link(database, c, far)
    found = await linked(database, [a], (project.id,), FAR)
    assert ends(found) == {(a, b), (c, b)}
    assert found[0].weight == pytest.approx(0.8 * 0.5)
    assert await linked(database, [a], (project.id,), Reach(hops=0, nodes=0)) == []


async def test_what_may_not_be_recalled_is_not_walked_over(database: Database, project: Project) -> None:
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('pother', 'other', '/o', '', '', 0)")
    a, b, proposed, archived = await store(database, project.id, 4)
    (stranger,), (mine,) = await store(database, "pother", 1), await store(database, None, 1)
    await link(database, a, stranger)
    await link(database, stranger, b)
    await link(database, a, mine)
    await link(database, a, proposed, status="proposed")
    await link(database, a, archived)
    async with database.write() as tx:
        await memories.archive(tx, await memories.require(tx, archived), "user", "")
    assert ends(await linked(database, [a], (project.id,), FAR)) == {(a, mine)}
    assert ends(await linked(database, [a], (), FAR)) == {(a, stranger), (stranger, b), (a, mine)}


async def test_a_hub_contributes_its_most_certain_links_within_the_limit(database: Database, project: Project) -> None:
    hub, *others = await store(database, project.id, 30)
    for number, other in enumerate(others):
        await link(database, hub, other, confidence=0.3 + number / 100)
    found = await linked(database, [hub], (project.id,), Reach(hops=2, nodes=6))
    assert ends(found) == {(hub, other) for other in others[-5:]}
