"""The review queue: what waits, and a person's decisions about it (SPEC A4, N13)."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen
from .ask import ask, here
from .memories import speaker
from .origin import require_person


def waiting(options: Namespace) -> None:
    """Print what waits, or what was decided, with its evidence."""
    filters = {"status": options.status, "session_id": options.session, "limit": options.limit}
    captures = ask("captures", cwd=here(), **filters)["captures"]
    if options.json:
        screen.as_json(captures)
        return
    for capture in captures:
        card(capture)
    if not captures:
        print("Nothing waits for review." if options.status == "review" else f"Nothing was {options.status}.")
    elif options.status == "review":
        print("\nDecide: subconscious review approve ID... or subconscious review reject ID...")


def card(capture: dict[str, Any]) -> None:
    """Print a capture: what it says, what it is, the words it rests on, the gate's reason."""
    print(screen.wrapped(screen.line(capture["summary"]), 6, f"{capture['id']:>4}"))
    told = [
        "waiting" if capture["status"] == "review" else capture["status"],
        capture["kind"],
        f"confidence {capture['confidence']:.2f}",
        f"said by {speaker(capture)}",
        screen.when(capture["said_at"]),
    ]
    print(screen.paint(screen.wrapped(screen.listed(told), 6), "dim"))
    for words in (_quoted(capture), screen.line(capture["reason"])):
        if words:
            print(screen.paint(screen.wrapped(words, 6), "dim"))


def _quoted(capture: dict[str, Any]) -> str:
    evidence = screen.line(capture["evidence"])
    if not evidence or evidence == screen.line(capture["summary"]):
        return ""
    return f'"{evidence if len(evidence) <= 240 else evidence[:239] + "…"}"'


def approve(options: Namespace) -> None:
    """Store what waited."""
    _decide(options, "approve")


def reject(options: Namespace) -> None:
    """Refuse what waited."""
    _decide(options, "reject")


def _decide(options: Namespace, cmd: str) -> None:
    require_person(f"{cmd} what waits for review")
    captures = ask(cmd, ids=options.ids, reason=options.reason, origin="user")["captures"]
    if options.json:
        screen.as_json(captures)
        return
    for capture in captures:
        # Its status, not the wish: what was decided before stays as it is.
        memory = f", memory {capture['memory_id']}" if capture["memory_id"] else ""
        said = f"{capture['id']} is {capture['status']}{memory}: {screen.line(capture['summary'])}"
        print(screen.wrapped(said, 2)[2:])
