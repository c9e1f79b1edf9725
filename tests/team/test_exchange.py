"""What people share reaches the others of their team, once, with its author, and as unconfirmed."""

from __future__ import annotations

from subconscious.domain.model import Origin
from subconscious.store import memories
from tests.team.conftest import Person

Team = tuple[Person, Person, Person]


async def test_what_is_shared_reaches_the_others_as_unconfirmed(team: Team) -> None:
    ann, ben, cleo = team
    memory = await ann.share("Amounts are kept in integer cents.")
    assert (await ann.sync()).sent == 1
    for person in (ben, cleo):
        (row,) = (await person.sync()).received
        assert (row["became"], row["by"]) == ("unconfirmed", "ann")
        assert await person.statuses() == {memory.content: "unconfirmed"}
        (made,) = (await memories.get_many(person.app.database, [row["id"] or 1])).values()
        assert (made.origin, made.unconfirmed) == (Origin.TEAMMATE, True)
    assert (await ann.sync()).received == []
