"""What a hand-over leaves out, because a memory that is given beside it says it."""

from __future__ import annotations

from dataclasses import replace
from time import time

import pytest

from subconscious.domain.model import Memory, Session
from subconscious.sessions import Handover
from subconscious.sessions.handover import quotes_in
from subconscious.sessions.previous_session import Left, _without_replaced, briefly, fits_a_start, lines_of
from subconscious.sessions.telling import first_words
from subconscious.store import memories
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.supersession.succession import take_over
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory

BEFORE = Session("s", "p", "", "", "ended", NOON, NOON)


def said(handover: Handover, *given: Memory) -> str:
    return lines_of(Left(BEFORE, handover), given, 1000)


def test_only_the_statement_that_a_memory_says_is_left_out() -> None:
    left = Handover(decided='"Amounts are integer cents.", "Receipts print what money.py returns."')
    text = said(left, make_memory("Amounts are integer cents."))
    assert "Receipts print" in text
    assert "integer cents" not in text


def test_a_report_keeps_the_sentences_that_no_memory_says() -> None:
    left = Handover(reported="The ledger rounds once. Refunds are not mended yet.")
    text = said(left, make_memory("The ledger rounds once."))
    assert "Refunds are not mended yet." in text
    assert "rounds once" not in text


def test_nothing_is_left_where_memories_say_it_all() -> None:
    left = Handover(decided='"Amounts are integer cents."')
    assert said(left, make_memory("Amounts are integer cents.")) == ""


def test_a_part_without_quotations_has_none() -> None:
    assert quotes_in("") == []
    assert quotes_in('"Sort the list", "Commit it"') == ["Sort the list", "Commit it"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            "millis were dumb, js.. no wait js is fine w millis. leave it",
            "millis were dumb, js.. no wait js is fine w millis",
        ),
        (
            "back to postgres? no. sqlite stays, but turn on wal mode",
            "back to postgres? no. sqlite stays, but turn on wal mode",
        ),
        ("zur\u00fcck zu postgres? nein, sqlite bleibt. mach wal an", "zur\u00fcck zu postgres? nein, sqlite bleibt"),
        ("sort the list by date. no tests needed", "sort the list by date"),
        ("the build fails... Sort the list by date", "the build fails"),
        ("why does the build fail? fix the cause", "why does the build fail?"),
    ],
)
def test_a_request_is_quoted_with_what_takes_it_up(request_: str, words: str) -> None:
    assert first_words(request_) == words


async def test_a_statement_that_a_newer_one_replaced_is_not_handed_over(database: Database, project: Project) -> None:
    old, new = "the stations api allows 30 requests per min", "the stations api allows 60 requests per min"
    kept = "alerts go out by email only, no slack"
    story = Handover(asked=f'"{old}", "sort the list"', decided=f'"{old}", "{kept}"')
    session = replace(BEFORE, id="told-30", project_id=project.id)
    first = await store(database, project, old, session_id=session.id)
    await store(database, project, kept, session_id=session.id)
    assert (await _without_replaced(make_mind(database), Left(session, story))).handover == story
    second = await store(database, project, new, session_id="told-60")
    async with database.write() as tx:
        newer = await memories.find(tx, second)
        assert newer is not None
        await take_over(tx, newer, [first])
    told = (await _without_replaced(make_mind(database), Left(session, story))).handover
    assert (told.asked, told.decided) == ('"sort the list"', f'"{kept}"')


@pytest.mark.parametrize(
    ("before", "here", "hours", "is_told"),
    [
        ("main", "main", 47, True),
        ("main", "main", 49, False),
        ("lists", "lists", 900, True),
        ("lists", "main", 1, False),
        ("main", "lists", 1, False),
        ("main", "sorted-list", 1, True),
        ("lists", "invoices", 1, False),
    ],
)
def test_a_start_is_told_of_recent_work_on_its_branch(before: str, here: str, hours: int, is_told: bool) -> None:
    left = Handover(asked='"Sort the list"', done='commit "Sort the list"', reported="`List` is sorted by date now.")
    session = replace(BEFORE, branch=before, last_event_at=time() - hours * 3600)
    assert fits_a_start(Left(session, left), here) is is_told


