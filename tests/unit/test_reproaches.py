"""Reproaches: sentences that remind of a stored rule, and count as a repetition of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subconscious.capture.detectors import typed
from subconscious.capture.judge import Opinion
from subconscious.domain.hits import Surface
from subconscious.domain.model import Origin, Relation, Role, Turn
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories, responses, sessions, surfaces
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.supersession import reproaches
from subconscious.text.reproach import is_bare
from subconscious.text.reproach import reproaches as reproaches_in
from tests.support.minds import make_mind, store

RULES = [
    "no unwrap in lib code, use anyhow context",
    "dont run migrations yourself ever, i do that",
    "run the tests w cargo nextest not cargo test, always",
    "ask before adding deps",
    "its pnpm in web/ never npm",
    "never use println here, use tracing",
    "Bitte nie direkt auf main pushen, immer über einen Branch",
    "pas de commentaires en français dans le code",
]


@pytest.mark.parametrize(
    "text",
    [
        "and u unwrap'd again in server",
        "jesus, unwrap AGAIN in server/lib.rs",
        "fuck sake i said ask before adding deps",
        "I\u2019ve already told you we use tabs",
        "we use pnpm, remember?",
        "println again?!",
        "no unwrap. how many times",
        "seriously, no unwrap in lib code",
        "why did you add a dependency again without asking",
        "hab ich doch gesagt: kein npm",
        "mensch, du benutzt schon wieder npm",
        "zum letzten mal: nicht auf main pushen",
        "je t'ai déjà dit: pas de npm",
        "tu as encore mis un unwrap",
        "te dije que nada de npm",
        "has usado npm otra vez",
        "já te disse, nada de npm",
        "você usou npm de novo",
    ],
)
def test_a_reproach_is_recognised(text: str) -> None:
    assert reproaches_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "run the tests again",
        "ok, run cargo nextest again",
        "RUN THE TESTS AGAIN",
        "jesus, run it again",
        "no, run the tests again",
        "i said run the tests again",
        "can you run npm test again",
        "good, you fixed it, run cargo nextest again",
        "if you add a dep again, tell me",
        "npm test failed again, ffs",
        "npm test fails for the third time",
        "ci is red again, fix",
        "what was the port again?",
        "we are back on npm again",
        "i know i said no unwrap but here its ok",
        "forget what i said about unwrap",
        "the naming i told you is outdated",
        "earlier i said errors go to kafka, thats no longer so",
        "i told you to always run typecheck, and you did, thanks :)",
        "do you remember how we deploy?",
        "lass die tests wieder laufen",
        "die tests sind schon wieder rot",
        "relance les tests encore une fois",
        "il y a encore un bug dans le parser",
        "corre los tests otra vez",
        "roda os testes de novo",
    ],
)
def test_a_task_or_a_failure_is_none(text: str) -> None:
    assert not reproaches_in(text)
    assert not is_bare(text)


def test_only_after_an_interruption_is_a_bare_again_a_reproach() -> None:
    assert not reproaches_in("unwrap again")
    assert reproaches_in("unwrap again", interrupted=True)
    assert not reproaches_in("run it again", interrupted=True)


def said(text: str, session: str = "now", at: float = 3e9) -> Turn:
    return Turn("t", session, Role.USER, Origin.USER, text, at, "f", 0, 1)


async def rules_of(database: Database, project: Project) -> dict[int, str]:
    return {await store(database, project, rule, kind="preference", origin=Origin.USER): rule for rule in RULES}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("and u unwrap'd again in server. propagate errors w context, seriously how many times", RULES[0]),
        ("jesus, unwrap AGAIN in server/lib.rs", RULES[0]),
        ("you ran cargo test again", RULES[2]),
        ("you ran the tests again", None),
        ("fuck sake i said ask before adding deps", RULES[3]),
        ("how many times, ask before you add a dependency", RULES[3]),
        ("you used npm again", RULES[4]),
        ("println again?!", RULES[5]),
        ("du hast schon wieder direkt auf main gepusht", RULES[6]),
        ("tu as encore mis des commentaires en français", RULES[7]),
        ("as i said, the port is 8080", None),
        ("you changed the server code again", None),
        ("you pushed again", None),
        ("run cargo nextest again", None),
    ],
)
async def test_a_reproach_reminds_of_the_one_rule_that_it_is_about(
    database: Database, project: Project, text: str, rule: str | None
) -> None:
    known = await rules_of(database, project)
    found = await reproaches.reminded(make_mind(database), [said(text)], project.id)
    assert [known[one.memory_id] for one in found] == [rule] * (rule is not None)


async def test_two_rules_that_fit_alike_are_left(database: Database, project: Project) -> None:
    await rules_of(database, project)
    await store(database, project, "no unwrap in the parser", kind="preference")
    assert not await reproaches.reminded(make_mind(database), [said("you unwrapped again")], project.id)


async def test_findings_of_the_assistant_are_never_meant(database: Database, project: Project) -> None:
    await store(database, project, RULES[0], kind="preference", origin=Origin.ASSISTANT)
    assert not await reproaches.reminded(make_mind(database), [said("you unwrapped again")], project.id)


async def test_the_pair_model_recognises_a_rule_in_other_words(database: Database, project: Project) -> None:
    known = await rules_of(database, project)

    async def relate(new: str, olds: list[str]) -> list[Relation]:
        return [Relation.SAME if "migrations" in old else Relation.NEITHER for old in olds]

    ctx: RecallContext = replace(make_mind(database), relate=relate)  # type: ignore[arg-type]
    found = await reproaches.reminded(ctx, [said("i told you, migrations are my job")], project.id)
    assert [known[one.memory_id] for one in found] == [RULES[1]]


async def test_it_counts_once_a_session_and_not_after_the_rule_ended(database: Database, project: Project) -> None:
    (number,) = [one for one, rule in (await rules_of(database, project)).items() if rule == RULES[0]]
    before = (await memories.get(database, number)).recurrence
    found = await reproaches.reminded(make_mind(database), [said("you unwrapped again")], project.id)
    async with database.write() as tx:
        await reproaches.count(tx, found, "now", {number})
    assert (await memories.get(database, number)).recurrence == before
    async with database.write() as tx:
        await reproaches.count(tx, found, "now")
    assert (await memories.get(database, number)).recurrence == before + 1
    assert (await responses.of_memories(database, [number]))[number].violated == 0


@pytest.mark.parametrize(("at", "violated"), [(3e9 - 60, True), (3e9 - 1, False)])
async def test_a_rule_that_the_session_had_was_violated(
    database: Database, project: Project, at: float, violated: bool
) -> None:
    (number,) = [one for one, rule in (await rules_of(database, project)).items() if rule == RULES[0]]
    rule = await memories.get(database, number)
    found = await reproaches.reminded(make_mind(database), [said("you unwrapped again")], project.id)
    given = Surface("now", "start/startup", at, number, rule.content_hash, 1, "", 0.5, 1.0)
    async with database.write() as tx:
        await sessions.record_activity(tx, "now", project.id, at, transcript="", cwd="/p")
        await surfaces.record(tx, project.id, [given])
        await reproaches.count(tx, found, "now")
    assert bool((await responses.of_memories(database, [number]))[number].violated) is violated
    assert ((await memories.get(database, number)).recurrence > rule.recurrence) is not violated


def candidates(text: str) -> list[str]:
    sure = {one: Opinion(1.0, "rule") for one in typed.spoken(said(text))}
    return [one.content for one in typed.extract([said(text)], sure)]


@pytest.mark.parametrize("text", ["jesus, unwrap AGAIN in server/lib.rs.", "You used npm again!", "schon wieder npm!"])
def test_a_reproach_that_states_nothing_is_no_candidate(text: str) -> None:
    assert not candidates(text)
    assert candidates(f"{text} No unwrap in lib code.") == ["No unwrap in lib code."]


@pytest.mark.parametrize(
    "text",
    [
        "fuck sake i said ask before adding deps",
        "you used npm again, its pnpm in web/",
        "no unwrap AGAIN please",
        "deploys go through jenkins again",
        "ugh, comments which repeat the code again...",
        "seriously, no unwrap in lib code",
    ],
)
def test_one_that_states_a_rule_is(text: str) -> None:
    assert candidates(text)
