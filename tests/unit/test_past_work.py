"""Which earlier session's story a prompt is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import time
from typing import Any

import numpy
import pytest

from bench import story_pairs, surfacing_pairs
from bench.tuned import tuned
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import PLAN, Handover, likeness
from subconscious.sessions.likeness import likest
from subconscious.settings.settings import Settings
from subconscious.store import handovers, sessions
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.text.quoting import CLOSING, OPENING

DAY = 86_400.0
ASKED = "Can you track the branch name of a checkpoint in metadata.json?"
BRANCH = Handover(
    asked='"check what effort it would be to store the branch in metadata.json"',
    done="changed checkpoint.go, committed.go",
    reported="Added Branch to the metadata that WriteCommitted stores; it stays empty on a detached head.",
    files=("checkpoint.go", "committed.go"),
)
LICENCE = Handover(asked='"add a standard licence"', done="changed LICENSE", reported="Created LICENSE.")
COLOURS = Handover(
    asked='"make the buttons blue"', done="changed button.css", reported="Changed the colour of buttons."
)


async def meaning(text: str) -> Any:
    """An embedder that knows two subjects."""
    about = numpy.array([1.0 if "metadata.json" in text else 0.0, 1.0 if "button" in text else 0.0, 0.2])
    return about / numpy.linalg.norm(about)


async def nothing(text: str) -> None:
    return None


def minded(database: Database, **settings: object) -> RecallContext:
    return RecallContext(database, None, tuned(embedder="none", **settings), meaning)


async def over(database: Database, project: Project, stories: Mapping[str, Handover]) -> None:
    async with database.write() as tx:
        for number, (name, story) in enumerate(stories.items()):
            at = time() - 9 * DAY + number
            await sessions.record_activity(tx, name, project.id, at, transcript="", cwd="/p")
            await sessions.update_from_transcript(tx, name, branch="main", prompts=["a prompt"])
            await sessions.save_story(tx, name, sessions.Story(name, "", (), "", "{}", story.to_json()))
            await sessions.end(tx, name, at, "ended", "other")


async def given(ctx: RecallContext, project: Project, text: str = ASKED, session: str = "now") -> str:
    return (await surface_prompt(ctx, Prompt(session, project.id, text, "main"))).text


ALL = {"branch": BRANCH, "licence": LICENCE, "colours": COLOURS}


async def test_a_prompt_is_given_the_story_of_the_session_that_it_resembles(
    database: Database, project: Project
) -> None:
    await over(database, project, ALL)
    told = await given(minded(database), project)
    assert "Record of an earlier session that this prompt resembles" in told
    assert "Added Branch to the metadata" in told
    assert "LICENSE" not in told
    assert [one.from_id for one in await handovers.of_session(database, "now")] == ["branch"]


async def test_a_story_is_told_once(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    await given(minded(database), project)
    assert await given(minded(database), project) == ""


@pytest.mark.parametrize("text", ["thanks, go on", "commit and push", "Why is the sky dark at night?"])
async def test_a_prompt_that_resembles_none_is_given_no_story(database: Database, project: Project, text: str) -> None:
    await over(database, project, ALL)
    assert await given(minded(database), project, text) == ""


async def test_an_approved_plan_is_given_no_story(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    assert await given(minded(database), project, f"{PLAN}\n\n# {ASKED}") == ""
    assert await given(minded(database), project, ASKED) != ""


async def test_a_story_that_later_work_has_overtaken_is_not_told(database: Database, project: Project) -> None:
    later = Handover(asked='"rename the fields"', done="changed files", files=("checkpoint.go", "committed.go"))
    await over(database, project, {"branch": BRANCH, "licence": LICENCE, "colours": COLOURS})
    assert "Added Branch" in await given(minded(database), project)
    await over(database, project, {"later": later})
    assert "Added Branch" not in await given(minded(database), project, session="other")


async def test_words_alone_are_not_enough(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    wordless = RecallContext(database, None, Settings(embedder="none"), nothing)
    assert await given(wordless, project) == ""


async def test_without_hand_overs_no_story_is_told(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    assert await given(minded(database, handover=False), project) == ""


async def test_stories_share_the_budget_of_the_session(database: Database, project: Project) -> None:
    long = replace(BRANCH, reported=" ".join([BRANCH.reported] * 9))
    several = {f"branch {number}": replace(long, asked=f"{long.asked}{number}", files=()) for number in range(5)}
    stories = several | {"licence": LICENCE, "colours": COLOURS}
    await over(database, project, stories)
    ctx = minded(database)
    told = [await given(ctx, project) for _ in range(6)]
    assert len(await handovers.of_session(database, "now")) == 2
    assert 400 < max(map(len, told)) - len(OPENING) - len(CLOSING) <= 600
    assert sum(len(text) - len(OPENING) - len(CLOSING) for text in told if text) <= 4 * ctx.settings.session_tokens


async def test_a_session_without_room_is_told_no_story(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    assert await given(minded(database, session_surfaces=0), project) == ""
    assert await given(minded(database, session_tokens=50), project) == ""


def test_rare_words_weigh_more_and_a_long_story_counts_for_less() -> None:
    long = Handover(asked='"fix it"', reported=f"{BRANCH.reported} " + " ".join(f"word{n}" for n in range(200)))
    assert [one.place for one in likest(ASKED, [LICENCE, long, BRANCH], 2)] == [2, 1]
    common = [Handover(asked=f'"checkpoint {n}"', done="x") for n in range(20)]
    assert likest("checkpoint licence", [*common, LICENCE], 1)[0].place == 20


def test_the_weights_are_those_that_the_bench_fits() -> None:
    names, pairs = story_pairs.read_pairs()
    fitted = dict(zip(["constant", *names], story_pairs.fit(pairs), strict=True))
    shipped = {
        "constant": likeness.CONSTANT,
        "cosine": likeness.COSINE,
        "strength": likeness.STRENGTH,
        "names": likeness.NAMES,
        "margin": likeness.MARGIN,
        "requests": likeness.REQUESTS,
    }
    assert shipped == pytest.approx(fitted, abs=0.02)


def test_labelled_pairs_say_that_more_relevance_is_more_useful() -> None:
    found = surfacing_pairs.read_pairs()
    _, slope = surfacing_pairs.curve(found)
    given = [pair for pair in found if pair.relevance >= Settings().surface_relevance]
    assert slope > 0
    assert sum(pair.useful for pair in given) / len(given) >= 0.75
