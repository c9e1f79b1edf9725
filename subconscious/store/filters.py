"""A filter of memories: one value, and its SQL. Search, lists and recall share it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from subconscious.model import CLAUDE_NOTE
from subconscious.store.rows import marks

FULL_TEXT = {False: "memories_fts", True: "archived_fts"}
"""The full text of the active memories and of the archived ones."""

SAID = "{summary content rationale tags files}"
"""Columns of the full text that hold words."""

FREE = "NOT EXISTS (SELECT 1 FROM implicit_captures WHERE quarantined AND memory_id = memories.id)"
"""What is in quarantine is archived too, and found in the review alone."""

NO_NOTE = f"extractor <> '{CLAUDE_NOTE}'"
"""Memories that are no copies of Claude's own notes: only those are given unasked, merged, summed up or faded."""

UNCONFIRMED = (
    "unconfirmed AND EXISTS (SELECT 1 FROM implicit_captures WHERE status = 'review' AND memory_id = memories.id)"
)
"""What may be given without being in force. A decision on its capture, whoever took it, ends that."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a memory must be like to count. Of what is not said, everything does.

    ``project_id`` adds the user's own memories; None means every project's. ``kinds``: any of them. ``file``: that
    path, the end of one, or a folder. ``tags``, ``phrases``: all of them; ``without``: none of these words or
    phrases. ``since`` is included, ``until`` is not. ``gone_since``: archived then or later. ``notes``:
    Claude's own notes count as well. ``unconfirmed``: those alone that wait to be confirmed.
    """

    project_id: str | None = None
    kinds: tuple[str, ...] = ()
    archived: bool = False
    branch: str = ""
    file: str = ""
    tags: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    min_confidence: float = 0.0
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    session_id: str = ""
    gone_since: float | None = None
    notes: bool = True
    unconfirmed: bool = False

    @property
    def out_of_use(self) -> bool:
        """Whether it means memories that no session is given as in force."""
        return self.archived or self.unconfirmed

    @property
    def narrow(self) -> bool:
        """Whether it asks for more than a project: then few may fit, and engines must be told which.

        To leave out Claude's own notes is not narrow: they are few, and whatever engines find of them is dropped later.
        """
        wide = Filter(self.project_id, archived=self.archived, notes=self.notes, unconfirmed=self.unconfirmed)
        return self != wide


Part = tuple[str, tuple[Any, ...]]


def where(which: Filter) -> tuple[str, tuple[Any, ...]]:
    """The condition on ``memories`` with its values."""
    return _joined([*_scope(which), *narrowing(which)])


def each_scope(which: Filter) -> list[tuple[str, tuple[Any, ...]]]:
    """The same in parts that share no memory, each of which an index has in order: a project's own and the user's."""
    if which.project_id is None:
        return [where(which)]
    owners: list[Part] = [("project_id = ?", (which.project_id,)), ("project_id IS NULL", ())]
    return [_joined([*_state(which), owner, *narrowing(which)]) for owner in owners]


def _joined(parts: list[Part]) -> tuple[str, tuple[Any, ...]]:
    return " AND ".join(part for part, _ in parts), tuple(value for _, values in parts for value in values)


def _state(which: Filter) -> Iterator[Part]:
    if which.unconfirmed:
        yield UNCONFIRMED, ()
    elif which.archived:
        yield f"archived_at IS NOT NULL AND NOT unconfirmed AND {FREE}", ()
    else:
        yield "archived_at IS NULL", ()


def _scope(which: Filter) -> Iterator[Part]:
    yield from _state(which)
    if which.project_id is not None:
        yield "(project_id = ? OR project_id IS NULL)", (which.project_id,)


def narrowing(which: Filter) -> Iterator[Part]:
    """What it asks for beyond project and archive."""
    if which.kinds:
        yield f"kind IN ({marks(which.kinds)})", which.kinds
    if which.branch:
        yield "branch = ?", (which.branch,)
    if which.session_id:
        yield "session_id = ?", (which.session_id,)
    if which.gone_since is not None:
        yield "archived_at >= ?", (which.gone_since,)
    if which.since is not None:
        yield "said_at >= ?", (which.since,)
    if which.until is not None:
        yield "said_at < ?", (which.until,)
    if which.min_confidence:
        yield "confidence >= ?", (which.min_confidence,)
    if not which.notes:
        yield NO_NOTE, ()
    yield from _listed(which)
    yield from _worded(which)


def _listed(which: Filter) -> Iterator[Part]:
    for tag in which.tags:
        # The full text finds those that may fit; the list itself says which do.
        yield from _may_hold(which, "tags", tag)
        yield "EXISTS (SELECT 1 FROM json_each(tags) WHERE lower(value) = lower(?))", (tag,)
    if path := which.file.strip("/"):
        yield from _may_hold(which, "files", path)
        yield "EXISTS (SELECT 1 FROM json_each(files) WHERE instr('/' || value || '/', '/' || ? || '/'))", (path,)


def _may_hold(which: Filter, column: str, text: str) -> Iterator[Part]:
    if words := phrase(text):
        yield _matching(which, f"{column} : {words}")


def _worded(which: Filter) -> Iterator[Part]:
    for text in which.phrases:
        yield _matching(which, f"{SAID} : {phrase(text)}") if phrase(text) else ("FALSE", ())
    for text in which.without:
        if words := phrase(text):
            condition, values = _matching(which, f"{SAID} : {words}")
            yield f"NOT {condition}", values


def _matching(which: Filter, match: str) -> Part:
    table = FULL_TEXT[which.out_of_use]
    return f"id IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)", (match,)  # noqa: S608 - a name of ours


def phrase(text: str) -> str:
    """``text`` as a phrase of a MATCH expression, "" where it holds no word."""
    words = _WORD.findall(text)
    return f'"{" ".join(words)}"' if words else ""
