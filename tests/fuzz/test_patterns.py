"""No pattern may take longer than its text is long: hostile texts, measured by how the time grows with them."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.patterns import SMALL, collect, hostile_texts, secrets, text_of, too_slow, widest
from subconscious.capture.detectors.commit_messages import message
from subconscious.capture.passages import passages
from subconscious.redaction import (
    command_rules,
    context_rules,
    gitleaks,
    paired_rules,
    passphrases,
    personal,
    redact,
    shapes,
    spoken_rules,
)
from subconscious.redaction.plausible import looks_secret
from subconscious.redaction.rule import WINDOW
from subconscious.supersession import retirement
from subconscious.text.examined import FIRST, LAST, LONGEST_LINE, LONGEST_WORD, examined_text
from subconscious.transcripts.speech import typed

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(240)]

TEXTS = 16
"""Texts for each pattern; ``python -m bench.patterns`` tries thirty times as many."""

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_grows_faster_than_its_text(part: int) -> None:
    slow = [
        (found.where, steep)
        for found in collect()[part::PARTS]
        for shape in hostile_texts(found.pattern, TEXTS)
        if (steep := too_slow(found, shape, SMALL))
    ]
    assert slow == []


def test_patterns_are_found_wherever_they_stand() -> None:
    places_found = {found.where.rpartition(".")[0] for found in collect()}
    assert {
        "subconscious.capture.detectors.cues",
        "subconscious.poisoning.views",
        "subconscious.text.quoting",
    } <= places_found
    assert {"redaction", "poisoning"} <= {found.where.partition(":")[0] for found in collect()}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (looks_secret, "A" * 190 + "!"),
        (passages, "[" * 20_000),
        (lambda text: message(text), "git commit " * 270),
        (typed, "<tick>" * 150_000),
        (typed, "<tick></tick>" * 80_000),
        (retirement._OPEN_END.search, f"see {'.' * 2_000}x"),
    ],
    ids=["capitals", "brackets", "commits", "unclosed", "closed", "dots"],
)
def test_what_once_took_seconds_or_for_ever(call, text: str) -> None:  # type: ignore[no-untyped-def]
    began = process_time()
    call(text)
    assert process_time() - began < 1.0


@given(st.text(alphabet="<>/ticksystem-reminder a", max_size=200))
def test_client_tags_within_tags_are_cut_as_one_by_one(text: str) -> None:
    assert typed(f"<ti<tick>a</tick>ck>{text}").find("<tick>") < 0


@pytest.mark.parametrize("before", [0, 30, WINDOW - 40, WINDOW - 20, WINDOW - 1, WINDOW, 3 * WINDOW - 10])
def test_a_secret_is_found_wherever_a_window_ends(before: int) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    text = ("some words " * (before // 11 + 1))[: max(0, before - 1)] + "\n" + secret + "\n" + "other words " * 5000
    said = redact(text).text
    assert secret not in said
    assert "[redacted: GitHub token]" in said
    assert said.replace("[redacted: GitHub token]", secret) == text


def test_the_reach_of_a_rule_exceeds_its_longest_match() -> None:
    rules = (
        *shapes.RULES,
        *context_rules.RULES,
        *spoken_rules.RULES,
        *passphrases.RULES,
        *command_rules.RULES,
        *paired_rules.RULES,
        *gitleaks.rules(),
        *(rule for sort in personal.RULES.values() for rule in sort),
    )
    widths = {rule.kind: widest(rule.pattern) - rule.longest for rule in rules}
    assert [kind for kind, over in widths.items() if over >= 0] == []
    assert len(rules) == len(list(secrets()))


@given(st.text(max_size=500))
def test_what_people_write_is_examined_as_it_is(text: str) -> None:
    assert examined_text(text) == text


def test_long_lines_and_words_are_not_examined() -> None:
    kept = "We use tabs. " * 100
    line, word = "a " * LONGEST_LINE, "a" * (LONGEST_WORD + 1)
    assert examined_text(f"{kept}\n{line}\nso {word} is\nend") == f"{kept}\n\nso \u2026 is\nend"


def test_of_a_huge_message_the_ends_are_examined() -> None:
    lines = "\n".join(f"line {number}" for number in range(100_000))
    examined = examined_text(lines)
    assert examined.startswith("line 0\n")
    assert examined.endswith("\nline 99999")
    assert len(examined) <= FIRST + LAST + 2


def test_shapes_have_the_size_that_is_asked_for() -> None:
    assert text_of(("a", "bc"), 6) == "abcbcb"
