"""What a failed tool call is given: findings about failures in a folder that the error names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subconscious.capture.admission import Provenance, memory_of
from subconscious.domain.model import Admission, Decision, Level, Origin, Verdict
from subconscious.store import captures, poison, sessions, unconfirmed
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import SurfacingEvent, surface_error
from tests.support.candidates import make_candidate
from tests.support.minds import make_mind, store
from tests.support.values import NOON

FINDING = "The commit failed because the runner picked up tests of a leftover clone in `tmp/clones/`."
ERROR = (
    "error: Cannot find module 'x' from '/home/dev/shop/tmp/clones/a1/src/cart.test.ts'\n"
    "tmp/clones/a1/src/cart.test.ts:\n1 fail"
)


async def found_once(
    database: Database, project: Project, content: str, confidence: float = 0.75, session: str = "earlier"
) -> int:
    """Store a finding of one session as an unconfirmed memory."""
    place = SessionRef(project.id, session)
    said = replace(make_candidate(content), kind="learning", origin=Origin.ASSISTANT)
    admission = Admission(Decision.REVIEW, confidence, "found in one session")
    async with database.write() as tx:
        await sessions.record_activity(tx, session, project.id, NOON, transcript="", cwd="/p")
        number = await captures.insert(tx, said, admission, place, 7)
        assert number is not None
        return (await unconfirmed.insert(tx, number, memory_of(said, admission, Provenance(place)))).id


async def failed(database: Database, project: Project, error: str = ERROR, session: str = "now") -> list[int]:
    occasion = SurfacingEvent(session, project.id, "error")
    return [hit.memory.id for hit in (await surface_error(make_mind(database), occasion, error)).hits]


async def test_an_error_is_given_a_finding_about_failures_in_its_folder_once(
    database: Database, project: Project
) -> None:
    finding = await found_once(database, project, FINDING)
    await found_once(database, project, FINDING.replace("tmp/clones", "old/clones"))
    assert await failed(database, project, "error: Cannot find module 'x' from '/home/dev/shop/src/a.ts'") == []
    assert await failed(database, project) == [finding]
    assert await failed(database, project) == []
    context = await surface_error(make_mind(database), SurfacingEvent("other", project.id, "error"), ERROR)
    assert "unconfirmed: The commit failed" in context.text


async def test_findings_of_two_sessions_about_one_folder_confirm_each_other(
    database: Database, project: Project
) -> None:
    await found_once(database, project, FINDING, 0.65)
    assert await failed(database, project) == []
    await found_once(database, project, "Stale files of `tmp/clones/` made the hook fail.", 0.65, "earlier")
    assert await failed(database, project) == []
    second = await found_once(database, project, "The hook fails on leftovers in `tmp/clones/`.", 0.65, "another")
    assert await failed(database, project) == [second]


async def test_a_stored_finding_is_given_likewise(database: Database, project: Project) -> None:
    finding = await store(database, project, FINDING, kind="learning")
    assert await failed(database, project) == [finding]


@pytest.mark.parametrize("confidence", [0.3, 0.75])
async def test_a_finding_that_is_not_trusted_is_not_given(
    database: Database, project: Project, confidence: float
) -> None:
    finding = await found_once(database, project, FINDING, confidence)
    if confidence >= 0.7:  # certain enough, but a later check flagged it
        async with database.write() as tx:
            await poison.record_check(tx, finding, Verdict(Level.MEDIUM, (), "1"))
    assert await failed(database, project) == []
