"""What the assistant found is kept unconfirmed: given rarely and marked, until sessions confirm or retire it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import numpy
import pytest

from subconscious.app import App
from subconscious.capture import feedback, unconfirmed_upkeep
from subconscious.capture.admission import Provenance, keep
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Level, Memory, Origin, Verdict
from subconscious.embeddings.background import Embedding
from subconscious.memories import memory_commands
from subconscious.privacy import purge as purging
from subconscious.recall.file_binding import Touched
from subconscious.recall.pipeline import recall
from subconscious.review import decisions
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import captures, memories, purge, sessions, surfaces, vectors
from subconscious.store import unconfirmed as store
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.store.vectors import NumpyIndex, Row
from subconscious.supersession import confirmation
from subconscious.supersession.merging import repeated
from subconscious.surfacing.proactive import Prompt, SurfacingEvent, surface_file, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
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
async def app(home: Home, database: Database) -> AsyncIterator[App]:
    made = App(home, Settings(embedder="none"), database, Embedding("none", database))
    made.embedding.current.model, made.embedding.current.index = MODEL, NumpyIndex(database, MODEL)
    made.embedding.current.local_vector = at_hand  # type: ignore[method-assign]
    made.embedding.current.prompt_vector = at_hand  # type: ignore[method-assign]
    try:
        yield made
    finally:
        await made.embedding.close()


def a_finding(text: str, session: str, origin: Origin = Origin.TOOL) -> Candidate:
    candidate = replace(of(text, origin), time=NOON + 9, raw_confidence=0.8, files=("worker.py",))
    return replace(candidate, evidence=Evidence(text, f"{session}-{text}", "", 0, 0))


async def said(
    app: App,
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
    ctx = app.recall_context()
    found = await repeated(ctx, judged, project.id)
    contrary = await confirmation.contradicted(app.database, [one for one, _ in judged], project.id)
    async with app.database.write() as tx:
        await sessions.record_activity(tx, session, project.id, 1.0, transcript="", cwd="")
        made = await keep(ctx, tx, judged, Provenance(SessionRef(project.id, session)), found)
        if decision is Decision.AUTO:
            await confirmation.retire(tx, contrary, confirmation.CONTRADICTED)
        if over:
            await sessions.end(tx, session, 2.0, "ended", "other")
    if over:
        await unconfirmed_upkeep.settle(app, ctx, session)
        await embedded(app)
    return [number for number, _ in made]


async def embedded(app: App) -> None:
    async with app.database.write() as tx:
        for memory in await known(app, unconfirmed=True):
            await vectors.save(tx, MODEL, [Row(memory.id, memory.project_id or "", await at_hand(""))])


async def known(app: App, **which: Any) -> list[Memory]:
    return await memories.latest(app.database, Filter(**which), 100)


async def the_one(app: App) -> Memory:
    (memory,) = await known(app, unconfirmed=True)
    return memory


async def prompted(app: App, project: Project, session: str, text: str = ASKED) -> str:
    async with app.database.write() as tx:
        await sessions.record_activity(tx, session, project.id, 1.0, transcript="", cwd="")
    return (await surface_prompt(app.recall_context(), Prompt(session, project.id, text))).text


async def ended(app: App, session: str, *, used: bool | None) -> None:
    """A session ends that was given something, and its answers used it or not."""
    async with app.database.write() as tx:
        for one in await surfaces.unjudged(app.database, session):
            if used is not None:
                await surfaces.judge(tx, one, session, used, "", "act")
    await unconfirmed_upkeep.conclude(app, app.recall_context(), session)


async def test_what_is_too_weak_for_a_person_never_waits(app: App, project: Project) -> None:
    await said(app, project, FOUND, *OTHERS[:4], confidence=[0.42, 0.6, 0.5, 0.55, 0.45])
    kept = {one.content for one in await known(app, unconfirmed=True)}
    assert kept == set(OTHERS[:3])
    assert [one for one in await captures.listing(app.database, status="review") if one["memory_id"] is None] == []


async def test_what_is_too_weak_for_a_person_is_given_once_another_session_has_found_it(
    app: App, project: Project
) -> None:
    await said(app, project, FOUND, confidence=[0.5])
    assert await prompted(app, project, "s2") == ""
    await said(app, project, AGAIN, session="s3", confidence=[0.5])
    (memory,) = await known(app)
    assert (memory.content, memory.unconfirmed) == (FOUND, False)


@pytest.mark.parametrize(("confidence", "status"), [(0.5, "discarded"), (0.8, "review")])
async def test_what_contradicts_a_memory_waits_only_if_it_is_worth_a_look(
    app: App, project: Project, confidence: float, status: str
) -> None:
    await said(app, project, CONTRARY, decision=Decision.AUTO, origin=Origin.USER)
    (number,) = await said(app, project, FOUND, session="s2", confidence=[confidence])
    assert await known(app, unconfirmed=True) == []
    assert (await captures.get(app.database, number))["status"] == status


async def test_nothing_takes_it_for_a_memory_in_force(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    memory = await the_one(app)
    assert memory.unconfirmed
    assert (await known(app), await known(app, archived=True)) == ([], [])
    assert await recall(app.recall_context(), ASKED, project.id, 10) == []
    start = Start("s2", project.id, "start/startup", hints=ASKED)
    assert (await surface_start(app.recall_context(), start)).text == ""
    counted = await memories.counts(app.database, project.id)
    assert (counted["active"], counted["archived"], counted["unconfirmed"]) == (0, 0, 1)


async def test_a_session_brings_three_and_leaves_two_to_a_person(app: App, project: Project) -> None:
    sure = (0.71, 0.82, 0.83, 0.84, 0.72)
    await said(app, project, *OTHERS, confidence=sure, over=False)
    rest = ("The flag of `a.py` is one.", "The list of `b.py` is two.", "The name of `c.py` is three.")
    await said(app, project, *rest, confidence=(0.8, 0.7, 0.75), reservation="it advises", over=True)
    assert {memory.content for memory in await known(app, unconfirmed=True)} == set(OTHERS[1:4])
    waiting = await captures.listing(app.database, status="review")
    assert [one["status"] for one in waiting] == ["unconfirmed"] * 3 + ["review"] * 2
    assert {one["content"] for one in waiting[3:]} == {rest[0], rest[2]}
    gone = await captures.listing(app.database, status="discarded")
    assert {one["reason"].partition(":")[0] for one in gone} == {
        "more than 2 captures of its session would wait for a person"
    }
    assert await captures.waiting(app.database) == 2


async def test_the_persons_own_words_are_not_displaced(app: App, project: Project) -> None:
    await said(app, project, *OTHERS, reservation="theirs", origin=Origin.USER)
    assert await captures.waiting(app.database) == len(OTHERS)


async def test_of_the_persons_own_words_too_three_are_given_and_the_rest_waits(app: App, project: Project) -> None:
    await said(app, project, *OTHERS, confidence=(0.71, 0.82, 0.83, 0.84, 0.72), origin=Origin.USER)
    assert {memory.content for memory in await known(app, unconfirmed=True)} == set(OTHERS[1:4])
    assert await captures.waiting(app.database) == len(OTHERS) - 3


async def test_probable_statements_of_the_person_take_no_place_from_findings(app: App, project: Project) -> None:
    await said(app, project, FOUND, OTHERS[4], confidence=(0.9, 0.88), origin=Origin.USER, over=False)
    await said(app, project, *OTHERS[:4], confidence=(0.71, 0.72, 0.73, 0.74))
    assert {memory.content for memory in await known(app, unconfirmed=True)} == {FOUND, *OTHERS[1:]}


async def test_switched_off_it_only_waits(app: App, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    app.settings = app.settings.model_copy(update={"unconfirmed": False})
    await said(app, project, *OTHERS)
    await unconfirmed_upkeep.settle_all(app)
    assert await known(app, unconfirmed=True) == []
    assert await captures.waiting(app.database) == 2


async def test_what_exists_is_not_given_while_it_is_switched_off(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    app.settings = app.settings.model_copy(update={"unconfirmed": False})
    assert await prompted(app, project, "s2") == ""


@pytest.mark.parametrize("reservation", [None, "it advises"])
async def test_a_doubt_keeps_it_waiting(app: App, project: Project, reservation: str | None) -> None:
    await said(app, project, FOUND, reservation=reservation)
    assert await known(app, unconfirmed=True) == []


async def test_what_contradicts_a_memory_is_not_given(app: App, project: Project) -> None:
    await said(app, project, CONTRARY, session="s0", origin=Origin.USER, decision=Decision.AUTO)
    await said(app, project, FOUND)
    assert await known(app, unconfirmed=True) == []
    (capture,) = await captures.listing(app.database, status="review")
    assert (capture["reservation"] or "").startswith("it contradicts memory")


async def test_a_prompt_that_is_about_it_is_given_it_marked(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    memory = await the_one(app)
    text = await prompted(app, project, "s2")
    assert f"[{memory.id}] learning" in text
    assert ", unconfirmed, low trust: " in text
    assert await prompted(app, project, "s2") == ""
    assert await prompted(app, project, "s3", "make the heading of the page blue") == ""


@pytest.mark.parametrize(("origin", "is_given"), [(Origin.USER, True), (Origin.TOOL, False)])
async def test_what_the_user_said_needs_less_relevance_than_a_finding(
    app: App, project: Project, origin: Origin, is_given: bool
) -> None:
    stated = "Every exporter of the billing service has to keep the order of its columns."
    await said(app, project, stated, origin=origin)
    assert (
        stated in await prompted(app, project, "s2", "why does the exporter drop columns of an empty file")
    ) is is_given
    assert await prompted(app, project, "s3", "make the heading of the page blue") == ""


async def test_a_file_that_it_is_bound_to_brings_it(app: App, project: Project) -> None:
    await said(app, project, f"src/net/worker.py: {FOUND}")
    occasion = SurfacingEvent("s2", project.id, "file")
    assert (
        ", unconfirmed, low trust: "
        in (await surface_file(app.recall_context(), occasion, Touched("src/net/worker.py"))).text
    )
    assert (
        await surface_file(app.recall_context(), replace(occasion, session_id="s3"), Touched("src/b.py"))
    ).text == ""


async def test_a_session_is_given_two_at_most(app: App, project: Project) -> None:
    for number in range(4):
        text = f"src/net/part{number}.py: the loader number{number} reads its shard from the map before it starts."
        await said(app, project, text, session=f"s{number}")
    given = [
        (
            await surface_file(
                app.recall_context(), SurfacingEvent("s9", project.id, "file"), Touched(f"src/net/part{one}.py")
            )
        ).text
        for one in range(4)
    ]
    assert [bool(text) for text in given] == [True, True, False, False]


async def test_another_session_that_finds_it_confirms_it(app: App, project: Project) -> None:
    (first,) = await said(app, project, FOUND)
    memory = await the_one(app)
    await said(app, project, AGAIN, session="s2")
    (now,) = await known(app)
    assert (now.id, now.unconfirmed, now.recurrence) == (memory.id, False, 2)
    assert (await captures.get(app.database, first))["status"] == "captured"
    await app.embedding.refresh([now.id])
    assert [hit.memory.id for hit in await recall(app.recall_context(), ASKED, project.id, 10)] == [now.id]


@pytest.mark.parametrize("what", ["the same session", "one that was given it", "one whose finding is in doubt"])
async def test_an_echo_confirms_nothing(app: App, project: Project, what: str) -> None:
    await said(app, project, FOUND)
    session = "s1" if what == "the same session" else "s2"
    if what == "one that was given it":
        assert await prompted(app, project, session)
    doubt = "it advises" if what == "one whose finding is in doubt" else ""
    await said(app, project, AGAIN, session=session, reservation=doubt)
    assert (await known(app), (await the_one(app)).recurrence) == ([], 1)


async def test_use_confirms_it_when_the_session_is_over(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    memory = await the_one(app)
    await prompted(app, project, "s2")
    await ended(app, "s2", used=True)
    assert [one.id for one in await known(app)] == [memory.id]


async def test_use_alone_brings_it_to_no_start(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    await prompted(app, project, "s2")
    await ended(app, "s2", used=True)
    start = Start("s3", project.id, "start/startup", hints=ASKED)
    assert (await surface_start(app.recall_context(), start)).text == ""


async def test_what_two_sessions_found_may_begin_a_third(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    await said(app, project, AGAIN, session="s2")
    start = Start("s3", project.id, "start/startup", hints=ASKED)
    assert "closed socket" in (await surface_start(app.recall_context(), start)).text


async def test_two_of_one_session_that_say_much_of_the_same_are_one(app: App, project: Project) -> None:
    await said(app, project, FOUND, f"{FOUND} The `Spool` keeps what is left of it.", confidence=(0.8, 0.75))
    assert (await the_one(app)).content == FOUND


async def test_three_misses_retire_it(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    for number in range(3):
        assert await prompted(app, project, f"g{number}")
        await ended(app, f"g{number}", used=False)
    assert (await known(app), await known(app, unconfirmed=True)) == ([], [])
    found = await captures.get(app.database, capture)
    assert (found["status"], found["reason"]) == ("discarded", "3 sessions received it, and none used it: found")
    assert await prompted(app, project, "g9") == ""


async def test_a_session_that_was_not_judged_says_nothing(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    await prompted(app, project, "s2")
    await ended(app, "s2", used=None)
    assert (await the_one(app)).unconfirmed


@pytest.mark.parametrize("origin", [Origin.USER, Origin.ASSISTANT])
async def test_a_statement_that_contradicts_it_retires_it(app: App, project: Project, origin: Origin) -> None:
    (capture,) = await said(app, project, FOUND)
    await said(app, project, CONTRARY, session="s2", origin=origin, decision=Decision.AUTO)
    assert await known(app, unconfirmed=True) == []
    assert (await captures.get(app.database, capture))["reason"].startswith(confirmation.CONTRADICTED)


async def test_a_person_approves_it_and_takes_that_back(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    memory = await the_one(app)
    await decisions.apply_decision(app, decisions.Wish("approve", (capture,)))
    (now,) = await known(app)
    assert (now.id, now.verified, now.confidence, now.unconfirmed) == (memory.id, True, 1.0, False)
    await decisions.apply_decision(app, decisions.Wish("undo", (capture,)))
    assert (await known(app), (await the_one(app)).id) == ([], memory.id)


async def test_a_person_rewords_it(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    await decisions.apply_decision(
        app, decisions.Wish("edit", (capture,), wording="A closed socket counts as a timeout.")
    )
    assert [one.content for one in await known(app)] == ["A closed socket counts as a timeout."]
    assert await known(app, unconfirmed=True) == []


async def test_a_person_rejects_it_and_takes_that_back(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    await decisions.apply_decision(app, decisions.Wish("reject", (capture,)))
    assert await known(app, unconfirmed=True) == []
    assert await prompted(app, project, "s2") == ""
    await decisions.apply_decision(app, decisions.Wish("undo", (capture,)))
    assert (await the_one(app)).content == FOUND


async def test_forgetting_ends_it_and_unarchiving_approves_it(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    memory = await the_one(app)
    await memory_commands.set_archived(app, [memory.id], True, "user", "wrong")
    assert (await known(app, unconfirmed=True), await known(app)) == ([], [])
    (capture,) = await said(app, project, OTHERS[0], session="s2")
    other = await the_one(app)
    await memory_commands.set_archived(app, [other.id], False, "user", "right")
    assert [one.id for one in await known(app)] == [other.id]
    assert (await captures.get(app.database, capture))["status"] == "approved"


async def test_a_rollback_takes_it_along_and_brings_it_back(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    memory = await the_one(app)
    await decisions.rollback(app, "s1", "", back=False, preview=False)
    assert await known(app, unconfirmed=True) == []
    await decisions.rollback(app, "s1", "", back=True, preview=False)
    assert (await the_one(app)).id == memory.id


async def test_a_purge_leaves_nothing_of_it(app: App, project: Project) -> None:
    (capture,) = await said(app, project, FOUND)
    memory = await the_one(app)
    await prompted(app, project, "s2")
    doomed = await purging.choose(app, purging.Choice(ids=(memory.id,)))
    assert list(doomed.captures) == [capture]
    async with app.database.write() as tx:
        await purge.purge(tx, app.database, doomed, "one")
    for table in ("memories", "archived_fts", "implicit_captures", "surfaces", "embeddings"):
        rows = await app.database.rows(f"SELECT count(*) FROM {table}")
        assert (table, rows[0][0]) == (table, 0)


async def test_what_had_waited_is_judged_once_and_that_is_told(app: App, project: Project) -> None:
    await said(app, project, *OTHERS[:2], reservation=None)
    await unconfirmed_upkeep.settle_all(app)
    waiting = await captures.listing(app.database, status="review")
    assert {one["reservation"] for one in waiting} == {"its transcript can't be read any more"}
    assert await store.rejudged_since(app.database, project.id, 0.0) == {"unconfirmed": 0, "waiting": 2, "discarded": 0}
    await unconfirmed_upkeep.settle_all(app)
    assert (await store.rejudged_since(app.database, project.id, 0.0))["waiting"] == 2


DECIDED = "We decided to keep all amounts in integer cents, because floats lost a cent."
TAKEN_BACK = "Amounts are not kept in integer cents."
UNSURE = "confidence 0.76 is below 0.90"


async def waits(app: App, project: Project, text: str, session: str = "old", reason: str = UNSURE) -> int:
    """The user's words as an earlier version kept them: waiting, and not judged since."""
    candidate = replace(of(text, Origin.USER), time=NOON, raw_confidence=0.76)
    admission = Admission(Decision.REVIEW, 0.76, reason, Verdict(Level.NONE), None)
    async with app.database.write() as tx:
        await sessions.record_activity(tx, session, project.id, 1.0, transcript="", cwd="")
        number = await captures.insert(tx, candidate, admission, SessionRef(project.id, session), 30.0)
        await sessions.end(tx, session, 2.0, "ended", "other")
    assert number is not None
    return number


