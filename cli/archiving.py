"""``subconscious archive`` and ``unarchive``, for memories selected by id, by session or by words."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from subconscious.domain.errors import RequestError

from . import screen, suspicion
from .ask import ask, here
from .confirmation import agreed
from .origin import origin

if TYPE_CHECKING:
    from subconscious.wire.memories import Memory

IDS_PER_REQUEST = 500
MAX_MEMORIES = 1000
MAX_LISTED = 20


def archive(options: Namespace) -> None:
    """Archive memories."""
    _move(options, "archive", "Archived", "Archive")


def unarchive(options: Namespace) -> None:
    """Make archived memories active again."""
    _move(options, "unarchive", "Active again", "Bring back")


def _move(options: Namespace, cmd: Literal["archive", "unarchive"], label: str, question: str) -> None:
    ids = options.ids or _selected(options, question, archived=cmd == "unarchive")
    moved: list[Memory] = []
    for batch in (ids[start : start + IDS_PER_REQUEST] for start in range(0, len(ids), IDS_PER_REQUEST)):
        moved += ask(cmd, ids=batch, reason=options.reason, origin=origin())["memories"]
    if options.json:
        screen.as_json(moved)
    else:
        _print_moved(moved, label, cmd)


def _selected(options: Namespace, question: str, *, archived: bool) -> list[int]:
    """Return the ids of the memories that --session or --query selects; none if the user declines."""
    if not (options.session or options.query):
        raise RequestError("no memories are selected", "say which memories: ID..., --session ID or --query WORDS")
    found = ask(
        "archive_plan",
        cwd=here(),
        session_id=options.session,
        query=" ".join(options.query or ()),
        archived=archived or None,
        everywhere=options.everywhere or None,
        limit=MAX_MEMORIES,
    )["memories"]
    if not options.json:
        _preview(found)
    what = screen.counted(len(found), "memory", "memories")
    return [memory["id"] for memory in found] if found and agreed(options, f"{question} {what}?") else []


def _preview(found: Sequence[Memory]) -> None:
    # Memories that may be poisoned come first, so that the user sees them before agreeing to all.
    for memory in sorted(found, key=lambda one: "suspicion" not in one)[:MAX_LISTED]:
        print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
        suspicion.note(memory)
    if len(found) > MAX_LISTED:
        print(f"      and {len(found) - MAX_LISTED} more")
    if not found:
        print("No memory matches.")


def _print_moved(moved: Sequence[Memory], label: str, cmd: str) -> None:
    if len(moved) > MAX_LISTED:
        print(f"{label}: {len(moved)} memories.")
        return
    for memory in moved:
        print(screen.wrapped(f"{label}: {memory['id']}  {screen.line(memory['summary'])}"))
    if moved and cmd == "archive":
        print(f"  to bring it back: subconscious unarchive {' '.join(str(memory['id']) for memory in moved)}")
