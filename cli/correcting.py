"""Correct memories, and say whether they were of use."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen
from .ask import ask
from .origin import require_person

SAID = {
    "superseded": "{old} is superseded by {new}",
    "deprecated": "{old} is deprecated and archived",
    "refined": "{old} is archived; {new} says it now",
    "merged": "{old} is archived; {new} stands for both",
}


def correct(options: Namespace) -> None:
    """Say that a memory no longer holds, is put better, or is another one's."""
    require_person("correct memories", "propose what holds instead, to be reviewed: subconscious remember TEXT")
    asked: dict[str, Any] = {"id": options.id, "reason": options.reason, "origin": "user"} | _way(options)
    answer = ask("correct", **asked)
    if options.json:
        screen.as_json(answer)
        return
    replacement = answer["replacement"] or {}
    print(SAID[asked["way"]].format(old=answer["memory"]["id"], new=replacement.get("id")) + ".")


def _way(options: Namespace) -> dict[str, Any]:
    if options.superseded_by:
        return {"way": "superseded", "other": options.superseded_by}
    if options.merged_into:
        return {"way": "merged", "other": options.merged_into}
    if options.refined:
        return {"way": "refined", "text": " ".join(options.refined)}
    return {"way": "deprecated"}


def useful(options: Namespace) -> None:
    """Say that memories were of use."""
    _judge(options, "accepted", "Noted as useful")


def wrong(options: Namespace) -> None:
    """Say that memories were wrong."""
    _judge(options, "rejected", "Noted as wrong")


def _judge(options: Namespace, outcome: str, said: str) -> None:
    require_person("say what a memory is worth")
    found = ask("feedback", ids=options.ids, outcome=outcome, reason=options.reason, origin="user")["memories"]
    if options.json:
        screen.as_json(found)
        return
    for memory in found:
        print(screen.wrapped(f"{said}: {memory['id']}  {screen.line(memory['summary'])}"))
    if outcome == "rejected":
        print("  put it right: subconscious correct ID --refined TEXT, or --deprecated")
