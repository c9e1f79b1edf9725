"""The arguments of commands that archive, fade, pin and correct memories."""

from __future__ import annotations

import argparse
from datetime import datetime

from .options import Verbs, add_verb, positive

LEVELS = ("constitutional", "critical", "important", "normal", "temporary", "deprecated")


def add(verbs: Verbs) -> None:
    """Add the commands."""
    _add_moving(verbs, "archive", "archiving:archive", "take memories out of use; nothing is deleted")
    _add_moving(verbs, "forget", "archiving:archive", "the same as archive; unarchive brings them back")
    _add_moving(verbs, "unarchive", "archiving:unarchive", "bring archived memories back")
    _add_decay(verbs)
    verb = add_verb(verbs, "importance", "fading:importance", "set how important a memory is", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    verb.add_argument("level", metavar="LEVEL", choices=LEVELS, help=", ".join(LEVELS))
    verb = add_verb(verbs, "pin", "fading:pin", "never let memories fade; every session starts with them", listing=True)
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    verb = add_verb(verbs, "unpin", "fading:unpin", "let pinned memories fade again", listing=True)
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    _add_correcting(verbs)


def _add_moving(verbs: Verbs, name: str, function: str, help_text: str) -> None:
    verb = add_verb(verbs, name, function, help_text, listing=True)
    verb.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    verb.add_argument(
        "--session", metavar="ID", help="everything learned in this session; the start of its id is enough"
    )
    verb.add_argument("--query", metavar="WORD", nargs="+", help="memories that contain all these words")
    verb.add_argument("--everywhere", action="store_true", help="with --query: in all projects, not only this one")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")


def _add_decay(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "decay", "fading:decay", "show which memories fade, which are archived next, and why", listing=True
    )
    verb.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[], help="show how these memories fade")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--preview", action="store_true", help="show what the next run archives (the default)")
    which.add_argument("--log", action="store_true", help="list what has faded and was archived, and why")
    which.add_argument("--reset", action="store_true", help="make these, or all in the project, as fresh as new ones")
    which.add_argument("--run", action="store_true", help="archive faded memories now, in all projects")
    verb.add_argument("--since", metavar="DATE", type=day, help="with --log: from this day on")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    verb.add_argument("--yes", action="store_true", help="don't ask")


def _add_correcting(verbs: Verbs) -> None:
    verb = add_verb(verbs, "correct", "correcting:correct", "replace, reword, merge or retire a memory", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    way = verb.add_mutually_exclusive_group(required=True)
    way.add_argument("--superseded-by", metavar="ID", type=positive, help="this memory replaces it")
    way.add_argument("--deprecated", action="store_true", help="it no longer applies, and nothing replaces it")
    way.add_argument("--refined", metavar="TEXT", nargs="+", help="this text says it better")
    way.add_argument("--merged-into", metavar="ID", type=positive, help="this memory means the same")
    verb.add_argument("--reason", help="kept in the history")
    for name, what in (("useful", "mark memories as useful"), ("wrong", "mark memories as wrong")):
        verb = add_verb(verbs, name, f"correcting:{name}", what, listing=True)
        verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
        verb.add_argument("--reason", help="kept in the history")


def day(text: str) -> float:
    """The time at which a date begins, in the local time zone."""
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no date: write it as 2026-11-20") from None
