"""When a statement ends by its own words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from subconscious.supersession.expiry import ends_at

SAID = datetime(2026, 5, 13, 10, 0, tzinfo=UTC)
"""A Wednesday."""


def last_day(text: str) -> str | None:
    end = ends_at(text, SAID.timestamp())
    return None if end is None else str((datetime.fromtimestamp(end, UTC) - timedelta(days=1)).date())


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("freeze until friday: nothing gets merged to main", "2026-05-15"),
        ("no deploys until 2026-05-20", "2026-05-20"),
        ("auditors are here till the 14th, no prod access", "2026-05-14"),
        ("use the small model until the 1st", "2026-06-01"),
        ("no flaky retries for the next 3 days", "2026-05-16"),
        ("skip e2e for today", "2026-05-13"),
        ("no merges until tomorrow", "2026-05-14"),
        ("this week no releases", "2026-05-17"),
        ("no releases for the week", "2026-05-17"),
        ("deploys are frozen for the rest of the week", "2026-05-17"),
        ("this sprint only bugs", "2026-05-27"),
        ("no new vendors this quarter", "2026-06-30"),
        ("this month nothing but stability", "2026-05-31"),
        ("bis Freitag keine Deploys", "2026-05-15"),
        ("bis zum 20. nichts mergen", "2026-05-20"),
        ("diese Woche bitte keine Releases", "2026-05-17"),
        ("pas de mise en prod jusqu'à vendredi", "2026-05-15"),
        ("cette semaine pas de merge", "2026-05-17"),
        ("esta semana solo bugs", "2026-05-17"),
        ("nada de deploy até sexta", "2026-05-15"),
    ],
)
def test_what_holds_for_a_time_has_a_last_day(text: str, day: str) -> None:
    assert last_day(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "always freeze main until friday",
        "deploys run every week until friday noon",
        "this week we decided to use postgres, not mysql",
        "we switched to pnpm this month, no npm",
        "the report covers this quarter",
        "wait until the build is green",
        "support is there from monday until friday",
        "jede Woche bis Freitag den Bericht schicken",
        "the cache holds 14 entries",
        "no default exports",
        "this sprint board is public",
    ],
)
def test_what_holds_until_further_notice_has_none(text: str) -> None:
    assert last_day(text) is None


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("no deploys until the 31st", datetime(2026, 1, 31, tzinfo=UTC), "2026-03-31"),
        ("no deploys until the 30th", datetime(2026, 1, 30, tzinfo=UTC), "2026-03-30"),
        ("no deploys until 29 Feb", datetime(2027, 9, 1, tzinfo=UTC), "2028-02-29"),
        ("no deploys until 28 Feb", datetime(2027, 9, 1, tzinfo=UTC), "2028-02-28"),
    ],
)
def test_a_day_that_not_every_month_has_is_the_next_one(text: str, said: datetime, day: str) -> None:
    end = ends_at(text, said.timestamp())
    assert end is not None
    assert str((datetime.fromtimestamp(end, UTC) - timedelta(days=1)).date()) == day
