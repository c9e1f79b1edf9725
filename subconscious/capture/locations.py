"""Where things are, seen from which files a task was carried out in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.wording import content_words
from subconscious.model import Origin, Role, Turn

_MOST_FILES = 5
_FEWEST_WORDS = 5
_EDITS = {"Edit", "Write"}


def locations(exchange: Exchange) -> Iterator[Draft]:
    """Give the files in which the task of an exchange was carried out, where it is named and they are few."""
    edits = [turn for turn in exchange.turns if turn.role is Role.ASSISTANT and _EDITS & set(turn.tools)]
    places = list(dict.fromkeys(filter(None, (_place(turn, file) for turn in edits for file in turn.files))))
    opener, task = exchange.turns[0], exchange.task
    if task not in opener.text or len(content_words(task)) < _FEWEST_WORDS or not 0 < len(places) <= _MOST_FILES:
        return
    named = ", ".join(f"`{place}`" for place in places)
    text = f"Where to look: \u201c{task}\u201d was carried out in {named}."
    yield Draft(
        opener,
        "pattern",
        text,
        task,
        "location",
        signs=("location",),
        origin=Origin.ASSISTANT,  # a person named the task, but chose none of the files
        reason="files that a task changed",
    )


def _place(turn: Turn, file: str) -> str:
    """Return a file's path within the project; "" where it lies elsewhere."""
    path = PurePath(file)
    if not path.is_absolute():
        return str(path)
    return str(path.relative_to(turn.cwd)) if turn.cwd and path.is_relative_to(turn.cwd) else ""
