"""Filters for memories, and the SQL conditions for them. Search, lists and recall share this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from subconscious.domain.model import CLAUDE_NOTE
from subconscious.store.rows import qmarks

FULL_TEXT = {False: "memories_fts", True: "archived_fts"}
"""The full-text tables of the active and of the archived memories."""

TEXT_COLUMNS = "{summary content rationale tags files}"
"""The full-text columns that contain words."""

UNQUARANTINED = "NOT EXISTS (SELECT 1 FROM implicit_captures WHERE quarantined AND memory_id = memories.id)"
"""SQL condition: the memory is not in quarantine. Quarantined memories are archived, but shown in the review only."""

NO_NOTE = f"extractor <> '{CLAUDE_NOTE}'"
"""SQL condition: the memory is not a copy of a Claude Code note.

Copies are not injected, merged, summarised or faded.
"""

UNCONFIRMED = (
    "unconfirmed AND EXISTS (SELECT 1 FROM implicit_captures WHERE status = 'review' AND memory_id = memories.id)"
)
"""SQL condition: the memory is unconfirmed, and the capture that it was made from waits for review.

Such memories may be shown to sessions.
"""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on memories; the default filter matches every active memory.

    ``project_id`` also matches user-wide memories; None matches every project. A memory must have one of ``kinds``, all
    of ``tags`` and ``phrases``, and none of the words or phrases in ``without``. ``file`` is a path, the end of a path,
    or a folder. ``since`` is inclusive, ``until`` exclusive. ``gone_since`` matches memories archived at that time or
    later. With ``notes``, copies of Claude Code's notes match too. With ``archived``, archived memories match instead
    of active ones; with ``unconfirmed``, only unconfirmed memories match.
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
        """Whether the filter matches memories that are not active."""
        return self.archived or self.unconfirmed

    @property
    def narrow(self) -> bool:
        """Whether the filter has conditions beyond the project and the memory's state.

        Few memories may match such a filter, so search engines must apply it. Leaving out copies of Claude's own notes
        is not such a condition: they are few, and are dropped from the results later.
        """
        wide = Filter(self.project_id, archived=self.archived, notes=self.notes, unconfirmed=self.unconfirmed)
        return self != wide


Part = tuple[str, tuple[Any, ...]]


def where(which: Filter) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL condition on the table ``memories``, and its parameters."""
    return _joined([*_scope(which), *conditions(which)])


def each_scope(which: Filter) -> list[tuple[str, tuple[Any, ...]]]:
    """Return separate conditions for the project's memories and for user-wide ones, so that each can use an index."""
    if which.project_id is None:
        return [where(which)]
    owners: list[Part] = [("project_id = ?", (which.project_id,)), ("project_id IS NULL", ())]
    return [_joined([*_state(which), owner, *conditions(which)]) for owner in owners]


def _joined(parts: list[Part]) -> tuple[str, tuple[Any, ...]]:
    return " AND ".join(part for part, _ in parts), tuple(value for _, values in parts for value in values)


def _state(which: Filter) -> Iterator[Part]:
    if which.unconfirmed:
        yield UNCONFIRMED, ()
    elif which.archived:
        yield f"archived_at IS NOT NULL AND NOT unconfirmed AND {UNQUARANTINED}", ()
    else:
        yield "archived_at IS NULL", ()


def _scope(which: Filter) -> Iterator[Part]:
    yield from _state(which)
    if which.project_id is not None:
        yield "(project_id = ? OR project_id IS NULL)", (which.project_id,)


def conditions(which: Filter) -> Iterator[Part]:
    """Yield the SQL conditions of a filter, except those on the project and on whether a memory is active."""
    if which.kinds:
        yield f"kind IN ({qmarks(which.kinds)})", which.kinds
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
    yield from _list_conditions(which)
    yield from _phrase_conditions(which)


def _list_conditions(which: Filter) -> Iterator[Part]:
    for tag in which.tags:
        # The full-text index finds candidates; the comparison with the stored list decides.
        yield from _may_contain(which, "tags", tag)
        yield "EXISTS (SELECT 1 FROM json_each(tags) WHERE lower(value) = lower(?))", (tag,)
    if path := which.file.strip("/"):
        yield from _may_contain(which, "files", path)
        yield "EXISTS (SELECT 1 FROM json_each(files) WHERE instr('/' || value || '/', '/' || ? || '/'))", (path,)


def _may_contain(which: Filter, column: str, text: str) -> Iterator[Part]:
    if words := phrase(text):
        yield _matching(which, f"{column} : {words}")


def _phrase_conditions(which: Filter) -> Iterator[Part]:
    for text in which.phrases:
        yield _matching(which, f"{TEXT_COLUMNS} : {phrase(text)}") if phrase(text) else ("FALSE", ())
    for text in which.without:
        if words := phrase(text):
            condition, values = _matching(which, f"{TEXT_COLUMNS} : {words}")
            yield f"NOT {condition}", values


def _matching(which: Filter, match: str) -> Part:
    table = FULL_TEXT[which.out_of_use]
    return f"id IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)", (match,)  # noqa: S608 - our own table


def phrase(text: str) -> str:
    """Return ``text`` as a phrase of a full-text expression; "" if it contains no word."""
    words = _WORD.findall(text)
    return f'"{" ".join(words)}"' if words else ""
