"""Findings of sessions: which files and starts they are given with."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from subconscious.domain.model import Origin, Scope
from subconscious.recall.file_binding import Touched
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import Handover
from subconscious.settings.settings import Settings
from subconscious.store import memories, sessions, vectors
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.vectors import NumpyIndex, Row
from subconscious.surfacing.proactive import SurfacingEvent, surface_file
from subconscious.surfacing.session_start import Start, surface_start
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory

FINDING = "The retries in upload/worker.py stop after two, as the proxy drops a third."
FILE = Touched("upload/worker.py", "/shop")
ABOUT, NOT_ABOUT = [1.0, 0.5], [0.2, 1.0]
DIM = 4


def unit(numbers: list[float]) -> numpy.ndarray:
    vector = numpy.zeros(DIM, numpy.float32)
    vector[: len(numbers)] = numbers
    return vector / numpy.linalg.norm(vector)


def mind_asked(database: Database, way: list[float]) -> RecallContext:
    async def embed(text: str) -> numpy.ndarray:
        return unit(way)

    return RecallContext(database, NumpyIndex(database, "toy"), Settings(), embed)


async def found(database: Database, project: Project, content: str = FINDING, **changes: Any) -> int:
    """Store a finding with its vector."""
    values = {"origin": Origin.TOOL, "files": ("upload/worker.py",), "session_id": "before"} | changes
    memory = make_memory(content, project_id=project.id, scope=Scope.PROJECT, **values)
    async with database.write() as tx:
        kept = (await memories.insert(tx, memory)).id
        await vectors.save(tx, "toy", [Row(kept, project.id, unit([1.0]))])
    return kept


async def given(
    ctx: RecallContext, project: Project, session: str = "now", work: str = "Why do uploads fail?"
) -> list[int]:
    touched = Touched(FILE.path, FILE.root, work=work)
    return [
        hit.memory.id for hit in (await surface_file(ctx, SurfacingEvent(session, project.id, "file"), touched)).hits
    ]


async def test_a_finding_is_given_with_its_file_where_the_prompt_is_about_it(
    database: Database, project: Project
) -> None:
    number = await found(database, project)
    assert await given(mind_asked(database, NOT_ABOUT), project) == []
    assert await given(mind_asked(database, ABOUT), project) == [number]


@pytest.mark.parametrize("changes", [{"origin": Origin.USER}, {"verified": True}, {"pinned": True}])
async def test_what_a_person_stands_for_is_given_with_its_file_anyway(
    database: Database, project: Project, changes: dict[str, Any]
) -> None:
    number = await found(database, project, **changes)
    assert await given(mind_asked(database, NOT_ABOUT), project) == [number]


@pytest.mark.parametrize(
    ("content", "kind", "anyway"),
    [
        ("An empty batch gets a default owner.", "learning", False),
        ("worker.py gives an empty batch a default owner.", "learning", True),
        ("Always give an empty batch a default owner.", "preference", True),
    ],
)
async def test_a_fact_of_the_user_that_does_not_name_the_file_is_given_where_the_prompt_is_about_it(
    database: Database, project: Project, content: str, kind: str, *, anyway: bool
) -> None:
    number = await found(database, project, content, origin=Origin.USER, kind=kind)
    assert await given(mind_asked(database, NOT_ABOUT), project) == ([number] if anyway else [])
    assert await given(mind_asked(database, ABOUT), project, "later") == [number]


async def test_an_unknown_prompt_keeps_no_finding_back(database: Database, project: Project) -> None:
    number = await found(database, project)
    assert await given(mind_asked(database, NOT_ABOUT), project, work="") == [number]


async def test_a_finding_that_three_sessions_left_unheeded_is_not_given_with_its_file(
    database: Database, project: Project
) -> None:
    number = await found(database, project)
    ctx = mind_asked(database, ABOUT)
    for session in ("one", "two", "three"):
        async with database.write() as tx:
            await sessions.record_activity(tx, session, project.id, NOON, transcript="", cwd="/p")
        assert await given(ctx, project, session) == [number]
        async with database.write() as tx:
            await sessions.end(tx, session, NOON, "ended", "other")
    assert await given(ctx, project) == []


async def test_a_finding_is_not_given_once_two_later_sessions_changed_its_file(
    database: Database, project: Project
) -> None:
    number = await found(database, project)
    ctx = mind_asked(database, ABOUT)
    for at, session in enumerate(("before", "one", "two"), start=1):
        assert await given(ctx, project, f"asks {at}") == [number]
        story = Handover(asked='"Change uploads"', files=("worker.py",)).to_json()
        async with database.write() as tx:
            await sessions.record_activity(tx, session, project.id, NOON + at, transcript="", cwd="/p")
            await sessions.save_story(tx, session, sessions.Story("", "", (), "", "{}", story))
            await sessions.end(tx, session, NOON + at, "ended", "other")
    assert await given(ctx, project, "asks again") == []


@pytest.mark.parametrize(("branch", "is_given"), [("kiln", True), ("main", False), ("glaze", False)])
async def test_what_the_assistant_worded_is_given_at_starts_on_its_branch_alone(
    database: Database, project: Project, branch: str, is_given: bool
) -> None:
    said = {"origin": Origin.ASSISTANT, "confidence": 0.95, "branch": branch if branch == "main" else "kiln"}
    number = await store(database, project, "Chunks are parked, not dropped.", **said)
    start = Start("now", project.id, "start/startup", branch, hints="parked chunks")
    hits = (await surface_start(make_mind(database), start)).hits
    assert [hit.memory.id for hit in hits] == ([number] if is_given else [])
