from __future__ import annotations

import json
from typing import Any

import pytest

from subconscious.capture.unconfirmed import OWN_WORDS
from subconscious.domain.model import Origin
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories, surfaces
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory


async def given(ctx: RecallContext, project: Project, session: str = "s", **start: Any) -> list[int]:
    context = await surface_start(ctx, Start(session, project.id, "start/startup", **start))
    return [hit.memory.id for hit in context.hits]


async def test_pinned_first_then_lessons_then_what_fits(database: Database, project: Project) -> None:
    plain = await store(database, project, "The invoices use the tax table.")
    fits = await store(database, project, "The upload worker retries twice.")
    lesson = await store(database, project, "Never commit generated files.", kind="lesson", said_at=NOON - 9e6)
    pinned = await store(database, project, "Speak British English.", pinned=True, said_at=NOON - 9e7)
    found = await given(make_mind(database), project, hints="upload worker")
    assert found == [pinned, lesson, fits, plain]


async def test_lessons_leave_room_for_what_fits(database: Database, project: Project) -> None:
    lessons = [await store(database, project, f"Never skip step {number}.", kind="lesson") for number in range(9)]
    fits = await store(database, project, "The upload worker retries twice.")
    found = await given(make_mind(database, start_memories=4), project, hints="upload worker")
    assert found[:2] == lessons[:-3:-1]
    assert fits in found


async def test_what_stands_in_the_context_is_not_given_again(database: Database, project: Project) -> None:
    memory = await store(database, project, "Amounts are integer cents.")
    ctx = make_mind(database)
    assert await given(ctx, project) == [memory]
    assert await given(ctx, project) == []
    assert await given(ctx, project, "another") == [memory]
    async with database.write() as tx:
        await surfaces.reset(tx, "s")
    assert await given(ctx, project) == [memory]


async def test_a_late_start_leaves_out_what_the_session_itself_brought(database: Database, project: Project) -> None:
    await store(database, project, "Own words.", session_id="s")
    other = await store(database, project, "Earlier words.", session_id="before")
    assert await given(make_mind(database), project, late=True) == [other]


async def test_to_be_given_is_no_use_and_its_reason_is_kept(database: Database, project: Project) -> None:
    memory = await store(database, project, "The upload worker retries twice.")
    await given(make_mind(database), project, hints="upload")
    kept = await memories.get(database, memory)
    assert (kept.uses, kept.last_used_at) == (0, None)
    (surface,) = await surfaces.listing(database, memory_id=memory)
    assert surface.reason == "a decision that fits the branch and the latest prompts: shares upload"


async def test_recall_keeps_to_its_project(database: Database, project: Project) -> None:
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('pother', 'other', '/o', '', '', 0)")
    here = await store(database, project, "The upload worker retries twice.")
    async with database.write() as tx:
        await memories.insert(tx, make_memory("The upload worker is gone.", project_id="pother"))
    ctx = make_mind(database)
    assert [hit.memory.id for hit in await recall(ctx, "upload worker", project.id, 10)] == [here]
    assert len(await recall(ctx, "upload worker", None, 10)) == 2


async def test_silence_when_there_is_nothing(database: Database, project: Project) -> None:
    context = await surface_start(make_mind(database), Start("s", project.id, "start/startup"))
    assert (context.text, context.hits) == ("", ())


UPLOADS = "The UploadWorker retries a failed chunk upload twice, then parks it."
ASKED = "why does the UploadWorker retry a failed chunk upload"


async def fitting(ctx: RecallContext, project: Project, text: str = ASKED, session: str = "now") -> list[int]:
    context = await surface_prompt(ctx, Prompt(session, project.id, text))
    return [hit.memory.id for hit in context.hits]


