"""Links are looked for in the background: found in the right direction, within limits, once, and as a person wants."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.tuned import tuned
from daemon import aside, link_model, linking
from daemon.core import Core
from daemon.embedding import Embedding
from daemon.linking import Linking
from subconscious import client
from subconscious.home import Home
from subconscious.links import opinions
from subconscious.links.judge import VERSION
from subconscious.links.opinions import Opinions
from subconscious.model import Link, Memory, Origin
from subconscious.projects import Identity
from subconscious.store import asked, embedding_queue, events, link_searches, links, memories, purge
from subconscious.store.asked import Asked
from subconscious.store.connect import Database
from subconscious.store.projects import Project, settle
from tests.support import terminal
from tests.support.daemons import configure, eventually, new_session
from tests.support.values import NOON, make_memory

pytestmark = pytest.mark.slow

REDIS = "We use Redis for the session cache."
MEMCACHED = "We now use Memcached instead of Redis for the session cache."
DAY = 86_400.0


@pytest.fixture
def core(home: Home, database: Database) -> Core:
    return core_of(home, database)


def core_of(home: Home, database: Database, **values: Any) -> Core:
    return Core(home, tuned(embedder="none", **values), database, Embedding("none", database))


async def stored(database: Database, project: Project | None, *texts: str, **changes: Any) -> list[Memory]:
    """Memories of a project, a day after the other."""
    made = []
    for day, text in enumerate(texts):
        values = {"project_id": project.id if project else None, "said_at": NOON + day * DAY, **changes}
        async with database.write() as tx:
            made.append(await memories.insert(tx, make_memory(text, **values)))
    return made


async def searched(core: Core) -> list[Link]:
    """All links, after everything that waited was searched."""
    while await Linking(core).round():
        pass
    return await every(core.database)


async def every(database: Database) -> list[Link]:
    rows = await database.rows("SELECT * FROM memory_links ORDER BY id")
    return [links.link_from(row) for row in rows]


async def test_a_supersession_is_found_in_its_direction_with_evidence(core: Core, project: Project) -> None:
    old, new = await stored(core.database, project, REDIS, MEMCACHED)
    (link,) = await searched(core)
    assert (link.source_id, link.target_id, link.type) == (new.id, old.id, "SUPERSEDES")
    assert (link.status, link.created_by, link.evidence) == ("active", "rules", MEMCACHED)
    (told,) = await events.history(core.database, "link", link.id)
    assert (told["action"], told["before"], told["after"]["type"]) == ("link", None, "SUPERSEDES")
    assert told["act"]


async def test_it_is_found_whichever_was_searched_last(core: Core, project: Project) -> None:
    (new,) = await stored(core.database, project, MEMCACHED, said_at=NOON + 9 * DAY)
    assert await searched(core) == []
    (old,) = await stored(core.database, project, REDIS)
    (link,) = await searched(core)
    assert (link.source_id, link.target_id) == (new.id, old.id)


async def test_projects_know_nothing_of_each_other_but_share_the_users_own(
    core: Core, project: Project, tmp_path: Any
) -> None:
    other = await settle(core.database, Identity(root=str(tmp_path / "other"), name="other"))
    await stored(core.database, other, REDIS)
    (new,) = await stored(core.database, project, MEMCACHED, said_at=NOON + DAY)
    assert await searched(core) == []
    (own,) = await stored(core.database, None, "We use Redis for the session cache everywhere.")
    assert (new.id, own.id) in {(link.source_id, link.target_id) for link in await searched(core)}


async def test_parts_of_one_utterance_are_not_linked(core: Core, project: Project) -> None:
    await stored(core.database, project, REDIS, MEMCACHED, turn_id="one-plan")
    assert await searched(core) == []


async def test_what_is_archived_has_no_part_in_it(core: Core, project: Project) -> None:
    old, _ = await stored(core.database, project, REDIS, MEMCACHED)
    async with core.database.write() as tx:
        await memories.archive(tx, old, "user", "gone")
    assert await searched(core) == []


async def test_a_tools_words_are_only_proposed(core: Core, project: Project) -> None:
    await stored(core.database, project, REDIS)
    await stored(core.database, project, MEMCACHED, origin=Origin.TOOL, said_at=NOON + DAY)
    (link,) = await searched(core)
    assert (link.type, link.status) == ("SUPERSEDES", "proposed")


async def test_it_can_be_turned_off(home: Home, database: Database, project: Project) -> None:
    await stored(database, project, REDIS, MEMCACHED)
    assert await searched(core_of(home, database, links=False)) == []
    assert len(await link_searches.waiting(database, VERSION, 9, embedded=False)) == 2


async def test_a_second_search_with_the_same_rules_finds_nothing_to_do(core: Core, project: Project) -> None:
    await stored(core.database, project, REDIS, MEMCACHED)
    before = await searched(core)
    assert await Linking(core).round() == 0
    assert await every(core.database) == before


async def test_what_a_person_refused_is_not_proposed_again_as_anything(core: Core, project: Project) -> None:
    old, new = await stored(core.database, project, REDIS, MEMCACHED)
    refused = Link(0, new.id, old.id, "EXTENDS", "refused", 0.5, "rules", "", NOON)
    async with core.database.write() as tx:
        await links.add(tx, refused, "user")
    assert [link.status for link in await searched(core)] == ["refused"]
    async with core.database.write() as tx:
        await link_searches.note(tx, new.id, "rules of old", NOON)
    assert [link.status for link in await searched(core)] == ["refused"]


async def test_a_death_in_between_leaves_neither_links_nor_the_note(
    core: Core, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(core.database, project, REDIS, MEMCACHED)

    async def die(*_: Any) -> None:
        raise sqlite3.OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(link_searches, "note", die)
        with pytest.raises(sqlite3.OperationalError):
            await Linking(core).round()
    assert await every(core.database) == []
    assert len(await link_searches.waiting(core.database, VERSION, 9, embedded=False)) == 2
    assert len(await searched(core)) == 1


async def test_one_that_no_rule_can_read_keeps_nobody_else_waiting(
    core: Core, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await stored(core.database, project, REDIS, MEMCACHED, "Lunch is at noon.")
    search = linking.search

    async def fails(core: Core, memory: Memory) -> int:
        if memory.id == made[2].id:
            raise ValueError("unreadable")
        return await search(core, memory)

    monkeypatch.setattr(linking, "search", fails)
    assert len(await searched(core)) == 1


async def test_a_memory_gets_no_more_than_its_limit(home: Home, database: Database, project: Project) -> None:
    core = core_of(home, database, link_limit=3)
    texts = [f"The {name} job uses Redis for the session cache." for name in ("mail", "night", "tax", "rent", "zip")]
    await stored(database, project, *texts)
    await stored(database, project, MEMCACHED, said_at=NOON + 20 * DAY)
    found = await searched(core)
    ends = [end for link in found for end in (link.source_id, link.target_id)]
    assert found
    assert max(map(ends.count, ends)) <= 3


async def test_those_that_wait_for_their_embedding_wait_here_too(core: Core, project: Project) -> None:
    (memory,) = await stored(core.database, project, REDIS)
    assert await link_searches.waiting(core.database, VERSION, 9, embedded=True) == []
    async with core.database.write() as tx:
        await embedding_queue.mark(tx, [memory.id], "done")
    assert len(await link_searches.waiting(core.database, VERSION, 9, embedded=True)) == 1


async def test_nobody_who_is_being_answered_waits_for_it(core: Core, project: Project) -> None:
    await stored(core.database, project, REDIS, MEMCACHED)
    loop = Linking(core)
    async with core.answering["session"]:
        task = asyncio.create_task(loop.round())
        await asyncio.sleep(4 * aside.LOOK)
        assert len(await link_searches.waiting(core.database, VERSION, 9, embedded=False)) == 2
    assert await task == 2


def a_question(memory: Memory, others: Sequence[Memory]) -> Asked:
    payload = {"memory": memory.id, "others": [one.id for one in others]}
    return Asked(1, "links", "1:1", "", "", 9, payload, "", "", 0, False, "scripted", "some-model")


def entry(**changes: Any) -> Opinions:
    values = {"number": 1, "type": "REQUIRES", "direction": "forward", "confidence": 0.9, "quote": "Redis for the"}
    return Opinions.model_validate({"links": [values | changes]})


async def opined(core: Core, project: Project, answer: Opinions) -> list[Link]:
    old, new = await stored(core.database, project, REDIS, MEMCACHED)
    await searched(core)
    async with core.database.write() as tx:
        await link_model.use(tx, a_question(new, [old]), answer, core.settings)
    return await every(core.database)


async def test_a_model_retypes_what_the_rules_found(core: Core, project: Project) -> None:
    (link,) = await opined(core, project, entry())
    assert (link.type, link.status, link.created_by) == ("REQUIRES", "active", "some-model")
    assert (link.confidence, link.evidence) == (0.9, "Redis for the")


async def test_a_model_turns_it_round_and_the_first_is_withdrawn(core: Core, project: Project) -> None:
    first, second = await opined(core, project, entry(direction="backward", confidence=0.4))
    assert (first.status, second.status) == ("withdrawn", "proposed")
    assert (second.source_id, second.target_id) == (first.target_id, first.source_id)


async def test_a_model_that_sees_none_withdraws_it(core: Core, project: Project) -> None:
    (link,) = await opined(core, project, entry(type="NONE", quote=""))
    assert link.status == "withdrawn"


@pytest.mark.parametrize("changes", [{"quote": "as everybody knows"}, {"number": 2}, {"type": "CONSOLIDATES"}])
async def test_what_a_model_may_not_say_changes_nothing(core: Core, project: Project, changes: dict[str, Any]) -> None:
    (link,) = await opined(core, project, entry(**changes))
    assert (link.type, link.created_by) == ("SUPERSEDES", "rules")


async def test_a_persons_word_stands_against_a_models(core: Core, project: Project) -> None:
    old, new = await stored(core.database, project, REDIS, MEMCACHED)
    (link,) = await searched(core)
    async with core.database.write() as tx:
        await links.change(tx, link, "user", "it is more than that", type="EXTENDS")
        await link_model.use(tx, a_question(new, [old]), entry(), core.settings)
    (link,) = await every(core.database)
    assert (link.type, link.status) == ("EXTENDS", "active")


async def test_a_model_is_asked_once_about_what_was_found_and_not_about_imports(
    home: Home, database: Database, project: Project
) -> None:
    core = core_of(home, database, provider="scripted")
    link_model.register(core)
    await stored(database, project, REDIS)
    (new,) = await stored(database, project, MEMCACHED, said_at=NOON + DAY, session_id=None)
    await searched(core)
    (question,) = await asked.waiting(database, [opinions.PURPOSE], NOON, 9)
    assert (question.payload["memory"], question.project_id) == (new.id, project.id)
    assert "Memcached" in question.text
    imported = "We no longer use Memcached for the session cache."
    await stored(database, project, imported, said_at=NOON + 2 * DAY, agent="import")
    await searched(core)
    assert len(await asked.waiting(database, [opinions.PURPOSE], NOON, 9)) == 1


def test_a_daemon_finds_what_it_was_told(stopped: Home, tmp_path: Path) -> None:
    """The whole way: two things are remembered, one after the other, and the daemon links them by itself."""
    configure(stopped, link_limit=20)
    client.ensure_daemon(stopped)
    speaker, running = new_session(stopped, tmp_path / "project"), stopped
    for text in (REDIS, MEMCACHED):
        terminal.ask(running, "remember", text=text, cwd=str(speaker.project))

    def found() -> list[tuple[str, str, str]]:
        with sqlite3.connect(f"file:{running.database}?mode=ro", uri=True) as connection:
            return connection.execute(
                "SELECT source.content, link.type, target.content FROM memory_links AS link"
                " JOIN memories AS source ON source.id = source_id JOIN memories AS target ON target.id = target_id"
            ).fetchall()

    assert eventually(lambda: bool(found()))
    assert found() == [(MEMCACHED, "SUPERSEDES", REDIS)]


async def test_a_purged_memory_takes_along_what_its_links_quoted(
    home: Home, database: Database, project: Project
) -> None:
    core = core_of(home, database, provider="scripted")
    link_model.register(core)
    old, _ = await stored(database, project, REDIS, MEMCACHED)
    (link,) = await searched(core)
    doomed = await purge.of_memories(database, [old.id])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, f"memory {old.id}")
    assert await every(database) == []
    assert await events.history(database, "link", link.id) == []
    assert await asked.waiting(database, [opinions.PURPOSE], NOON, 9) == []
    (row,) = await database.rows("SELECT text, payload, state FROM llm_requests")
    assert tuple(row) == ("", "{}", "buried")
