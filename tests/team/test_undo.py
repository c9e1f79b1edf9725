"""What came from others can be taken back here, and does not come again."""

from __future__ import annotations

from subconscious.history.undoing import UndoRequest, undo_acts
from subconscious.store.filters import UNCONFIRMED
from subconscious.store.team import queue
from tests.team.conftest import Person

Team = tuple[Person, Person, Person]


async def active(person: Person) -> list[str]:
    """Statements of others that may be given to a session."""
    rows = await person.app.database.rows(
        f"SELECT content FROM memories WHERE origin = 'teammate' AND (archived_at IS NULL OR {UNCONFIRMED})"
    )
    return [row[0] for row in rows]


async def test_an_arrival_that_was_undone_stays_undone(team: Team) -> None:
    ann, ben, cleo = team
    await ann.share("Amounts are kept in integer cents.")
    await ann.sync()
    for person in (ben, cleo):
        await person.sync()
        assert await active(person) == ["Amounts are kept in integer cents."]
    rows = await ben.app.database.rows(
        "SELECT id FROM events WHERE action = 'create' AND subject = 'memory' ORDER BY id DESC LIMIT 1"
    )
    await undo_acts(ben.app, UndoRequest(events=(rows[0][0],)))
    assert await active(ben) == []
    await ben.ask("team_sync")
    assert await active(ben) == []
    async with ben.app.database.write() as tx:
        await queue.read_to(tx, ben.project.id, 0, "")  # as after the server was restored: everything is read again
    await ben.sync()
    assert await active(ben) == []
    assert await ben.search("in what unit are amounts kept?") == []
    assert await active(cleo) == ["Amounts are kept in integer cents."], "undone for Ben alone"


async def test_a_maintainer_s_confirmation_does_not_bring_back_what_was_undone(team: Team) -> None:
    ann, ben, _ = team
    await ann.share("Amounts are kept in integer cents.")
    await ann.sync()
    await ben.sync()
    assert await active(ben) == ["Amounts are kept in integer cents."]
    rows = await ben.app.database.rows("SELECT max(id) FROM events WHERE action = 'create' AND subject = 'memory'")
    await undo_acts(ben.app, UndoRequest(events=(rows[0][0],)))
    ((number,),) = map(tuple, await ann.app.database.rows("SELECT id FROM memories"))
    await ann.ask("team_confirm", ids=[number])
    await ann.sync()
    await ben.sync()
    assert await active(ben) == []
