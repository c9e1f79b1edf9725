"""Links are looked for in the background: found in the right direction, within limits, once, and as a person wants."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.tuned import tuned
from subconscious import wire
from subconscious.app import App
from subconscious.context import priority
from subconscious.domain.model import Link, Memory, Origin
from subconscious.embeddings.background import Embedding
from subconscious.links import discovery, model_review, opinions
from subconscious.links.discovery import LinkDiscovery
from subconscious.links.judge import VERSION
from subconscious.links.opinions import Opinions
from subconscious.settings.home import Home
from subconscious.store import embedding_queue, events, links, llm_requests, memories, purge, purge_selection, takeovers
from subconscious.store.connect import Database
from subconscious.store.llm_requests import StoredRequest
from subconscious.store.projects import Project, find_or_create
from subconscious.system.projects import Identity
from tests.support import terminal
from tests.support.daemons import configure, eventually, new_session
from tests.support.values import NOON, make_memory

pytestmark = pytest.mark.slow

REDIS = "We use Redis for the session cache."
MEMCACHED = "We now use Memcached instead of Redis for the session cache."
DAY = 86_400.0


@pytest.fixture
def app(home: Home, database: Database) -> App:
    return core_of(home, database)


def core_of(home: Home, database: Database, **values: Any) -> App:
    return App(home, tuned(embedder="none", **values), database, Embedding("none", database))


async def stored(database: Database, project: Project | None, *texts: str, **changes: Any) -> list[Memory]:
    """Memories of a project, a day after the other."""
    made = []
    for day, text in enumerate(texts):
        values = {"project_id": project.id if project else None, "said_at": NOON + day * DAY, **changes}
        async with database.write() as tx:
            made.append(await memories.insert(tx, make_memory(text, **values)))
    return made


async def searched(app: App) -> list[Link]:
    """All links, after everything that waited was searched."""
    while await LinkDiscovery(app).round():
        pass
    return await every(app.database)


async def every(database: Database) -> list[Link]:
    rows = await database.rows("SELECT * FROM memory_links ORDER BY id")
    return [links.link_from(row) for row in rows]


async def test_a_supersession_is_found_in_its_direction_with_evidence(app: App, project: Project) -> None:
    old, new = await stored(app.database, project, REDIS, MEMCACHED)
    (link,) = await searched(app)
    assert (link.source_id, link.target_id, link.type) == (new.id, old.id, "SUPERSEDES")
    assert (link.status, link.created_by, link.evidence) == ("active", "rules", MEMCACHED)
    (told,) = await events.history(app.database, "link", link.id)
    assert (told["action"], told["before"], told["after"]["type"]) == ("link", None, "SUPERSEDES")
    assert told["act"]


async def test_it_is_found_whichever_was_searched_last(app: App, project: Project) -> None:
    (new,) = await stored(app.database, project, MEMCACHED, said_at=NOON + 9 * DAY)
    assert await searched(app) == []
    (old,) = await stored(app.database, project, REDIS)
    (link,) = await searched(app)
    assert (link.source_id, link.target_id) == (new.id, old.id)


NO_SQUASH, SQUASH = "Never squash commits of a branch", "Always squash the commits of a branch"


@pytest.mark.parametrize(
    ("early", "late"),
    [
        (NO_SQUASH, SQUASH),
        ("Never use yarn in the api folder", "Always use yarn in the docs folder"),
        ("Never log requests in the billing service", "Always log requests in the gateway"),
    ],
)
async def test_a_contradiction_hides_nothing_whenever_its_ends_were_stored(
    app: App, project: Project, early: str, late: str
) -> None:
    of_user = {"origin": Origin.USER}
    await stored(app.database, project, late, said_at=NOON + 9 * DAY, created_at=NOON, **of_user)  # was repeated
    await stored(app.database, project, early, said_at=NOON + 5 * DAY, created_at=NOON + 5 * DAY, **of_user)
    assert {link.type for link in await searched(app)} <= {"CONTRADICTS"}


async def test_projects_know_nothing_of_each_other_but_share_the_users_own(
    app: App, project: Project, tmp_path: Any
) -> None:
    other = await find_or_create(app.database, Identity(root=str(tmp_path / "other"), name="other"))
    await stored(app.database, other, REDIS)
    (new,) = await stored(app.database, project, MEMCACHED, said_at=NOON + DAY)
    assert await searched(app) == []
    (own,) = await stored(app.database, None, "We use Redis for the session cache everywhere.")
    assert (new.id, own.id) in {(link.source_id, link.target_id) for link in await searched(app)}


async def test_parts_of_one_utterance_are_not_linked(app: App, project: Project) -> None:
    await stored(app.database, project, REDIS, MEMCACHED, turn_id="one-plan")
    assert await searched(app) == []


async def test_archived_memories_are_not_linked(app: App, project: Project) -> None:
    old, _ = await stored(app.database, project, REDIS, MEMCACHED)
    async with app.database.write() as tx:
        await memories.archive(tx, old, "user", "gone")
    assert await searched(app) == []


async def test_a_tools_words_are_only_proposed(app: App, project: Project) -> None:
    await stored(app.database, project, REDIS)
    await stored(app.database, project, MEMCACHED, origin=Origin.TOOL, said_at=NOON + DAY)
    (link,) = await searched(app)
    assert (link.type, link.status) == ("SUPERSEDES", "proposed")


async def test_it_can_be_turned_off(home: Home, database: Database, project: Project) -> None:
    await stored(database, project, REDIS, MEMCACHED)
    assert await searched(core_of(home, database, links=False)) == []
    assert len(await links.unsearched(database, VERSION, 9, embedded=False)) == 2


async def test_a_second_search_with_the_same_rules_finds_nothing_to_do(app: App, project: Project) -> None:
    await stored(app.database, project, REDIS, MEMCACHED)
    before = await searched(app)
    assert await LinkDiscovery(app).round() == 0
    assert await every(app.database) == before


async def test_what_a_person_refused_is_not_proposed_again_as_anything(app: App, project: Project) -> None:
    old, new = await stored(app.database, project, REDIS, MEMCACHED)
    refused = Link(0, new.id, old.id, "EXTENDS", "refused", 0.5, "rules", "", NOON)
    async with app.database.write() as tx:
        await links.add(tx, refused, "user")
    assert [link.status for link in await searched(app)] == ["refused"]
    async with app.database.write() as tx:
        await links.record_search(tx, new.id, "rules of old", NOON)
    assert [link.status for link in await searched(app)] == ["refused"]


async def test_a_death_in_between_leaves_neither_links_nor_the_note(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(app.database, project, REDIS, MEMCACHED)

    async def die(*_: Any) -> None:
        raise sqlite3.OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(links, "record_search", die)
        with pytest.raises(sqlite3.OperationalError):
            await LinkDiscovery(app).round()
    assert await every(app.database) == []
    assert len(await links.unsearched(app.database, VERSION, 9, embedded=False)) == 2
    assert len(await searched(app)) == 1


async def test_a_memory_that_fails_does_not_block_the_others(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await stored(app.database, project, REDIS, MEMCACHED, "Lunch is at noon.")
    search = discovery.search

    async def fails(app: App, memory: Memory) -> int:
        if memory.id == made[2].id:
            raise ValueError("unreadable")
        return await search(app, memory)

    monkeypatch.setattr(discovery, "search", fails)
    assert len(await searched(app)) == 1


async def test_a_memory_gets_at_most_its_limit_of_links(home: Home, database: Database, project: Project) -> None:
    app = core_of(home, database, link_limit=3)
    texts = [f"The {name} job uses Redis for the session cache." for name in ("mail", "night", "tax", "rent", "zip")]
    await stored(database, project, *texts)
    await stored(database, project, MEMCACHED, said_at=NOON + 20 * DAY)
    found = await searched(app)
    ends = [end for link in found for end in (link.source_id, link.target_id)]
    assert found
    assert max(map(ends.count, ends)) <= 3


async def test_those_that_wait_for_their_embedding_wait_here_too(app: App, project: Project) -> None:
    (memory,) = await stored(app.database, project, REDIS)
    assert await links.unsearched(app.database, VERSION, 9, embedded=True) == []
    async with app.database.write() as tx:
        await embedding_queue.set_status(tx, [memory.id], "done")
    assert len(await links.unsearched(app.database, VERSION, 9, embedded=True)) == 1


async def test_linking_pauses_for_interactive_requests(app: App, project: Project) -> None:
    await stored(app.database, project, REDIS, MEMCACHED)
    loop = LinkDiscovery(app)
    async with app.signals.answering["session"]:
        task = asyncio.create_task(loop.round())
        await asyncio.sleep(4 * priority.LOOK)
        assert len(await links.unsearched(app.database, VERSION, 9, embedded=False)) == 2
    assert await task == 2


def a_question(memory: Memory, others: Sequence[Memory]) -> StoredRequest:
    payload = {"memory": memory.id, "others": [one.id for one in others]}
    return StoredRequest(1, "links", "1:1", "", "", 9, payload, "", "", 0, False, "scripted", "some-model")


def entry(**changes: Any) -> Opinions:
    values = {"number": 1, "type": "REQUIRES", "direction": "forward", "confidence": 0.9, "quote": "Redis for the"}
    return Opinions.model_validate({"links": [values | changes]})


async def opined(app: App, project: Project, answer: Opinions) -> list[Link]:
    old, new = await stored(app.database, project, REDIS, MEMCACHED)
    await searched(app)
    async with app.database.write() as tx:
        await model_review.use(tx, a_question(new, [old]), answer, app.settings)
    return await every(app.database)


async def test_a_model_changes_the_type_of_a_link(app: App, project: Project) -> None:
    (link,) = await opined(app, project, entry())
    assert (link.type, link.status, link.created_by) == ("REQUIRES", "active", "some-model")
    assert (link.confidence, link.evidence) == (0.9, "Redis for the")


async def test_a_model_turns_it_round_and_the_first_is_withdrawn(app: App, project: Project) -> None:
    first, second = await opined(app, project, entry(direction="backward", confidence=0.4))
    assert (first.status, second.status) == ("withdrawn", "proposed")
    assert (second.source_id, second.target_id) == (first.target_id, first.source_id)


async def test_the_user_is_asked_about_a_takeover_that_a_model_doubts(app: App, project: Project) -> None:
    (link,) = await opined(app, project, entry(type="SUPERSEDES", confidence=0.4))
    assert link.status == "proposed"
    question = await takeovers.next_question(app.database, project.id)
    assert question is not None
    assert (question.link_id, question.new, question.old) == (link.id, MEMCACHED, REDIS)


async def test_a_model_that_sees_none_withdraws_it(app: App, project: Project) -> None:
    (link,) = await opined(app, project, entry(type="NONE", quote=""))
    assert link.status == "withdrawn"


@pytest.mark.parametrize("changes", [{"quote": "as everybody knows"}, {"number": 2}, {"type": "CONSOLIDATES"}])
async def test_what_a_model_may_not_say_changes_nothing(app: App, project: Project, changes: dict[str, Any]) -> None:
    (link,) = await opined(app, project, entry(**changes))
    assert (link.type, link.created_by) == ("SUPERSEDES", "rules")


async def test_a_persons_decision_overrides_the_models(app: App, project: Project) -> None:
    old, new = await stored(app.database, project, REDIS, MEMCACHED)
    (link,) = await searched(app)
    async with app.database.write() as tx:
        await links.change(tx, link, "user", "it is more than that", type="EXTENDS")
        await model_review.use(tx, a_question(new, [old]), entry(), app.settings)
    (link,) = await every(app.database)
    assert (link.type, link.status) == ("EXTENDS", "active")


async def test_a_model_reviews_links_once_and_not_those_of_imports(
    home: Home, database: Database, project: Project
) -> None:
    app = core_of(home, database, provider="scripted")
    model_review.register(app)
    await stored(database, project, REDIS)
    (new,) = await stored(database, project, MEMCACHED, said_at=NOON + DAY, session_id=None)
    await searched(app)
    (question,) = await llm_requests.waiting(database, [opinions.PURPOSE], NOON, 9)
    assert (question.payload["memory"], question.project_id) == (new.id, project.id)
    assert "Memcached" in question.text
    imported = "We no longer use Memcached for the session cache."
    await stored(database, project, imported, said_at=NOON + 2 * DAY, agent="import")
    await searched(app)
    assert len(await llm_requests.waiting(database, [opinions.PURPOSE], NOON, 9)) == 1


def test_a_running_daemon_links_two_memories(stopped: Home, tmp_path: Path) -> None:
    """The whole way: two things are remembered, one after the other, and the daemon links them by itself."""
    configure(stopped, link_limit=20)
    wire.ensure_daemon(stopped)
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


async def test_purging_a_memory_removes_the_quotes_in_its_links(
    home: Home, database: Database, project: Project
) -> None:
    app = core_of(home, database, provider="scripted")
    model_review.register(app)
    old, _ = await stored(database, project, REDIS, MEMCACHED)
    (link,) = await searched(app)
    doomed = await purge_selection.of_memories(database, [old.id])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, f"memory {old.id}")
    assert await every(database) == []
    assert await events.history(database, "link", link.id) == []
    assert await llm_requests.waiting(database, [opinions.PURPOSE], NOON, 9) == []
    (row,) = await database.rows("SELECT text, payload, state FROM llm_requests")
    assert tuple(row) == ("", "{}", "buried")
