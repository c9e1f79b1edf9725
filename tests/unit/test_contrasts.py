"""Sentences that say what to do and what not to do, divided into both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text.contrasts import divided


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Use uv, never pip.", ["Use uv", "never Use pip"]),
        ("We use uv instead of pip", ["We use uv", "never use pip"]),
        ("Never use pip here, uv only.", ["never use pip here", "use uv"]),
        ("dont use pip, use uv", ["never use pip", "use uv"]),
        ("no pip, only uv", ["never use pip", "use uv"]),
        ("uv not pip", ["use uv", "never use pip"]),
        ("Amounts are integer cents, never floats.", ["Amounts are integer cents", "Amounts are never floats"]),
        (
            "Amounts are stored as cents, never as floats",
            ["Amounts are stored as cents", "Amounts are never stored as floats"],
        ),
        ("Write tests first and never call pip directly.", ["Write tests first", "never call pip directly"]),
        ("Always rebase, never merge.", ["Always rebase", "never merge"]),
        ("Use pip, never sudo pip.", ["Use pip", "never Use sudo pip"]),
    ],
)
def test_a_contrast_is_divided(sentence: str, parts: list[str]) -> None:
    assert list(divided(sentence)) == parts


@pytest.mark.parametrize(
    "sentence",
    [
        "Amounts are not floats",
        "In tests, never use pip",
        "If the build fails, never push again",
        "Never push on Fridays, unless Ana agrees.",
        "Use tabs, not spaces, in Makefiles",
        "Never store floats, they drift",
        "The API returns JSON and not XML",
        "Use docker compose, not docker-compose.",
        "Never use docker-compose, use docker compose",
        "Use docker compose for services, not docker-compose",
        "",
    ],
)
def test_other_sentences_stay_whole(sentence: str) -> None:
    assert divided(sentence) == (sentence,)


@given(st.text(max_size=400))
def test_any_text_has_parts(text: str) -> None:
    assert divided(text)
