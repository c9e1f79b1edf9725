"""What is said of a memory wherever it surfaces: conflicts, what took its place, age, trust; and what ranks lower."""

from __future__ import annotations

from dataclasses import replace
from time import time

from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.hits import Hit
from subconscious.domain.model import Level, Memory, Verdict
from subconscious.domain.trust import Repute, Trust
from subconscious.framing.rules import Budget, compose, line_of, survivors
from subconscious.recall.pipeline import recall
from subconscious.recall.ranking import decay_factor
from subconscious.recall.trust_notes import of_hits, reputes
from subconscious.store import memories, poison
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from tests.support import frames
from tests.support.linking import connect
from tests.support.minds import make_mind, store
from tests.support.values import make_memory

CENTS = "Amounts are kept as integer cents in the ledger."
FLOATS = "Amounts are kept as floats in the ledger."
WIDE = Budget(10**6, 10**6, 100)


async def both(database: Database, project: Project) -> tuple[int, int]:
    now = time()
    return (
        await store(database, project, FLOATS, said_at=now),
        await store(database, project, CENTS, said_at=now),
    )


async def test_what_took_a_place_stands_before_what_had_it(database: Database, project: Project) -> None:
    """However well the old words fit the question, and the new ones do not."""
    old, new = await both(database, project)
    found = [hit.memory.id for hit in await recall(make_mind(database), FLOATS, project.id, 9)]
    assert found[0] == old
    await connect(database, new, old, "SUPERSEDES")
    found = [hit.memory.id for hit in await recall(make_mind(database), FLOATS, project.id, 9)]
    assert (found.index(new) < found.index(old), len(found)) == (True, len(set(found)))


async def test_what_is_superseded_ranks_at_half_and_says_so(database: Database, project: Project) -> None:
    old, new = await both(database, project)
    ctx = make_mind(database)
    before = {hit.memory.id: hit for hit in await recall(ctx, "how are amounts kept as floats", project.id, 9)}
    await connect(database, new, old, "SUPERSEDES")
    after = {hit.memory.id: hit for hit in await recall(ctx, "how are amounts kept as floats", project.id, 9)}
    assert abs(after[old].decay / before[old].decay - 0.5) < 1e-3
    assert after[old].relevance == before[old].relevance  # decay orders, it hides none
    assert abs(after[new].decay / before[new].decay - 1) < 1e-3
    assert (after[old].repute, after[new].repute) == (
        Repute(Trust.MEDIUM, (), (new,)),
        Repute(Trust.HIGH),
    )
    for off in ({"links": False}, {"superseded_factor": 1.0}):
        plain = await recall(make_mind(database, **off), "how are amounts kept as floats", project.id, 9)
        assert abs({hit.memory.id: hit.decay for hit in plain}[old] / before[old].decay - 1) < 1e-3


async def test_a_start_and_a_prompt_mark_both_sides_of_a_conflict(database: Database, project: Project) -> None:
    old, new = await both(database, project)
    await connect(database, old, new, "CONTRADICTS")
    ctx = make_mind(database, surface_relevance=0.0)
    begun = await surface_start(ctx, Start("s", project.id, "start/startup"))
    asked = await surface_prompt(ctx, Prompt("t", project.id, "are amounts in the ledger floats or cents"))
    for text in (begun.text, asked.text):
        assert f"said by the user, conflicts with [{new}]: {FLOATS}" in text
        assert f"said by the user, conflicts with [{old}]: {CENTS}" in text
        assert len(frames.read(text)[0]) == 2


async def test_a_superseded_lesson_is_not_given(database: Database, project: Project) -> None:
    old = await store(database, project, "Never rebase.", kind="lesson")
    new = await store(database, project, "Always rebase.", kind="lesson", said_at=time())
    await connect(database, new, old, "SUPERSEDES")
    begun = await surface_start(make_mind(database), Start("s", project.id, "start/startup"))
    assert [hit.memory.id for hit in begun.hits] == [new]
    asked = await surface_prompt(make_mind(database, surface_relevance=0.0), Prompt("t", project.id, "rebase"))
    assert [hit.memory.id for hit in asked.hits] == [new]


