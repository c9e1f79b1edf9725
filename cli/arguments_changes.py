"""The arguments of `history` and `undo`."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the commands."""
    verb = add_verb(
        verbs, "history", "changes:history", "list changes: the latest, or those of one thing", listing=True
    )
    which = verb.add_mutually_exclusive_group()
    which.add_argument("id", metavar="ID", type=positive, nargs="?", help="the changes of this memory")
    which.add_argument("--capture", metavar="ID", type=positive, help="the changes of this capture")
    which.add_argument("--link", metavar="ID", type=positive, help="the changes of this link")
    which.add_argument(
        "--session", metavar="ID", help="the changes that this session made; the start of its id is enough"
    )
    which.add_argument("--event", metavar="ID", type=positive, help="this change, and what was done together with it")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many of the latest changes (20)")
    verb = add_verb(verbs, "undo", "changes:undo", "undo your latest changes; an undo can be undone", listing=True)
    verb.add_argument("number", metavar="N", type=positive, nargs="?", default=1, help="how many changes to undo (1)")
    verb.add_argument(
        "--event", metavar="ID", type=positive, nargs="+", help="undo these changes, by their numbers in `history`"
    )
    verb.add_argument(
        "--learned",
        "--daemon",
        dest="daemon",
        action="store_true",
        help="include what was learned from sessions or done by the daemon",
    )
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")
