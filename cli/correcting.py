"""``subconscious correct``, ``useful`` and ``wrong``."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen
from .ask import ask
from .origin import require_person

RESULTS = {
    "superseded": "{old} is superseded by {new}",
    "deprecated": "{old} is deprecated and archived",
    "refined": "{old} is archived; {new} replaces it",
    "merged": "{old} is archived; {new} covers both",
}


def correct(options: Namespace) -> None:
    """Replace, reword, merge or deprecate a memory."""
    require_person("correct memories", "propose the correct statement for review: subconscious remember TEXT")
    correction = _correction(options)
    answer = ask("correct", id=options.id, reason=options.reason, origin="user", **correction)
    if options.json:
        screen.as_json(answer)
        return
    replacement = answer["replacement"]
    new = replacement["id"] if replacement else ""
    print(RESULTS[correction["way"]].format(old=answer["memory"]["id"], new=new) + ".")


def _correction(options: Namespace) -> dict[str, Any]:
    if options.superseded_by:
        return {"way": "superseded", "other": options.superseded_by}
    if options.merged_into:
        return {"way": "merged", "other": options.merged_into}
    if options.refined:
        return {"way": "refined", "text": " ".join(options.refined)}
    return {"way": "deprecated"}


def useful(options: Namespace) -> None:
    """Record that memories were useful."""
    _judge(options, "accepted", "Noted as useful")


def wrong(options: Namespace) -> None:
    """Record that memories were wrong."""
    _judge(options, "rejected", "Noted as wrong")


def _judge(options: Namespace, outcome: str, label: str) -> None:
    require_person("rate memories")
    found = ask("feedback", ids=options.ids, outcome=outcome, reason=options.reason, origin="user")["memories"]
    if options.json:
        screen.as_json(found)
        return
    for memory in found:
        print(screen.wrapped(f"{label}: {memory['id']}  {screen.line(memory['summary'])}"))
    if outcome == "rejected":
        print("  to correct it: subconscious correct ID --refined TEXT, or --deprecated")
