"""docs/how-it-works.md states the rules of the product; the numbers in it are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from subconscious.capture import observing, session_limits
from subconscious.domain.kinds import KINDS
from subconscious.failures import checks
from subconscious.memories.fading import terms_of
from subconscious.sessions import past_work, previous_session
from subconscious.settings.settings import Settings
from subconscious.store import review_queue
from subconscious.supersession import confirmation
from subconscious.surfacing import bound_candidates, portfolio, portfolio_candidates, proactive

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join((ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8").split())
NOW = Settings()
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
DAY = 86_400.0
TOKEN = 4
"""Characters of a token, as budgets count them."""


def _days(kind: str) -> str:
    return f"{KINDS[kind].half_life:g}"


RULES = [
    f"limited ({NOW.spool_max_mb} MB)",
    f"at most {NOW.start_memories} memories and {NOW.start_tokens} tokens in all",
    f"On a trunk only within {WORDS[round(previous_session.RECENT / DAY)]} days",
    f"what you stated as a fact for {WORDS[round(portfolio_candidates.NEWS / DAY)]} days",
    f"at most {NOW.handover_tokens} tokens",
    f"A memory that {WORDS[portfolio.MOST_UNHEEDED]} sessions were given and did not use",
    f"at most {NOW.session_surfaces} memories and {NOW.session_tokens} tokens a session",
    f"one to {WORDS[past_work.SENTENCES]} of its sentences",
    f"in at most {proactive.RECORDS[past_work.TOLD_SHORTLY] // TOKEN} tokens",
    f"memories bound to that file (at most {NOW.file_surfaces};",
    f"never twice within {NOW.surface_cooldown_minutes:g} minutes",
    f"Lint checks need at least {checks.SOME} new lines",
    f"Where {bound_candidates.MANY_CHECKS} or more checks of a language failed in several sessions",
    f"they come as one list of at most {bound_candidates.LISTED_CHECKS}",
    f"and at most {bound_candidates.MOST_CHECKS} come in a session",
    f"Habits rest after {WORDS[portfolio.MOST_UNHEEDED]} sessions",
    f"From {NOW.auto_threshold} it is stored",
    f"from {NOW.review_threshold} it is kept unconfirmed",
    f"The review offers {WORDS[review_queue.OFFERED]} items at a time",
    f"at most {session_limits.MOST_UNCONFIRMED} a session",
    f"{WORDS[confirmation.MISSES]} sessions that were given it without using it retire it",
    f"{WORDS[observing.FEWEST_SESSIONS].capitalize()} sessions must have met the failure,"
    f" or one {WORDS[observing.FEWEST_TIMES]} times",
    f"(progress {_days('progress')} days, blockers {_days('blocker')}, decisions and preferences {_days('decision')},"
    f" lessons {_days('lesson')})",
]


@pytest.mark.parametrize("rule", RULES)
def test_a_number_on_the_page_is_that_of_the_code(rule: str) -> None:
    assert rule in PAGE


def test_a_half_life_is_the_time_that_a_memory_stays_at_least() -> None:
    assert "A memory stays at least for the half-life of its kind" in PAGE
    assert terms_of(NOW).patience == 1
    assert KINDS["preference"].half_life == KINDS["decision"].half_life


def test_the_readme_has_the_same_limits() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(
        r"at most (\d+) memories and (\d+) tokens at a start, (\d+) more in the rest of a session", readme
    )
    assert found
    assert [int(number) for number in found.groups()] == [NOW.start_memories, NOW.start_tokens, NOW.session_surfaces]
