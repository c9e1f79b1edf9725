from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.sections import Section, named, nearest, sections
from subconscious.recall.tiers import GAP, TIERS, Tiers, clipped, shorten, shortened
from tests.support.values import make_memory

RECORD = """Use integer cents for all amounts.

## Context
Floats lose cents. The invoice table had 3 wrong totals in ADR-0012.

## Decision
Every amount is an integer number of cents. `amount_cents` replaces `amount` in src/billing/invoice.py.

## Consequences
- The importer multiplies by 100.
- Old clients break until v2.4.1.
"""
LONG = " ".join(f"Sentence number {n} speaks of module_{n}.py and of issue #{1000 + n}." for n in range(60))


def test_sections_are_those_of_markdown_and_of_decision_records() -> None:
    assert [part.name for part in sections(RECORD)] == ["", "Context", "Decision", "Consequences"]
    assert sections("**Status:** accepted\nDecision: we use tabs") == [
        Section("Status", "accepted"),
        Section("Decision", "we use tabs"),
    ]


def test_a_heading_within_code_is_none() -> None:
    assert sections("```sh\n# install\nmake\n```") == [Section("", "```sh\n# install\nmake\n```")]


@pytest.mark.parametrize(
    ("name", "found"), [("decision", "Decision"), ("conseq", "Consequences"), ("text", "Context"), ("nothing", None)]
)
def test_a_section_is_found_by_its_name(name: str, found: str | None) -> None:
    part = named(sections(RECORD), name)
    assert (part.name if part else None) == found


def test_the_section_that_is_asked_for_is_found() -> None:
    part = nearest(sections(RECORD), "which old clients break")
    assert part is not None
    assert part.name == "Consequences"
    assert nearest(sections(RECORD), "weather") is None


def test_a_memory_that_fits_is_told_whole_with_its_files() -> None:
    memory = make_memory("Amounts are cents.", files=("src/a.py",))
    assert shorten(memory, "", 400).text == "Amounts are cents. (files: src/a.py)"
    assert not shorten(memory, "", 400).cut


def test_what_is_nearest_is_kept_and_the_rest_is_announced() -> None:
    memory = make_memory(LONG, id=7, summary="Sixty sentences.")
    told = shorten(memory, "module_41.py", 400)
    assert told.cut
    assert told.text.startswith(f"Sixty sentences.{GAP}")
    assert "issue #1041." in told.text
    assert told.text.endswith("[cut: show 7]")


def test_the_right_section_is_told() -> None:
    memory = make_memory(RECORD, id=3, summary="Integer cents")
    assert shorten(memory, "", 400, "decision").text.startswith("Decision: Every amount")
    assert "Consequences: - The importer" in shorten(memory, "what did the importer have to do", 220).text


def test_the_reason_is_a_section_too() -> None:
    memory = make_memory("Use cents.", rationale="Floats lose them.")
    assert shorten(memory, "", None, "context").text == "Why: Floats lose them."


def test_full_is_the_identity() -> None:
    memory = make_memory(RECORD, files=("other.py",))
    assert shorten(memory, "cents", Tiers().characters("full")).text == RECORD


def test_a_code_span_and_a_number_are_not_cut() -> None:
    assert clipped("run `git push --force` now", 14) == "run"
    assert clipped("costs 10 000 000 euros", 10) == "costs"


WORDS = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(["E0308", "#1234", "12.5", "src/a_b.py", "`a b c`", "Done.", "Why? "]),
        st.sampled_from(["\n## Head\n", "**Status:** x\n"]),
    ),
    max_size=80,
).map(" ".join)


@given(WORDS, WORDS, st.integers(0, 400))
def test_a_budget_is_never_exceeded_and_telling_again_changes_nothing(text: str, asked: str, characters: int) -> None:
    once = shortened(text, asked, characters)
    assert len(once) <= characters
    assert shortened(once, asked, characters) == once


@given(WORDS, WORDS, st.sampled_from(TIERS), st.text(max_size=10))
def test_every_tier_keeps_its_budget(text: str, asked: str, tier: str, section: str) -> None:
    room = Tiers(10, 20, 40).characters(tier)  # type: ignore[arg-type]
    memory = make_memory(text, id=123456, files=("src/a.py",))
    told = shorten(memory, asked, room, section)
    assert room is None or len(told.text) <= room
    assert shorten(memory, asked, room, section) == told


@given(WORDS, WORDS, st.integers(0, 400))
def test_words_are_whole(text: str, asked: str, characters: int) -> None:
    """What is told has no word that the text has not; names of sections stand before a colon."""
    told = shortened(text, asked, characters)
    known = set(text.split()) | {f"{word}:" for word in re.findall(r"\S+", text)} | {GAP.strip()}
    names = {f"{part.name}:".split()[-1] for part in sections(text) if part.name}
    assert set(told.split()) <= known | names | {word for part in sections(text) for word in part.name.split()}
