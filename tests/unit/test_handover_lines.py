"""What a hand-over leaves out, because a memory that is given beside it says it."""

from __future__ import annotations

from dataclasses import replace

from subconscious.flow.handover import Left, lines_of
from subconscious.model import Memory, Session
from subconscious.summaries import Handover
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


def test_a_start_is_told_briefly_of_what_was_committed_to_a_trunk() -> None:
    left = Handover(asked='"Sort the list"', done='commit "Sort the list"', reported="`List` sorts by date now.")
    on_trunk, on_branch = (replace(BEFORE, branch=name) for name in ("main", "sorted-list"))
    assert "sorts by date" not in lines_of(Left(on_trunk, left), (), 1000)
    assert "Sort the list" in lines_of(Left(on_trunk, left), (), 1000)
    assert "sorts by date" in lines_of(Left(on_branch, left), (), 1000)
    assert "sorts by date" in lines_of(Left(on_trunk, replace(left, open="the tests fail")), (), 1000)
    assert "sorts by date" in lines_of(Left(on_trunk, left), (), 1000, earlier=True)
