"""The offline extractor: what is stated, what only looks like a statement, and how both are worded."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.offline import extract
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Candidate, Origin, Role, Scope, Strength, Turn


def turn(text: str, *, origin: Origin = Origin.USER, after_interrupt: bool = False) -> Turn:
    return Turn("t1", "s1", Role.USER, origin, text, 5.0, "f", 10, 90, branch="glaze", after_interrupt=after_interrupt)


def only(text: str, *, after_interrupt: bool = False) -> Candidate:
    (candidate,) = extract([turn(text, after_interrupt=after_interrupt)])
    return candidate


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided: record number 17 uses colour teal-17.", "decision"),
        ("we've decided to drop Python 3.9 support", "decision"),
        ("ok, we agreed that Session.close() must be idempotent.", "decision"),
        ("Decision: the monolith stays until spring", "decision"),
        ("let's go with Postgres for the queue", "decision"),
        ("Remember that the staging database is read only.", "learning"),
        ("please remember: I prefer short functions", "preference"),
        ("remember to always add a changelog entry", "preference"),
        ("Note for later: the CI cache key must include the lock file", "learning"),
        ("From now on, run ruff before each commit.", "preference"),
        ("Always run the tests with pytest -x.", "preference"),
        ("When writing SQL, always use uppercase keywords.", "preference"),
        ("never push to main directly", "preference"),
        ("I always prefer tabs over spaces", "preference"),
        ("I prefer composition over inheritance", "preference"),
        ("Don't use requests, use httpx.", "lesson"),
        ("No, use pnpm instead of npm", "lesson"),
        ("I\u2019m back. We\u2019ve decided to glaze twice in kiln.py", "decision"),
    ],
)
def test_what_is_said_outright_is_explicit(text: str, kind: str) -> None:
    candidate = only(text)
    assert (candidate.strength, candidate.kind) == (Strength.EXPLICIT, kind)
    assert candidate.raw_confidence >= 0.9


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("let's use sqlite for the cache", "decision"),
        ("I'd rather keep functions short", "preference"),
        ("we should probably always pin the base image", "preference"),
        ("I tried pinning numpy but it didn't work", "dead_end"),
        ("the problem was a stale lock file", "learning"),
        ("turns out the cache was stale", "learning"),
        ("we're blocked on the API key of the shed", "blocker"),
        ("Note that the kiln has two doors", "learning"),
        ("decision: maybe keep the monolith", "decision"),
    ],
)
def test_what_is_said_softly_waits_for_review(text: str, kind: str) -> None:
    candidate = next(iter(extract([turn(text)])))
    assert candidate.kind == kind
    assert candidate.strength in (Strength.IMPLIED, Strength.INFERRED)
    assert candidate.raw_confidence < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "should we always run lint?",
        "did we decide on Postgres?",
        "if we decide to use Redis we need a server",
        "we haven't decided on a queue for the kiln",
        "He said we decided to use Kafka for events.",
        "does it always fail on the second run?",
        "the docs say: always use HTTPS for the kiln",
        "let's go with that",
        "ok let's go with option 2 then",
        "we decided to use the same approach",
        "never mind",
        "I never said that the kiln was broken",
        "it always fails on Mondays in the shed",
        'the page says "we decided to use Mongo for logs"',
        "> we decided to use Mongo for the logs",
        "```\nwe decided to use Mongo for the logs\n```",
        "2026-03-01 10:00:00 INFO we decided to use Mongo",
        "no, commit first",
        "remember to use pagination",
        "replace it everywhere",
    ],
)
def test_what_only_looks_like_a_statement_is_not_stored(text: str) -> None:
    assert all(candidate.raw_confidence < 0.7 for candidate in extract([turn(text)]))


@pytest.mark.parametrize(("after", "strength"), [(True, Strength.EXPLICIT), (False, Strength.IMPLIED)])
def test_a_correction_needs_something_to_correct(after: bool, strength: Strength) -> None:
    assert only("use the repository pattern instead", after_interrupt=after).strength is strength


@pytest.mark.parametrize("origin", [Origin.ASSISTANT, Origin.TOOL])
def test_only_a_person_is_heard(origin: Origin) -> None:
    assert extract([turn("We decided to fire twice a day.", origin=origin)]) == []


def test_two_numbers_are_two_decisions_and_a_repetition_is_one() -> None:
    text = "We decided: record number {0} uses colour teal-{0}."
    turns = [turn(text.format(number)) for number in (1, 2, 2, 12)]
    assert [candidate.content for candidate in extract(turns)] == [text.format(number) for number in (1, 2, 12)]


def test_a_candidate_stands_alone() -> None:
    candidate = only("ok so we decided to drop `kiln_v1` in src/kiln.py because nobody fires it")
    assert candidate.summary == "We decided to drop `kiln_v1` in src/kiln.py because nobody fires it"
    assert candidate.files == ("src/kiln.py",)
    assert candidate.tags == ("kiln_v1", "src/kiln.py")
    assert candidate.rationale == "nobody fires it"
    assert (candidate.branch, candidate.time, candidate.extractor) == ("glaze", 5.0, "offline-1")
    assert (candidate.evidence.turn_id, candidate.evidence.start, candidate.evidence.end) == ("t1", 10, 90)


def test_the_reason_says_which_cue_and_what_lowered_it() -> None:
    assert only("if we decide to use Redis we need a server").reason == (
        'says "decided"; lowered: it depends on a condition'
    )


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("in all my projects, always use type hints", Scope.USER),
        ("From now on use British spelling everywhere.", Scope.USER),
        ("Always log with structlog everywhere in the code", Scope.PROJECT),
        ("always use type hints in this project", Scope.PROJECT),
    ],
)
def test_only_explicit_words_make_it_hold_everywhere(text: str, scope: Scope) -> None:
    assert only(text).scope is scope


def test_a_long_statement_is_cut_at_a_clause_and_lowered() -> None:
    candidate = only("We decided to fire the kiln twice, " + "and to glaze each cone again, " * 30)
    assert len(candidate.content) <= 400
    assert candidate.content.endswith(",")
    assert candidate.strength is Strength.IMPLIED
    assert len(candidate.summary) <= 100
    assert candidate.summary.endswith("…")


def test_sentences_of_a_list_are_heard_one_by_one() -> None:
    text = "Some points:\n- we decided to fire twice a day\n- the fan is loud\n2. never open the hot kiln door"
    assert [candidate.evidence.quote for candidate in extract([turn(text)])] == [
        "we decided to fire twice a day",
        "never open the hot kiln door",
    ]


def test_a_statement_in_a_long_paste_is_not_stored_at_once() -> None:
    text = "look at this\n" + "The kiln is warm today. " * 80 + "\nWe decided to fire it twice a day."
    assert all(candidate.raw_confidence < 0.9 for candidate in extract([turn(text)]))


@pytest.mark.parametrize(
    "text", ["Nous avons décidé d'utiliser Postgres pour la file.", "Wir haben entschieden, dass Postgres bleibt."]
)
def test_other_languages_are_heard(text: str) -> None:
    assert only(text).raw_confidence >= 0.7


WORDS = st.sampled_from(
    [
        *("we", "decided", "to", "remember", "that", "always", "never", "use", "kiln.py", "`cone`", "instead", "of"),
        *(
            "no,",
            "let's",
            "go",
            "with",
            "because",
            "Postgres?",
            "if",
            ".",
            "\n",
            "- ",
            "```",
            '"',
            "\u2019",
            "é",
            "漢字",
        ),
        *("from now on", "don't use X, use Y", ";", ":", "note:", "prefer", "tabs", "over", "spaces", "the", "kiln"),
    ]
)


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=300), st.booleans())
def test_any_text_gives_sound_candidates(text: str, after: bool) -> None:
    for candidate in extract([turn(text, after_interrupt=after)]):
        assert candidate.evidence.quote in text
        assert candidate.evidence.quote.strip()
        assert candidate.kind in KINDS
        assert 0 < len(candidate.summary) <= 100
        assert 0 < len(candidate.content) <= 400
        assert len(candidate.tags) <= 5
        assert candidate.reason
        assert 0.5 <= candidate.raw_confidence <= 1


@pytest.mark.parametrize(
    "unit", ["a ", "a", "we decided to ", "use x not ", "i tried ", "`a` ", "a/", "a.py ", ", so ", "...", "\n", "("]
)
@pytest.mark.slow
def test_hostile_text_costs_little(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = process_time()
    said = replace(turn(text), id="said", role=Role.ASSISTANT, origin=Origin.ASSISTANT)
    extract([turn(text), said])
    assert process_time() - began < 3
