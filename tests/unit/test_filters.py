from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subconscious.domain.model import Memory
from subconscious.recall.dates import Span
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.understanding import ParsedQuery
from subconscious.settings.settings import Settings
from subconscious.store import memories, vectors
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.store.vectors import NumpyIndex
from tests.support.values import NOON, make_memory

DAY = 86_400.0


async def no_embedding(text: str) -> None:
    return None


def mind_of(database: Database, **chosen: Any) -> RecallContext:
    return RecallContext(database, None, Settings(embedder="none", **chosen), no_embedding)


async def store(database: Database, project: Project, content: str, **changes: Any) -> int:
    async with database.write() as tx:
        return (await memories.insert(tx, make_memory(content, project_id=project.id, **changes))).id


async def ids(database: Database, project: Project, wanted: ParsedQuery, limit: int = 10) -> list[int]:
    return [hit.memory.id for hit in await recall(mind_of(database), wanted, project.id, limit)]


@pytest.mark.parametrize(
    ("which", "changes"),
    [
        (Filter(kinds=("lesson", "pattern")), {"kind": "lesson"}),
        (Filter(branch="fix/login"), {"branch": "fix/login"}),
        (Filter(file="src/pay.py"), {"files": ("src/pay.py",)}),
        (Filter(file="pay.py"), {"files": ("src/pay.py",)}),
        (Filter(file="/src/"), {"files": ("src/pay.py", "x")}),
        (Filter(tags=("Billing",)), {"tags": ("billing", "x")}),
        (Filter(since=NOON + DAY), {"said_at": NOON + DAY}),
        (Filter(until=NOON), {"said_at": NOON - DAY}),
        (Filter(min_confidence=0.95), {"confidence": 0.95}),
    ],
    ids=lambda value: str(value) if isinstance(value, Filter) else "",
)
@pytest.mark.slow
async def test_a_rare_memory_does_not_drown(
    database: Database, project: Project, which: Filter, changes: dict[str, Any]
) -> None:
    """Sixty others fit the words better: engines that were asked for fifty would not name it."""
    for number in range(60):
        await store(database, project, f"retry queue retry queue {number}", files=("lib/pay_rates.py",))
    rare = await store(database, project, "much is said here, at length, and of the retry queue too", **changes)
    assert await ids(database, project, ParsedQuery("retry queue", which)) == [rare]
    found, total = await memories.listing(database, Filter(project.id, **_said(which)), 10)
    assert ([memory.id for memory in found], total) == ([rare], 1)


def _said(which: Filter) -> dict[str, Any]:
    names = ("kinds", "branch", "file", "tags", "since", "until", "min_confidence")
    return {name: getattr(which, name) for name in names}


async def test_a_rare_memory_does_not_drown_among_vectors(database: Database, project: Project) -> None:
    near: vectors.Vector = numpy.eye(8, dtype=numpy.float32)[0]
    far = (near + numpy.eye(8, dtype=numpy.float32)[1]) / numpy.float32(2**0.5)
    common = [await store(database, project, f"one {number}") for number in range(60)]
    rare = await store(database, project, "another", kind="lesson")
    async with database.write() as tx:
        await vectors.save(tx, "toy", [vectors.Row(one, project.id, near) for one in common])
        await vectors.save(tx, "toy", [vectors.Row(rare, project.id, far)])

    async def embed(text: str) -> vectors.Vector:
        return near

    ctx = RecallContext(database, NumpyIndex(database, "toy"), Settings(embedder="none"), embed)
    found = await recall(ctx, ParsedQuery("meaning", Filter(kinds=("lesson",))), project.id, 5)
    assert [hit.memory.id for hit in found] == [rare]


async def test_phrases_must_occur_and_words_left_out_must_not(database: Database, project: Project) -> None:
    exact = await store(database, project, "The retry queue is bounded.")
    apart = await store(database, project, "The queue may retry.")
    draft = await store(database, project, "The retry queue, a draft.")
    assert await ids(
        database, project, ParsedQuery("retry queue", Filter(phrases=("retry queue",), without=("draft",)))
    ) == [exact]
    assert set(await ids(database, project, ParsedQuery("retry queue", Filter(without=("bounded",))))) == {apart, draft}
    assert await ids(database, project, ParsedQuery("retry", Filter(phrases=("!?",)))) == []


async def test_neighbours_keep_to_the_filter_too(database: Database, project: Project) -> None:
    hit = await store(database, project, "The retry queue.", kind="lesson", session_id="s")
    await store(database, project, "Beside it.", session_id="s")
    assert await ids(database, project, ParsedQuery("retry queue", Filter(kinds=("lesson",)))) == [hit]


async def test_archived_memories_are_ranked(database: Database, project: Project) -> None:
    weak = await store(database, project, "Of many other things, and of the queue.")
    best = await store(database, project, "The retry queue.")
    for one in (weak, best):
        async with database.write() as tx:
            await memories.archive(tx, await memories.get(database, one), "user", "")
    await store(database, project, "The retry queue lives.")
    assert await ids(database, project, ParsedQuery("retry queue", Filter(archived=True))) == [best, weak]


