"""The arguments of `maintenance`, `backup` and `restore`."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the commands."""
    verb = add_verb(
        verbs, "maintenance", "upkeep:status", "show when each upkeep job last ran, and what waits", listing=True
    )
    choices = verb.add_subparsers(title="actions", metavar="ACTION")
    add_verb(choices, "status", "upkeep:status", "show when each upkeep job last ran, and what waits", listing=True)
    log = add_verb(choices, "log", "upkeep:log", "list what the latest runs did", listing=True)
    log.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    repeats = add_verb(
        choices, "repeats", "upkeep:repeats", "list the duplicates that the next nightly run would merge", listing=True
    )
    repeats.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    repeats.add_argument("--all", action="store_true", help="in all projects")
    deed = add_verb(choices, "run", "upkeep:run", "run a job now", listing=True)
    deed.add_argument("job", nargs="?", default="nightly", choices=("nightly", "weekly", "monthly"))
    verb = add_verb(verbs, "backup", "upkeep:backup", "make a verified copy of the database now", listing=True)
    verb.add_argument("--as-is", action="store_true", help="accept a database that differs from its last copy")
    verb = add_verb(
        verbs, "restore", "upkeep:restore", "list the copies of the database, or put one back", listing=True
    )
    verb.add_argument("file", metavar="COPY", nargs="?", help="the name of a listed copy, `latest`, or a path")
    verb.add_argument("--fresh", action="store_true", help="start with an empty database; the copies are kept")
    verb.add_argument("--yes", action="store_true", help="don't ask")
