"""``subconscious history`` and ``undo``."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import screen, suspicion, wording
from .ask import ask, here
from .confirmation import ask_yes
from .origin import origin, require_person

if TYPE_CHECKING:
    from subconscious.wire.history import DescribedEvent
    from subconscious.wire.undo import Columns, Step, Undone, UndoResult

MAX_VALUE_LENGTH = 60
LEARNED_BY = {
    "user": "the daemon, from what you typed",
    "assistant": "the daemon, from what the assistant said",
    "teammate": "the daemon, from what a teammate shared",
    "tool": "the daemon, from what a tool printed",
}
"""The actor that the history shows for something that the daemon stored from a session, by its speaker."""
UNDONE = re.compile(r"\Aevent (?P<number>\d+) \(\w+\)")
"""The beginning of the reason that is stored with an undo."""
TIMES = frozenset({"archived_at", "decided_at", "released_at", "removed_at", "expires_at", "said_at"})
"""Columns that hold times and are shown as dates."""
MEANINGFUL = frozenset(
    {
        *("summary", "content", "rationale", "kind", "tags", "scope", "branch", "importance"),
        *("status", "type", "outcome", "title", "root"),
    }
)
"""Columns that users know from other commands. `history --event` shows all columns."""
WORDS = {
    "archived_at": ("is brought back", "is archived"),
    "removed_at": ("is brought back", "is removed"),
    "quarantined": ("leaves the quarantine", "is put into quarantine"),
    "pinned": ("is unpinned", "is pinned"),
    "unconfirmed": ("is confirmed", "is unconfirmed"),
}
"""What it means for a user that one of these columns loses or gets a value."""
MAX_STEPS = 20
"""The most changes of one act that a preview of `undo` lists."""


def history(options: Namespace) -> None:
    """Print the latest events, newest first; or those of one memory, capture, link, session or change, oldest first."""
    subject, about = _chosen_subject(options)
    scope = {} if subject or options.everywhere else {"cwd": here()}
    events = ask("history", subject=subject, about=about, limit=options.limit, origin=origin(), **scope)["events"]
    if options.json:
        screen.as_json(events)
        return
    for event in events:
        _print_event(event, full=options.event is not None)
    if not events:
        print(
            "No changes have been recorded yet."
            if not subject
            else f"No change of {subject} {about} is recorded; perhaps it does not exist."
        )
    elif not subject:
        print("\nThe latest first. Details: subconscious history --event ID. Undo one: subconscious undo --event ID")


def _chosen_subject(options: Namespace) -> tuple[str, str]:
    """Return the kind and the id of the subject that the options name; two empty strings for none."""
    chosen = {"memory": options.id, "capture": options.capture, "link": options.link}
    chosen |= {"session": options.session, "event": options.event}
    return next(((name, str(value)) for name, value in chosen.items() if value is not None), ("", ""))


def _print_event(event: DescribedEvent, *, full: bool) -> None:
    reason = f" ({_reason(event)})" if event["reason"] else ""
    done = wording.change(event["action"], event["subject"], event["subject_id"])
    text = f"{done} by {_actor(event)}{wording.about(event)}{reason}"
    if event["subject"] == "rejudged":
        counts = [f"{number} {outcome}" for outcome, number in (event["after"] or {}).items() if number]
        text = f"waiting captures judged again: {screen.listed(counts) or 'nothing changed'}"
    print(screen.wrapped(text, 31, f"{event['id']:>8}  {screen.stamp(event['at'])}"))
    suspicion.note(event, 35)
    if event["change"] or full:
        for line in _changed_columns(event["before"], event["after"], full=full, subject=event["subject"]):
            print(screen.paint(screen.wrapped(line, 35, ""), "dim"))


def _reason(event: DescribedEvent) -> str:
    """Return the reason of a change; that of an undo names the change that was undone."""
    reason = screen.line(event["reason"]).rstrip(": ")
    return UNDONE.sub(r"to undo change \g<number>", reason) if event["action"] == "undo" else reason


def _actor(act: Mapping[str, Any]) -> str:
    """Return who made a change. If the daemon stored a statement from a session, name its speaker as well."""
    if act["actor"] == "daemon" and act.get("speaker") in LEARNED_BY:
        return LEARNED_BY[act["speaker"]]
    return str(wording.ACTORS.get(act["actor"], act["actor"]))


def _changed_columns(before: Columns, after: Columns, *, full: bool, subject: str = "") -> Iterable[str]:
    """Return a line for each changed column; for an inserted or deleted row, its values if ``full``, else nothing.

    Unless ``full``, columns that mean nothing to a user are left out. All settings are known by their names.
    """
    if before is not None and after is not None:
        names = [name for name in after if before.get(name) != after[name]]
        known = (
            names if full or subject == "settings" else [name for name in names if name in MEANINGFUL | WORDS.keys()]
        )
        lines = [_changed(name, before.get(name), after[name], exact=full) for name in known]
        return [line for line in lines if line]
    if not full:
        return []
    return [f"{name}: {_value(name, value)}" for name, value in (before or after or {}).items() if value]


def _changed(name: str, before: object, after: object, *, exact: bool) -> str:
    """Return what the change of a column did; "" if only its time changed. With ``exact``, return its values."""
    if name in WORDS and not exact:
        return "" if bool(before) == bool(after) else WORDS[name][bool(after)]
    return f"{name}: {_value(name, before)} -> {_value(name, after)}"


def _value(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if name in TIMES and isinstance(value, (int, float)):
        return screen.stamp(value)
    text = screen.line(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}..."


def undo(options: Namespace) -> None:
    """Show the changes that would be undone, ask, and undo exactly those."""
    require_person("undo changes")
    args = {"reason": options.reason, "origin": "user"}
    which = {"ids": options.event, "limit": options.number, "daemon": options.daemon}
    scope = {} if options.everywhere else {"cwd": here()}
    found = ask("undo_acts", preview=True, **which, **scope, **args)
    if not options.json and (not options.yes or not found["acts"]):
        _preview(options, found)
    if not _agreed(options, found["acts"]):
        if options.json:
            screen.as_json(found)
        return
    # By event ids, so that changes made after the preview, which were not shown, are not undone.
    done = ask("undo_acts", ids=[act["id"] for act in found["acts"]], **args)
    if options.json:
        screen.as_json(done)
    else:
        print(f"{screen.counted(_steps(done['acts']), 'change')} undone. To reverse this: subconscious undo")


def _steps(acts: Sequence[Undone]) -> int:
    return sum(len(act["steps"]) for act in acts)


def _agreed(options: Namespace, acts: Sequence[Undone]) -> bool:
    if not acts:
        return False
    if options.yes or options.json or not sys.stdin.isatty():
        return bool(options.yes)
    return ask_yes("Undo this? You can redo it with another undo.")


def _preview(options: Namespace, found: UndoResult) -> None:
    if not found["acts"]:
        where = "" if options.everywhere else " in this project"
        print(f"There is nothing to undo{where}.")
        print("  to undo what was learned from sessions, too: subconscious undo --learned")
        if not options.everywhere:
            print("  to undo changes in all projects: subconscious undo --everywhere")
        return
    for act in found["acts"]:
        print(f"This would undo what {_doer(act)} {screen.when(act['at'])}:")
        # What looks poisoned comes first, if not all is listed.
        steps = sorted(act["steps"], key=lambda step: len(act["steps"]) > MAX_STEPS and "suspicion" not in step)
        for step in steps[:MAX_STEPS]:
            _print_step(step)
        if (more := len(act["steps"]) - MAX_STEPS) > 0:
            print(f"  and {screen.counted(more, 'more change')}: subconscious history --event {act['id']}")
    for one in found.get("fallen", ()):  # an older daemon sends neither list
        print(
            screen.wrapped(
                f"would archive memory {one['id']}, which summarizes one of these{wording.about(one)}", 4, "  -"
            )
        )
        suspicion.note(one, 8)
    for one in found.get("revived", ()):
        print(
            screen.wrapped(
                f"would restore memory {one['id']}, which was merged into one of these{wording.about(one)}", 4, "  -"
            )
        )
        suspicion.note(one, 8)
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to undo this.")


def _doer(act: Undone) -> str:
    """Return who made a change, with a verb: "you did", or "the daemon stored from what you typed"."""
    actor = _actor(act)
    return f"{actor.replace(',', ' stored', 1)}" if actor in LEARNED_BY.values() else f"{actor} did"


def _print_step(step: Step) -> None:
    done = wording.change(step["action"], step["subject"], step["subject_id"])
    print(screen.wrapped(f"{done}{wording.about(step)}", 4, "  -"))
    suspicion.note(step, 8)
    for line in _changed_columns(step["before"], step["after"], full=False, subject=step["subject"]):
        print(screen.paint(screen.wrapped(line, 8, ""), "dim"))
    if step["before"] is None or step["after"] is None:
        print(screen.paint("        is added again" if step["before"] is None else "        is removed", "dim"))
