"""Promotion: the scale of the score, what moves it, and who never comes near."""

from __future__ import annotations

from dataclasses import replace
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import (
    Admission,
    Candidate,
    Decision,
    Evidence,
    Finding,
    Level,
    Link,
    Memory,
    Origin,
    Strength,
    Threat,
    Verdict,
)
from subconscious.domain.promotion import Bars, Facts, impact, promotion_status, recurrence, specificity
from subconscious.recall.promotion_status import standings
from subconscious.settings.settings import Settings
from subconscious.store import captures, decisions, links, memories, poison
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.values import make_memory

PRECISE = "Run `npm run db:reset` before pytest tests/api/test_billing.py, because port 5433 keeps 2 stale rows."
VAGUE = "Do things better."
SETTINGS = Settings(embedder="none")


@given(st.text(max_size=300), st.sampled_from(sorted(KINDS)), st.integers(0, 50), st.integers(0, 99), st.integers(0, 9))
def test_every_part_is_on_the_scale(content: str, kind: str, sessions: int, times: int, citations: int) -> None:
    memory = make_memory(content, kind=kind, recurrence=max(1, times))
    one = promotion_status(memory, Facts(sessions, citations), Bars())
    assert all(1 <= part <= 10 for part in (one.score, one.recurrence, one.impact, one.specificity))
    assert one.score == round((one.recurrence + one.impact + one.specificity) / 3, 2)


@given(st.integers(0, 50), st.integers(1, 99))
def test_the_score_never_falls_when_a_memory_comes_back(sessions: int, times: int) -> None:
    assert recurrence(sessions, times) <= recurrence(sessions + 1, times + 1)
    assert recurrence(sessions, times) <= recurrence(sessions, times + 1)
    assert recurrence(sessions, times) <= recurrence(sessions + 1, times)


@given(st.integers(1, 99))
def test_sessions_decide_on_the_bracket(times: int) -> None:
    assert 1 <= recurrence(1, times) <= 3
    assert all(4 <= recurrence(sessions, times) <= 6 for sessions in (2, 3))
    assert all(7 <= recurrence(sessions, times) <= 10 for sessions in (4, 5, 30))


def test_what_it_saves_is_read_off_the_words() -> None:
    assert impact(make_memory("The formatter prints two lines.", kind="progress"), Facts()) <= 3
    assert 4 <= impact(make_memory("Amounts are cents.", kind="decision"), Facts()) <= 6
    assert impact(make_memory("We lost two hours to a stale lock file.", kind="learning"), Facts()) >= 7
    assert impact(make_memory("The proxy refuses uploads.", kind="blocker"), Facts()) >= 7
    assert impact(make_memory("A token lives for 24 hours.", kind="learning"), Facts()) < 7
    plain = make_memory("Amounts are cents.", kind="decision")
    assert impact(plain, Facts(citations=2)) > impact(plain, Facts())


def test_precise_words_are_distinguished_from_vague_ones() -> None:
    assert specificity(make_memory(PRECISE)) >= 7
    assert 4 <= specificity(make_memory("Amounts are kept as integers, because floats lose cents.")) <= 6
    assert specificity(make_memory(VAGUE)) <= 3


@given(st.integers(0, 30), st.sampled_from(["in quarantine", "archived"]))
def test_flagged_memories_are_never_promoted(sessions: int, flaw: str) -> None:
    assert (
        promotion_status(make_memory(PRECISE, kind="blocker"), Facts(sessions, 9, flaw), Bars(1, 1)).status == "flagged"
    )


async def kept(database: Database, project: Project, content: str = PRECISE, **changes: object) -> Memory:
    async with database.write() as tx:
        values = {"project_id": project.id, "kind": "lesson", "session_id": "s0"} | changes
        return await memories.insert(tx, make_memory(content, **values))


async def said_again(database: Database, memory: Memory, session_id: str, **changes: object) -> int:
    """Let a session say it, as capturing does."""
    quote = Evidence(memory.content, f"turn-{session_id}", "", 0, 0)
    said = Candidate(
        memory.kind, memory.summary, memory.content, quote, Origin.USER, Strength.EXPLICIT, 0.9, "test", time()
    )
    async with database.write() as tx:
        admission = Admission(Decision.AUTO, 0.9, "")
        place = SessionRef(memory.project_id or "", session_id)
        number = await captures.insert(tx, replace(said, **changes), admission, place, 30)  # type: ignore[arg-type]
        assert number is not None
        await captures.bind(tx, number, memory.id)
        origin = changes.get("origin", Origin.USER)
        await memories.restate(tx, await memories.require(tx, memory.id), time(), session_id, origin)  # type: ignore[arg-type]
    return number


async def status(database: Database, memory: Memory) -> tuple[str, int]:
    fresh = await memories.get(database, memory.id)
    one = (await standings(database, [fresh], SETTINGS))[memory.id]
    return one.status, one.sessions


async def test_a_memory_is_promoted_when_enough_sessions_have_said_it(database: Database, project: Project) -> None:
    memory = await kept(database, project)
    assert await status(database, memory) == ("observed", 1)
    for session in ("s1", "s1", "s2", "s3"):
        if session != "s1" or (await status(database, memory))[1] == 1:
            await said_again(database, memory, session)
    assert await status(database, memory) == ("promoted", 4)


async def test_rolled_back_or_foreign_statements_do_not_count(database: Database, project: Project) -> None:
    memory = await kept(database, project)
    withdrawn = await said_again(database, memory, "s1")
    await said_again(database, memory, "s2", origin=Origin.TOOL)
    async with database.write() as tx:
        await decisions.decide(tx, await captures.require(tx, withdrawn), "discarded", "user", "rolled back")
    assert await status(database, memory) == ("observed", 1)


async def test_an_unconfirmed_memory_is_not_called_archived(database: Database, project: Project) -> None:
    memory = replace(await kept(database, project), archived_at=time(), unconfirmed=True)
    known = await standings(database, [memory], SETTINGS)
    assert known[memory.id].flaw == "it is unconfirmed"


@pytest.mark.parametrize("flaw", ["poisoned", "quarantined", "superseded", "archived"])
async def test_nothing_flagged_is_promoted(database: Database, project: Project, flaw: str) -> None:
    memory = await kept(database, project)
    for session in ("s1", "s2", "s3"):
        number = await said_again(database, memory, session)
    assert (await status(database, memory))[0] == "promoted"
    verdict = Verdict(Level.HIGH, (Finding("r", Threat.INSTRUCTION, Level.HIGH, "why"),), "1")
    other = await kept(database, project, "Something else holds.", session_id="s9")
    async with database.write() as tx:
        if flaw == "poisoned":
            await poison.record_check(tx, memory.id, verdict)
        elif flaw == "quarantined":
            await decisions.quarantine(tx, await captures.require(tx, number), verdict, "looks like an attack")
        elif flaw == "superseded":
            link = Link(0, other.id, memory.id, "SUPERSEDES", "active", 1.0, "user", "said", time())
            await links.add(tx, link, "user")
        else:
            await memories.archive(tx, memory, "user", "")
    assert (await status(database, memory))[0] == "flagged"
