"""What a typed statement does to what is stored, over a real store; the model is real where the test is about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy
import pytest

from subconscious.capture import explanations
from subconscious.capture.admission import Provenance, keep
from subconscious.domain.model import (
    Admission,
    Candidate,
    Decision,
    Evidence,
    Origin,
    Relation,
    Role,
    Scope,
    Strength,
    Turn,
    Verdict,
)
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.settings import Settings
from subconscious.store import captures, links, memories, purge, purge_selection, takeovers
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.vectors import Scored
from subconscious.supersession import merging, relating
from tests.support.minds import no_embedding, store

OLD = "deploys go through Jenkins"
NEW = "we ship with Argo"
SURE = Admission(Decision.AUTO, 0.95, "sure", Verdict(), "")
UNSURE = Admission(Decision.REVIEW, 0.8, "confidence 0.80 is below 0.90", Verdict(), "")


class Index:
    """Finds every memory, all alike near."""

    name = "test"

    def __init__(self, found: Sequence[int]) -> None:
        self._found = found
        self.cosine = 0.9

    async def search(
        self, projects: Sequence[str], vector: numpy.ndarray, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        return [(number, self.cosine) for number in self._found]

    async def vectors(self, ids: Sequence[int]) -> dict[int, numpy.ndarray]:
        return {}

    async def refresh(self, ids: Sequence[int]) -> None:
        pass

    async def shrink(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def on(self, database: Database) -> Index:
        del database
        return self


def mind_of(database: Database, found: Sequence[int], answer: Relation) -> RecallContext:
    async def relate(new: str, olds: Sequence[str]) -> list[Relation]:
        return [answer for _ in olds]

    async def at_hand(text: str) -> numpy.ndarray:
        return numpy.ones(1, numpy.float32)

    settings = Settings(embedder="none")
    return replace(RecallContext(database, Index(found), settings, no_embedding), embed_now=at_hand, relate=relate)


def said(content: str = NEW, **changes: object) -> Candidate:
    made = Candidate(
        kind="decision",
        summary=content,
        content=content,
        evidence=Evidence(content, "turn-2", "", 0, 0),
        origin=Origin.USER,
        strength=Strength.EXPLICIT,
        raw_confidence=0.8,
        extractor="test",
        time=2_000_000_000.0,
        scope=Scope.PROJECT,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


async def learn(ctx: RecallContext, project: Project, candidate: Candidate, admission: Admission) -> int | None:
    judged = [(candidate, admission)]
    repeats = await merging.repeated(ctx, judged, project.id)
    async with ctx.database.write() as tx:
        kept = await keep(ctx, tx, judged, Provenance(SessionRef(project.id, None)), repeats)
    return next((memory.id for _, memory in kept if memory is not None), None)


async def test_a_paraphrase_raises_the_recurrence_and_stores_no_second_one(
    database: Database, project: Project
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    before = (await memories.get(database, old)).recurrence
    ctx = mind_of(database, [old], Relation.SAME)
    assert await learn(ctx, project, said(), UNSURE) == old
    assert (await memories.get(database, old)).recurrence == before + 1


async def test_what_replaces_is_stored_though_it_was_not_sure_and_supersedes(
    database: Database, project: Project
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    new = await learn(mind_of(database, [old], Relation.REPLACES), project, said(), UNSURE)
    assert new is not None
    assert old in await links.superseded(database, [old], project.id)


LATER = 3_000_000_000.0
"""A time after that of the statement that is learned, which is then from an imported session."""


def replacing(ctx: RecallContext, later: str, answer: Relation = Relation.REPLACES) -> RecallContext:
    """Return a context in which only the statement ``later`` replaces others, or may replace them."""

    async def relate(new: str, olds: Sequence[str]) -> list[Relation]:
        return [answer if new == later else Relation.NEITHER for _ in olds]

    return replace(ctx, relate=relate)


@pytest.mark.parametrize(
    ("answer", "replaced"), [(Relation.REPLACES, True), (Relation.ENDS, True), (Relation.MAY_REPLACE, False)]
)
async def test_an_imported_statement_is_superseded_if_what_was_said_later_surely_replaces_it(
    database: Database, project: Project, answer: Relation, replaced: bool
) -> None:
    current = await store(database, project, NEW, origin=Origin.USER, said_at=LATER)
    ctx = replacing(mind_of(database, [current], Relation.NEITHER), NEW, answer)
    imported = await learn(ctx, project, said(OLD), SURE)
    assert imported is not None
    assert await links.superseded(database, [current, imported], project.id) == ({imported} if replaced else set())
    assert await takeovers.next_question(database, project.id) is None


async def test_an_imported_statement_replaces_nothing_that_was_said_later(database: Database, project: Project) -> None:
    current = await store(database, project, NEW, origin=Origin.USER, said_at=LATER)
    imported = await learn(replacing(mind_of(database, [current], Relation.NEITHER), OLD), project, said(OLD), SURE)
    assert imported is not None
    assert not await links.superseded(database, [current, imported], project.id)


async def test_words_alone_show_that_an_imported_statement_was_replaced(database: Database, project: Project) -> None:
    current = await store(database, project, "cache ttl is 10 minutes now", origin=Origin.USER, said_at=LATER)
    ctx = mind_of(database, [], Relation.NEITHER)
    imported = await learn(ctx, project, said("cache ttl is 5 minutes"), SURE)
    assert imported is not None
    assert await links.superseded(database, [current, imported], project.id) == {imported}


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("don't mock the db in integration tests", "mock the db in unit tests"),
        ("never mock the db in the integration tests", "in unit tests the db is always mocked"),
    ],
)
async def test_an_imported_statement_about_another_thing_holds(
    database: Database, project: Project, early: str, late: str
) -> None:
    current = await store(database, project, late, origin=Origin.USER, said_at=LATER)
    imported = await learn(mind_of(database, [], Relation.NEITHER), project, said(early), SURE)
    assert imported is not None
    assert not await links.superseded(database, [current, imported], project.id)


async def test_an_imported_repetition_keeps_the_later_statement_in_force(database: Database, project: Project) -> None:
    current = await store(database, project, NEW, origin=Origin.USER, said_at=LATER)
    assert await learn(mind_of(database, [current], Relation.SAME), project, said(OLD), SURE) == current
    memory = await memories.get(database, current)
    assert (memory.content, memory.said_at) == (NEW, LATER)
    assert not await links.superseded(database, [current], project.id)


async def test_an_imported_statement_takes_no_place_of_a_later_one_that_waits(
    database: Database, project: Project
) -> None:
    ctx = mind_of(database, [], Relation.NEITHER)
    assert await learn(ctx, project, said(time=LATER), UNSURE) is None
    await learn(mind_of(database, [], Relation.REPLACES), project, said(OLD), SURE)
    (row,) = await database.rows("SELECT status FROM implicit_captures WHERE content = ?", (NEW,))
    assert row["status"] == "review"


async def test_what_bears_on_nothing_waits_as_before(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    assert await learn(mind_of(database, [old], Relation.NEITHER), project, said(), UNSURE) is None
    assert not await links.superseded(database, [old], project.id)


@pytest.mark.parametrize("answer", [Relation.SAME, Relation.REPLACES])
@pytest.mark.parametrize(
    ("candidate", "admission"),
    [
        (said(), replace(UNSURE, doubtful=True)),
        (said(), replace(UNSURE, reason="a file says so")),
        (said(), replace(UNSURE, confidence=0.4, decision=Decision.DISCARD)),
        (said(origin=Origin.ASSISTANT), UNSURE),
    ],
)
async def test_nothing_else_is_stored_for_bearing_on_what_is_stored(
    database: Database, project: Project, answer: Relation, candidate: Candidate, admission: Admission
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    await learn(mind_of(database, [old], answer), project, candidate, admission)
    assert not await links.superseded(database, [old], project.id)
    rows = await database.rows("SELECT count(*) FROM memories WHERE archived_at IS NULL")
    assert rows[0][0] == 1


async def test_what_the_assistant_said_is_neither_repeated_nor_replaced_by_meaning(
    database: Database, project: Project
) -> None:
    old = await store(database, project, OLD, origin=Origin.ASSISTANT)
    assert await learn(mind_of(database, [old], Relation.REPLACES), project, said(), UNSURE) is None
    assert not await links.superseded(database, [old], project.id)


async def test_what_may_replace_is_stored_beside_it_and_asked_about(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    new = await learn(mind_of(database, [old], Relation.MAY_REPLACE), project, said(), SURE)
    assert not await links.superseded(database, [old], project.id)
    question = await takeovers.next_question(database, project.id)
    assert question is not None
    assert (question.new_id, question.old_id, question.new, question.old) == (new, old, NEW, OLD)
    assert await takeovers.next_question(database, "another project") is None


def reading_messages(ctx: RecallContext, message: str) -> RecallContext:
    """Return a context in which a statement is doubtful alone, and replaces the earlier one within its message."""

    async def relate(new: str, olds: Sequence[str]) -> list[Relation]:
        return [Relation.REPLACES if new == message else Relation.MAY_REPLACE for _ in olds]

    return replace(ctx, relate=relate)


def typed(text: str, **changes: object) -> Turn:
    return replace(Turn("turn-2", "session", Role.USER, Origin.USER, text, 2.0, "", 0, 0), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("turn", "replaced"),
    [
        (typed(f"the old servers are sold. {NEW}"), True),
        (typed(f"the old servers are sold. {NEW}", origin=Origin.ASSISTANT), False),
        (typed(f"the old servers are sold. {NEW}", id="turn-1"), False),
        (typed(f"{'a' * relating.LONGEST_MESSAGE}. {NEW}"), False),
    ],
)
async def test_a_short_message_settles_whether_a_statement_in_it_replaces_another(
    database: Database, project: Project, turn: Turn, replaced: bool
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    ctx = reading_messages(mind_of(database, [old], Relation.NEITHER), turn.text)
    repeats = await merging.repeated(ctx, [(said(), SURE)], project.id, [turn])
    assert repeats.replaced.get(NEW, ()) == ((old,) if replaced else ())
    assert repeats.in_doubt == ({} if replaced else {NEW: old})


@pytest.mark.parametrize("answer", [Relation.SAME, Relation.REPLACES, Relation.MAY_REPLACE])
async def test_a_rule_for_one_branch_neither_repeats_nor_replaces_one_for_all(
    database: Database, project: Project, answer: Relation
) -> None:
    old = await store(database, project, OLD)
    scoped = said(f"On the branch feat/x: {NEW}")
    assert await relating.related(mind_of(database, [old], answer), scoped, project.id, []) == relating.Related()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("always use yarn for installing packages", "always use npm for installing packages"),
        ("use spaces for indentation", "use tabs for indentation"),
    ],
)
@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        ("", "On the branch feat/x: ", False),
        ("On the branch feat/x: ", "", False),
        ("On the branch feat/x: ", "On the branch feat/y: ", False),
        ("On the branch feat/x: ", "On the branch feat/x: ", True),
        ("", "", True),
    ],
)
async def test_a_rule_for_one_branch_ends_only_rules_for_the_same_branch(
    database: Database, project: Project, old: str, new: str, before: str, after: str, ends: bool
) -> None:
    first = await store(database, project, before + old, origin=Origin.USER, kind="preference")
    made = await learn(mind_of(database, [], Relation.NEITHER), project, said(after + new), SURE)
    assert made is not None
    assert bool(await links.superseded(database, [first], project.id)) is ends


async def test_rules_of_one_message_for_different_branches_both_hold(database: Database, project: Project) -> None:
    rules = ["always use yarn for installing packages", "On the branch feat/x: always use npm for installing packages"]
    ctx = mind_of(database, [], Relation.NEITHER)
    judged = [(said(rule), SURE) for rule in rules]
    async with database.write() as tx:
        kept = await keep(ctx, tx, judged, Provenance(SessionRef(project.id, "session")))
    made = [memory.id for _, memory in kept if memory is not None]
    assert len(made) == len(rules)
    assert not await links.superseded(database, made, project.id)


async def test_what_is_far_from_it_is_not_asked_about(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    ctx = mind_of(database, [old], Relation.MAY_REPLACE)
    assert isinstance(ctx.index, Index)
    ctx.index.cosine = relating.OF_ONE_SUBJECT - 0.1
    assert await learn(ctx, project, said(), SURE) is not None
    assert await takeovers.next_question(database, project.id) is None


async def test_what_waits_is_not_asked_about(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    assert await learn(mind_of(database, [old], Relation.MAY_REPLACE), project, said(), UNSURE) is None
    assert await takeovers.next_question(database, project.id) is None


async def test_a_change_that_may_mean_two_statements_is_asked_about(database: Database, project: Project) -> None:
    events = await store(database, project, "We use Redis for the events.", origin=Origin.USER)
    caches = await store(database, project, "We use Redis for the caches.", origin=Origin.USER)
    candidate = said("From now on we use NATS instead of Redis.")
    assert await learn(mind_of(database, [], Relation.NEITHER), project, candidate, SURE) is not None
    assert not await links.superseded(database, [events, caches], project.id)
    question = await takeovers.next_question(database, project.id)
    assert question is not None
    assert question.old_id in (events, caches)


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("We use Redis for the events.", "In the demo you can see that nobody replaced Redis for the events now."),
        ("Never use raw sql in the handlers.", "You can use raw sql in the handlers now, only in the report handler."),
    ],
)
async def test_a_denied_or_limited_change_replaces_nothing(
    database: Database, project: Project, holds: str, typed: str
) -> None:
    old = await store(database, project, holds, origin=Origin.USER)
    assert await learn(mind_of(database, [], Relation.NEITHER), project, said(typed), SURE) is not None
    assert not await links.superseded(database, [old], project.id)
    assert await takeovers.next_question(database, project.id) is None


async def test_what_contradicts_a_pinned_statement_is_asked_about(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER, pinned=True)
    new = await learn(mind_of(database, [old], Relation.REPLACES), project, said(), SURE)
    question = await takeovers.next_question(database, project.id)
    assert question is not None
    assert (question.new_id, question.old_id) == (new, old)
    assert await takeovers.of_memory(database, question.new_id) == question


async def test_a_question_that_a_person_refused_is_not_recorded_again(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    ctx = mind_of(database, [old], Relation.MAY_REPLACE)
    new = await learn(ctx, project, said(), SURE)
    assert new is not None
    async with database.write() as tx:
        (link,) = await links.between(tx, new, old)
        await links.change(tx, link, "user", status="refused")
    await learn(ctx, project, said(time=2_000_000_001.0), SURE)
    assert await takeovers.next_question(database, project.id) is None


async def test_explain_names_the_question(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    ctx = mind_of(database, [old], Relation.MAY_REPLACE)
    judged = [(said(), SURE)]
    repeats = await merging.repeated(ctx, judged, project.id)
    async with database.write() as tx:
        await keep(ctx, tx, judged, Provenance(SessionRef(project.id, "session-2")), repeats)
    (capture,) = await captures.listing(database, session_id="session-2")
    _, told, _ = explanations.fate_of(capture, await explanations.recorded(ctx, "session-2"))
    assert told.endswith(f"; you are asked whether it replaces memory {old}")


async def test_a_purge_deletes_the_question(database: Database, project: Project) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    assert await learn(mind_of(database, [old], Relation.MAY_REPLACE), project, said(), SURE) is not None
    doomed = await purge_selection.of_memories(database, [old])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "a test")
    assert await database.rows("SELECT * FROM takeover_questions") == []
