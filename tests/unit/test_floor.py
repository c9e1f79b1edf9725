"""What is a match: a shared word, a meaning near enough, or what either has led to."""

from __future__ import annotations

from subconscious.domain.hits import EngineHit, Hit
from subconscious.recall.selection import FAR, matches
from tests.support.values import make_memory


def hit(**scores: float) -> Hit:
    engines = tuple(EngineHit(name, 1, score) for name, score in scores.items())
    return Hit(make_memory("The port is 8081."), 0.0, 1.0, engines)


def test_what_shares_no_word_and_is_far_is_no_match() -> None:
    near, word, far = hit(vector=FAR), hit(text=1.0, vector=0.01), hit(vector=FAR - 0.01)
    assert matches([near, far, word]) == [near, word]


def test_links_lead_only_from_a_match() -> None:
    linked, far, near = hit(graph=1.0, feedback=0.9), hit(vector=0.1), hit(vector=0.6)
    assert matches([far, linked]) == []
    assert matches([near, linked, far]) == [near, linked]


def test_what_was_listed_without_engines_stays() -> None:
    assert len(matches([hit(), hit()])) == 2