async def test_a_prompt_is_given_what_it_is_about_once(database: Database, project: Project) -> None:
    memory = await store(database, project, UPLOADS)
    await store(database, project, "Invoices use the tax table of the year.")
    ctx = make_mind(database)
    assert await fitting(ctx, project) == [memory]
    assert await fitting(ctx, project) == []
    assert await fitting(ctx, project, session="another") == [memory]
    (surface, _) = await surfaces.listing(database, memory_id=memory)
    assert surface.event == "prompt"
    assert surface.reason.startswith("fits the prompt: shares ")


@pytest.mark.parametrize("text", ["thanks, go on", "fix it", "", "the of and", "commit and push please"])
async def test_a_prompt_about_nothing_is_given_nothing(database: Database, project: Project, text: str) -> None:
    await store(database, project, UPLOADS)
    assert await fitting(make_mind(database), project, text) == []


async def test_a_session_is_not_told_its_own_words(database: Database, project: Project) -> None:
    await store(database, project, UPLOADS, session_id="now")
    assert await fitting(make_mind(database), project) == []


async def test_kinds_can_be_left_out(database: Database, project: Project) -> None:
    await store(database, project, UPLOADS, kind="progress")
    assert await fitting(make_mind(database, surface_kinds_off=("progress",)), project) == []


async def test_a_session_is_given_so_many_unasked_and_no_more(database: Database, project: Project) -> None:
    for number in range(6):
        await store(database, project, f"{UPLOADS} Case {number}.")
    ctx = make_mind(database, session_surfaces=4, prompt_memories=3)
    assert [len(await fitting(ctx, project)) for _ in range(3)] == [3, 1, 0]


PARTLY = "let the UploadWorker log the size of each chunk it sends"
"""A prompt to which a memory about uploads is less relevant than findings must be."""


async def test_what_the_user_stated_is_given_from_a_third_of_the_relevance(
    database: Database, project: Project
) -> None:
    stated = await store(database, project, UPLOADS, origin=Origin.USER)
    await store(database, project, "Each failed chunk is parked by the UploadWorker.", origin=Origin.ASSISTANT)
    ctx = make_mind(database)
    (hit,) = [hit for hit in await recall(ctx, PARTLY, project.id, 10) if hit.memory.id == stated]
    least = ctx.settings.surface_relevance
    assert OWN_WORDS * least <= hit.relevance < least
    assert await fitting(ctx, project, PARTLY) == [stated]
    (given,) = await surfaces.listing(database, session_id="now")
    assert json.loads(given.limits)["relevance"] == "at least 0.2 (0.6 for other memories)"


async def test_a_statement_in_the_context_hides_no_other_one(database: Database, project: Project) -> None:
    first = await store(database, project, UPLOADS, origin=Origin.USER)
    split = "A failed chunk of an upload is split by the UploadWorker."
    other = await store(database, project, split, origin=Origin.USER)
    ctx = make_mind(database)
    prompts = [await fitting(ctx, project, PARTLY) for _ in range(2)]
    assert sorted(number for found in prompts for number in found) == [first, other]
    assert all(len(found) == 1 for found in prompts)


async def test_after_a_compaction_a_memory_still_rests_for_a_while(database: Database, project: Project) -> None:
    memory = await store(database, project, UPLOADS)
    assert await fitting(make_mind(database), project) == [memory]
    async with database.write() as tx:
        await surfaces.reset(tx, "now")
    assert await fitting(make_mind(database), project) == []
    assert await fitting(make_mind(database, surface_cooldown_minutes=0), project) == [memory]


async def test_neighbours_are_of_the_same_project_or_the_users(database: Database, project: Project) -> None:
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('pother', 'other', '/o', '', '', 0)")
    here = await store(database, project, "The upload worker retries twice.", session_id="one")
    beside = await store(database, project, "Then it parks the chunk.", session_id="one")
    async with database.write() as tx:
        await memories.insert(tx, make_memory("Elsewhere.", project_id="pother", session_id="one"))
    found = [hit.memory.id for hit in await recall(make_mind(database), "upload worker", project.id, 10)]
    assert found == [here, beside]
