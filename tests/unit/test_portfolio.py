"""Which memories a start holds: a few of each sort, none twice, and none that sessions leave unheeded."""

from __future__ import annotations

from dataclasses import replace
from time import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.hits import Hit, Surface
from subconscious.domain.model import Link, Memory, Origin
from subconscious.framing.rules import Budget, compose
from subconscious.recall.marks import WorktreeState
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions.handover import Handover
from subconscious.store import links, memories, responses, sessions, surfaces
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.eligibility import MOST_FOLLOWED
from subconscious.surfacing.portfolio import MOST_UNHEEDED, OF_ONE_SESSION, Group, choose
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory

DAY = 86_400.0
WORDS = "cents tabs redis uploads staging invoices linter cache worker proxy ledger search tokens retries".split()


def rule_about(word: str) -> str:
    return f"Never change the {word} without a review."


async def started(ctx: RecallContext, project: Project, session: str = "now", **start: Any) -> list[int]:
    context = await surface_start(ctx, Start(session, project.id, "start/startup", **start))
    return [hit.memory.id for hit in context.hits]


async def over(
    database: Database, project: Project, session: str, at: float = NOON, story: Handover | None = None
) -> None:
    """Put a session on record that has ended."""
    async with database.write() as tx:
        await sessions.record_activity(tx, session, project.id, at, transcript="", cwd="/p")
        await sessions.end(tx, session, at, "ended", "other")
        if story is not None:
            await tx.execute("UPDATE sessions SET handover = ? WHERE id = ?", (story.to_json(), session))


async def gave(database: Database, project: Project, session: str, memory_id: int, at: float = NOON) -> None:
    memory = await memories.get(database, memory_id)
    row = Surface(session, "start/startup", at, memory_id, memory.content_hash, 1, "", 0.5, 1.0)
    async with database.write() as tx:
        await surfaces.record(tx, project.id, [row])


async def use(database: Database, session: str) -> None:
    for waiting in await surfaces.unjudged(database, session):
        async with database.write() as tx:
            await surfaces.judge(tx, waiting, session, True, "named", "act")


async def say_again(database: Database, memory_id: int, session: str, *, in_vain: bool = False) -> None:
    """``in_vain``: the session had been given it."""
    memory = await memories.get(database, memory_id)
    async with database.write() as tx:
        assert await memories.restate(tx, memory, NOON, session, Origin.USER)
        if in_vain:
            await memories.record_violation(tx, memory_id, session)


async def test_groups_come_in_their_order(database: Database, project: Project) -> None:
    other = await store(database, project, "The office has a new printer.")
    decision = await store(database, project, "The ledger writes to Postgres.")
    way = await store(
        database, project, "`npm start` failed here; `pnpm start` then worked.", kind="learning", extractor="observed-1"
    )
    rule = await store(database, project, "Speak British English.", kind="preference")
    pinned = await store(database, project, "The build runs on arm64.", pinned=True)
    assert await started(make_mind(database), project, hints="ledger Postgres") == [pinned, rule, way, decision, other]


@pytest.mark.parametrize("kind", ["lesson", "learning"])
async def test_a_fact_is_given_at_starts_for_two_days_and_then_where_it_belongs(
    database: Database, project: Project, kind: str
) -> None:
    said = "The trailer of the branch is just called Checkpoint."
    fact = await store(database, project, said, kind=kind, said_at=NOON - 60, branch="glaze")
    rule = await store(database, project, "Never divide amounts in the receipts.", kind="lesson")
    ctx = make_mind(database)
    assert await started(ctx, project) == [rule]
    assert await started(ctx, project, "on its branch", branch="glaze") == [rule, fact]
    assert await started(ctx, project, "about it", hints="the trailer is called Checkpoint") == [rule, fact]
    news = await store(database, project, "The kiln has a new door.", kind=kind, said_at=time() - 3600)
    assert await started(ctx, project, "after it") == [rule, news]


