"""Words of the page for changes, for what takes them back, and for why a session was given a memory."""

from __future__ import annotations

from typing import Any

import pytest

from subconscious.page import changes, given
from subconscious.page.timeline import has_words, undone_changes

GIVEN: Any = {
    "sort": "given",
    "about": "",
    "memories": [{"summary": "Amounts are cents."}, {"summary": "Times are UTC."}],
}
ARCHIVED, IN_USE = {"archived_at": 5.0}, {"archived_at": None}


def _change(number: int, action: str, reason: str = "", **more: Any) -> Any:
    usual = {"sort": "change", "id": number, "subject": "memory", "action": action, "reason": reason}
    return {**usual, "before": None, "after": None, **more}


def test_an_undone_change_is_marked_unless_the_undo_was_undone() -> None:
    archived, undo = _change(21, "archive"), _change(22, "undo", "event 21 (archive)")
    assert undone_changes([undo, archived]) == {21}
    assert undone_changes([_change(23, "undo", "event 22 (undo)"), undo, archived]) == {22}
    assert undone_changes([GIVEN, _change(24, "archive", "see event 21")]) == set()


ARCHIVE = _change(1, "archive", "it is old", before=IN_USE, after=ARCHIVED)
BACK = _change(2, "undo", "event 1 (archive)", before=ARCHIVED, after=IN_USE)
AGAIN = _change(3, "undo", "event 2 (undo): a slip", before=IN_USE, after=ARCHIVED)
FORGOT = _change(4, "undo", "event 9 (create)", before=IN_USE, after=ARCHIVED)


@pytest.mark.parametrize(
    ("event", "did", "why", "button"),
    [
        (ARCHIVE, "Archived", "it is old", "Bring back"),
        (BACK, "Brought back", "", "Archive again"),
        (AGAIN, "Archived", "a slip", "Bring back"),
        (FORGOT, "Forgot", "", "Bring back"),
        (_change(5, "create"), "Remembered", "", "Forget"),
        (_change(6, "unarchive", before=ARCHIVED, after=IN_USE), "Brought back", "", "Archive again"),
        (_change(7, "undo", "event 6 (pin)"), "Unpinned", "", "Undo"),
        (_change(8, "learned", subject="lesson"), "Learned lesson", "", "Undo"),
    ],
)
def test_changes_and_their_buttons_say_what_they_do(event: dict[str, Any], did: str, why: str, button: str) -> None:
    assert (changes.action(event), changes.because(event), changes.takes_back(event)) == (did, why, button)


def test_a_replacement_names_both_memories() -> None:
    link = {"type": "SUPERSEDES", "id": 2, "summary": "new", "other": 1, "other_summary": "old"}
    event = _change(1, "link", subject="link", linked=[link, {**link, "type": "SUPPORTS"}])
    assert changes.replaced(event) == [link]
    assert (changes.action(event), changes.takes_back(event)) == ("Replaced", "Use both again")
    other = _change(1, "link", subject="link", linked=[])
    assert (changes.action(other), changes.takes_back(other)) == ("Linked", "Remove the link")


def test_a_change_that_no_longer_holds_says_what_happened_since() -> None:
    assert changes.since({**ARCHIVE, "holds": False}) == "brought back since"
    assert changes.since({**BACK, "holds": False}) == "archived again since"
    assert changes.since(_change(1, "create", holds=False)) == "archived since"
    assert changes.since({**ARCHIVE, "holds": True}) == ""


def test_an_undo_says_what_it_did_and_to_which_memories() -> None:
    back = _change(1, "archive", subject_id="7", before=ARCHIVED, after=IN_USE)
    other = {**back, "subject_id": "8"}
    link = _change(2, "link", subject="link", subject_id="3")
    assert changes.undone([back]) == "Brought back:"
    assert changes.undone([back, other]) == "Brought back 2 memories:"
    assert changes.undone([back, link]) == "Took back 2 changes."
    assert changes.memories_of([back, link, other, back]) == (7, 8)


def test_messages_name_no_event() -> None:
    message = "event 21 (archive of memory 9) can't be undone: event 22 (pin) came after it"
    assert changes.plainly(message) == "a change (archive of memory 9) can't be undone: a change (pin) came after it"


@pytest.mark.parametrize(
    ("reason", "event", "about", "why"),
    [
        ("fits the prompt: shares uploads and proxy", "prompt", "", "It fits your prompt: both say uploads and proxy"),
        ("fits the prompt: similar in meaning", "prompt", "", "It fits your prompt: similar in meaning"),
        ("fits the prompt: text rank 1, vector rank 3", "prompt", "", "It fits your prompt"),
        ("a standing preference of the user", "start/startup", "", "A standing preference of yours"),
        ("a decision made on the branch main", "start/startup", "", "A decision made on the branch main"),
        (
            "a decision that fits the branch and the latest prompts: shares cents",
            "start/startup",
            "",
            "A decision that fits the branch and your latest prompts: both say cents",
        ),
        ("names the file", "file", "src/a.py", "It names the file src/a.py"),
        ("about files of this type", "file", "src/a.py", "It is about files of the type of src/a.py"),
        ("bound to the file: file rank 1", "file", "src/a.py", "It is about the file src/a.py"),
        ("shares E1001 with the error", "error", "", "It shares E1001 with the error"),
        (
            "the same command failed with the same error: failure rank 1",
            "error",
            "",
            "The same command failed with the same error",
        ),
        ('due since 2026-11-20: it says "until Friday"', "prompt", "", 'Due since 2026-11-20: it says "until Friday"'),
        ("memory_search", "mcp", "", "Claude looked it up"),
        ("asked for: text rank 1", "recall", "", "You asked for it"),
        ("", "start/startup", "", "The reason was not recorded"),
    ],
)
def test_reasons_are_sentences(reason: str, event: str, about: str, why: str) -> None:
    assert given.why(reason, event, about) == why


def test_relevance_is_a_word_and_left_out_where_something_else_decided() -> None:
    assert [given.relevance(value, "prompt") for value in (0.8, 0.6, 0.3, 0.0)] == ["high", "fair", "low", ""]
    assert given.relevance(0.8, "start/startup") == ""


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        ("", ("use not known yet", "open", "")),
        ("not used", ("not used", "", "")),
        ("used: named by its number", ("used", "good", "An answer names it by its number")),
        ("used: 3 of its 5 own words", ("used", "good", "An answer used 3 of the memory's 5 distinctive words")),
        ("violated: the user said it again", ("not followed", "warn", "You had to say it again")),
    ],
)
def test_every_given_memory_has_a_badge(response: str, shown: tuple[str, str, str]) -> None:
    assert given.outcome(response) == shown


def test_a_search_of_the_timeline_needs_all_words_in_any_text() -> None:
    link = {"summary": "Sessions live in Postgres.", "other_summary": "Sessions live in Redis."}
    linked = _change(1, "create", about="Sessions live in Postgres.", linked=[link])
    assert has_words(GIVEN, "utc CENTS", "")
    assert not has_words(GIVEN, "utc euros", "")
    assert has_words(linked, "redis postgres", "")
    assert has_words(GIVEN, "billing utc", "Round the billing")
    assert has_words(GIVEN, "", "")