def test_a_start_on_any_branch_is_told_that_the_client_broke_off() -> None:
    left = Handover(asked='"Sort the list"')
    session = replace(BEFORE, branch="lists", status="interrupted", last_event_at=time() - 3600)
    assert fits_a_start(Left(session, left), "main")
    assert not fits_a_start(Left(replace(session, last_event_at=time() - 49 * 3600), left), "main")


def test_of_finished_work_on_a_trunk_the_report_is_short() -> None:
    report = "The list is sorted by date now. " * 20
    on_trunk = Left(replace(BEFORE, branch="main"), Handover(reported=report))
    assert 200 < len(briefly(on_trunk).handover.reported) <= 300
    assert briefly(on_trunk).handover.reported.endswith(" now.")
    unfinished = Left(on_trunk.session, Handover(reported=report, open="the tests fail"))
    assert briefly(unfinished) == unfinished
    on_branch = Left(replace(BEFORE, branch="lists"), Handover(reported=report))
    assert briefly(on_branch) == on_branch


def test_requests_in_the_middle_are_left_out_where_not_all_fits() -> None:
    left = Left(BEFORE, Handover(asked='"Sort the list", "Then the names, too", "Commit it"', done="changed list.py"))
    assert "Then the names" in lines_of(left, (), 1000)
    found = lines_of(left, (), 140)
    assert 'asked: "Sort the list", "Commit it"\n' in found
    assert "changed list.py" in found
    alone = Left(BEFORE, Handover(asked='"Sort the list"', done="changed list.py"))
    assert 'asked: "Sort the list"\n' in lines_of(alone, (), 100)
    planned = Left(BEFORE, Handover(done="changed list.py", reported="`List` is sorted by date now. " * 9))
    assert "asked" not in lines_of(planned, (), 200)
    retold = Left(BEFORE, Handover(asked="To sort the list", reported="It is sorted by date. " * 9, retold=True))
    assert "asked: To sort the list\n" in lines_of(retold, (), 200)


def test_a_report_that_does_not_fit_is_not_cut_within_a_sentence() -> None:
    left = Left(BEFORE, Handover(reported="`List` sorts by date now. " + "It keeps equal dates in their order " * 9))
    assert lines_of(left, (), 200).endswith("the assistant reported: `List` sorts by date now.\n")


def test_a_failed_command_comes_with_what_then_worked() -> None:
    left = Left(BEFORE, Handover(asked='"Sort the list"', failed="`npm test`"))
    ways_out = [
        make_memory("`npm test -- --all` failed here; `pnpm test --all` then worked."),
        make_memory("`npm test` failed here; `pnpm test` then worked."),
    ]
    assert "last command that failed: `npm test`\n" in lines_of(left, (), 1000)
    assert "failed: `npm test` (`pnpm test` then worked)\n" in lines_of(left, (), 1000, ways_out=ways_out)
    assert "failed:" not in lines_of(left, ways_out, 1000, ways_out=ways_out)


def test_an_interrupted_session_left_open_what_its_hand_over_says() -> None:
    cut = replace(BEFORE, status="interrupted", left_open='the assistant had asked: "Which one?"')
    left = Left(cut, Handover(asked='"Sort the list"', open="the tests fail"))
    assert "Left open: the tests fail. Record" in lines_of(left, (), 1000)
    assert "Left open" not in lines_of(Left(cut, replace(left.handover, open="")), (), 1000)


def test_the_prompt_at_which_a_session_was_interrupted_is_quoted_once() -> None:
    cut = replace(BEFORE, status="interrupted", last_prompt="Is it stable?")
    text = lines_of(Left(cut, Handover(asked='"Sort the list", "Is it stable?"')), (), 1000)
    assert text.count("Is it stable?") == 1
    assert 'asked: "Sort the list"\n' in text
