"""The pure parts of capture: how text is cut, weighed and chosen; each holds for any input."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.capture_detectors import choose, decided
from subconscious.capture.detectors.commands import short_command
from subconscious.capture.detectors.commit_messages import message
from subconscious.capture.detectors.corrections import chance, shape
from subconscious.capture.detectors.refinements import REFINEMENTS, Statement
from subconscious.capture.draft import Draft
from subconscious.capture.narration import is_narration, sentence_spans, trim
from subconscious.capture.passages import passages, plain
from subconscious.capture.session_limits import DISPLACED, REPEATED, TOLD, Entry, settle
from subconscious.capture.weighing import (
    SIZE,
    climb,
    joint_probability,
    looks,
    probability,
    tokens,
    words_and_pairs,
    worth,
)
from subconscious.domain.model import Origin, Role, Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.text import wording
from subconscious.text.linear import hashed

MARKDOWN = st.text(alphabet="ab *-#`|.\n:1>[]()T", max_size=400)
CHANCE = st.floats(0, 1)
SAID = Turn("t", "s", Role.ASSISTANT, Origin.ASSISTANT, "", 0.0, "", 0, 0)
DRAFT = Draft(SAID, "learning", "", "", "point")


@given(MARKDOWN)
def test_passages_are_short_spans_of_the_text_in_order(text: str) -> None:
    found = passages(text)
    assert all(one.wording == plain(text[one.start : one.end]) for one in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert [one.index for one in found] == [*range(len(found))]


def test_a_passage_knows_its_headings_and_what_leads_into_it() -> None:
    text = "# Kiln\n\n## Firing\n\nTwo rules:\n- the relay is warmed up first\n\n```py\nfire()\n```\n\n| a | b |\n"
    (one,) = passages(text)
    assert (one.headings, one.lead, one.listed) == (("Kiln", "Firing"), "Two rules:", True)
    assert one.wording == "the relay is warmed up first"


@pytest.mark.parametrize(
    "sentence",
    [
        *("Let me look at the driver.", "All 12 tests pass.", "Done!", "Should I go on?", "Now I'll fix it."),
        *("Understood: the relay is warmed up first.", "Noted, amounts are cents.", "Got it"),
    ],
)
def test_narration_is_recognised(sentence: str) -> None:
    assert is_narration(sentence)
    assert trim(sentence, 0, len(sentence)) is None


@pytest.mark.parametrize(
    "sentence", ["The relay drops the first command.", "`fire()` needs a warm relay.", "Understood limits hold."]
)
def test_what_is_so_is_no_narration(sentence: str) -> None:
    assert not is_narration(sentence)


@given(st.text(alphabet="aB .!?`\n", max_size=200))
def test_sentences_do_not_overlap_and_trimming_stays_inside(text: str) -> None:
    spans = sentence_spans(text, 0, len(text))
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    if (kept := trim(text, 0, len(text))) is not None:
        assert 0 <= kept[0] < kept[1] <= len(text)


@given(CHANCE, CHANCE)
def test_more_chance_never_means_less_confidence(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert climb(low) <= climb(high)
    assert climb(low) >= 0
    assert climb(high) < 0.9, "the model alone never stores anything at once"


@settings(deadline=None)  # the first call reads the weights
@given(st.text(max_size=200))
def test_confidences_stay_in_their_range(text: str) -> None:
    assert 0 <= decided(text) < 0.9


@settings(deadline=None)
@given(st.text(max_size=3000))
def test_a_prompt_of_any_text_has_one_shape_and_a_chance(text: str) -> None:
    looks = shape(text)
    assert len(looks) == len(shape(""))
    assert all(0 <= value < 10 for value in looks)
    assert 0 <= chance(text) <= 1


@pytest.mark.parametrize("meant", [False, True])
def test_what_joins_a_conversation_corrects_sooner_than_what_opens_one(meant: bool) -> None:
    """Told apart with an embedder and without; the sentences stand in no corpus."""
    embedder = LocalEmbedder() if meant else None

    def told(text: str) -> float:
        return chance(text, embedder.embed([text])[0] if embedder else None)

    joins = ["no, why are you doing it like that? we already have a helper for this", "hmm, that's not what i meant.."]
    opens = [
        "Implement the following plan:\n\n# Add retries to the uploader\n\n## Context\nUploads fail.",
        "Can you review the changes in the branch and write a summary for the PR?",
    ]
    assert min(map(told, joins)) > max(map(told, opens))


@given(st.lists(st.text(max_size=12), max_size=30))
def test_hashed_features_are_unordered_unique_and_in_range(features: list[str]) -> None:
    found = hashed(features, SIZE)
    assert found == sorted(set(found)) == hashed(reversed(features), SIZE)
    assert all(0 <= one < SIZE for one in found)


def test_the_shipped_models_answer_for_nothing_at_all() -> None:
    assert 0 < probability("decision", []) < 1
    assert math.isclose(probability("decision", ["a", "b"]), probability("decision", ["b", "a", "a"]))
    assert 0 < joint_probability("worth", [], [], [0.0] * len(looks(DRAFT))) < 1


@given(st.text(max_size=500), st.sampled_from(["point", "commit", "struggle", "unheard of"]))
def test_looks_are_always_as_many_and_of_about_one_size(text: str, source: str) -> None:
    found = looks(replace(DRAFT, content=text, source=source))
    assert len(found) == len(looks(DRAFT))
    assert all(0 <= one <= 10 for one in found)


def test_a_reason_is_worth_more_than_a_list_of_edits() -> None:
    """The sentences stand in no corpus."""
    reason = "The kiln driver drops the first command because its relay opens late; `fire()` waits for it instead."
    edits = "Kiln page: Added `cone` prop to `KilnPage.tsx`; Updated imports in `Ramp.tsx`; Removed the `old` class."
    told = [worth(replace(DRAFT, content=text)) for text in (reason, edits)]
    assert told[0] > told[1]


def test_numbers_are_all_alike_and_features_end_somewhere() -> None:
    assert tokens("fire 12 or 13") == ["fire", "#", "or", "#"]
    assert len([*words_and_pairs("kiln " * 10_000)]) < 500


@given(st.lists(st.tuples(CHANCE, st.sampled_from("abcdefgh"), st.booleans()), max_size=20), st.integers(0, 8))
def test_a_session_never_asks_for_more_than_its_cap(rows: list[tuple[float, str, bool]], cap: int) -> None:
    entries = [Entry(at, sure, f"{word * 5} {word * 6}", fixed) for at, (sure, word, fixed) in enumerate(rows)]
    out = settle(entries, cap)
    kept = [entry for entry in entries if entry.key not in out]
    assert all(entry.key not in out for entry in entries if entry.fixed)
    assert len([entry for entry in kept if not entry.fixed]) <= cap
    weakest = min((entry.confidence for entry in kept if not entry.fixed), default=1.0)
    displaced = [entry for entry in entries if out.get(entry.key) == DISPLACED]
    assert all(entry.confidence <= weakest + TOLD for entry in displaced)


def test_what_says_something_else_goes_before_what_says_half_again() -> None:
    said = [
        "The kiln controller drops its first command when the relay is cold",
        "The kiln controller never drops cones of porcelain that are named in glaze.toml by shelf",
        "Ramps of porcelain are read from shelf twelve",
    ]
    assert choose([0.8, 0.78, 0.72], said, 2) == [0, 2]
    assert choose([0.8, 0.78, 0.72], said, 3) == [0, 1, 2]


def test_a_number_that_differs_makes_two_of_them() -> None:
    said = [
        "The kiln controller fires at 1200 degrees overnight",
        "The kiln controller fires at 1300 degrees overnight",
    ]
    assert choose([0.8, 0.7], said, 5) == [0, 1]
    assert choose([0.7, 0.8], [said[0], said[0]], 5) == [1]


@given(st.text(max_size=300), st.integers(20, 120))
def test_wording_never_exceeds_its_length(text: str, length: int) -> None:
    assert len(wording.shorten(text, length)) <= length
    cut = wording.cut_clause(text, length)
    assert len(cut) <= length
    assert text.startswith(cut)


def test_tags_files_and_reasons_come_from_the_words() -> None:
    said = "Use `fire_twice` in src/kiln.py because the relay drops the first command."
    assert wording.tags(said)[:2] == ("fire_twice", "src/kiln.py")
    assert wording.files(said) == ("src/kiln.py",)
    assert wording.rationale(said) == "the relay drops the first command"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('git commit -m "Warm up first"', "Warm up first"),
        ("git commit -m 'a' && git push", "a"),
        ("git commit -m \"$(cat <<'EOF'\nA\n\nB\n\nCo-Authored-By: x\nEOF\n)\"", "A\n\nB"),
        ("git log --oneline", None),
    ],
)
def test_the_message_of_a_commit(command: str, expected: str | None) -> None:
    told = message(command)
    assert (told[1] if told else None) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd /home/dev/kiln && bun run test 2>&1 | tail -5", "bun run test"),
        ("python - <<'EOF'\nprint()\nEOF", ""),
        ("x" * 200, ""),
    ],
)
def test_a_command_is_told_by_its_plain_line(command: str, expected: str) -> None:
    assert short_command(command) == expected


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("should we always fire twice", "it is a question"),
        ("maybe always fire twice", "it is hedged"),
        ("always use it", "it refers to something that is not named"),
        ("always glaze as in option 2 here", "it names a choice by its number"),
    ],
)
def test_what_speaks_against_a_statement_has_a_name(sentence: str, name: str) -> None:
    before, cue, rest = sentence.partition("always ")
    statement = Statement(sentence, before, cue, rest, rest, sentence)
    assert name in [one.name for one in REFINEMENTS if one.applies(statement)]


@pytest.mark.parametrize("text", ["2761640124, " * 40, "1" * 400, "all the now " * 60, "ok, " * 200, " \n(" * 300])
def test_hostile_sentences_come_to_an_end(text: str) -> None:
    assert is_narration(text + "x") in {True, False}, "a pattern that tries every split would never answer"


def test_two_places_are_two_statements_of_a_session() -> None:
    one, other = "Debug logging of the importer is on in staging.", "Debug logging of the importer is on in production."
    assert settle([Entry(1, 0.9, one), Entry(2, 0.8, other)], 5) == {}
    assert settle([Entry(1, 0.9, one), Entry(2, 0.8, one.rstrip("."))], 5) == {2: REPEATED}
