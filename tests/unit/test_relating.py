"""What a typed statement does to what is stored, over a real store; the model is real where the test is about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy
import pytest

from subconscious.capture.relation import Relation
from subconscious.flow import merging
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Provenance, keep
from subconscious.model import Admission, Candidate, Decision, Evidence, Origin, Scope, Strength, Verdict
from subconscious.settings import Settings
from subconscious.store import links, memories
from subconscious.store.capture_rows import Place
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.vectors import Scored
from tests.support.minds import no_embedding, store

OLD = "deploys go through Jenkins"
NEW = "we ship with Argo"
UNSURE = Admission(Decision.REVIEW, 0.8, "confidence 0.80 is below 0.90", Verdict(), "")


class Index:
    """Finds every memory, all alike near."""

    name = "test"

    def __init__(self, found: Sequence[int]) -> None:
        self._found = found

    async def search(
        self, projects: Sequence[str], vector: numpy.ndarray, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        return [(number, 0.9) for number in self._found]

    async def vectors(self, ids: Sequence[int]) -> dict[int, numpy.ndarray]:
        return {}

    async def refresh(self, ids: Sequence[int]) -> None:
        pass

    async def shrink(self) -> None:
        pass

    async def close(self) -> None:
        pass


def mind_of(database: Database, found: Sequence[int], answer: Relation) -> Mind:
    async def relate(new: str, olds: Sequence[str]) -> list[Relation]:
        return [answer for _ in olds]

    async def at_hand(text: str) -> numpy.ndarray:
        return numpy.ones(1, numpy.float32)

    settings = Settings(embedder="none")
    return replace(Mind(database, Index(found), settings, no_embedding), at_hand=at_hand, relate=relate)


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


async def learn(mind: Mind, project: Project, candidate: Candidate, admission: Admission) -> int | None:
    judged = [(candidate, admission)]
    repeats = await merging.repeated(mind, judged, project.id)
    async with mind.database.write() as tx:
        kept = await keep(mind, tx, judged, Provenance(Place(project.id, None)), repeats)
    return next((memory.id for _, memory in kept if memory is not None), None)


async def test_a_paraphrase_raises_the_recurrence_and_stores_no_second_one(
    database: Database, project: Project
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    before = (await memories.get(database, old)).recurrence
    mind = mind_of(database, [old], Relation.SAME)
    assert await learn(mind, project, said(), UNSURE) == old
    assert (await memories.get(database, old)).recurrence == before + 1


async def test_what_replaces_is_stored_though_it_was_not_sure_and_supersedes(
    database: Database, project: Project
) -> None:
    old = await store(database, project, OLD, origin=Origin.USER)
    new = await learn(mind_of(database, [old], Relation.REPLACES), project, said(), UNSURE)
    assert new is not None
    assert old in await links.superseded(database, [old], project.id)


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
