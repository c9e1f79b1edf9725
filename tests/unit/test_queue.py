"""The review queue: what is offered first, what expires, and the one number of a capture and its memory."""

from __future__ import annotations

from time import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subconscious.domain.model import Admission, Decision, Origin
from subconscious.review import rules
from subconscious.store import captures, decisions, memories, review_queue, unconfirmed
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.candidates import make_candidate
from tests.support.values import make_memory

DAY = 86_400.0


async def waits(database: Database, project: Project, quote: str, **changes: Any) -> int:
    said = make_candidate(quote, **{"raw_confidence": 0.8, **changes})
    admission = Admission(Decision.REVIEW, said.raw_confidence, "x")
    async with database.write() as tx:
        number = await captures.insert(tx, said, admission, SessionRef(project.id, "s"), 7)
    assert number is not None
    return number


async def approved(database: Database, number: int, **changes: Any) -> int:
    capture = await captures.get(database, number)
    memory = make_memory(capture["content"], **{"project_id": capture["project_id"], **changes})
    async with database.write() as tx:
        await rules.approve(tx, number, memory, "")
    return (await captures.get(database, number))["memory_id"] or 0


async def offered(database: Database, project: Project, now: float | None = None, limit: int = 3) -> list[int]:
    return [one["id"] for one in await review_queue.offered(database, project.id, now or time(), limit)]


async def test_a_memory_has_the_number_of_its_capture(database: Database, project: Project) -> None:
    numbers = [await waits(database, project, f"statement {place}") for place in range(3)]
    async with database.write() as tx:
        made = await memories.insert(tx, make_memory("made of no capture", project_id=project.id))
    assert made.id not in numbers
    later = await waits(database, project, "a later one")
    assert later != made.id
    for number in (numbers[1], later, numbers[0]):
        assert await approved(database, number) == number


async def test_a_decision_that_is_undone_and_made_again_gives_the_same_memory(
    database: Database, project: Project
) -> None:
    number = await waits(database, project, "a")
    assert await approved(database, number) == number
    async with database.write() as tx:
        undone = await rules.undo(tx, number, 7)
        assert undone.archived is not None
    edited = await approved(database, number, summary="other words", content_hash="f" * 32)
    assert edited == number
    memory = await memories.get(database, number)
    assert (memory.summary, memory.archived_at, memory.embedding_status) == ("other words", None, "pending")


@given(st.lists(st.sampled_from(["capture", "discarded", "memory", "approve"]), max_size=25))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_number_means_two_things(database: Database, project: Project, deeds: list[str]) -> None:
    waiting: list[int] = []
    for deed in deeds:
        async with database.write() as tx:
            rows = await tx.execute_fetchall("SELECT count(*) FROM events")
        quote = f"statement {next(iter(rows))[0]} {len(waiting)} {time()}"
        if deed == "memory":
            async with database.write() as tx:
                await memories.insert(tx, make_memory(quote, project_id=project.id))
        elif deed == "approve" and waiting:
            number = waiting.pop()
            assert await approved(database, number) == number
        else:
            waiting.append(await waits(database, project, quote))
    both = await database.rows(
        "SELECT count(*) FROM memories AS m JOIN implicit_captures AS c ON c.id = m.id WHERE c.memory_id IS NOT m.id"
    )
    assert both[0][0] == 0


async def test_the_most_useful_come_first_and_three_at_most(database: Database, project: Project) -> None:
    tool = await waits(database, project, "t", origin=Origin.TOOL, raw_confidence=0.89)
    weak = await waits(database, project, "w", origin=Origin.ASSISTANT, raw_confidence=0.75)
    sure = await waits(database, project, "s", origin=Origin.ASSISTANT, raw_confidence=0.85)
    own = await waits(database, project, "o", origin=Origin.USER, raw_confidence=0.7)
    assert await offered(database, project) == [own, sure, weak]
    assert await offered(database, project, limit=10) == [own, sure, weak, tool]


async def test_the_users_words_come_first_and_then_what_sessions_may_be_given(
    database: Database, project: Project
) -> None:
    vague = await waits(database, project, "v", origin=Origin.USER, raw_confidence=0.6)
    own = await waits(database, project, "o", origin=Origin.USER, raw_confidence=0.89)
    other = await waits(database, project, "t", origin=Origin.ASSISTANT, raw_confidence=0.85)
    found = await waits(database, project, "f", origin=Origin.ASSISTANT, raw_confidence=0.75)
    async with database.write() as tx:
        for number, text in ((vague, "v"), (found, "f")):
            await unconfirmed.insert(tx, number, make_memory(text, project_id=project.id))
    assert await offered(database, project, limit=4) == [own, vague, found, other]


async def test_what_was_shown_and_left_steps_behind_a_day_later(database: Database, project: Project) -> None:
    numbers = [await waits(database, project, f"s{place}", origin=Origin.USER) for place in range(5)]
    now = time()
    async with database.write() as tx:
        await review_queue.record_shown(tx, numbers[:3], now, 7)
    assert await offered(database, project, now + 60) == numbers[:3]
    assert await offered(database, project, now + 2 * DAY) == [*numbers[3:], numbers[0]]


async def test_own_words_never_expire_unseen(database: Database, project: Project) -> None:
    own = await waits(database, project, "o", origin=Origin.USER)
    tool = await waits(database, project, "t", origin=Origin.TOOL)
    late = time() + 3650 * DAY
    assert (await decisions.overdue(database, late))[0] == 1
    async with database.write() as tx:
        assert await decisions.expire(tx, late) == 1
    assert [(await captures.get(database, number))["status"] for number in (own, tool)] == ["review", "expired"]
    async with database.write() as tx:
        await review_queue.record_shown(tx, [own], late, 7)
        assert await decisions.expire(tx, late + 6 * DAY) == 0
        assert await decisions.expire(tx, late + 8 * DAY) == 1


@pytest.mark.parametrize("again", [60.0, 30 * DAY])
async def test_showing_again_does_not_extend_the_wait(database: Database, project: Project, again: float) -> None:
    number = await waits(database, project, "o", origin=Origin.USER)
    now = time()
    async with database.write() as tx:
        await review_queue.record_shown(tx, [number], now, 7)
        await review_queue.record_shown(tx, [number], now + again, 7)
    capture = await captures.get(database, number)
    assert capture["shown_at"] == now
    assert capture["expires_at"] == pytest.approx(now + 7 * DAY, abs=60)
