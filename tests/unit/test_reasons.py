"""Which way reasons lie, type by type, and that chains of them are whole and end."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.link_types import LINK_TYPES, directed_name, find_link_type
from subconscious.domain.model import Link
from subconscious.links.reasons import MOST_CHAINS, Reasons, reasons
from tests.support.link_graphs import around, linked, pairs


def found(links: list[Link], root: int = 1, depth: int = 3) -> Reasons:
    return asyncio.run(reasons(root, around(links), depth))


def paths(links: list[Link], root: int = 1, depth: int = 3) -> list[list[int]]:
    return [[step.memory_id for step in chain] for chain in found(links, root, depth).chains]


# By hand and not from the registry: "what to do" (1) is explained by "the reason" (2).
EXPLAINS = {
    "CAUSED": (2, 1),
    "ENABLED": (2, 1),
    "SUPPORTS": (2, 1),
    "DERIVED_FROM": (1, 2),
    "SUPERSEDES": (1, 2),
    "REQUIRES": (1, 2),
}
SILENT = ("CONTRADICTS", "EXTENDS", "REFERS_TO", "CONSOLIDATES")


@pytest.mark.parametrize("type_", EXPLAINS)
def test_each_type_leads_to_its_reason_and_not_from_it(type_: str) -> None:
    link = linked(1, *EXPLAINS[type_], type_)
    assert paths([link], root=1) == [[2]]
    assert paths([link], root=2) == []


@pytest.mark.parametrize("type_", SILENT)
def test_other_types_give_no_reason(type_: str) -> None:
    assert paths([linked(1, 1, 2, type_)]) == paths([linked(1, 2, 1, type_)]) == []


def test_every_type_is_one_or_the_other() -> None:
    assert {*EXPLAINS, *SILENT} == set(LINK_TYPES)


def test_a_step_reads_from_where_it_begins() -> None:
    (chain,) = found([linked(1, 2, 1, "CAUSED"), linked(2, 2, 3, "REQUIRES")]).chains
    assert [(step.since, step.name, step.memory_id) for step in chain] == [(1, "CAUSED_BY", 2), (2, "REQUIRES", 3)]


def test_chains_go_as_far_as_asked() -> None:
    line = [linked(number, number + 1, number) for number in range(1, 6)]
    assert paths(line) == [[2, 3, 4]]
    assert paths(line, depth=1) == [[2]]


def test_a_circle_and_two_ways_to_one_reason() -> None:
    circle = [linked(1, 2, 1), linked(2, 1, 2)]
    assert paths(circle) == [[2]]
    diamond = [linked(1, 2, 1), linked(2, 3, 1), linked(3, 4, 2), linked(4, 4, 3)]
    assert paths(diamond) == [[2, 4], [3, 4]]


def test_too_many_reasons_are_cut_and_said_to_be() -> None:
    many = found([linked(number, number + 1, 1) for number in range(1, 90)])
    assert (len(many.chains), many.cut) == (MOST_CHAINS, True)
    assert not found([linked(1, 2, 1)]).cut


@given(st.lists(st.tuples(pairs, st.sampled_from(sorted(LINK_TYPES))), max_size=40), st.integers(1, 4))
def test_chains_meet_nothing_twice_and_each_goes_on_where_the_last_step_ended(
    drawn: list[tuple[tuple[int, int], str]], depth: int
) -> None:
    links = [linked(number, *pair, type_) for number, (pair, type_) in enumerate(drawn, 1)]
    for chain in found(links, depth=depth).chains:
        met = [1, *(step.memory_id for step in chain)]
        assert [step.since for step in chain] == met[:-1]
        assert len(set(met)) == len(met) <= depth + 1
        assert all({step.since, step.memory_id} == {step.link.source_id, step.link.target_id} for step in chain)


def test_types_are_known_by_name_and_by_inverse() -> None:
    for row in LINK_TYPES.values():
        assert find_link_type(row.name.lower()) == (row, False)
        assert find_link_type(row.inverse.replace("_", "-")) == (row, not row.symmetric)
        assert directed_name(row.name, source=True) == row.name
        assert directed_name(row.name, source=False) == row.inverse
    assert find_link_type("likes") is None
    assert directed_name("UNHEARD", source=False) == "UNHEARD"