async def test_what_the_user_said_to_an_earlier_version_is_weighed_again(app: App, project: Project) -> None:
    number = await waits(app, project, DECIDED)
    await unconfirmed_upkeep.settle_all(app)
    (memory,) = await known(app)
    assert (memory.id, memory.content, memory.origin) == (number, DECIDED, Origin.USER)
    capture = await captures.get(app.database, number)
    assert (capture["status"], capture["reason"].partition(":")[0]) == ("captured", "judged again")
    assert await store.rejudged_since(app.database, project.id, 0.0) == {"stored": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DECIDED, "no hook reported this prompt: a person must approve it"),
        ("Should we always run the linter before a commit?", UNSURE),
        ("please run the linter now", UNSURE),
    ],
)
async def test_what_was_doubted_or_asked_waits_on(app: App, project: Project, text: str, reason: str) -> None:
    number = await waits(app, project, text, reason=reason)
    await unconfirmed_upkeep.settle_all(app)
    assert await known(app) == []
    assert (await captures.get(app.database, number))["status"] == "review"


async def test_what_a_memory_contradicts_since_waits_on(app: App, project: Project) -> None:
    await said(app, project, TAKEN_BACK, origin=Origin.USER, decision=Decision.AUTO)
    await waits(app, project, DECIDED)
    await unconfirmed_upkeep.settle_all(app)
    assert [memory.content for memory in await known(app)] == [TAKEN_BACK]


async def test_a_session_that_ended_unsettled_is_settled_by_upkeep(app: App, project: Project) -> None:
    await said(app, project, FOUND, over=False)
    async with app.database.write() as tx:
        await sessions.end(tx, "s1", 2.0, "interrupted", "silence")
    await unconfirmed_upkeep.settle_all(app)
    assert (await the_one(app)).content == FOUND


async def test_only_what_was_given_is_concluded(app: App, project: Project) -> None:
    await said(app, project, FOUND)
    assert await feedback.conclude(app.recall_context(), "s2") == []
