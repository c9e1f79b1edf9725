"""Take memories out of use and bring them back: by number, by session, by words."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from subconscious.errors import RequestError

from . import screen, suspicion
from .ask import ask, here
from .fading import agreed
from .origin import origin

PORTION = 500
MOST = 1000
SHOWN = 20


def archive(options: Namespace) -> None:
    """Take memories out of use."""
    _move(options, "archive", "Archived", "Archive")


def unarchive(options: Namespace) -> None:
    """Bring memories back."""
    _move(options, "unarchive", "Active again", "Bring back")


def _move(options: Namespace, cmd: str, said: str, question: str) -> None:
    ids = options.ids or _planned(options, question, archived=cmd == "unarchive")
    moved: list[dict[str, Any]] = []
    for portion in (ids[start : start + PORTION] for start in range(0, len(ids), PORTION)):
        moved += ask(cmd, ids=portion, reason=options.reason, origin=origin())["memories"]
    if options.json:
        screen.as_json(moved)
    else:
        _tell(moved, said, cmd)


def _planned(options: Namespace, question: str, *, archived: bool) -> list[int]:
    """The memories that were described, shown before anything is done to them."""
    if not (options.session or options.query):
        raise RequestError("it does not say which memories", "name ids, --session ID or --query WORDS")
    found = ask(
        "archive_plan",
        cwd=here(),
        session_id=options.session,
        query=" ".join(options.query or ()),
        archived=archived or None,
        everywhere=options.everywhere or None,
        limit=MOST,
    )["memories"]
    if not options.json:
        _preview(found)
    what = screen.counted(len(found), "memory", "memories")
    return [memory["id"] for memory in found] if found and agreed(options, f"{question} {what}?") else []


def _preview(found: list[dict[str, Any]]) -> None:
    for memory in found[:SHOWN]:
        print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
        suspicion.note(memory)
    if len(found) > SHOWN:
        print(f"      and {len(found) - SHOWN} more")
    if not found:
        print("There is no such memory.")


def _tell(moved: list[dict[str, Any]], said: str, cmd: str) -> None:
    if len(moved) > SHOWN:
        print(f"{said}: {len(moved)} memories.")
        return
    for memory in moved:
        print(screen.wrapped(f"{said}: {memory['id']}  {screen.line(memory['summary'])}"))
    if moved and cmd == "archive":
        print(f"  bring it back: subconscious unarchive {' '.join(str(memory['id']) for memory in moved)}")
