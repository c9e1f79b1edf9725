"""Decides from a session's hand-over whether the session did work of its own, and whether it changed anything.

A session in which the user only said hello, or asked how things are, leaves nothing to continue: the work before it is
what the next session may continue.
"""

from __future__ import annotations

from subconscious.sessions.handover import Handover, quotes_in
from subconscious.sessions.telling import first_words
from subconscious.text.unspaced import number_of_letters

FEWEST_LETTERS = 6
"""The fewest letters of a request in a language without spaces between words, whose words can't be counted."""


def changed_something(story: Handover) -> bool:
    """Whether a session changed files, committed or merged."""
    return bool(story.done or story.files or story.finished)


def did_work(story: Handover) -> bool:
    """Whether a session left something of its own that a later session may continue.

    Besides changes, this is a statement of the user, a failed command or a report. An open point counts only if the
    user had asked for something: an assistant that was only greeted asks what it may do.
    """
    left = story.decided or story.failed or story.reported
    return changed_something(story) or bool(left) or (bool(story.open) and asked_for_something(story))


def is_pending(story: Handover) -> bool:
    """Whether a session's work may be needed although a later session, which changed nothing, followed it."""
    return changed_something(story) or bool(story.decided or story.open)


def asked_for_something(story: Handover) -> bool:
    """Whether the user asked for something, and did not only type a greeting, "yes" or "continue"."""
    asks = quotes_in(story.asked)
    return any(first_words(one) or number_of_letters(one) >= FEWEST_LETTERS for one in asks)
