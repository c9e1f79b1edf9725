"""What is typed ends what holds for a time, however it is put: with the real models over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy
import pytest

from subconscious.domain.model import Admission, Decision, Origin, Relation, Role, Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.vectors import VectorIndex
from subconscious.supersession import retirement
from subconscious.supersession.pair_model import relations
from subconscious.text.occasion import bare
from subconscious.text.own_correction import without_lead
from tests.support.candidates import make_candidate
from tests.support.minds import no_embedding, store

NOW = 2_000_000_000.0


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def mind_of(database: Database, embedder: LocalEmbedder) -> RecallContext:
    async def at_hand(text: str) -> numpy.ndarray:
        vectors: numpy.ndarray = await asyncio.to_thread(embedder.embed, [text])
        mine: numpy.ndarray = vectors[0]
        return mine

    async def relate(new: str, olds: Sequence[str]) -> list[Relation]:
        return await asyncio.to_thread(relations, new, olds, embedder)

    return replace(
        RecallContext(database, None, Settings(embedder="none"), no_embedding), embed_now=at_hand, relate=relate
    )


async def in_use_after(ctx: RecallContext, project: Project, text: str) -> list[str]:
    turn = Turn("t1", "s1", Role.USER, Origin.USER, text, NOW, "", 0, len(text))
    found = await retirement.ended(ctx, [turn], [], project.id, "s1")
    async with ctx.database.write() as tx:
        await retirement.retire(tx, found, [])
    rows = await ctx.database.rows("SELECT content FROM memories WHERE archived_at IS NULL ORDER BY id")
    return [row["content"] for row in rows]


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        (
            "the sandbox is broken, so use the fake gateway until it is fixed",
            "sandbox is fixed, take the real gateway again",
        ),
        ("while ines is on vacation, omar approves the invoices", "ines is back from vacation"),
        ("this sprint no refactorings, only bugs", "new sprint. look at the parser"),
        ("this month nothing but stability work", "new month! add the export"),
    ],
)
async def test_the_end_of_what_is_temporary_needs_no_set_words(
    database: Database, project: Project, embedder: LocalEmbedder, holds: str, typed: str
) -> None:
    await store(database, project, holds, origin=Origin.USER)
    assert await in_use_after(mind_of(database, embedder), project, typed) == []


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("no merges to main until the audit is done", "merge the audit docs into my branch"),
        ("no merges to main until the audit is done", "is the audit done?"),
        ("this sprint no refactorings, only bugs", "the sprint board has a bug"),
        ("while ines is on vacation, omar approves the invoices", "show the invoices of omar"),
        ("the ci runs on arm machines", "ci runs green again"),
    ],
)
async def test_other_messages_end_nothing(
    database: Database, project: Project, embedder: LocalEmbedder, holds: str, typed: str
) -> None:
    await store(database, project, holds, origin=Origin.USER)
    assert await in_use_after(mind_of(database, embedder), project, typed) == [holds]


async def test_without_an_embedder_words_alone_decide(database: Database, project: Project) -> None:
    holds = "while ines is on vacation, omar approves the invoices"
    await store(database, project, holds, origin=Origin.USER)
    ctx = RecallContext(database, None, Settings(embedder="none"), no_embedding)
    assert await in_use_after(ctx, project, "omar need not look at invoices now, ines does") == [holds]


LASTS = "The nightly sync skips uploads that carry no checksum."


@pytest.mark.parametrize(
    ("held", "origin", "left"),
    [
        ("The nightly sync skips uploads until it is restarted.", Origin.ASSISTANT, 1),
        ("The nightly sync skips uploads until it is restarted.", Origin.USER, 0),
        (f"{LASTS} (asked: What happens to uploads during the migration?)", Origin.USER, 1),
    ],
    ids=["a finding", "temporary", "only the question names a time"],
)
async def test_only_temporary_statements_of_a_person_are_compared(
    database: Database, project: Project, embedder: LocalEmbedder, held: str, origin: Origin, left: int
) -> None:
    async def taken_in(_: str, olds: Sequence[str]) -> list[Relation]:
        return [Relation.REPLACES] * len(olds)

    ctx = replace(mind_of(database, embedder), relate=taken_in)
    await store(database, project, held, origin=origin)
    assert len(await in_use_after(ctx, project, "the nightly sync did three uploads and went quiet")) == left


LINE = "Each pull request needs a line in CHANGES.md."


class Near:
    """An index in which every memory is about as near to a text as ``cosine`` says."""

    def __init__(self, cosine: float) -> None:
        self.cosine = cosine

    async def search(self, _places: object, _vector: object, limit: int) -> list[tuple[int, float]]:
        return [(number, self.cosine) for number in range(1, limit + 1)]


@pytest.mark.parametrize(
    ("relation", "cosine", "typed", "left"),
    [
        (Relation.ENDS, 0.5, "you can stop with the changes file", 0),
        (Relation.REPLACES, 0.5, "you can stop with the changes file", 1),
        (Relation.MAY_REPLACE, 0.5, "you can stop with the changes file", 1),
        (Relation.ENDS, 0.1, "you can stop with the changes file", 1),
        (Relation.ENDS, 0.5, "can you stop with the changes file?", 1),
        (Relation.ENDS, 0.5, "stop that", 1),
    ],
    ids=["taken back", "another value", "perhaps", "about something else", "a question", "two words"],
)
async def test_a_lasting_statement_ends_only_if_it_is_surely_taken_back(
    database: Database,
    project: Project,
    embedder: LocalEmbedder,
    relation: Relation,
    cosine: float,
    typed: str,
    left: int,
) -> None:
    async def related(_: str, olds: Sequence[str]) -> list[Relation]:
        return [relation] * len(olds)

    ctx = replace(mind_of(database, embedder), relate=related, index=cast(VectorIndex, Near(cosine)))
    await store(database, project, LINE, origin=Origin.USER)
    assert len(await in_use_after(ctx, project, typed)) == left


async def test_what_is_stored_anyway_is_not_compared_twice(
    database: Database, project: Project, embedder: LocalEmbedder
) -> None:
    """Its relation to earlier statements is judged when it is stored."""
    typed = "we stopped with the changes file for good"

    async def related(_: str, olds: Sequence[str]) -> list[Relation]:
        return [Relation.ENDS] * len(olds)

    ctx = replace(mind_of(database, embedder), relate=related, index=cast(VectorIndex, Near(0.5)))
    await store(database, project, LINE, origin=Origin.USER)
    turn = Turn("t1", "s1", Role.USER, Origin.USER, typed, NOW, "", 0, len(typed))
    stored = [(make_candidate(typed), Admission(Decision.AUTO, 0.95, "sure"))]
    assert (await retirement.ended(ctx, [turn], stored, project.id, "s1")).retired == []


@pytest.mark.parametrize(
    ("typed", "ends"),
    [
        ("actually scrap the 6h thing for alerts, 1h", "dont send the same alert twice within 6h"),
        ("scrap the 6h thing for alerts", "dont send the same alert twice within 6 hours"),
        ("scrap the 12h thing for alerts", ""),
    ],
)
async def test_a_number_of_what_is_taken_back_is_in_the_statement(
    database: Database, project: Project, embedder: LocalEmbedder, typed: str, ends: str
) -> None:
    email = "alerts now. email only, no slack no sms"
    held = [email, *([ends] if ends else [])]
    for text in held:
        await store(database, project, text, origin=Origin.USER)
    ctx = replace(mind_of(database, embedder), index=cast(VectorIndex, Near(0.5)))
    assert await in_use_after(ctx, project, typed) == [email]


@pytest.mark.parametrize(
    "answer",
    [
        "neither for now. just dots (asked: Cluster markers or one per station?)",
        "neither, json files (asked: Postgres or SQLite for the cache?)",
        "keins von beiden, nur Punkte (asked: Cluster oder ein Marker pro Station?)",
    ],
)
def test_an_answer_to_another_question_says_something_else(embedder: LocalEmbedder, answer: str) -> None:
    earlier = "Neither, unix seconds (asked: Should I store times as local or UTC?)"
    assert relations(bare(answer), [bare(earlier)], embedder) == [Relation.NEITHER]


@pytest.mark.parametrize(
    ("content", "alone"),
    [
        ("Both services log to stdout (asked: Where do they log?)", "Both services log to stdout"),
        ("keine default exports mehr (asked: Was gilt?)", "keine default exports mehr"),
        ("neither, unix seconds (asked: Local or UTC?)", "neither, unix seconds (asked: Local or UTC?)"),
    ],
)
def test_only_an_answer_about_alternatives_is_compared_with_its_question(content: str, alone: str) -> None:
    assert bare(content) == alone


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("hold on wait no, millis. the buoys send more", "millis. the buoys send more"),
        ("no wait, millis", "millis"),
        ("actually no, sqlite", "sqlite"),
        ("i meant mysql", "mysql"),
        ("nein warte, mysql", "mysql"),
        ("attends non, mysql", "mysql"),
        ("espera, no, mysql", "mysql"),
        ("n\u00e3o, espera, mysql", "mysql"),
        ("no, millis", ""),
        ("wait for the tests", ""),
        ("actually nothing works", ""),
        ("actually no dashes, use dots", ""),
        ("wait no, is that right?", ""),
        ("actually no", ""),
    ],
)
def test_what_corrects_its_writer(typed: str, says: str) -> None:
    assert without_lead(typed) == says
