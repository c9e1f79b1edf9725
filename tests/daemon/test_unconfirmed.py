"""What the assistant found is kept unconfirmed: given rarely and marked, until sessions confirm or retire it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import numpy
import pytest

from daemon import acts, feedback, purging, reviewing, unconfirmed
from daemon.core import Core
from daemon.embedding import Embedding
from subconscious.flow import confirming
from subconscious.flow.giving import Start, surface_start
from subconscious.flow.merging import repeated
from subconscious.flow.recalling import recall
from subconscious.flow.remembering import Provenance, keep
from subconscious.flow.unasked import Occasion, Prompt, surface_file, surface_prompt
from subconscious.home import Home
from subconscious.model import Admission, Candidate, Decision, Evidence, Level, Memory, Origin, Verdict
from subconscious.settings import Settings
from subconscious.store import captures, memories, purge, sessions, surface_outcomes, vectors
from subconscious.store import unconfirmed as store
from subconscious.store.capture_rows import Place
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.store.vectors import NumpyIndex, Row
from subconscious.surfacing.files import Touched
from tests.support.poisoning import of
from tests.support.values import NOON

MODEL = "m"
FOUND = "The `UploadWorker` retries a failed chunk because `send_chunk` reports a closed socket as a timeout."
AGAIN = FOUND.replace("because", "since")
CONTRARY = "The `UploadWorker` never retries a failed chunk, `send_chunk` reports a closed socket as a timeout."
OTHERS = (
    "`parse_amount` in money.py returns None for an empty string, so a total silently loses that row.",
    "The columns of `export.py` come from a set, which is why the order differs between two runs.",
    "`TokenUsage` is computed in the stop handler from the transcript, and not with the checkpoint.",
    "`load_index` reads the whole file into memory, which is why large projects start slowly.",
    "`render_page` caches by the name of the template alone, so two languages share one page.",
)
ASKED = "why does the UploadWorker retry a failed chunk after a timeout of send_chunk"


async def at_hand(text: str) -> numpy.ndarray:
    del text
    return numpy.array([1.0, 0.0], numpy.float32)


@pytest.fixture
async def core(home: Home, database: Database) -> AsyncIterator[Core]:
    made = Core(home, Settings(embedder="none"), database, Embedding("none", database))
    made.embedding.sense.model, made.embedding.sense.index = MODEL, NumpyIndex(database, MODEL)
    made.embedding.sense.at_hand = at_hand  # type: ignore[method-assign]
    made.embedding.sense.prompted = at_hand  # type: ignore[method-assign]
    try:
        yield made
    finally:
        await made.embedding.close()


def a_finding(text: str, session: str, origin: Origin = Origin.TOOL) -> Candidate:
    candidate = replace(of(text, origin), time=NOON + 9, raw_confidence=0.8, files=("worker.py",))
    return replace(candidate, evidence=Evidence(text, f"{session}-{text}", "", 0, 0))


async def said(
    core: Core,
    project: Project,
    *texts: str,
    session: str = "s1",
    confidence: Sequence[float] = (),
    reservation: str | None = "",
    origin: Origin = Origin.TOOL,
    decision: Decision = Decision.REVIEW,
    over: bool = True,
) -> list[int]:
    """A session finds something, and is over; the captures."""
    sure = confidence or [0.8] * len(texts)
    judged = [
        (a_finding(text, session, origin), Admission(decision, one, "found", Verdict(Level.NONE), reservation))
        for text, one in zip(texts, sure, strict=True)
    ]
    mind = core.mind()
    found = await repeated(mind, judged, project.id)
    contrary = await confirming.contradicted(core.database, [one for one, _ in judged], project.id)
    async with core.database.write() as tx:
        await sessions.note(tx, session, project.id, 1.0, transcript="", cwd="")
        made = await keep(mind, tx, judged, Provenance(Place(project.id, session)), found)
        if decision is Decision.AUTO:
            await confirming.retire(tx, contrary, confirming.CONTRADICTED)
        if over:
            await sessions.end(tx, session, 2.0, "ended", "other")
    if over:
        await unconfirmed.settle(core, mind, session)
        await embedded(core)
    return [number for number, _ in made]


async def embedded(core: Core) -> None:
    async with core.database.write() as tx:
        for memory in await known(core, unconfirmed=True):
            await vectors.save(tx, MODEL, [Row(memory.id, memory.project_id or "", await at_hand(""))])


async def known(core: Core, **which: Any) -> list[Memory]:
    return await memories.latest(core.database, Filter(**which), 100)


async def the_one(core: Core) -> Memory:
    (memory,) = await known(core, unconfirmed=True)
    return memory


async def prompted(core: Core, project: Project, session: str, text: str = ASKED) -> str:
    async with core.database.write() as tx:
        await sessions.note(tx, session, project.id, 1.0, transcript="", cwd="")
    return (await surface_prompt(core.mind(), Prompt(session, project.id, text))).text


async def ended(core: Core, session: str, *, used: bool | None) -> None:
    """A session ends that was given something, and its answers used it or not."""
    async with core.database.write() as tx:
        for one in await surface_outcomes.unjudged(core.database, session):
            if used is not None:
                await surface_outcomes.judge(tx, one, session, used, "", "act")
    await unconfirmed.conclude(core, core.mind(), session)


async def test_what_is_too_weak_for_a_person_never_waits(core: Core, project: Project) -> None:
    await said(core, project, FOUND, *OTHERS[:4], confidence=[0.42, 0.6, 0.5, 0.55, 0.45])
    kept = {one.content for one in await known(core, unconfirmed=True)}
    assert kept == set(OTHERS[:3])
    assert [one for one in await captures.listing(core.database, status="review") if one["memory_id"] is None] == []


async def test_what_is_too_weak_for_a_person_is_given_once_another_session_has_found_it(
    core: Core, project: Project
) -> None:
    await said(core, project, FOUND, confidence=[0.5])
    assert await prompted(core, project, "s2") == ""
    await said(core, project, AGAIN, session="s3", confidence=[0.5])
    (memory,) = await known(core)
    assert (memory.content, memory.unconfirmed) == (FOUND, False)


@pytest.mark.parametrize(("confidence", "status"), [(0.5, "discarded"), (0.8, "review")])
async def test_what_contradicts_a_memory_waits_only_if_it_is_worth_a_look(
    core: Core, project: Project, confidence: float, status: str
) -> None:
    await said(core, project, CONTRARY, decision=Decision.AUTO, origin=Origin.USER)
    (number,) = await said(core, project, FOUND, session="s2", confidence=[confidence])
    assert await known(core, unconfirmed=True) == []
    assert (await captures.get(core.database, number))["status"] == status


async def test_nothing_takes_it_for_a_memory_in_force(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    memory = await the_one(core)
    assert memory.unconfirmed
    assert (await known(core), await known(core, archived=True)) == ([], [])
    assert await recall(core.mind(), ASKED, project.id, 10) == []
    start = Start("s2", project.id, "start/startup", hints=ASKED)
    assert (await surface_start(core.mind(), start)).text == ""
    counted = await memories.counts(core.database, project.id)
    assert (counted["active"], counted["archived"], counted["unconfirmed"]) == (0, 0, 1)


async def test_a_session_brings_three_and_leaves_two_to_a_person(core: Core, project: Project) -> None:
    sure = (0.71, 0.82, 0.83, 0.84, 0.72)
    await said(core, project, *OTHERS, confidence=sure, over=False)
    rest = ("The flag of `a.py` is one.", "The list of `b.py` is two.", "The name of `c.py` is three.")
    await said(core, project, *rest, confidence=(0.8, 0.7, 0.75), reservation="it advises", over=True)
    assert {memory.content for memory in await known(core, unconfirmed=True)} == set(OTHERS[1:4])
    waiting = await captures.listing(core.database, status="review")
    assert [one["status"] for one in waiting] == ["unconfirmed"] * 3 + ["review"] * 2
    assert {one["content"] for one in waiting[3:]} == {rest[0], rest[2]}
    gone = await captures.listing(core.database, status="discarded")
    assert {one["reason"].partition(":")[0] for one in gone} == {"more than 2 of its session would wait for a person"}
    assert await captures.waiting(core.database) == 2


async def test_the_persons_own_words_are_not_displaced(core: Core, project: Project) -> None:
    await said(core, project, *OTHERS, reservation="theirs", origin=Origin.USER)
    assert await captures.waiting(core.database) == len(OTHERS)


async def test_of_the_persons_own_words_too_three_are_given_and_the_rest_waits(core: Core, project: Project) -> None:
    await said(core, project, *OTHERS, confidence=(0.71, 0.82, 0.83, 0.84, 0.72), origin=Origin.USER)
    assert {memory.content for memory in await known(core, unconfirmed=True)} == set(OTHERS[1:4])
    assert await captures.waiting(core.database) == len(OTHERS) - 3


async def test_switched_off_it_only_waits(core: Core, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    core.settings = core.settings.model_copy(update={"unconfirmed": False})
    await said(core, project, *OTHERS)
    await unconfirmed.settle_all(core)
    assert await known(core, unconfirmed=True) == []
    assert await captures.waiting(core.database) == 2


async def test_what_exists_is_not_given_while_it_is_switched_off(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    core.settings = core.settings.model_copy(update={"unconfirmed": False})
    assert await prompted(core, project, "s2") == ""


@pytest.mark.parametrize("reservation", [None, "it advises"])
async def test_a_doubt_keeps_it_waiting(core: Core, project: Project, reservation: str | None) -> None:
    await said(core, project, FOUND, reservation=reservation)
    assert await known(core, unconfirmed=True) == []


async def test_what_contradicts_a_memory_is_not_given(core: Core, project: Project) -> None:
    await said(core, project, CONTRARY, session="s0", origin=Origin.USER, decision=Decision.AUTO)
    await said(core, project, FOUND)
    assert await known(core, unconfirmed=True) == []
    (capture,) = await captures.listing(core.database, status="review")
    assert capture["reservation"].startswith("it contradicts memory")


async def test_a_prompt_that_is_about_it_is_given_it_marked(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    memory = await the_one(core)
    text = await prompted(core, project, "s2")
    assert f"[{memory.id}] learning" in text
    assert ", unconfirmed, low trust: " in text
    assert await prompted(core, project, "s2") == ""
    assert await prompted(core, project, "s3", "make the heading of the page blue") == ""


async def test_a_file_that_it_is_bound_to_brings_it(core: Core, project: Project) -> None:
    await said(core, project, f"src/net/worker.py: {FOUND}")
    occasion = Occasion("s2", project.id, "file")
    assert (
        ", unconfirmed, low trust: " in (await surface_file(core.mind(), occasion, Touched("src/net/worker.py"))).text
    )
    assert (await surface_file(core.mind(), replace(occasion, session_id="s3"), Touched("src/b.py"))).text == ""


async def test_a_session_is_given_two_at_most(core: Core, project: Project) -> None:
    for number in range(4):
        text = f"src/net/part{number}.py: the loader number{number} reads its shard from the map before it starts."
        await said(core, project, text, session=f"s{number}")
    given = [
        (await surface_file(core.mind(), Occasion("s9", project.id, "file"), Touched(f"src/net/part{one}.py"))).text
        for one in range(4)
    ]
    assert [bool(text) for text in given] == [True, True, False, False]


async def test_another_session_that_finds_it_confirms_it(core: Core, project: Project) -> None:
    (first,) = await said(core, project, FOUND)
    memory = await the_one(core)
    await said(core, project, AGAIN, session="s2")
    (now,) = await known(core)
    assert (now.id, now.unconfirmed, now.recurrence) == (memory.id, False, 2)
    assert (await captures.get(core.database, first))["status"] == "captured"
    await core.embedding.refresh([now.id])
    assert [hit.memory.id for hit in await recall(core.mind(), ASKED, project.id, 10)] == [now.id]


@pytest.mark.parametrize("what", ["the same session", "one that was given it", "one whose finding is in doubt"])
async def test_an_echo_confirms_nothing(core: Core, project: Project, what: str) -> None:
    await said(core, project, FOUND)
    session = "s1" if what == "the same session" else "s2"
    if what == "one that was given it":
        assert await prompted(core, project, session)
    doubt = "it advises" if what == "one whose finding is in doubt" else ""
    await said(core, project, AGAIN, session=session, reservation=doubt)
    assert (await known(core), (await the_one(core)).recurrence) == ([], 1)


async def test_use_confirms_it_when_the_session_is_over(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    memory = await the_one(core)
    await prompted(core, project, "s2")
    await ended(core, "s2", used=True)
    assert [one.id for one in await known(core)] == [memory.id]


async def test_use_alone_brings_it_to_no_start(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    await prompted(core, project, "s2")
    await ended(core, "s2", used=True)
    start = Start("s3", project.id, "start/startup", hints=ASKED)
    assert (await surface_start(core.mind(), start)).text == ""


async def test_what_two_sessions_found_may_begin_a_third(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    await said(core, project, AGAIN, session="s2")
    start = Start("s3", project.id, "start/startup", hints=ASKED)
    assert "closed socket" in (await surface_start(core.mind(), start)).text


async def test_two_of_one_session_that_say_much_of_the_same_are_one(core: Core, project: Project) -> None:
    await said(core, project, FOUND, f"{FOUND} The `Spool` keeps what is left of it.", confidence=(0.8, 0.75))
    assert (await the_one(core)).content == FOUND


async def test_three_misses_retire_it(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    for number in range(3):
        assert await prompted(core, project, f"g{number}")
        await ended(core, f"g{number}", used=False)
    assert (await known(core), await known(core, unconfirmed=True)) == ([], [])
    found = await captures.get(core.database, capture)
    assert (found["status"], found["reason"]) == ("discarded", "given to 3 sessions in vain: found")
    assert await prompted(core, project, "g9") == ""


async def test_a_session_that_was_not_judged_says_nothing(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    await prompted(core, project, "s2")
    await ended(core, "s2", used=None)
    assert (await the_one(core)).unconfirmed


@pytest.mark.parametrize("origin", [Origin.USER, Origin.ASSISTANT])
async def test_a_statement_that_contradicts_it_retires_it(core: Core, project: Project, origin: Origin) -> None:
    (capture,) = await said(core, project, FOUND)
    await said(core, project, CONTRARY, session="s2", origin=origin, decision=Decision.AUTO)
    assert await known(core, unconfirmed=True) == []
    assert (await captures.get(core.database, capture))["reason"].startswith(confirming.CONTRADICTED)


async def test_a_person_approves_it_and_takes_that_back(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    memory = await the_one(core)
    await reviewing.carry_out(core, reviewing.Wish("approve", (capture,)))
    (now,) = await known(core)
    assert (now.id, now.verified, now.confidence, now.unconfirmed) == (memory.id, True, 1.0, False)
    await reviewing.carry_out(core, reviewing.Wish("undo", (capture,)))
    assert (await known(core), (await the_one(core)).id) == ([], memory.id)


async def test_a_person_rewords_it(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    await reviewing.carry_out(core, reviewing.Wish("edit", (capture,), wording="A closed socket counts as a timeout."))
    assert [one.content for one in await known(core)] == ["A closed socket counts as a timeout."]
    assert await known(core, unconfirmed=True) == []


async def test_a_person_rejects_it_and_takes_that_back(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    await reviewing.carry_out(core, reviewing.Wish("reject", (capture,)))
    assert await known(core, unconfirmed=True) == []
    assert await prompted(core, project, "s2") == ""
    await reviewing.carry_out(core, reviewing.Wish("undo", (capture,)))
    assert (await the_one(core)).content == FOUND


async def test_forgetting_ends_it_and_unarchiving_approves_it(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    memory = await the_one(core)
    await acts.set_archived(core, [memory.id], True, "user", "wrong")
    assert (await known(core, unconfirmed=True), await known(core)) == ([], [])
    (capture,) = await said(core, project, OTHERS[0], session="s2")
    other = await the_one(core)
    await acts.set_archived(core, [other.id], False, "user", "right")
    assert [one.id for one in await known(core)] == [other.id]
    assert (await captures.get(core.database, capture))["status"] == "approved"


async def test_a_rollback_takes_it_along_and_brings_it_back(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    memory = await the_one(core)
    await reviewing.rollback(core, "s1", "", back=False, preview=False)
    assert await known(core, unconfirmed=True) == []
    await reviewing.rollback(core, "s1", "", back=True, preview=False)
    assert (await the_one(core)).id == memory.id


async def test_a_purge_leaves_nothing_of_it(core: Core, project: Project) -> None:
    (capture,) = await said(core, project, FOUND)
    memory = await the_one(core)
    await prompted(core, project, "s2")
    doomed = await purging.choose(core, purging.Choice(ids=(memory.id,)))
    assert list(doomed.captures) == [capture]
    async with core.database.write() as tx:
        await purge.purge(tx, core.database, doomed, "one")
    for table in ("memories", "archived_fts", "implicit_captures", "surfaces", "embeddings"):
        rows = await core.database.rows(f"SELECT count(*) FROM {table}")
        assert (table, rows[0][0]) == (table, 0)


async def test_what_had_waited_is_judged_once_and_that_is_told(core: Core, project: Project) -> None:
    await said(core, project, *OTHERS[:2], reservation=None)
    await unconfirmed.settle_all(core)
    waiting = await captures.listing(core.database, status="review")
    assert {one["reservation"] for one in waiting} == {"its transcript can't be read any more"}
    assert await store.told_since(core.database, project.id, 0.0) == {"unconfirmed": 0, "waiting": 2, "discarded": 0}
    await unconfirmed.settle_all(core)
    assert (await store.told_since(core.database, project.id, 0.0))["waiting"] == 2


async def test_a_session_that_ended_unsettled_is_settled_by_upkeep(core: Core, project: Project) -> None:
    await said(core, project, FOUND, over=False)
    async with core.database.write() as tx:
        await sessions.end(tx, "s1", 2.0, "interrupted", "silence")
    await unconfirmed.settle_all(core)
    assert (await the_one(core)).content == FOUND


async def test_only_what_was_given_is_concluded(core: Core, project: Project) -> None:
    await said(core, project, FOUND)
    assert await feedback.conclude(core.mind(), "s2") == []
