"""The verbs on what fades, stays, goes and comes back."""

from __future__ import annotations

import argparse
from datetime import datetime

from .options import Verbs, add_verb, positive

LEVELS = ("constitutional", "critical", "important", "normal", "temporary", "deprecated")


def add(verbs: Verbs) -> None:
    """Add them."""
    _add_moving(verbs, "archive", "archiving:archive", "take memories out of use; nothing is deleted")
    _add_moving(verbs, "forget", "archiving:archive", "the same as archive: it can be brought back")
    _add_moving(verbs, "unarchive", "archiving:unarchive", "bring archived memories back")
    _add_decay(verbs)
    verb = add_verb(verbs, "importance", "fading:importance", "say how important a memory is", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    verb.add_argument("level", metavar="LEVEL", choices=LEVELS, help=", ".join(LEVELS))
    verb = add_verb(verbs, "pin", "fading:pin", "let memories never fade, and give them to every session", listing=True)
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    verb = add_verb(verbs, "unpin", "fading:unpin", "let them fade as others do", listing=True)
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    _add_correcting(verbs)


def _add_moving(verbs: Verbs, name: str, function: str, help_text: str) -> None:
    verb = add_verb(verbs, name, function, help_text, listing=True)
    verb.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    verb.add_argument("--session", metavar="ID", help="what one session brought; its first letters will do")
    verb.add_argument("--query", metavar="WORD", nargs="+", help="what holds every one of these words")
    verb.add_argument("--everywhere", action="store_true", help="with --query: in all projects, not only this one")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")


def _add_decay(verbs: Verbs) -> None:
    verb = add_verb(verbs, "decay", "fading:decay", "what has faded, what will, and why", listing=True)
    verb.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[], help="how one memory fades")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--preview", action="store_true", help="what the next run archives (what is shown anyway)")
    which.add_argument("--log", action="store_true", help="what has faded so far, and why")
    which.add_argument("--reset", action="store_true", help="let these, or all of the project, be as fresh as new")
    which.add_argument("--run", action="store_true", help="archive now what has faded, in all projects")
    verb.add_argument("--since", metavar="DATE", type=day, help="with --log: from that day on")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=20, help="at most so many (20)")
    verb.add_argument("--yes", action="store_true", help="don't ask")


def _add_correcting(verbs: Verbs) -> None:
    verb = add_verb(verbs, "correct", "correcting:correct", "say that a memory no longer holds as it is", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    way = verb.add_mutually_exclusive_group(required=True)
    way.add_argument("--superseded-by", metavar="ID", type=positive, help="another one holds instead")
    way.add_argument("--deprecated", action="store_true", help="nothing holds instead")
    way.add_argument("--refined", metavar="TEXT", nargs="+", help="this says it better")
    way.add_argument("--merged-into", metavar="ID", type=positive, help="another one says the same")
    verb.add_argument("--reason", help="kept in the history")
    for name, what in (("useful", "say that memories were of use"), ("wrong", "say that memories were wrong")):
        verb = add_verb(verbs, name, f"correcting:{name}", what, listing=True)
        verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
        verb.add_argument("--reason", help="kept in the history")


def day(text: str) -> float:
    """The moment that a date begins at, in this place."""
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no date: write it as 2026-11-20") from None
