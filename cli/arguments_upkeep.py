"""The command line of upkeep: maintenance, backup, restore."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the verbs."""
    verb = add_verb(verbs, "maintenance", "upkeep:status", "when upkeep was done, and what waits", listing=True)
    choices = verb.add_subparsers(title="deeds", metavar="DEED")
    add_verb(choices, "status", "upkeep:status", "when upkeep was done, and what waits", listing=True)
    log = add_verb(choices, "log", "upkeep:log", "what the latest runs did", listing=True)
    log.add_argument("--limit", type=positive, default=20, help="at most so many (20)")
    repeats = add_verb(choices, "repeats", "upkeep:repeats", "what the next night would merge", listing=True)
    repeats.add_argument("--limit", type=positive, default=20, help="at most so many (20)")
    repeats.add_argument("--all", action="store_true", help="of all projects")
    deed = add_verb(choices, "run", "upkeep:run", "do it now", listing=True)
    deed.add_argument("job", nargs="?", default="nightly", choices=("nightly", "weekly", "monthly"))
    verb = add_verb(verbs, "backup", "upkeep:backup", "keep a verified copy of the database now", listing=True)
    verb.add_argument("--as-is", action="store_true", help="also if the database differs from its last copy")
    verb = add_verb(verbs, "restore", "upkeep:restore", "the copies that are kept; puts one back", listing=True)
    verb.add_argument("file", metavar="COPY", nargs="?", help="a name that is listed, `latest`, or a file's path")
    verb.add_argument("--fresh", action="store_true", help="begin with an empty database; the copies are kept")
    verb.add_argument("--yes", action="store_true", help="don't ask")
