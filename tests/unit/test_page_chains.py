"""The chains of the graph page: what replaced what, in order, whatever the links look like."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from subconscious.page.graph import chains

PAIRS = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=12)


def links(pairs: list[tuple[int, int]]) -> list[dict[str, Any]]:
    return [{"source": {"id": new}, "target": {"id": old}} for new, old in pairs]


def ids(pairs: list[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    return [(newest["id"], [memory["id"] for memory in older]) for newest, older in chains(links(pairs))]


def test_a_chain_begins_with_what_is_in_force() -> None:
    assert ids([(2, 1), (4, 3), (3, 2)]) == [(4, [3, 2, 1])]


def test_a_memory_that_replaced_two_has_both() -> None:
    assert ids([(4, 2), (4, 3), (2, 1)]) == [(4, [2, 1, 3])]


def test_a_circle_ends() -> None:
    assert ids([(1, 2), (2, 1)]) == []
    assert ids([(3, 2), (2, 1), (1, 2)]) == [(3, [2, 1])]


@given(PAIRS)
def test_every_chain_has_each_memory_once_and_only_what_it_replaced(pairs: list[tuple[int, int]]) -> None:
    for newest, older in ids(pairs):
        assert newest not in {old for _, old in pairs}
        assert len({newest, *older}) == 1 + len(older)
        assert all(any(new in (newest, *older) and old == number for new, old in pairs) for number in older)