async def test_a_time_that_is_spoken_of_raises_and_hides_nothing(database: Database, project: Project) -> None:
    old = await store(database, project, "The retry queue is bounded.", said_at=NOON - 100 * DAY)
    new = await store(database, project, "The retry queue is bounded now.", said_at=NOON)
    then = Span(NOON - 101 * DAY, NOON - 99 * DAY)
    assert await ids(database, project, ParsedQuery("retry queue bounded", span=then)) == [old, new]
    assert set(await ids(database, project, ParsedQuery("retry queue bounded", span=Span(until=0.0)))) == {old, new}


async def test_what_is_of_the_time_is_looked_for_beyond_what_fits_best(database: Database, project: Project) -> None:
    for number in range(60):
        await store(database, project, f"The retry queue {'and more ' * number}")
    then = await store(database, project, f"The retry queue {'and more ' * 60}", said_at=NOON - 50 * DAY)
    assert then not in await ids(database, project, ParsedQuery("retry queue"), 50)
    span = Span(NOON - 51 * DAY, NOON - 49 * DAY)
    assert then in await ids(database, project, ParsedQuery("retry queue", span=span), 30)


async def test_a_kind_that_is_spoken_of_raises_a_little(database: Database, project: Project) -> None:
    plain = await store(database, project, "The retry queue is bounded.", kind="learning")
    meant = await store(database, project, "The retry queue is bounded.", kind="decision")
    assert await ids(database, project, ParsedQuery("retry queue", kinds=("decision",))) == [meant, plain]


async def test_without_words_what_is_of_the_time_is_listed(database: Database, project: Project) -> None:
    await store(database, project, "Long ago.", said_at=NOON - 9 * DAY)
    first = await store(database, project, "One.", said_at=NOON)
    second = await store(database, project, "Two.", said_at=NOON + 60)
    assert await ids(database, project, ParsedQuery("what did we do", span=Span(NOON - DAY, NOON + DAY))) == [
        second,
        first,
    ]


async def test_a_page_of_two_scopes_is_in_order(database: Database, project: Project) -> None:
    async with database.write() as tx:
        mine = (await memories.insert(tx, make_memory("Everywhere.", said_at=NOON + 1))).id
    first = await store(database, project, "First.", said_at=NOON)
    last = await store(database, project, "Last.", said_at=NOON + 2)
    found, total = await memories.listing(database, Filter(project.id), 2)
    assert ([memory.id for memory in found], total) == ([last, mine], 3)
    rest, _ = await memories.listing(database, Filter(project.id), 2, 2)
    assert [memory.id for memory in rest] == [first]


HOLDS: dict[str, Callable[[Memory, Filter], bool]] = {
    "kinds": lambda memory, which: not which.kinds or memory.kind in which.kinds,
    "branch": lambda memory, which: which.branch in ("", memory.branch),
    "tags": lambda memory, which: set(which.tags) <= set(memory.tags),
    "since": lambda memory, which: which.since is None or memory.said_at >= which.since,
    "until": lambda memory, which: which.until is None or memory.said_at < which.until,
    "confidence": lambda memory, which: memory.confidence >= which.min_confidence,
}
FILTERS = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from(("decision", "lesson")), unique=True, max_size=2).map(tuple),
    branch=st.sampled_from(("", "main", "x")),
    tags=st.lists(st.sampled_from(("a", "b")), unique=True, max_size=2).map(tuple),
    since=st.none() | st.integers(0, 3).map(float),
    until=st.none() | st.integers(0, 3).map(float),
    min_confidence=st.sampled_from((0.0, 0.5, 0.9)),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(which=FILTERS)
async def test_a_filter_means_what_it_says(database: Database, which: Filter) -> None:
    """Each part against a plain comparison in Python."""
    if not await memories.ids_of(database, Filter()):
        async with database.write() as tx:
            for number in range(24):
                await memories.insert(tx, _varied(number))
    everything, _ = await memories.listing(database, Filter(), 100)
    expected = {memory.id for memory in everything if all(holds(memory, which) for holds in HOLDS.values())}
    assert set(await memories.ids_of(database, which)) == expected


def _varied(number: int) -> Memory:
    return make_memory(
        f"Memory {number}",
        kind=("decision", "lesson", "pattern")[number % 3],
        branch=("", "main", "x")[number // 3 % 3],
        tags=((), ("a",), ("a", "b"))[number // 2 % 3],
        said_at=float(number % 4),
        confidence=(0.4, 0.6, 0.95)[number % 3],
    )


@pytest.mark.parametrize("text", ['"', "a'b", "x AND y", "NEAR(a b)", "col : b", "*", "\u0000", "-", "(", "\U0001d518"])
async def test_no_text_breaks_a_query(database: Database, project: Project, text: str) -> None:
    await store(database, project, "Anything.")
    which = Filter(project.id, file=text, tags=(text,), phrases=(text,), without=(text,))
    assert await memories.listing(database, which, 5) == ([], 0)
