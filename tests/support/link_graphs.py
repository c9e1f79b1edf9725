"""Small graphs of links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from subconscious.domain.model import Link
from subconscious.links.graph import Neighbours


def linked(number: int, source: int, target: int, type_: str = "SUPPORTS", status: str = "active") -> Link:
    return Link(number, source, target, type_, status, 0.9, "user", "", 0.0)


def around(links: Iterable[Link]) -> Neighbours:
    """The links at some memories, as the store answers."""
    kept = list(links)

    async def neighbours(ids: Sequence[int]) -> list[Link]:
        return [link for link in kept if link.source_id in ids or link.target_id in ids]

    return neighbours


pairs = st.tuples(st.integers(1, 9), st.integers(1, 9)).filter(lambda pair: pair[0] != pair[1])