async def test_a_correction_that_was_repeated_leads(database: Database, project: Project) -> None:
    repeated = await store(database, project, "The trailer of the branch is just called Checkpoint.", kind="lesson")
    await over(database, project, "one")
    await say_again(database, repeated, "one")
    decision = await store(database, project, "The ledger writes to Postgres.", said_at=NOON + 60)
    assert await started(make_mind(database), project, hints="ledger Postgres") == [repeated, decision]


async def test_the_most_violated_rule_leads_then_the_most_repeated(database: Database, project: Project) -> None:
    plain, repeated, violated = [
        await store(database, project, rule_about(word), kind="preference") for word in ("cents", "tabs", "redis")
    ]
    for session in ("one", "two"):
        await over(database, project, session)
    for session in ("one", "two"):
        await say_again(database, repeated, session)
    await gave(database, project, "one", violated, NOON - 60)
    await say_again(database, violated, "one", in_vain=True)
    assert await started(make_mind(database), project) == [violated, repeated, plain]


STEPS = [
    "From now on run the tests with `uv run pytest -q -x`, plain pytest picks up the wrong venv.",
    "tests go thru ./dev test, never pytest directly",
    "Run the tests with make check.",
    "Always format with ruff format --preview.",
    "F\u00fchr die Tests immer mit `make test` aus.",
    "Lance toujours les tests avec `npm run check`.",
    "Never force-push to main.",
    "Schreib Commit-Nachrichten immer auf Englisch.",
    "Wir deployen nur noch mit Terraform.",
]
"""Rules about a step that most sessions take."""


@pytest.mark.parametrize("said", STEPS)
async def test_a_rule_about_a_step_of_most_sessions_comes_before_later_rules(
    database: Database, project: Project, said: str
) -> None:
    step = await store(database, project, said, kind="preference", said_at=NOON - DAY)
    for number in range(30):
        await store(database, project, f"{rule_about(WORDS[number % 14])} Part {number}.", kind="preference")
    found = await started(make_mind(database), project)
    assert found[0] == step
    assert len(found) == 4


OF_ITS_BRANCH = [
    ("perf", "F\u00fcr die Perf-Arbeit brauchen wir nie Migrationen, nur Indizes."),
    ("perf", "For the perf work never write a migration."),
    ("perf", "In der Perf-Arbeit nie Migrationen schreiben."),
    ("eu-vat", "Always round half up in eu-vat."),
    ("mia/retry-upload-chunks", "For the upload work always use tus."),
    ("feature/hermes", "Always mock the carrier on this branch."),
    ("perf", "Pour le travail perf, jamais de migration."),
    ("perf", "Para la rama perf nunca escribas migraciones."),
    ("perf", "For the work on perf never write a migration."),
    ("fix/dates", "this PR only, no mocks"),
    ("fix/dates", "this branch: no mocks"),
    ("fix/dates", "nesta branch sem testes"),
    ("fix/dates", "dans ce PR pas de mocks"),
]
OF_ALL = [
    ("perf", "Never log in hot loops, it costs perf."),
    ("eu-vat", "Run `make lint` before every push."),
    ("mia/retry-upload-chunks", "Never retry payments."),
    ("search-index", "The search index is rebuilt at night, never by hand."),
    ("fix/test", "For tests always use a temporary folder."),
    ("feature/payments", "always use integer cents for payments"),
    ("auth", "never log passwords for auth requests"),
    ("money", "use decimals for money, never floats"),
    ("fix/dates", "use UTC for dates"),
    ("feature/payments", "the payments work in cents, never in floats"),
    ("all-in", "use tabs for all files"),
    ("all-in", "for all feature flags use booleans"),
    ("perf", "this branch name is too long: use short ones"),
]


