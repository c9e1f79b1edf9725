"""What is a match: a shared word, a meaning near enough, or what either has led to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subconscious.domain.hits import EngineHit, Hit
from subconscious.recall.selection import FAR, FAR_FROM_PATH, matches
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
