"""What a hand-over leaves out, because a memory that is given beside it says it."""

from __future__ import annotations

from dataclasses import replace

from subconscious.domain.model import Memory, Session
from subconscious.sessions import Handover
from subconscious.sessions.previous_session import Left, fits_a_start, lines_of
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


def test_a_start_is_not_told_of_what_was_finished_on_a_trunk() -> None:
    left = Handover(asked='"Sort the list"', done='commit "Sort the list"', reported="`List` sorts by date now.")
    on_trunk, on_branch = (replace(BEFORE, branch=name) for name in ("main", "sorted-list"))
    assert not fits_a_start(Left(on_trunk, left), "main")
    assert not fits_a_start(Left(on_branch, left), "main")
    assert fits_a_start(Left(on_branch, left), "sorted-list")
    assert fits_a_start(Left(on_trunk, replace(left, open="the tests fail")), "main")
    assert fits_a_start(Left(replace(on_trunk, status="interrupted"), left), "main")
    failed = Left(on_trunk, replace(left, failed="`npm test`"))
    assert fits_a_start(failed, "main")
    assert not fits_a_start(failed, "main", [make_memory("`npm test` failed here; `pnpm test` then worked.")])
    asked = 'the assistant had asked: "Shall I sort the others, too?"'
    assert not fits_a_start(Left(on_trunk, replace(left, open=asked)), "main")
    quoting = 'the assistant had asked: "Should it say "0 lists", or did you want a different visual\u2026"'
    assert not fits_a_start(Left(on_trunk, replace(left, open=quoting)), "main")
    tasks = 'open on the assistant\'s list: "Sort the others"'
    assert fits_a_start(Left(on_trunk, replace(left, open=f"{asked}; {tasks}")), "main")


def test_a_brief_hand_over_leaves_the_report_to_prompts() -> None:
    left = Left(BEFORE, Handover(asked='"Sort the list"', reported="`List` sorts by date now."))
    assert "sorts by date" not in lines_of(left, (), 1000, brief=True)
    assert "Sort the list" in lines_of(left, (), 1000, brief=True)
    assert "sorts by date" in lines_of(left, (), 1000)
    assert "sorts by date" in lines_of(left, (), 1000, earlier=True)


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