@pytest.mark.parametrize(
    ("branch", "said", "is_given"),
    [*((*one, False) for one in OF_ITS_BRANCH), *((*one, True) for one in OF_ALL)],
)
async def test_a_rule_for_the_work_on_an_unmerged_branch_is_given_on_that_branch_alone(
    database: Database, project: Project, branch: str, said: str, is_given: bool
) -> None:
    rule = await store(database, project, said, kind="preference", branch=branch)
    ctx = make_mind(database)
    apart = replace(ctx, worktree_state=WorktreeState(apart=frozenset({(rule, "main")})))
    assert (await started(apart, project, "main", branch="main") == [rule]) is is_given
    assert await started(apart, project, "its own", branch=branch) == [rule]
    assert await started(ctx, project, "perhaps merged", branch="main") == [rule]


async def test_a_rule_that_names_its_branch_is_given_on_that_branch_alone(database: Database, project: Project) -> None:
    said = "On the branch feat/x: never touch migrations"
    rule = await store(database, project, said, kind="preference", branch="feat/x")
    ctx = make_mind(database)
    assert await started(ctx, project, "main", branch="main") == []
    assert await started(ctx, project, "other", branch="fix/y") == []
    assert await started(ctx, project, "own", branch="feat/x") == [rule]
    assert await started(ctx, project, "unknown", branch="") == [rule]
    renamed = replace(ctx, worktree_state=WorktreeState(renamed=frozenset({(rule, "feat/z")})))
    assert await started(renamed, project, "renamed", branch="feat/z") == [rule]
    assert await started(renamed, project, "main again", branch="main") == []


async def test_a_pinned_rule_of_an_unmerged_branch_is_given_everywhere(database: Database, project: Project) -> None:
    rule = await store(database, project, OF_ITS_BRANCH[1][1], kind="preference", branch="perf", pinned=True)
    apart = replace(make_mind(database), worktree_state=WorktreeState(apart=frozenset({(rule, "main")})))
    assert await started(apart, project, branch="main") == [rule]


async def test_a_rule_with_the_command_of_a_step_comes_before_other_rules_about_steps(
    database: Database, project: Project
) -> None:
    command = await store(database, project, "Run `make lint` before every push.", kind="preference")
    push = await store(database, project, "Never force-push to main.", kind="preference", said_at=NOON + DAY)
    repeated = await store(database, project, rule_about("cents"), kind="preference")
    await over(database, project, "one")
    await say_again(database, repeated, "one")
    assert await started(make_mind(database), project) == [repeated, command, push]


@pytest.mark.parametrize("word", ["with", "w", "w/"])
async def test_a_command_after_an_abbreviated_with_is_recognised(
    database: Database, project: Project, word: str
) -> None:
    command = await store(database, project, f"Always run the tests {word} cargo nextest.", kind="preference")
    push = await store(database, project, "Never force-push to main.", kind="preference", said_at=NOON + DAY)
    assert await started(make_mind(database), project) == [command, push]


async def test_no_more_than_eight_and_no_more_than_their_share(database: Database, project: Project) -> None:
    for word in WORDS:
        await store(database, project, rule_about(word), kind="preference")
        await store(database, project, f"We decided on the {word} in March.")
    context = await surface_start(make_mind(database), Start("s", project.id, "start/startup"))
    assert len(context.hits) <= 8
    assert len(context.text) <= 4 * 600
    assert sum(hit.memory.kind == "preference" for hit in context.hits) == 4


async def test_two_of_one_session_at_most(database: Database, project: Project) -> None:
    for word in WORDS[:4]:
        await store(database, project, rule_about(word), kind="preference", session_id="talkative")
    assert len(await started(make_mind(database), project)) == OF_ONE_SESSION


async def test_the_same_in_other_words_is_given_once(database: Database, project: Project) -> None:
    await store(database, project, "Amounts are stored as integer cents.", kind="preference")
    latest = await store(database, project, "We store amounts as integer cents.", kind="preference", said_at=NOON + 1)
    assert await started(make_mind(database), project) == [latest]


