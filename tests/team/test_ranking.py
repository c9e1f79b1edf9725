"""The team's use decides how slowly a memory loses rank."""

from __future__ import annotations

import math

import pytest

from tests.support.postgres import Postgres
from tests.team.conftest import Person

Team = tuple[Person, Person, Person]
SEARCH = "SELECT score FROM subconscious.search(1, 'cents', NULL, '', 9)"
FIRST = 1 / 21
"""Score of the first and only hit of a search by words, without decay."""


def aged(server: Postgres, days: int) -> None:
    """Make all versions and uses older."""
    server.sql(f"UPDATE subconscious.versions SET shared_at = shared_at - interval '{days} days'")
    server.sql(f"UPDATE subconscious.memories SET last_used_at = last_used_at - interval '{days} days'")


@pytest.mark.parametrize(
    ("days", "users", "share"), [(0, 0, 1.0), (90, 0, 0.75), (90, 1, 0.832), (90, 20, 0.921), (3650, 0, 0.5)]
)
async def test_rank_falls_to_a_half_the_slower_the_more_people_use_it(
    team: Team, server: Postgres, days: int, users: int, share: float
) -> None:
    ann, _, _ = team
    await ann.share("Amounts are kept in integer cents.")
    await ann.sync()
    server.sql(f"UPDATE subconscious.memories SET people = {users}")
    aged(server, days)
    ((score,),) = server.sql(SEARCH, person="cleo")
    assert 0.5 + 0.5 ** (1 + days / (90 * (1 + math.log(1 + users)))) == pytest.approx(share, abs=1e-3)
    assert score == pytest.approx(FIRST * share, rel=2e-3)


async def test_what_the_team_uses_comes_before_a_better_match_that_nobody_uses(team: Team, server: Postgres) -> None:
    ann, ben, cleo = team
    await ann.share("Amounts are integers.")
    await ann.sync()
    for person in (ben, cleo):
        await person.sync()
    await ann.share("Amounts are kept in integer cents.")
    await ann.sync()
    asked = "SELECT version #>> '{record,memory,content}' FROM subconscious.search(1, 'integer or cents', NULL, '', 9)"
    best = ["Amounts are kept in integer cents.", "Amounts are integers."]
    assert [text for (text,) in server.sql(asked, person="cleo")] == best
    aged(server, 400)
    assert [text for (text,) in server.sql(asked, person="cleo")] == best
    for person in (ben, cleo):
        await person.uses_all()
        assert (await person.sync()).used == 1
    assert [text for (text,) in server.sql(asked, person="cleo")] == best[::-1]
