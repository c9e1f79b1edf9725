"""Words for changes in the history: what happened to which thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import screen

DONE: Mapping[tuple[str, str], str] = {
    ("memory", "create"): "stored",
    ("memory", "archive"): "archived",
    ("memory", "unarchive"): "brought back",
    ("memory", "correct"): "corrected",
    ("memory", "relabel"): "given another kind or other tags",
    ("memory", "recur"): "counted as repeated",
    ("memory", "repeat"): "counted as repeated",
    ("memory", "violated"): "counted as violated",
    ("memory", "pin"): "pinned",
    ("memory", "unpin"): "unpinned",
    ("memory", "vouched"): "confirmed",
    ("memory", "unconfirmed"): "kept unconfirmed",
    ("memory", "share"): "shared",
    ("memory", "unshare"): "no longer shared",
    ("memory", "move"): "moved to another project",
    ("memory", "quarantine"): "put into quarantine",
    ("memory", "release"): "released from quarantine",
    ("memory", "undo"): "changed back",
    ("capture", "create"): "found",
    ("capture", "approved"): "approved",
    ("capture", "edited"): "approved in other words",
    ("capture", "rejected"): "rejected",
    ("capture", "released"): "released from quarantine",
    ("capture", "restored"): "put back into the queue",
    ("capture", "expired"): "expired, because it was not decided in time",
    ("capture", "undone"): "changed back to undecided",
    ("capture", "bind"): "stored as a memory",
    ("capture", "unconfirmed"): "kept unconfirmed",
    ("capture", "confirmed"): "confirmed",
    ("capture", "retired"): "discarded",
    ("capture", "renumbered"): "given another number",
    ("capture", "refined"): "put in other words",
    ("capture", "reasoned"): "given another reason",
    ("capture", "judged"): "judged again",
    ("capture", "displace"): "removed from a full queue",
    ("capture", "recur"): "counted as repeated",
    ("link", "link"): "made",
    ("link", "confirm"): "confirmed",
    ("link", "unlink"): "removed",
    ("link", "relink"): "changed",
    ("feedback", "feedback"): "recorded",
    ("correction", "correct"): "made",
    ("lesson", "learned"): "learned",
    ("lesson", "forgotten"): "deleted",
    ("settings", "accept"): "accepted",
    ("merge", "merge"): "made",
    ("project", "attach"): "moved to another folder",
    ("folder", "attach"): "given to another project",
    ("session", "attach"): "moved to another project",
    ("capture", "attach"): "moved to another project",
    ("session", "rollback"): "withdrawn",
    ("store", "purge"): "purged",
    ("store", "reset"): "started afresh",
    ("store", "restore"): "restored from a copy",
}
"""The participle that says what an action did to its subject."""

ACTORS = {"user": "you", "assistant": "the assistant", "daemon": "the daemon", "client": "Claude Code"}
"""The name that the history shows for each actor of an event."""


def done(action: str, subject: str) -> str:
    """Return what an action did to a subject, such as ``stored``."""
    return DONE.get((subject, action), screen.line(action))


def change(action: str, subject: str, subject_id: object) -> str:
    """Return what happened, such as ``memory 4 stored``."""
    thing = screen.line(f"{subject} {subject_id}")
    done = DONE.get((subject, action))
    return f"{thing} {done}" if done else f"{thing}: {screen.line(action)}"


def about(event: Mapping[str, Any]) -> str:
    """Return the text that a change is about, after a colon; "" if there is none."""
    return f": {screen.line(event['about'])}" if event["about"] else ""