async def test_a_way_out_for_files_of_several_types_is_given_once(database: Database, project: Project) -> None:
    tabs = "Editing files of type `{}` failed here; the same text with a tab added to each line then worked."
    common = {"kind": "learning", "extractor": "observed-1"}
    await store(database, project, tabs.format(".ts"), recurrence=2, **common)
    most = await store(database, project, tabs.format(".tsx"), recurrence=9, **common)
    serve = await store(database, project, "`x serve` failed here; `serve` then worked.", recurrence=1, **common)
    assert await started(make_mind(database), project) == [serve]
    prompt = Prompt("now", project.id, "Move the header from Page.ts to Page.tsx")
    assert [hit.memory.id for hit in (await surface_prompt(make_mind(database), prompt)).hits] == [most]


@pytest.mark.parametrize(
    "wish",
    [
        "let's use on/off for the push switch",
        "left most, for all of them (asked: Should it always be lane 1?)",
        "can you name it Push",
        "We need to make sure that the list shows the name of the switch.",
        'Once there are more switches, this won\'t say "Push" any more.',
    ],
)
async def test_a_wish_for_one_task_is_given_at_starts_on_its_branch_alone(
    database: Database, project: Project, wish: str
) -> None:
    passing = await store(database, project, wish, kind="preference", branch="push")
    lasting = await store(database, project, "Let's always use UTC for dates", kind="preference", branch="push")
    fact = await store(database, project, "The ledger writes to Postgres.", branch="push")
    ctx = make_mind(database)
    assert set(await started(ctx, project, "other", branch="main")) == {lasting, fact}
    assert set(await started(ctx, project, "same", branch="push")) == {passing, lasting, fact}


async def test_a_wish_that_was_said_again_is_a_rule(database: Database, project: Project) -> None:
    wish = await store(database, project, "let's use on/off for switches", kind="preference", recurrence=2)
    assert await started(make_mind(database), project, branch="main") == [wish]


async def test_what_another_has_taken_the_place_of_is_not_given(database: Database, project: Project) -> None:
    old = await store(database, project, "The queue is Redis.")
    new = await store(database, project, "The queue is NATS.")
    async with database.write() as tx:
        await links.add(tx, Link(0, new, old, "SUPERSEDES", "active", 1.0, "user", "", NOON), "user")
    assert await started(make_mind(database), project) == [new]


async def test_what_three_sessions_left_unheeded_rests(database: Database, project: Project) -> None:
    ctx = make_mind(database)
    choice = await store(database, project, "The ledger writes to Postgres.")
    for number in range(3):
        assert await started(ctx, project, f"s{number}") == [choice]
        await over(database, project, f"s{number}", NOON + number)
    assert await started(ctx, project, "fourth") == []
    await say_again(database, choice, "fifth")  # a response: the count begins anew
    assert await started(ctx, project, "sixth") == [choice]


async def test_a_rule_rests_only_after_many_sessions_that_changed_files(database: Database, project: Project) -> None:
    """A session that keeps to "never use floats for money" shows no use of it."""
    ctx = make_mind(database)
    rule = await store(database, project, rule_about("cents"), kind="preference")
    for number in range(MOST_FOLLOWED + 2):
        session = f"s{number}"
        assert await started(ctx, project, session) == [rule]
        done = "" if number % 5 == 4 else "edited ledger.py"  # every fifth session only answered a question
        await over(database, project, session, NOON + number, Handover(asked="ledger?", done=done, reported="It adds."))
    assert await started(ctx, project, "the next") == []


async def test_sessions_without_work_say_nothing_about_what_they_were_given(
    database: Database, project: Project
) -> None:
    ctx = make_mind(database)
    choice = await store(database, project, "The ledger writes to Postgres.")
    for number in range(5):
        assert await started(ctx, project, f"s{number}") == [choice]
        await over(database, project, f"s{number}", NOON + number, Handover(asked="hi again"))
    assert await started(ctx, project, "the next") == [choice]


async def test_a_session_that_still_runs_has_left_nothing_unheeded(database: Database, project: Project) -> None:
    ctx = make_mind(database)
    rule = await store(database, project, rule_about("cents"), kind="preference")
    for number in range(4):
        async with database.write() as tx:
            await sessions.record_activity(tx, f"s{number}", project.id, NOON, transcript="", cwd="/p")
        assert await started(ctx, project, f"s{number}") == [rule]


