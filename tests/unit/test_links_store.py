"""Links as they are stored: once, read from both ends, with every change an event, gone with what is purged."""

from __future__ import annotations

from subconscious import redaction
from subconscious.domain.model import Link, Memory, Scope
from subconscious.store import events, links, memories, purge, purge_selection, text_columns
from subconscious.store.connect import Database
from subconscious.store.links import LinkFilter
from subconscious.store.projects import Project, find_or_create
from subconscious.system.projects import Identity
from tests.support.linking import connect
from tests.support.minds import store
from tests.support.values import NOON, make_memory


async def three(database: Database, project: Project) -> tuple[int, int, int]:
    one, two, three = [await store(database, project, f"Statement {name}.") for name in ("one", "two", "three")]
    return one, two, three


async def set_archived(database: Database, memory_id: int, archived: bool) -> None:
    memory = await memories.get(database, memory_id)
    async with database.write() as tx:
        await (memories.archive if archived else memories.unarchive)(tx, memory, "user", "")


async def test_what_reads_the_same_from_both_ends_is_stored_once(database: Database, project: Project) -> None:
    one, two, _ = await three(database, project)
    made = await connect(database, two, one, "CONTRADICTS")
    assert (made.source_id, made.target_id) == (one, two)
    async with database.write() as tx:
        again = Link(0, one, two, "CONTRADICTS", "proposed", 0.5, "rules", "", NOON)
        assert await links.add(tx, again, "daemon") is None
        assert await links.stored_link(tx, Link(0, two, one, "CONTRADICTS", "", 0, "", "", 0)) == made
        assert await links.add(tx, Link(0, two, one, "SUPPORTS", "active", 0.5, "rules", "", NOON), "daemon")
        assert await links.add(tx, Link(0, one, two, "SUPPORTS", "active", 0.5, "rules", "", NOON), "daemon")
    assert len(await links.of(database, [two])) == 3


async def test_what_each_of_many_replaced_directly_is_found(database: Database, project: Project) -> None:
    one, two, latest = await three(database, project)
    await connect(database, two, one, "SUPERSEDES")
    await connect(database, latest, two, "SUPERSEDES")
    await connect(database, latest, one, "SUPERSEDES", status="proposed")
    assert await links.replaced(database, [one, two, latest]) == {two: [one], latest: [two]}


async def test_an_event_contains_only_the_changed_columns(database: Database, project: Project) -> None:
    one, two, _ = await three(database, project)
    made = await connect(database, one, two, status="proposed")
    async with database.write() as tx:
        changed = await links.change(tx, made, "user", "seen", "act1", status="active", confidence=0.8)
        assert await links.change(tx, changed, "user", status="active") == changed
    told = await events.history(database, "link", made.id)
    assert [(one["action"], one["actor"], one["before"], one["act"]) for one in told[1:]] == [
        ("relink", "user", {"status": "proposed"}, "act1")
    ]
    assert (told[0]["before"], told[0]["after"]["target_id"]) == (None, two)


async def test_archiving_hides_links_and_keeps_them(database: Database, project: Project) -> None:
    one, two, three_ = await three(database, project)
    kept = [await connect(database, one, two), await connect(database, two, three_, "SUPERSEDES")]
    await set_archived(database, two, True)
    assert await links.of(database, [one, three_]) == []
    assert await links.listing(database, LinkFilter(one), 9) == []
    assert await links.superseded(database, [three_]) == set()
    assert await links.listing(database, LinkFilter(two), 9) == kept  # of itself it tells all the same
    assert await links.listing(database, LinkFilter(one, archived=True), 9) == kept[:1]
    await set_archived(database, two, False)
    assert await links.of(database, [one, three_]) == kept
    assert await links.superseded(database, [one, two, three_]) == {three_}


async def test_a_listing_is_chosen(database: Database, project: Project) -> None:
    one, two, three_ = await three(database, project)
    sure = await connect(database, one, two, "CAUSED")
    doubtful = await connect(database, three_, one, "SUPPORTS", "proposed", confidence=0.4)
    likely = await connect(database, two, three_, "CONTRADICTS", "proposed", confidence=0.7)
    refused = await connect(database, one, three_, "EXTENDS", "refused")
    assert await links.listing(database, LinkFilter(), 9) == [sure, likely, doubtful]
    assert await links.listing(database, LinkFilter(project_id=project.id, statuses=("proposed",)), 1) == [likely]
    assert await links.listing(database, LinkFilter(one, types=("CAUSED", "EXTENDS")), 9) == [sure]
    assert await links.listing(database, LinkFilter(statuses=("refused",)), 9) == [refused]
    assert await links.listing(database, LinkFilter(project_id="another"), 9) == []
    assert await links.of(database, [one], links.SHOWN, ("SUPPORTS",)) == [doubtful]


async def test_what_one_project_says_of_the_users_own_counts_there_alone(database: Database, project: Project) -> None:
    other = await find_or_create(database, Identity(root="/elsewhere", name="other"))
    async with database.write() as tx:
        wide: Memory = await memories.insert(tx, make_memory("Use tabs.", scope=Scope.USER))
    here = await store(database, project, "Use spaces here.")
    link = await connect(database, here, wide.id, "SUPERSEDES")
    assert await links.superseded(database, [wide.id, here], project.id) == {wide.id}
    assert await links.superseded(database, [wide.id], other.id) == set()
    assert await links.superseded(database, [wide.id]) == set()
    assert await links.conflicts_and_successions(database, [wide.id], project.id) == [link]
    assert (
        await links.conflicts_and_successions(database, [here], project.id) == []
    )  # nothing is said against what supersedes


async def test_only_active_links_supersede(database: Database, project: Project) -> None:
    one, two, three_ = await three(database, project)
    await connect(database, two, one, "SUPERSEDES", "proposed")
    await connect(database, two, three_, "SUPERSEDES", "refused")
    await connect(database, one, two, "EXTENDS")
    assert await links.superseded(database, [one, two, three_]) == set()


async def test_more_memories_than_one_query_takes(database: Database, project: Project) -> None:
    one, two, _ = await three(database, project)
    await connect(database, one, two, "SUPERSEDES")
    assert await links.superseded(database, [*range(100, 100 + 3 * links.PORTION), two]) == {two}


async def test_a_purge_takes_links_with_their_evidence_and_history(database: Database, project: Project) -> None:
    one, two, three_ = await three(database, project)
    gone = await connect(database, one, two, evidence="as Mallory told Bob")
    kept = await connect(database, two, three_, evidence="it says so")
    doomed = await purge_selection.of_memories(database, [one])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "memory 1")
    assert await links.listing(database, LinkFilter(), 9) == [kept]
    assert await events.history(database, "link", gone.id) == []
    assert len(await events.history(database, "link", kept.id)) == 1
    dump = [tuple(row) for row in await database.rows("SELECT reason, before, after FROM events")]
    assert "Mallory" not in str(dump)


async def test_a_secret_in_evidence_is_found_by_redaction(database: Database, project: Project) -> None:
    one, two, _ = await three(database, project)
    await connect(database, one, two, evidence="password = 'kzq12wmx'")
    (table,) = [table for table in await text_columns.tables(database) if table.name == "memory_links"]
    assert table.words == ("evidence",)
    async with database.write() as tx:
        (row,) = await text_columns.page(tx, table)
        await text_columns.rewrite(tx, row, text_columns.changed_columns(row, lambda text: redaction.redact(text).text))
    (link,) = await links.of(database, [one])
    assert link.evidence == "password = '[redacted: password]'"
