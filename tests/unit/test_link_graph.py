"""A walk over links meets everything once, ends, and is drawn so that no memory's words draw anything."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.link_types import LINK_TYPES
from subconscious.domain.model import Link
from subconscious.links.graph import LONGEST_LABEL, Graph, escaped, mermaid, tree, walk
from subconscious.text.quoting import visible
from tests.support.hostile_text import hostile
from tests.support.link_graphs import around, linked, pairs


def walked(links: Iterable[Link], depth: int = 3, most: int = 100) -> Graph:
    return asyncio.run(walk(1, around(links), depth, most))


CHAIN = [linked(1, 1, 2), linked(2, 3, 2), linked(3, 3, 4), linked(4, 4, 5)]


def test_links_are_walked_both_ways_and_so_far() -> None:
    assert walked(CHAIN).distances == {1: 0, 2: 1, 3: 2, 4: 3}
    assert walked(CHAIN, depth=1).distances == {1: 0, 2: 1}
    assert walked([], depth=3).distances == {1: 0}


def test_a_circle_ends_where_it_closes() -> None:
    circle = [linked(1, 1, 2), linked(2, 2, 3), linked(3, 3, 1)]
    found = walked(circle, depth=6)
    assert found.distances == {1: 0, 2: 1, 3: 1}
    assert [(b.depth, b.memory_id, b.name, b.again) for b in tree(found)] == [
        (1, 2, "SUPPORTS", False),
        (2, 3, "SUPPORTS", True),
        (1, 3, "SUPPORTED_BY", False),
    ]


def test_a_full_walk_reports_omitted_links() -> None:
    star = [linked(number, 1, number + 1) for number in range(1, 10)]
    found = walked(star, most=4)
    assert (len(found.distances), found.left_out) == (4, 6)
    assert walked(star).left_out == 0


@given(
    st.lists(st.tuples(pairs, st.sampled_from(sorted(LINK_TYPES))), max_size=25), st.integers(1, 4), st.integers(1, 9)
)
def test_a_tree_has_every_link_and_memory_once(drawn: list[tuple[tuple[int, int], str]], depth: int, most: int) -> None:
    links = [linked(number, *pair, type_) for number, (pair, type_) in enumerate(drawn, 1)]
    found = walked(links, depth, most)
    branches = tree(found)
    assert sorted(branch.link.id for branch in branches) == sorted(link.id for link in found.links)
    unfolded = [branch.memory_id for branch in branches if not branch.again]
    assert sorted([1, *unfolded]) == sorted(found.distances)
    assert all(branch.depth == found.distances[branch.memory_id] for branch in branches if not branch.again)
    assert len(found.distances) <= most
    assert max(found.distances.values()) <= depth


NODE = re.compile(r'  m(\d+)\["(\d+(?: [^"`<>&\n\\%{}\[\]|]*)?)"\]')
EDGE = re.compile(r'  m\d+ (?:<-->|-->|<-\.->|-\.->)\|"[A-Z_]+"\| m\d+')
CODE = re.compile(r"#(\d+);")

words = (
    hostile
    | st.text(max_size=80)
    | st.sampled_from(['"]\nclick m1 "javascript:alert(1)"', "%%{init: {}}%%", "`**x**`"])
)


@given(st.lists(words, min_size=2, max_size=5))
def test_no_memorys_words_break_out_of_their_label(names: list[str]) -> None:
    """Line for line a node or an edge, and each label reads back as the words that were to be seen."""
    numbers = range(1, len(names) + 1)
    kinds = [("CONTRADICTS", "active"), ("SUPPORTS", "proposed"), ("CONTRADICTS", "proposed"), ("CAUSED", "active")]
    links = [linked(n, n, n + 1, *kinds[n % 4]) for n in numbers[:-1]]
    graph = Graph(1, dict.fromkeys(numbers, 1), tuple(links))
    lines = mermaid(graph, dict(zip(numbers, names, strict=True))).split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("flowchart LR", "", 2 + 2 * len(names) - 1)
    for number, name, line in zip(numbers, names, lines[1:], strict=False):
        match = NODE.fullmatch(line)
        assert match, line
        shown = " ".join(visible(name).split())
        told = shown if len(shown) <= LONGEST_LABEL else shown[: LONGEST_LABEL - 1] + "…"
        assert CODE.sub(lambda code: chr(int(code[1])), match[2]) == f"{number} {told}".rstrip()
    assert all(EDGE.fullmatch(line) for line in lines[1 + len(names) : -1])


def test_proposed_links_are_dotted_and_symmetric_ones_have_two_arrows() -> None:
    links = (linked(1, 1, 2, "SUPERSEDES"), linked(2, 1, 3, "CONTRADICTS", "proposed"))
    drawn = mermaid(Graph(1, {1: 0, 2: 1, 3: 1}, links), {1: "a", 2: "b", 3: "c#d"})
    assert drawn == (
        'flowchart LR\n  m1["1 a"]\n  m2["2 b"]\n  m3["3 c#35;d"]\n'
        '  m1 -->|"SUPERSEDES"| m2\n  m1 <-.->|"CONTRADICTS"| m3\n'
    )
    assert escaped("a.b, c_d") == "a.b, c_d"
