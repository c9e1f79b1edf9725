"""Withdraw all that a session added, and put it back."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from . import screen, suspicion
from .ask import ask
from .origin import require_person


def rollback(options: Namespace) -> None:
    """Show what a session added; withdraw it after a yes, or put back what was withdrawn."""
    require_person("take back what a session added")
    asked: dict[str, Any] = {"session_id": options.session, "reason": options.reason, "origin": "user"}
    if options.undo:
        _tell(options, ask("rollback", back=True, **asked), "put back")
        return
    found = ask("rollback", preview=True, **asked)
    if not options.json and (not options.yes or _empty(found)):
        _preview(found)
    if not _wanted(options, found):
        if options.json:
            screen.as_json(found)
        return
    _tell(options, ask("rollback", **asked), "withdrawn")


def _empty(found: dict[str, Any]) -> bool:
    return not any(found.get(name) for name in ("memories", "repeated", "captures", "unread", "links"))


def _wanted(options: Namespace, found: dict[str, Any]) -> bool:
    if _empty(found):
        return False
    if options.yes or not sys.stdin.isatty():
        return bool(options.yes)
    try:
        return input("Withdraw all of this? It can be put back. [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _preview(found: dict[str, Any]) -> None:
    if _empty(found):
        print(f"Session {screen.line(found['session_id'])} has added nothing that is still there.")
        return
    print(f"Session {screen.line(found['session_id'])} has added:")
    for memory in found["memories"]:
        print(screen.wrapped(f"memory {memory['id']}: {screen.line(memory['summary'])}", 4, "  -"))
        suspicion.note(memory, 8)
    for memory in found["repeated"]:
        told = f"a repetition of memory {memory['id']}, which stays: {screen.line(memory['summary'])}"
        print(screen.wrapped(told, 4, "  -"))
        suspicion.note(memory, 8)
    for memory in found.get("revived", ()):  # a daemon of before knows none
        told = f"in place of memory {memory['id']}, which comes back: {screen.line(memory['summary'])}"
        print(screen.wrapped(told, 4, "  -"))
        suspicion.note(memory, 8)
    waits = sum(capture["status"] in ("review", "quarantined") for capture in found["captures"])
    print(f"  - {screen.counted(len(found['captures']), 'capture')}, {waits} of them undecided")
    if found.get("links"):
        print(f"  - {screen.counted(len(found['links']), 'link')} of these memories, or made in the session")
    if found["unread"]:
        print(f"  - {screen.counted(found['unread'], 'part')} that a model has still to read")
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to withdraw it.")


def _tell(options: Namespace, done: dict[str, Any], deed: str) -> None:
    if options.json:
        screen.as_json(done)
        return
    if _empty(done):
        print(f"There was nothing to be {deed}.")
        return
    counts = [
        screen.counted(len(done["memories"]), "memory", "memories"),
        screen.counted(len(done["repeated"]), "repetition"),
        screen.counted(len(done["captures"]), "capture"),
        *([screen.counted(len(done["links"]), "link")] if done.get("links") else []),
    ]
    print(f"{screen.listed(counts)} {deed}.")
    if deed == "withdrawn":
        print(f"Put it back: subconscious rollback --undo {screen.line(done['session_id'])}")
