"""Pages of the timeline, one after another, over stores that one request can't read to the end."""

from __future__ import annotations

from typing import Any

import pytest

from subconscious.app import App
from subconscious.domain.hits import Surface
from subconscious.history import timeline
from subconscious.store import memories, surfaces
from subconscious.store.projects import Project, find_or_create
from subconscious.system.projects import Identity
from tests.support.values import NOON, make_memory

STARTS = 30
GIVEN_AT_ONCE = 10


async def started(app: App, project: Project) -> None:
    """Record sessions that were each given the same memories at their start, a minute apart."""
    await changed(app, None, GIVEN_AT_ONCE, at=NOON - 60)
    known = list((await memories.get_many(app.database, range(1, GIVEN_AT_ONCE + 1))).values())
    async with app.database.write() as tx:
        for number in range(STARTS):
            given = [
                Surface(
                    f"s{number}", "start/startup", NOON + 60 * number, one.id, one.content_hash, place, "", 1.0, 1.0
                )
                for place, one in enumerate(known, start=1)
            ]
            await surfaces.record(tx, project.id, given)


async def changed(app: App, project_id: str | None, number: int, *, at: float) -> None:
    """Record acts: one stored memory each, a second apart."""
    for second in range(number):
        made = make_memory(f"Rule of {project_id} at {at}: {second}.", project_id=project_id)
        async with app.database.write() as tx:
            memory = await memories.insert(tx, made)
            await tx.execute(
                "UPDATE events SET at = ? WHERE subject = 'memory' AND subject_id = ?", (at + second, str(memory.id))
            )


async def pages(app: App, limit: int, project_id: str | None = None) -> list[list[Any]]:
    """Read all pages of the timeline."""
    found = []
    start: timeline.Cursor | None = timeline.Cursor()
    while start is not None:
        page = await timeline.page(app, start, limit, project_id)
        found.append(page["items"])
        following = page["next"]
        assert following != {"event": start.event, "surface": start.surface}
        start = timeline.Cursor(following["event"], following["surface"]) if following else None
    return found


def in_order(items: list[Any]) -> bool:
    times = [item["at"] for item in items]
    return times == sorted(times, reverse=True)


async def test_memories_given_earlier_than_one_request_reads_are_on_the_next_pages(app: App, project: Project) -> None:
    await started(app, project)
    read = [item for page in await pages(app, 40, project.id) for item in page]
    given = [item for item in read if item["sort"] == "given"]
    assert [item["session_id"] for item in given] == [f"s{number}" for number in reversed(range(STARTS))]
    assert {len(item["memories"]) for item in given} == {GIVEN_AT_ONCE}


async def test_changes_before_many_of_another_project_are_on_the_next_pages(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "PAGE", 20)
    monkeypatch.setattr(timeline, "MOST_PAGES", 2)
    await changed(app, project.id, 3, at=NOON)
    another = await find_or_create(app.database, Identity(root="/srv/another", name="another"))
    await changed(app, another.id, 100, at=NOON + 3600)
    read = [item for page in await pages(app, 40, project.id) for item in page]
    assert [item["at"] for item in read] == [NOON + 2, NOON + 1, NOON]


@pytest.mark.parametrize("limit", [1, 3, 40])
async def test_pages_are_in_order_across_changes_and_given_memories(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    await started(app, project)
    await changed(app, project.id, 5, at=NOON + 90)
    await changed(app, project.id, 25, at=NOON + 60 * STARTS - 70)
    monkeypatch.setattr(timeline, "PAGE", 1000)
    (whole,) = await pages(app, 1000, project.id)
    monkeypatch.setattr(timeline, "PAGE", 25)
    read = [item for page in await pages(app, limit, project.id) for item in page]
    assert sum(item["sort"] == "given" for item in read) == STARTS
    assert in_order(read)
    assert sorted(map(str, read)) == sorted(map(str, whole))
