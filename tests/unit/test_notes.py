from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.model import Decision, Origin
from subconscious.imports.notes import MAX_STATEMENTS, Note, judge, kind_of
from subconscious.settings.settings import Settings
from tests.support.values import NOON

MADR = """# Use PostgreSQL for the ledger

* Status: accepted
* Date: 2023-02-01

## Context and Problem Statement

Two services write at once, and SQLite locked up.

## Considered Options

* PostgreSQL
* MySQL

## Decision Outcome

Chosen option: "PostgreSQL", because it has the better locking.
"""


def note(text: str, place: str = "docs/adr/0001-x.md", vouched: bool = False) -> Note:
    return Note("n1", place, f"/shop/{place}", text, NOON, vouched)


def said(text: str, place: str = "docs/adr/0001-x.md", vouched: bool = False) -> list[tuple[str, str, Decision]]:
    return [(c.kind, c.content, a.decision) for c, a in judge(note(text, place, vouched), Settings())]


def test_a_records_decision_section_is_the_decision() -> None:
    ((candidate, admission),) = judge(note(MADR), Settings())
    assert candidate.content == (
        'Use PostgreSQL for the ledger: Chosen option: "PostgreSQL", because it has the better locking.'
    )
    assert candidate.summary == "Use PostgreSQL for the ledger"
    assert candidate.rationale == "it has the better locking"
    assert (candidate.time, admission.decision) == (1_675_209_600.0, Decision.REVIEW)
    assert candidate.evidence.quote in MADR
    assert MADR.encode()[candidate.evidence.start : candidate.evidence.end].decode() == candidate.evidence.quote


def test_without_a_reason_the_context_is_the_reason() -> None:
    ((candidate, _),) = judge(note(MADR.replace(", because it has the better locking", "")), Settings())
    assert candidate.rationale == "Two services write at once, and SQLite locked up."


def test_a_decision_with_a_list_includes_the_list() -> None:
    text = "# ADR 3: Money\n\n## Decision\n\nWe will:\n\n- keep cents\n- round once\n"
    assert said(text)[0][1] == "Money: We will: keep cents; round once"


@pytest.mark.parametrize(
    ("status", "decision"),
    [
        ("accepted", Decision.AUTO),
        ("Accepted. Supersedes ADR-2", Decision.AUTO),
        ("proposed", Decision.REVIEW),
        ("superseded by [ADR-9](0009.md)", Decision.DISCARD),
        ("Rejected", Decision.DISCARD),
        ("deprecated", Decision.DISCARD),
    ],
)
def test_a_vouched_record_is_kept_as_its_status_says(status: str, decision: Decision) -> None:
    ((candidate, admission),) = judge(note(MADR.replace("accepted", status), vouched=True), Settings())
    assert admission.decision is decision
    assert candidate.origin is (Origin.TOOL if decision is Decision.DISCARD else Origin.USER)


def test_a_status_section_counts_too() -> None:
    text = "# 2. Cents\n\n## Status\n\nAccepted\n\nSuperseded by 3.\n\n## Decision\n\nWe keep cents.\n"
    assert said(text) == [("decision", "Cents: We keep cents.", Decision.DISCARD)]


@pytest.mark.parametrize(
    ("place", "front", "kind"),
    [
        ("docs/adr/0001-x.md", {}, "decision"),
        ("doc/decisions/use-x.md", {"kind": "lesson"}, "decision"),
        ("adr-12.md", {}, "decision"),
        ("notes/lessons.md", {}, "lesson"),
        ("docs/conventions/style.md", {}, "preference"),
        ("notes/monday.md", {}, ""),
        ("notes/monday.md", {"kind": "dead_end"}, "dead_end"),
        ("notes/monday.md", {"type": "adr"}, "decision"),
        ("notes/monday.md", {"kind": "meta"}, ""),
        ("docs/adr/README.md", {}, ""),
        ("docs/adr/template.md", {}, ""),
        ("docs/adr/0000-adr-template.md", {}, ""),
    ],
)
def test_the_kind_comes_from_the_path_then_from_the_front_matter(place: str, front: dict[str, str], kind: str) -> None:
    assert kind_of(place, front) == kind


def test_a_list_of_lessons_gives_each_of_them() -> None:
    text = "# Lessons\n\n- [x] Run **make fmt** before a commit.\n- Never mock\n  the clock here.\n- short\n"
    found = said(text, "docs/lessons.md")
    assert [content for _, content, _ in found] == [
        "Lessons: Run make fmt before a commit.",
        "Lessons: Never mock the clock here.",
    ]
    assert {decision for _, _, decision in found} == {Decision.REVIEW}


def test_a_note_without_a_kind_yields_only_explicit_statements() -> None:
    text = "# Monday\n\nThe weather was fine.\n\nWe decided to keep all amounts in integer cents.\n"
    assert said(text, "notes/monday.md") == [
        ("decision", "We decided to keep all amounts in integer cents.", Decision.REVIEW)
    ]


def test_code_tables_and_comments_state_nothing() -> None:
    text = (
        "# Lessons\n\n```\n# We always deploy on Friday\n```\n\n| a | b |\n|---|---|\n\n<!-- secret plan of old -->\n"
    )
    assert said(text, "docs/lessons.md") == []


@given(st.text(max_size=2000), st.sampled_from(["docs/adr/1.md", "lessons.md", "x.md"]), st.booleans())
def test_any_text_is_bounded_quoted_and_never_kept_unasked(text: str, place: str, vouched: bool) -> None:
    found = judge(note(f"# Title\n\n{text}", place, vouched), Settings())
    assert len(found) <= MAX_STATEMENTS
    for candidate, admission in found:
        assert len(candidate.content) <= 400
        assert len(candidate.summary) <= 100
        if not vouched:
            assert candidate.origin is Origin.TOOL
            assert admission.decision is not Decision.AUTO


def test_windows_line_ends_change_nothing() -> None:
    crlf = replace(note(MADR), text=MADR.replace("\n", "\r\n"))
    assert [c.content for c, _ in judge(crlf, Settings())] == [c.content for c, _ in judge(note(MADR), Settings())]