async def test_what_is_used_or_pinned_goes_on_being_given(database: Database, project: Project) -> None:
    ctx = make_mind(database)
    rule = await store(database, project, rule_about("cents"), kind="preference")
    pinned = await store(database, project, rule_about("tabs"), kind="preference", pinned=True)
    for number in range(5):
        session = f"s{number}"
        assert await started(ctx, project, session) == [pinned, rule]
        for waiting in await surfaces.unjudged(database, session):
            async with database.write() as tx:
                await surfaces.judge(tx, waiting, session, waiting.memory_id == rule, "named", "act")
        await over(database, project, session)


async def test_a_habit_rests_after_three_sessions_though_they_all_showed_it(
    database: Database, project: Project
) -> None:
    habit = await store(
        database, project, "`mise run test` runs the tests here.", kind="pattern", extractor="practised-1"
    )
    ctx = make_mind(database)
    for number in range(4):
        session = f"s{number}"
        assert await started(ctx, project, session) == ([habit] if number < MOST_UNHEEDED else [])
        await say_again(database, habit, session)
        await over(database, project, session)


async def test_responses_are_told_apart(database: Database, project: Project) -> None:
    memory = await store(database, project, rule_about("cents"), kind="preference")
    for session in ("used", "violated", "unheeded"):
        await over(database, project, session)
    await gave(database, project, "used", memory, NOON - 30)
    await use(database, "used")
    await gave(database, project, "violated", memory, NOON - 20)
    await say_again(database, memory, "violated", in_vain=True)
    await say_again(database, memory, "never given")
    async with database.write() as tx:
        await tx.execute("UPDATE events SET at = ? WHERE action IN ('recur', 'violated')", (NOON - 10,))
    await gave(database, project, "unheeded", memory, NOON)
    found = (await responses.of_memories(database, [memory]))[memory]
    assert found == responses.Responses(used=1, repeated=1, violated=1, unheeded=1, given=3, followed=1)
    listed = await surfaces.listing(database, memory_id=memory)
    told = await responses.of_surfaces(database, listed)
    assert dict(zip((one.session_id for one in listed), told, strict=True)) == {
        "used": "used: named",
        "violated": "violated: the user said it again",
        "unheeded": "",
    }


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(1, 4)), max_size=20), st.integers(0, 9))
def test_a_choice_keeps_to_all_of_its_limits(wanted: list[tuple[int, int, int]], most: int) -> None:
    def hit(number: int, session: int) -> Hit:
        return Hit(make_memory(f"memory {number}", id=number, session_id=f"s{session}" if session else None), 0.5, 1.0)

    groups = [
        Group(f"group {place}", [hit(10 * place + number, (session + number) % 5) for number in range(count)], share)
        for place, (count, session, share) in enumerate(wanted)
    ]
    picks = choose(groups, most, lambda one, other: one.id % 10 == other.id % 10 == 3)
    given_ids = [pick.hit.memory.id for pick in picks]
    assert len(picks) <= most
    assert len(set(given_ids)) == len(given_ids)
    assert sum(number % 10 == 3 for number in given_ids) <= 1
    for group in groups:
        assert sum(pick.group == group.name for pick in picks) <= group.most
    sources = [pick.hit.memory.session_id for pick in picks if pick.hit.memory.session_id]
    assert all(sources.count(source) <= OF_ONE_SESSION for source in sources)


def test_room_is_kept_for_the_closing_lines() -> None:
    long = [Hit(lengthy(number), 0.5, 1.0) for number in range(1, 9)]
    closing = "- Hand-over: record of the last session here\n    done: everything\n"
    context = compose(long, Budget(300, 9000, 8), "", closing=closing)
    assert closing in context.text
    assert len(context.text) <= 1200
    assert 0 < len(context.hits) < 8
    assert len(context.sizes) == len(context.hits)


def lengthy(number: int) -> Memory:
    return make_memory(f"{number} " + "word " * 60, id=number)
