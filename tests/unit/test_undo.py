"""What can be taken back, what can't, and what is said of it."""

from __future__ import annotations

import pytest

from subconscious.context import approval
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Link
from subconscious.settings.settings import Settings
from subconscious.store import (
    corrections,
    embedding_queue,
    events,
    full_text,
    links,
    memories,
    purge,
    purge_selection,
    redactions,
    reversal,
)
from subconscious.store.connect import Database
from subconscious.store.projects import find_or_create
from subconscious.store.redactions import Finding
from subconscious.store.rows import update_row
from subconscious.system.projects import Identity
from subconscious.wire.history import Event
from tests.support.values import make_memory


async def remember(database: Database, text: str = "Amounts are integer cents.") -> int:
    async with database.write() as tx:
        return (await memories.insert(tx, make_memory(text), "user")).id


async def archive(database: Database, *ids: int) -> None:
    async with database.write() as tx:
        for number in ids:
            await memories.archive(tx, await memories.require(tx, number), "user", "old")


async def undo(database: Database, *ids: int, number: int = 1) -> list[reversal.Step]:
    chosen = ids or await reversal.latest(database, number)
    async with database.write() as tx:
        return await reversal.undo(tx, await reversal.acts(tx, chosen), "")


async def active(database: Database) -> list[int]:
    return [row[0] for row in await database.rows("SELECT rowid FROM memories_fts ORDER BY rowid")]


async def last(database: Database) -> Event:
    return (await events.page(database, 2**62, 1))[0]


async def test_changes_of_one_act_are_undone_together(database: Database) -> None:
    ids = [await remember(database, f"Fact {number}.") for number in range(3)]
    await archive(database, *ids)
    assert await active(database) == []
    assert len(await undo(database)) == 3
    assert await active(database) == ids
    assert len(await undo(database)) == 3
    assert await active(database) == []


async def test_several_at_once_are_one_act(database: Database) -> None:
    ids = [await remember(database, f"Fact {number}.") for number in range(3)]
    assert len(await undo(database, number=2)) == 2
    assert await active(database) == ids[:1]
    await undo(database)
    assert await active(database) == ids


async def test_a_later_change_is_named_and_nothing_is_changed(database: Database) -> None:
    number = await remember(database)
    made = (await last(database))["id"]
    async with database.write() as tx:
        await memories.restate(tx, await memories.require(tx, number), 2e9, "s")
    later = (await last(database))["id"]
    with pytest.raises(RequestError, match=f"event {later} \\(recur\\) came after") as caught:
        await undo(database, made)
    assert f"--event {later}" in caught.value.remedy
    assert await active(database) == [number]
    await undo(database, later)
    await undo(database, made)
    assert await active(database) == []


async def test_counters_do_not_block_an_undo(database: Database) -> None:
    number = await remember(database)
    async with database.write() as tx:
        await memories.touch(tx, [number], 5.0)
        await embedding_queue.set_status(tx, [number], "off")
    await undo(database)
    assert (await memories.get(database, number)).uses == 1


async def test_the_daemons_own_acts_are_left_alone_unless_meant(database: Database) -> None:
    await remember(database)
    async with database.write() as tx:
        second = (await memories.insert(tx, make_memory("The worker retries twice."))).id
    assert [step.event["actor"] for step in await undo(database)] == ["user"]
    assert await active(database) == [second]
    (newest,) = await reversal.latest(database, 1, daemon=True)
    assert newest == (await last(database))["id"]


async def test_other_projects_are_left_alone(database: Database) -> None:
    one, other = [await find_or_create(database, Identity(root=f"/srv/{name}", name=name)) for name in ("one", "other")]
    async with database.write() as tx:
        mine = await memories.insert(tx, make_memory("Amounts are cents.", project_id=one.id), "user")
    async with database.write() as tx:
        theirs = await memories.insert(tx, make_memory("Dates are UTC.", project_id=other.id), "user")
    async with database.write() as tx:
        await corrections.record_feedback(tx, corrections.Feedback(theirs.id, "accepted", "user"))
    newest = await reversal.latest(database, 10, project_id=one.id)
    async with database.write() as tx:
        assert [(await events.require(tx, number))["subject_id"] for number in newest] == [str(mine.id)]
    assert len(await reversal.latest(database, 10, project_id=other.id)) == 2
    assert len(await reversal.latest(database, 10)) == 3


