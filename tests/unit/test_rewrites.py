"""A statement's phrases are put one way, and no pattern is left untried that would match."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from subconscious.text import rewrites
from subconscious.text.rewrites import required, rewrite

DATA = Path(__file__).parent / "data"


def sentences() -> list[str]:
    rows = [
        line.split("\t")
        for path in sorted(DATA.glob("same_statement_d*.tsv"))
        for line in path.read_text().splitlines()
    ]
    return [text for row in rows if len(row) == 4 for text in row[2:]]


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\bmost recent\b", ("most recent",)),
        (r"\b(?:leads? to|results? in)\b", ("lead", "result")),
        (r"\bcolou?r\b", ("colo",)),
        (r"a(?:bc)?def", ("def",)),
        (r"(?!never)always", ("always",)),
        (r"[xyz]+[\])(]\(no", ("no",)),
        (r"(?-i:PRs)", ("prs",)),
        (r"once|\d+", ()),
        (r"\w+ ?", ()),
    ],
)
def test_the_literals_that_a_match_needs(pattern: str, literals: tuple[str, ...]) -> None:
    assert required(pattern) == literals


@pytest.mark.slow
def test_looking_for_literals_first_changes_nothing() -> None:
    for text in sentences():
        plain = text
        for _, pattern, instead in rewrites._REWRITES:
            plain = pattern.sub(instead, plain)
        assert rewrite(text) == plain


def test_most_patterns_are_ruled_out_by_a_literal() -> None:
    unguarded = [pattern for needed, pattern, _ in rewrites._REWRITES if not needed]
    assert len(unguarded) < len(rewrites._REWRITES) / 20
    assert all(isinstance(pattern, re.Pattern) for pattern in unguarded)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A full disk made the deploy fail.", "the deploy _did fail because a full disk"),
        ("Uploads may not exceed 10 MB", "Uploads maximum 10 MB"),
        ("No emojis in commits.", "not need emojis in commits."),
        ("Keep secrets out of the repo", "not put secrets in the repo"),
    ],
)
def test_a_phrase_is_put_one_way(one: str, other: str) -> None:
    assert " ".join(rewrite(one).split()) == other