async def test_what_is_proposed_or_refused_marks_nothing(database: Database, project: Project) -> None:
    old, new = await both(database, project)
    await connect(database, old, new, "CONTRADICTS", "proposed")
    await connect(database, new, old, "SUPERSEDES", "refused")
    ctx = make_mind(database)
    found = await recall(ctx, "amounts ledger", project.id, 9)
    assert {hit.repute for hit in found} == {Repute(Trust.HIGH)}


async def test_suspicion_and_age_are_looked_up(database: Database, project: Project) -> None:
    ids = [await store(database, project, f"Statement {number}.", said_at=time()) for number in range(3)]
    stale = await store(database, project, "Long ago.", said_at=time() - 91 * 86_400)
    async with database.write() as tx:
        for memory_id, level in zip(ids, (Level.MEDIUM, Level.LOW, Level.NONE), strict=True):
            await poison.record_check(tx, memory_id, Verdict(level, (), "1"))
    found = list((await memories.get_many(database, [*ids, stale])).values())
    stand = await reputes(database, found, make_mind(database).settings, time(), project.id)
    trusts = [Trust.SUSPECT, Trust.MEDIUM, Trust.HIGH, Trust.MEDIUM]
    assert [stand[number].trust for number in (*ids, stale)] == trusts
    assert [stand[number].stale for number in (*ids, stale)] == [False, False, False, True]
    assert await reputes(database, found, make_mind(database, trust_marks=False).settings, time()) == {}


async def test_what_was_looked_up_is_not_looked_up_again(database: Database, project: Project) -> None:
    old, new = await both(database, project)
    ctx = make_mind(database)
    known = Repute(Trust.LOW)
    hits = [Hit(await memories.get(database, number), 1.0, 1.0) for number in (old, new)]
    stood = await of_hits(database, [replace(hits[0], repute=known), hits[1]], ctx.settings, time())
    assert [hit.repute for hit in stood] == [known, Repute(Trust.HIGH)]


def test_the_factor_touches_only_what_is_gone(database: Database) -> None:
    ctx, now = make_mind(database), time()
    one, two = make_memory(id=1, said_at=now), make_memory(id=2, said_at=now, pinned=True)
    assert (decay_factor(ctx, one, now, {1}), decay_factor(ctx, one, now, {2}), decay_factor(ctx, two, now, {2})) == (
        0.5,
        1.0,
        0.5,
    )


stands = st.builds(
    Repute,
    st.sampled_from(Trust),
    st.lists(st.integers(1, 10**6), max_size=6).map(tuple),
    st.lists(st.integers(1, 10**6), max_size=6).map(tuple),
    st.booleans(),
)


@given(st.lists(st.tuples(st.text(max_size=200), stands), max_size=5))
def test_a_marked_frame_reads_back(told: list[tuple[str, Repute]]) -> None:
    hits = [Hit(make_memory(text, id=number), 1.0, 1.0, repute=stand) for number, (text, stand) in enumerate(told, 1)]
    items, _ = frames.read(compose(hits, WIDE, "").text)
    assert [item.id for item in items] == [hit.memory.id for hit in hits]
    known = {hit.memory.id: hit.repute for hit in hits if hit.repute}
    kept, _ = frames.read(survivors([hit.memory for hit in hits], WIDE, reputes=known))
    assert [item.id for item in kept] == [hit.memory.id for hit in hits]


def test_what_is_ordinary_is_not_mentioned() -> None:
    plain: Memory = make_memory(id=3)
    for trust in (Trust.VERIFIED, Trust.HIGH, Trust.MEDIUM):
        assert line_of(plain, "", repute=Repute(trust)) == line_of(plain, "")
    marked = line_of(plain, "", repute=Repute(Trust.SUSPECT, (5, 6, 7, 8), (9,), stale=True))
    assert "conflicts with [5] [6] [7], superseded by [9], stale, suspect: may be poisoned: " in marked
    assert ", low trust: " in line_of(plain, "", repute=Repute(Trust.LOW))
