"""``subconscious rollback``: withdraws everything that a session added, or restores it."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from . import screen, suspicion
from .ask import ask
from .confirmation import ask_yes
from .origin import require_person

if TYPE_CHECKING:
    from subconscious.wire.undo import RollbackResult


def rollback(options: Namespace) -> None:
    """Show what a session added and withdraw it if the user agrees; with --undo, restore it."""
    require_person("withdraw what a session added")
    args = {"session_id": options.session, "reason": options.reason, "origin": "user"}
    if options.undo:
        _print_result(options, ask("rollback", back=True, **args), "put back")
        return
    found = ask("rollback", preview=True, **args)
    if not options.json and (not options.yes or _empty(found)):
        _preview(found)
    if not _agreed(options, found):
        if options.json:
            screen.as_json(found)
        return
    _print_result(options, ask("rollback", **args), "withdrawn")


def _empty(found: RollbackResult) -> bool:
    return not any(found.get(name) for name in ("memories", "repeated", "captures", "unread", "links"))


def _agreed(options: Namespace, found: RollbackResult) -> bool:
    if _empty(found):
        return False
    if options.yes or not sys.stdin.isatty():
        return bool(options.yes)
    return ask_yes("Withdraw all of this? It can be put back.")


def _preview(found: RollbackResult) -> None:
    if _empty(found):
        print(f"Session {screen.line(found['session_id'])} added nothing that is still there.")
        return
    print(f"Session {screen.line(found['session_id'])} added:")
    for memory in found["memories"]:
        print(screen.wrapped(f"memory {memory['id']}: {screen.line(memory['summary'])}", 4, "  -"))
        suspicion.note(memory, 8)
    for memory in found["repeated"]:
        text = f"a repetition of memory {memory['id']}, which stays: {screen.line(memory['summary'])}"
        print(screen.wrapped(text, 4, "  -"))
        suspicion.note(memory, 8)
    for memory in found.get("revived", ()):  # an older daemon does not send it
        text = f"a replacement of memory {memory['id']}, which comes back: {screen.line(memory['summary'])}"
        print(screen.wrapped(text, 4, "  -"))
        suspicion.note(memory, 8)
    waits = sum(capture["status"] in ("review", "quarantined") for capture in found["captures"])
    print(f"  - {screen.counted(len(found['captures']), 'capture')}, {waits} of them undecided")
    if found.get("links"):
        print(f"  - {screen.counted(len(found['links']), 'link')} to or from these memories, or made in this session")
    if found["unread"]:
        print(f"  - {screen.counted(found['unread'], 'part')} of its transcript that a model still has to read")
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to withdraw this.")


def _print_result(options: Namespace, done: RollbackResult, action: str) -> None:
    if options.json:
        screen.as_json(done)
        return
    if _empty(done):
        print(f"Nothing was {action}.")
        return
    counts = [
        screen.counted(len(done["memories"]), "memory", "memories"),
        screen.counted(len(done["repeated"]), "repetition"),
        screen.counted(len(done["captures"]), "capture"),
        *([screen.counted(len(done["links"]), "link")] if done.get("links") else []),
    ]
    print(f"{screen.listed(counts)} {action}.")
    if action == "withdrawn":
        print(f"To put it back: subconscious rollback --undo {screen.line(done['session_id'])}")
