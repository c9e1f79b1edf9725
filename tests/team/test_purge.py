"""What a purge does to the copies on the server."""

from __future__ import annotations

from typing import Any

from subconscious.privacy.purge import Choice, choose, counted
from subconscious.store import purge
from subconscious.store.team import queue
from tests.support.postgres import Postgres
from tests.team.conftest import Person

Team = tuple[Person, Person, Person]


def texts(server: Postgres) -> list[str]:
    rows = server.sql("SELECT version #>> '{record,memory,content}' FROM subconscious.versions ORDER BY change")
    return [text for (text,) in rows if text]


async def purged(person: Person, **choice: Any) -> int:
    """Purge what a person chooses; return how many of the memories the plan says to be on the server."""
    app, chosen = person.app, Choice(**choice)
    doomed = await choose(app, chosen)
    plan = await counted(app, doomed)
    async with app.database.write() as tx:
        await purge.purge(tx, app.database, doomed, "what a test chose")
        if chosen.everything:
            await purge.empty(tx)
    return plan["on_server"]


async def test_a_purge_of_memories_and_of_a_project_erases_them_on_the_server(team: Team, server: Postgres) -> None:
    ann, ben, _ = team
    first = await ann.share("Amounts are kept in integer cents.")
    await ann.share("Deploys happen on Mondays.")
    own = await ann.remember("Ann's laptop is slow.")
    await ben.share("Ben's service listens on port 4000.")
    await ann.sync()
    await ben.sync()
    assert await purged(ann, ids=[own.id]) == 0
    assert await purged(ann, ids=[first.id]) == 1
    await ann.sync()
    assert texts(server) == ["Deploys happen on Mondays.", "Ben's service listens on port 4000."]
    assert await purged(ann, project_id=ann.project.id) == 1
    await ann.sync()
    assert texts(server) == ["Ben's service listens on port 4000."]
    assert (await queue.counts(ann.app.database, ann.project.id)).waiting == 0


async def test_a_purge_of_everything_says_how_many_stay_on_the_server(team: Team, server: Postgres) -> None:
    ann, _, _ = team
    await ann.share("Amounts are kept in integer cents.")
    await ann.sync()
    assert await purged(ann, everything=True) == 1
    assert await queue.joined_as(ann.app.database, ann.project.id) is None
    assert texts(server) == ["Amounts are kept in integer cents."]
    # What docs/team.md has for somebody who did not erase them before.
    server.sql(
        "SELECT subconscious.purge(project_id, uid) FROM (SELECT DISTINCT project_id, uid FROM subconscious.versions"
        " WHERE author = session_user) AS mine",
        person="ann",
    )
    assert texts(server) == []
