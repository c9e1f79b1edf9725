"""Recall as a whole: the second look, links, what is said twice, and what somebody wants to see."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.tuned import tuned
from subconscious.domain.model import Link
from subconscious.recall.engines import find
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext, SearchOptions, with_options
from subconscious.store import full_text, links, memories, vectors
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.vectors import NumpyIndex, Row
from tests.support.values import NOON, make_memory

DIM = 8
Given = list[tuple[str, list[float]]]


def unit(numbers: list[float]) -> np.ndarray:
    vector = np.zeros(DIM, np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


async def filled(database: Database, project: Project, given: Given) -> list[int]:
    async with database.write() as tx:
        kept = [(await memories.insert(tx, make_memory(text, project_id=project.id))).id for text, _ in given]
        rows = [Row(one, project.id, unit(way)) for one, (_, way) in zip(kept, given, strict=True)]
        await vectors.save(tx, "toy", rows)
    return kept


def mind_of(database: Database, asked: list[float], **settings: Any) -> RecallContext:
    async def embed(text: str) -> np.ndarray:
        return unit(asked)

    return RecallContext(database, NumpyIndex(database, "toy"), tuned(**settings), embed)


async def found(ctx: RecallContext, project: Project, text: str, limit: int = 10) -> list[int]:
    return [hit.memory.id for hit in await recall(ctx, text, project.id, limit)]


async def test_a_second_look_finds_what_is_like_the_first_answers(database: Database, project: Project) -> None:
    """Five answers share something that the question lacks; a sixth has little else."""
    noise: Given = [(f"Noise {n}.", [0.3, 0.2, 0, 0, 1, n / 40]) for n in range(30)]
    answers: Given = [(f"Answer {n} of the ledger.", [1, 0, 1, n / 100]) for n in range(5)]
    *_, far = await filled(database, project, [*noise, *answers, ("Another wording.", [0, -0.4, 1])])
    asked = [1.0, 0.3]
    assert far not in await found(mind_of(database, asked, fusion_feedback=0), project, "ledger")
    assert far in await found(mind_of(database, asked), project, "ledger")


async def test_what_has_the_searched_word_comes_first(database: Database, project: Project) -> None:
    """Its neighbours in the session raise the score of a memory without the word."""
    texts = ["The rate limit is 30.", "No unwrap in library code.", "Tokens expire daily.", "Dates are UTC."]
    given: Given = [(text, [1, at / 10]) for at, text in enumerate(texts)]
    worded = (await filled(database, project, given))[1]
    ctx = mind_of(database, [1.0, -0.5], fusion_alpha=0.9)
    assert (await found(ctx, project, "unwrap", 1)) == [worded]


async def test_what_is_linked_with_a_hit_is_found_with_it(database: Database, project: Project) -> None:
    cause, effect, other = await filled(
        database,
        project,
        [("The ledger lost a cent.", [1]), ("Floats are banned.", [0, 1]), ("Tea is hot.", [0, 0, 1])],
    )
    async with database.write() as tx:
        await links.add(tx, Link(0, cause, effect, "CAUSED", "active", 0.9, "test", "", NOON), "test")
    for preset in ("relative", "rrf", "nexus"):
        hits = await recall(mind_of(database, [1], fusion=preset), "ledger", project.id, 10)
        assert [hit.memory.id for hit in hits] == [cause, effect]
        assert other not in [hit.memory.id for hit in hits]
        assert [engine.engine for engine in hits[1].engines][:1] == ["graph"]


async def test_what_is_said_twice_is_shown_once_unless_it_differs(database: Database, project: Project) -> None:
    first, _, third = await filled(
        database,
        project,
        [
            ("The ledger listens on port 80.", [1, 0.1]),
            ("On port 80 the ledger listens.", [1, 0.11]),
            ("The ledger listens on port 81.", [1, 0.12]),
        ],
    )
    shown = await found(mind_of(database, [1, 0.1]), project, "ledger port")
    assert len(shown) == 2
    assert third in shown
    assert first in shown
    assert len(await found(mind_of(database, [1, 0.1], recall_alike=1), project, "ledger port")) == 3


async def test_a_request_says_what_the_settings_say_otherwise(database: Database) -> None:
    ctx = mind_of(database, [1], recall_budget="deep")
    plain = with_options(ctx, SearchOptions()).wanted("an idea")
    assert (plain.mode, plain.relevance, plain.tokens, plain.alone) == ("any", 0.0, 6000, False)
    asked = with_options(ctx, SearchOptions(preset="nexus", budget="lean")).wanted("an idea for the ledger")
    assert (asked.mode, asked.hits, asked.relevance, asked.tokens, asked.alone) == (
        "brainstorming",
        30,
        0.5,
        20_000,
        True,
    )
    free = with_options(ctx, SearchOptions(preset="nexus", mode="any")).wanted("an idea")
    assert (free.mode, free.relevance) == ("any", 0.3)


async def test_words_are_looked_up_while_the_question_is_being_embedded(
    database: Database, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (told,) = await filled(database, project, [("The ledger is slow.", [1])])
    looked_up, search = asyncio.Event(), full_text.search

    async def search_and_tell(*given: Any) -> Any:
        looked_up.set()
        return await search(*given)

    async def embed(text: str) -> np.ndarray:
        await asyncio.wait_for(looked_up.wait(), 5)
        return unit([1])

    monkeypatch.setattr(full_text, "search", search_and_tell)
    (hit,) = await recall(replace(mind_of(database, [1]), embed=embed), "ledger", project.id, 10)
    assert (hit.memory.id, {engine.engine for engine in hit.engines}) == (told, {"text", "vector"})


async def test_the_same_question_is_answered_from_memory_until_something_changes(
    database: Database, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await filled(database, project, [("The ledger is slow.", [1]), ("The ledger is red.", [1, 1])])
    ctx = mind_of(database, [1])
    asked: list[str] = []

    async def find_and_tell(*given: Any) -> Any:
        asked.append(given[2].text)
        return await find(*given)

    monkeypatch.setattr("subconscious.recall.pipeline.find", find_and_tell)
    assert await found(ctx, project, "ledger") == await found(ctx, project, "ledger") == [first, second]
    assert asked == ["ledger"]
    (third,) = await filled(database, project, [("The ledger is new.", [1, 0, 1])])
    assert third in await found(ctx, project, "ledger")
    assert await found(ctx, project, "ledger", limit=200) == await found(ctx, project, "ledger", limit=200)
    assert len(asked) == 3
