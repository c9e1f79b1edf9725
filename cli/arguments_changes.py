"""The command line of what was changed: history and undo."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the verbs."""
    verb = add_verb(verbs, "history", "changes:history", "what was changed: in all, or of one thing", listing=True)
    which = verb.add_mutually_exclusive_group()
    which.add_argument("id", metavar="ID", type=positive, nargs="?", help="of a memory")
    which.add_argument("--capture", metavar="ID", type=positive, help="of a capture")
    which.add_argument("--link", metavar="ID", type=positive, help="of a link")
    which.add_argument("--session", metavar="ID", help="what a session brought about; its first letters will do")
    which.add_argument("--event", metavar="ID", type=positive, help="an event, and what was done together with it")
    verb.add_argument("--everywhere", action="store_true", help="the latest of all projects, not only of this one")
    verb.add_argument("--limit", type=positive, default=20, help="the latest changes, at most so many (20)")
    verb = add_verb(verbs, "undo", "changes:undo", "take the latest changes back; an undo too", listing=True)
    verb.add_argument("number", metavar="N", type=positive, nargs="?", default=1, help="so many of them (1)")
    verb.add_argument("--event", metavar="ID", type=positive, nargs="+", help="these, as `history` numbers them")
    verb.add_argument(
        "--learned", "--daemon", dest="daemon", action="store_true", help="also what was learned or done by itself"
    )
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")