async def test_a_memory_for_all_projects_can_be_taken_back_in_each(database: Database) -> None:
    project = await find_or_create(database, Identity(root="/srv/one", name="one"))
    number = await remember(database)
    assert (await memories.get(database, number)).project_id is None
    assert len(await reversal.latest(database, 1, project_id=project.id)) == 1


async def test_a_purge_is_final(database: Database) -> None:
    kept, gone = await remember(database), await remember(database, "The worker retries twice.")
    made = (await events.history(database, "memory", kept))[0]["id"]
    doomed = await purge_selection.of_memories(database, [gone])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, f"memories {gone}")
    with pytest.raises(RequestError, match="can't be undone"):
        await undo(database)
    assert await reversal.latest(database, 30) == [made]
    await undo(database, made)
    assert await active(database) == []


async def test_the_history_of_a_link_is_listed_for_its_memories(database: Database) -> None:
    one, other = await remember(database), await remember(database, "The worker retries twice.")
    async with database.write() as tx:
        new = Link(0, one, other, "SUPPORTS", "active", 0.8, "user", "a telling word", 1.0)
        link = await links.add(tx, new, "user")
    assert link is not None
    doomed = await purge_selection.of_memories(database, [other])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "it")
    assert await events.history(database, "link", link.id) == []
    assert await events.history(database, "memory", one)


async def test_words_come_back_with_their_index(database: Database) -> None:
    number = await remember(database)
    async with database.write() as tx:
        before, after = await update_row(
            tx, "memories", number, {"content": "Amounts are floats.", "tags": '["money"]'}
        )
        await full_text.reindex(tx, await memories.require(tx, number))
        await events.record(tx, "edit", "memory", number, actor="user", before=before, after=after)
    await undo(database)
    assert await full_text.search(database, ["integer"], [], 9)
    assert not await full_text.search(database, ["floats"], [], 9)
    assert (await memories.get(database, number)).tags == ()


async def test_what_is_let_pass_and_what_is_accepted(database: Database) -> None:
    async with database.write() as tx:
        await redactions.record(tx, [Finding(1.0, "", "key", "secrets", "redact", "aa", 9)], 9)
    async with database.write() as tx:
        await redactions.allow(tx, "aa", "no secret")
    held = await approval.accepted(database, Settings())
    await approval.accept(database, Settings(auto_threshold=0.5), "", held)
    await undo(database)
    assert (await approval.accepted(database, Settings()))["auto_threshold"] == held["auto_threshold"]
    await undo(database, number=2)
    assert (await approval.accepted(database, Settings()))["auto_threshold"] == held["auto_threshold"]
    first = (await events.history(database, "redaction", "aa"))[0]["id"]
    await undo(database, first)
    assert await redactions.allowed(database) == frozenset()
    await undo(database)
    assert await redactions.allowed(database) == {"aa"}


async def test_the_first_settings_have_nothing_before_them(database: Database) -> None:
    await approval.accepted(database, Settings())
    with pytest.raises(RequestError, match="changed nothing that can be undone"):
        await undo(database, (await last(database))["id"])
    await remember(database)
    assert len(await reversal.latest(database, 30, daemon=True)) == 1
    assert len(await undo(database, number=30)) == 1


async def test_decisions_from_before_acts_can_not_be_undone(database: Database) -> None:
    sql = (
        "INSERT INTO events (at, actor, action, subject, subject_id, before, after)"
        " VALUES (1, 'user', 'approved', 'capture', '1', '{\"status\": \"review\"}', '{\"status\": \"approved\"}')"
    )
    async with database.write() as tx:
        await tx.execute(sql)
    with pytest.raises(RequestError, match="version") as caught:
        await undo(database)
    assert "review undo 1" in caught.value.remedy
    assert await reversal.latest(database, 30) == []


async def test_the_list_of_changes_can_omit_frequent_events(database: Database) -> None:
    async with database.write() as tx:
        for subject in ("memory", "surface_outcome", "typed"):
            await events.record(tx, "made", subject, 7)
    assert [one["subject"] for one in await events.page(database, 2**62, 9)] == ["surface_outcome", "memory"]
    assert [one["subject"] for one in await events.page(database, 2**62, 9, excluded=("surface_outcome",))] == [
        "memory"
    ]
