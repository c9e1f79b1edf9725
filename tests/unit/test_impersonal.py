"""What a sentence is without its speaker; and what only looks like one, or like an opener, stays."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from subconscious.capture.impersonal import impersonal

OPENERS = (
    "Good",
    "No",
    "Great find",
    "The issue is",
    "Now",
    "So",
    "Fixed",
    "I found the problem",
    "Note",
    "Fixed in 446f931",
)
MARKS = (" ", ", ", ": ", ". ", " - ", "! ", "-", ".")
SAYINGS = ("the relay is slow", "I need to cast it", "`cone` is read", "I added a queue", "npm ci fails", "we use pnpm")
TAILS = (".", ", so I'll cast it.", " because I used a queue.", " and I can't read it: let me look.", "")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Now I need to cast `cone` to a float.", ""),
        ("The cone is a string, so I need to cast it.", "The cone is a string, so it is necessary to cast it."),
        ("Good question! The relay drops the first command.", "The relay drops the first command."),
        ("The relay is slow because we use a queue.", "The relay is slow because we use a queue."),
        ("I've added `warm_up()` to the driver.", "Added `warm_up()` to the driver."),
        ("Fixed in 446f931 - the relay waits now.", "The relay waits now."),
        ("The cone is a string, so I'll cast it.", "The cone is a string."),
        ("The cone is a string so let's cast it.", "The cone is a string."),
        ("The cone is a string - let me cast it", "The cone is a string."),
        ("I need to cast `cone`.", ""),
        ("You need to restart it after a change.", "It is necessary to restart it after a change."),
        ("We have to pin numpy, because 2.0 fails.", "It is necessary to pin numpy, because 2.0 fails."),
        ("The cone is a string; I added a cast.", "The cone is a string; added a cast."),
        ("We use a queue: I've also removed the lock.", "Use a queue: removed the lock."),
        ("`cone` is read twice.", "`cone` is read twice."),
        ("Good - the relay drops the first command.", "The relay drops the first command."),
        ("Great find! The relay drops it.", "The relay drops it."),
        ("Good point — keeping the relay open saves a second.", "Keeping the relay open saves a second."),
        ("Ok. Got it. Right. Clear. Now, actually the relay drops it.", "The relay drops it."),
        ("The issue is: the relay drops it.", "The relay drops it."),
        ("No, the relay drops it.", "The relay drops it."),
    ],
)
def test_the_speaker_is_taken_out_of_a_sentence(said: str, kept: str) -> None:
    assert impersonal(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "Weights live in feedback.py because the tests need them.",
        "The rank is scaled by feedback from users.",
        "The flag moved in 446f931 to the config.",
        "The relay was fixed in 446f931 by a retry.",
        "Added in 446f931.py is the relay.",
        "The column is added in 20240115120000_create_users.sql, never in the model.",
        "The table grows by 10000000 rows a day.",
        "No-op writes are skipped by the writer.",
        "The key-value store drops writes silently.",
        "The fix, which landed late, breaks the relay.",
        "Point-in-time recovery needs the WAL.",
        "Fixed-size buffers overflow when the line is long.",
        "Question.vue is rendered twice.",
        "Call.join() blocks forever.",
        "Next.js 14 caches fetches by default.",
        "next-auth rejects callbacks without a secret.",
        "Wait for the daemon to exit before restarting it.",
        "Clear the browser cache after deploying.",
        "First request after a start is slow.",
        "Right joins are never used here.",
        "So far the relay has never failed.",
        "I found a non-blocking call in the relay.",
        "Certificates come from Let's Encrypt and expire after ninety days.",
        "Certificates are free, so Let's Encrypt issues them.",
        "The flag tells whether I'd rather wait.",
        "The relay is slow because I used a queue.",
        "The change I made breaks the tests.",
        "When I removed the lock the tests deadlock.",
        "Phase I removes the flag, Phase II the column.",
        "The loop ends when i adds up to n.",
        "npm ci fails without a lock file.",
        "main runs twice.",
    ],
)
def test_what_is_said_of_no_speaker_stays(said: str) -> None:
    assert impersonal(said) == said


@given(
    st.lists(st.tuples(st.sampled_from(OPENERS), st.sampled_from(MARKS)), max_size=6),
    st.one_of(st.sampled_from(SAYINGS), st.text(max_size=60)),
    st.sampled_from(TAILS),
)
@example([("Good", ". "), ("No", ", "), ("Fixed", ": "), ("So", " "), ("Note", ": ")], SAYINGS[0], TAILS[1])
def test_nothing_is_left_to_take_out(openers: list[tuple[str, str]], said: str, tail: str) -> None:
    once = impersonal("".join(map("".join, openers)) + said + tail)
    assert impersonal(once) == once


@given(
    st.lists(st.tuples(st.sampled_from(OPENERS), st.sampled_from((": ", ". ", "! "))), min_size=1, max_size=6),
    st.sampled_from(SAYINGS),
    st.sampled_from(TAILS),
)
def test_however_many_openers_leave_the_same(openers: list[tuple[str, str]], said: str, tail: str) -> None:
    alone = impersonal(said + tail)
    assert impersonal("".join(map("".join, openers)) + said + tail).casefold() == alone.casefold()


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("mark", [": ", ". ", "! "])
def test_an_opener_needs_its_mark(opener: str, mark: str) -> None:
    assert impersonal(f"{opener}{mark}the relay is slow.") == "The relay is slow."
    assert impersonal(f"{opener}-the relay is slow.") == f"{opener}-the relay is slow."
