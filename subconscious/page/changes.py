"""The web page's words for changes: what a change did, why, and the label of its undo button."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from subconscious.history.act_details import effect_of
from subconscious.page.wording import ACTIONS, counted

UNDOING = ("undo", "undone")
"""The actions of events that record an undo. The reason of such an event names the events that were reverted."""

EVENT = re.compile(r"\bevent (\d+)", re.ASCII)
"""Matches the number of an event in the reason of an undo."""

_REVERTED = re.compile(r"event \d+ \((?P<action>[\w ]+?)(?: of [^)]*)?\)(?:: )?", re.ASCII)

UNDONE: Mapping[str, str] = {
    "create": "Forgot",
    "archive": "Brought back",
    "unarchive": "Archived again",
    "pin": "Unpinned",
    "unpin": "Pinned again",
    "correct": "Put back the earlier words of",
    "relabel": "Put back the kind and tags of",
}
"""The words for what an undo did to a memory, by the action that was undone."""

EFFECTS: Mapping[str, tuple[str, str]] = {
    "archived": ("Archived", "Bring back"),
    "restored": ("Brought back", "Archive again"),
}
"""By the effect of a change on a memory: the words for the change, and the label of the button that undoes it."""

BUTTONS: Mapping[tuple[str, str], str] = {
    ("memory", "create"): "Forget",
    ("memory", "pin"): "Unpin",
    ("memory", "unpin"): "Pin again",
    ("memory", "correct"): "Put the earlier words back",
    ("memory", "relabel"): "Put kind and tags back",
    ("link", "link"): "Remove the link",
    ("capture", "create"): "Discard",
    ("capture", "approved"): "Decide again",
    ("capture", "edited"): "Decide again",
    ("capture", "rejected"): "Decide again",
    ("feedback", "feedback"): "Take the rating back",
}
"""The labels of the buttons that undo other changes; the label for all others is "Undo"."""

EXPLAINED: Mapping[str, str] = {
    "Forget": "Archives the memory and undoes its storage: the capture behind it is discarded or waits for review",
    "Bring back": "Puts the memory back in use: sessions get it again",
    "Archive again": "Takes the memory out of use again; it can still be brought back",
}
"""Tooltips for buttons that need more explanation than their label, by label."""

SINCE: Mapping[str, str] = {"archived": "brought back since", "restored": "archived again since", "": "archived since"}
"""By the effect of a change: what was done to the memory afterwards, so that the change can no longer be undone."""


def action(event: Mapping[str, Any]) -> str:
    """Return what a change did, such as ``Archived``."""
    if event["subject"] == "link" and replaced(event):
        return "Replaced"
    named = (str(event["subject"]), str(event["action"]))
    if event["action"] in UNDOING and event["subject"] == "memory":
        reverted = _REVERTED.match(event["reason"] or "")
        known = UNDONE.get(reverted["action"]) if reverted else None
        return known or EFFECTS.get(effect(event), (ACTIONS["memory", "undo"],))[0]
    plain = f"{named[1]} {'' if named[0] == 'memory' else named[0]}".strip().replace("_", " ")
    return ACTIONS.get(named, plain.capitalize())


def effect(event: Mapping[str, Any]) -> str:
    """Return whether a change archived or restored a memory: ``archived``, ``restored`` or ""."""
    known = event.get("effect")
    return str(known if known is not None else effect_of(event))


def replaced(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the SUPERSEDES links of a change: the source of each is the memory that replaced the target."""
    return [link for link in event.get("linked", ()) if link["type"] == "SUPERSEDES"]


def because(event: Mapping[str, Any]) -> str:
    """Return why a change was made, without mentions of event numbers."""
    return _REVERTED.sub("", event["reason"] or "").strip()


def plainly(message: str) -> str:
    """Return a message about changes with each event number replaced by "a change"."""
    return EVENT.sub("a change", message)


def takes_back(event: Mapping[str, Any]) -> str:
    """Return the label of the button that undoes a change."""
    if event["subject"] == "link" and replaced(event):
        return "Use both again"
    named = (str(event["subject"]), str(event["action"]))
    return EFFECTS[effect(event)][1] if effect(event) else BUTTONS.get(named, "Undo")


def explained(label: str) -> str:
    """Return the explanation of a button; "" if its label is enough."""
    return EXPLAINED.get(label, "")


def since(event: Mapping[str, Any]) -> str:
    """Return what was done to a memory after a change, if that prevents an undo of the change; else ""."""
    return "" if event.get("holds", True) else SINCE[effect(event)]


def undone(steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the words for what an undo did; the page appends the summaries of the changed memories."""
    words = {_undone(step) for step in steps}
    if len(steps) == 1 and words:
        return f"{words.pop()}:"
    if len(words) == 1 and all(step["subject"] == "memory" for step in steps):
        return f"{words.pop()} {counted(len(steps), 'memory', 'memories')}:"
    return f"Took back {counted(len(steps), 'change')}."


def _undone(step: Mapping[str, Any]) -> str:
    """Return what the undo of one change did."""
    named = (str(step["subject"]), "undo")
    if step["subject"] == "memory":
        return UNDONE.get(step["action"]) or EFFECTS.get(effect_of(step), (ACTIONS[named],))[0]
    return ACTIONS.get(named, "Took back a change of")


def memories_of(steps: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the memories that an undo changed."""
    return tuple(dict.fromkeys(int(step["subject_id"]) for step in steps if step["subject"] == "memory"))


FILTERS = {
    "action": action,
    "because": because,
    "effect": effect,
    "explained": explained,
    "replaced": replaced,
    "since": since,
    "takes_back": takes_back,
}
"""The filters of the templates, by name."""
