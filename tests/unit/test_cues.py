from __future__ import annotations

import pytest

from subconscious.capture.detectors import stated
from subconscious.domain.model import Origin, Role, Turn
from subconscious.text import wording


def confidence(text: str) -> float:
    found = stated.extract([Turn("t", "s", Role.USER, Origin.USER, text, 0.0, "/t", 0, 0)])
    return max((one.raw_confidence for one in found), default=0.0)


@pytest.mark.parametrize(
    "text",
    [
        "We're going with Redis for the session cache.",
        "We chose Stripe over Adyen because of the fees.",
        "We picked Tailwind for styling.",
        "I've decided we will keep the monorepo.",
        "The team decided yesterday that feature flags live in LaunchDarkly.",
        "We will use uv instead of pip for the lock file.",
        "Don't add new dependencies without asking me first.",
        "Make sure you never touch the generated files.",
        "Our convention is to put tests next to the code.",
        "It's settled: we ship on Friday.",
    ],
)
def test_explicit_statements_of_a_relation_are_kept(text: str) -> None:
    assert confidence(text) >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        "I want all timestamps stored in UTC.",
        "Use snake_case for all new database columns.",
        "Please write docstrings in English only.",
        "All money columns get a currency column beside them.",
        "The retry limit has to be three, not five.",
        "Errors should be returned, not thrown.",
        "Keep the worker and the web process in one image.",
        "We are switching from Jest to Vitest.",
        "We won't use an ORM in this project.",
        "Prefer composition over inheritance in the services folder.",
    ],
)
def test_a_plain_rule_or_plan_waits_for_review(text: str) -> None:
    assert 0.7 <= confidence(text) < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "Use the script to fix all the tests.",
        "Keep going in this direction.",
        "All tests pass now.",
        "All tests must pass now.",
        "Run all the tests.",
        "Write it down in a file.",
        "Should we go with Redis or with Postgres?",
        "Are we switching from Jest to Vitest?",
        "We are moving on.",
        "Put this in the config file for now.",
        "We picked it up for review.",
    ],
)
def test_what_asks_for_a_step_is_no_rule(text: str) -> None:
    assert confidence(text) < 0.7


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("The uploader must retry twice, never more.", "The uploader must retry twice, never more."),
        ("For the API, the rule is: always return UTC dates.", "For the API, the rule is: always return UTC dates."),
        ("Note : the staging key lives in the vault.", "The staging key lives in the vault."),
    ],
)
def test_a_summary_keeps_its_subject_and_begins_with_a_word(text: str, summary: str) -> None:
    (one,) = stated.extract([Turn("t", "s", Role.USER, Origin.USER, text, 1.0, "f", 0, 1)])
    assert one.summary == summary
    assert wording.summary(f" : {text}") == text
