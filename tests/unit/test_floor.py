"""What is a match: a shared word, a meaning near enough, or what either has led to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subconscious.domain.hits import EngineHit, Hit
from subconscious.domain.trust import Repute, Trust
from subconscious.recall.selection import FAR, FAR_FROM_PATH, LEAST_SCORE, NEAR, matches
from tests.support.values import make_memory

QUERY = "which port?"


def hit(**scores: float) -> Hit:
    engines = tuple(EngineHit(name, 1, score) for name, score in scores.items())
    return Hit(make_memory("The port is 8081."), 0.0, 1.0, engines)


def test_what_shares_no_word_and_is_far_is_no_match() -> None:
    near, word, far = hit(vector=FAR), hit(text=1.0, vector=0.01), hit(vector=FAR - 0.01)
    assert matches([near, far, word], QUERY) == [near, word]


def test_links_lead_only_from_a_match() -> None:
    linked, far, near = hit(graph=1.0, feedback=0.9), hit(vector=0.1), hit(vector=0.6)
    assert matches([far, linked], QUERY) == []
    assert matches([near, linked, far], QUERY) == [near, linked]


def test_what_was_listed_without_engines_stays() -> None:
    assert len(matches([hit(), hit()], QUERY)) == 2


def placed(number: int, rank: float, share: float = 0.0, **scores: float) -> Hit:
    return replace(hit(**scores), memory=make_memory("The port is 8081.", id=number), rank=rank, share=share)


def test_a_neighbour_of_a_match_needs_a_share_of_its_score() -> None:
    word, near, far = placed(1, 0.5, text=1.0), placed(2, 0.5 * LEAST_SCORE), placed(3, 0.49 * LEAST_SCORE)
    assert matches([word, near, far], QUERY) == [word, near]


def test_beside_what_has_all_words_others_must_be_near() -> None:
    word, neighbour, linked = placed(1, 0.5, 1.0, text=1.0), placed(2, 0.9), placed(3, 0.3, graph=0.5)
    near, some = placed(4, 0.1, vector=NEAR), placed(5, 0.1, text=0.1)
    far = placed(6, 0.4, vector=NEAR - 0.01)
    assert matches([neighbour, word, linked, far, near, some], QUERY) == [word, linked, near, some]


def test_what_supersedes_a_match_is_kept_with_it() -> None:
    newest, newer = placed(3, 0.0, vector=0.1), placed(2, 0.0, vector=0.1)
    newer, old = replaced(newer, by=3), replaced(placed(1, 0.5, 1.0, text=1.0), by=2)
    assert matches([newest, newer, old], QUERY) == [newest, newer, old]


def replaced(old: Hit, by: int) -> Hit:
    return replace(old, repute=Repute(Trust.HIGH, superseded_by=(by,)))


@pytest.mark.parametrize("path", ["/etc/passwd", "~/.ssh/id_rsa", "C:\\Windows", " src/main.rs "])
def test_a_path_must_be_nearer(path: str) -> None:
    near, word, far = hit(vector=FAR_FROM_PATH), hit(text=1.0, vector=0.01), hit(vector=FAR_FROM_PATH - 0.01)
    assert matches([near, far, word], path) == [near, word]
    assert matches([far], f"what is in {path}?") == [far]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("\U0001f680", False),
        ("\U0001f389", True),
        ("1.5", False),
        ("80", False),
        ("8081", True),
        ("=>", True),
        ("?", False),
        (".", False),
    ],
)
def test_numbers_and_symbols_match_only_what_contains_them(query: str, found: bool) -> None:
    near = replace(hit(vector=1.0), memory=make_memory("The port => 8081. \U0001f389"))
    assert matches([near], query) == ([near] if found else [])
