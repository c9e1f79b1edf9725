"""What was changed, and taking it back: history, undo."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from . import screen, suspicion
from .ask import ask, here
from .origin import origin, require_person

LONGEST_VALUE = 60
ACTORS = {"user": "you", "assistant": "the assistant", "daemon": "the daemon"}
LEARNED = {
    "user": "the daemon, from what you typed,",
    "assistant": "the daemon, from what the assistant said,",
    "tool": "the daemon, from what a tool said,",
}
"""Who stored words that were said in a session."""
TIMES = frozenset({"archived_at", "decided_at", "released_at", "removed_at", "expires_at", "said_at"})
"""Columns that are shown as dates."""


def history(options: Namespace) -> None:
    """Print events: all of one thing from the first on, or the latest of everything."""
    subject, about = _meant(options)
    place: dict[str, Any] = {} if subject or options.everywhere else {"cwd": here()}
    told = ask("history", subject=subject, about=about, limit=options.limit, origin=origin(), **place)["events"]
    if options.json:
        screen.as_json(told)
        return
    for event in told:
        _tell_event(event, whole=options.event is not None)
    if not told:
        print("Nothing was changed yet." if not subject else f"Nothing is on record of this {subject}.")
    elif not subject:
        print("\nThe latest first. Take one back: subconscious undo --event ID")


def _meant(options: Namespace) -> tuple[str, str]:
    chosen = {"memory": options.id, "capture": options.capture, "link": options.link}
    chosen |= {"session": options.session, "event": options.event}
    return next(((name, str(value)) for name, value in chosen.items() if value is not None), ("", ""))


def _tell_event(event: dict[str, Any], *, whole: bool) -> None:
    who = _who(event)
    reason = f": {screen.line(event['reason'])}" if event["reason"] else ""
    told = f"{event['action']} of {_thing(event)} by {who.rstrip(',')}{reason}"
    print(screen.wrapped(told, 31, f"{event['id']:>8}  {screen.stamp(event['at'])}"))
    suspicion.note(event, 35)
    if event["change"] or whole:
        for line in _differences(event["before"], event["after"], whole=whole):
            print(screen.paint(screen.wrapped(line, 35, ""), "dim"))


def _who(act: dict[str, Any]) -> str:
    """Who did it; what was learned from somebody's words is not the daemon's own."""
    if act["actor"] == "daemon" and act.get("speaker") in LEARNED:
        return LEARNED[act["speaker"]]
    return str(ACTORS.get(act["actor"], act["actor"]))


def _thing(event: dict[str, Any]) -> str:
    name = f"{event['subject']} {event['subject_id']}"
    return f"{name} ({screen.line(event['about'])})" if event["about"] else name


def _differences(before: dict[str, Any] | None, after: dict[str, Any] | None, *, whole: bool) -> Iterable[str]:
    """What was changed, a line for each column; of what was made or taken away the columns only if wanted."""
    if before is not None and after is not None:
        names = [name for name in after if before.get(name) != after[name]]
        return [f"{name}: {_value(name, before.get(name))} -> {_value(name, after[name])}" for name in names]
    if not whole:
        return []
    return [f"{name}: {_value(name, value)}" for name, value in (before or after or {}).items() if value]


def _value(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if name in TIMES and isinstance(value, (int, float)):
        return screen.stamp(value)
    text = screen.line(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def undo(options: Namespace) -> None:
    """Show what would be taken back, ask, and do exactly that."""
    require_person("take changes back")
    asked: dict[str, Any] = {"reason": options.reason, "origin": "user"}
    which = {"ids": options.event, "limit": options.number, "daemon": options.daemon}
    place: dict[str, Any] = {} if options.everywhere else {"cwd": here()}
    found = ask("undo_acts", preview=True, **which, **place, **asked)
    if not options.json and (not options.yes or not found["acts"]):
        _preview(options, found)
    if not _wanted(options, found["acts"]):
        if options.json:
            screen.as_json(found)
        return
    # By their events, not by their number: what came meanwhile was not shown.
    done = ask("undo_acts", ids=[act["id"] for act in found["acts"]], **asked)
    if options.json:
        screen.as_json(done)
    else:
        print(f"{screen.counted(_steps(done['acts']), 'change')} taken back. Undo this in turn: subconscious undo")


def _steps(acts: list[dict[str, Any]]) -> int:
    return sum(len(act["steps"]) for act in acts)


def _wanted(options: Namespace, acts: list[dict[str, Any]]) -> bool:
    if not acts:
        return False
    if options.yes or options.json or not sys.stdin.isatty():
        return bool(options.yes)
    try:
        return input("Take this back? It can be undone in turn. [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _preview(options: Namespace, found: dict[str, Any]) -> None:
    if not found["acts"]:
        where = "" if options.everywhere else " in this project"
        print(f"You have changed nothing{where} that could be taken back.")
        print("  what was learned from what you typed, too: subconscious undo --learned")
        if not options.everywhere:
            print("  in all projects: subconscious undo --everywhere")
        return
    for act in found["acts"]:
        print(f"What {_who(act)} {_deed(act)} {screen.when(act['at'])}:")
        for step in act["steps"]:
            _tell_step(step)
    for one in found.get("fallen", ()):  # a daemon of before knows neither
        print(screen.wrapped(f"archive of {_memory(one)}, which sums up what goes", 4, "  -"))
        suspicion.note(one, 8)
    for one in found.get("revived", ()):
        print(screen.wrapped(f"unarchive of {_memory(one)}, which was merged into what goes", 4, "  -"))
        suspicion.note(one, 8)
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to take it back.")


def _deed(act: dict[str, Any]) -> str:
    return "stored" if _who(act) in LEARNED.values() else "did"


def _memory(one: dict[str, Any]) -> str:
    return _thing({"subject": "memory", "subject_id": one["id"], "about": one["about"]})


def _tell_step(step: dict[str, Any]) -> None:
    print(screen.wrapped(f"{step['action']} of {_thing(step)}", 4, "  -"))
    suspicion.note(step, 8)
    for line in _differences(step["before"], step["after"], whole=False):
        print(screen.paint(screen.wrapped(line, 8, ""), "dim"))
    if step["before"] is None or step["after"] is None:
        print(
            screen.paint(
                "        put on record again" if step["before"] is None else "        taken off the record", "dim"
            )
        )
