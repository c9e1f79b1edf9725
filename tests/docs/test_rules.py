"""docs/how-it-works.md states the rules of the product; the numbers in it are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from subconscious.capture import observing, session_limits, unconfirmed
from subconscious.domain.kinds import KINDS
from subconscious.failures import checks
from subconscious.memories.fading import terms_of
from subconscious.sessions import past_work, previous_session
from subconscious.settings.settings import Settings
from subconscious.store import review_queue
from subconscious.supersession import confirmation
from subconscious.surfacing import bound_candidates, eligibility, portfolio, portfolio_candidates, proactive
from subconscious.text.quoting import CLOSING, OPENING

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
    f"Only its size is limited ({NOW.spool_max_mb} MB)",
    f"{NOW.start_memories} memories and {NOW.start_tokens} tokens; the hand-over takes up to {NOW.handover_tokens}",
    f"{NOW.session_surfaces} memories and {NOW.session_tokens} tokens in the whole session",
    f"{proactive.MOST_BOUND} in a session, {proactive.BOUND_AT_ONCE} at once",
    f"what the start left of its {NOW.start_memories} memories and {NOW.start_tokens} tokens |",
    f"what the start left of its {NOW.start_tokens} tokens, at most {NOW.handover_tokens}.",
    f"neither stated nor used for {NOW.stale_days:g} days",
    f"| unconfirmed memories | {unconfirmed.A_SESSION} of those above in a session",
    f"at most {NOW.start_memories + NOW.session_surfaces} memories"
    f" and {NOW.start_tokens + NOW.session_tokens} tokens in all",
    f"a frame of some {round(len(OPENING + CLOSING) / TOKEN, -1):g} tokens",
    f"none twice within {NOW.surface_cooldown_minutes:g} minutes",
    f"| standing rules | {NOW.start_memories // 2} |",
    f"| ways out | {portfolio_candidates.WAYS_OUT} |",
    f"| decisions | {portfolio_candidates.DECISIONS} |",
    f"| others | {portfolio_candidates.OTHERS} |",
    f"At most {WORDS[portfolio.OF_ONE_SESSION]} come from the same session",
    f"at any start for {WORDS[round(portfolio_candidates.NEWS / DAY)]} days",
    f"A memory that {WORDS[portfolio.MOST_UNHEEDED]} sessions were given and did not use",
    f"It has at most {NOW.handover_tokens} tokens",
    f"if it ended within {WORDS[round(previous_session.RECENT / DAY)]} days; a shorter one",
    f"nothing happened for {NOW.silent_minutes:g} minutes",
    f"one to {WORDS[past_work.SENTENCES]}, in at most {proactive.RECORDS[past_work.TOLD_SHORTLY] // TOKEN} tokens",
    f"memories that name it, at most {NOW.file_surfaces} for one file",
    f"| with files after {portfolio.MOST_UNHEEDED} sessions without use",
    f"after {eligibility.MOST_UNHEEDED_REPAIRS} sessions without use; each earlier session that used the memory"
    f" raises this number by one, up to {eligibility.MOST_UNHEEDED_REPAIRS + eligibility.MOST_PATIENCE}.",
    f"a change with at least {checks.SOME} new lines",
    f"after {portfolio.MOST_UNHEEDED} sessions that were given it",
    f"at most {bound_candidates.MOST_CHECKS} in a session",
    f"If {bound_candidates.MANY_CHECKS} or more checks of a language failed in several sessions",
    f"one list instead, of at most {bound_candidates.LISTED_CHECKS}",
    f"the first session on that date or in the {NOW.due_days:g} days after it",
    f"| {NOW.auto_threshold} and more | stored",
    f"| {NOW.review_threshold} to {NOW.auto_threshold} | waits for review",
    f"| below {NOW.review_threshold} | discarded",
    f"The review offers {WORDS[review_queue.OFFERED]} items at a time",
    f"expires after {NOW.review_expiry_days:g} days",
    f"per session at most {session_limits.MOST_UNCONFIRMED} from the first two together,"
    f" and {session_limits.MOST_UNCONFIRMED} from the last",
    f"failures that only one session met (at most {observing.MOST_ONCE})",
    f"when {confirmation.MISSES} sessions were given it",
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
        r"at most (\d+) memories and (\d+) tokens at the start of a session, then (\d+) more and (\d+) tokens", readme
    )
    assert found
    limits = [NOW.start_memories, NOW.start_tokens, NOW.session_surfaces, NOW.session_tokens]
    assert [int(number) for number in found.groups()] == limits
    total = NOW.start_memories + NOW.session_surfaces
    assert f"[In all](docs/how-it-works.md#limits): {total} memories" in readme
