"""The arguments of `promote`, `pull` and `memory`."""

from __future__ import annotations

from .options import Verbs, add_verb, positive

MODES = ("summarize", "tag", "patterns", "synthesize")


def add(verbs: Verbs) -> None:
    """Add the commands."""
    verb = add_verb(
        verbs,
        "promote",
        "knowledge:promote",
        "show which memories are project knowledge, and their scores",
        listing=True,
    )
    verb.add_argument("--preview", action="store_true", help="only show them, and write no files")
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    add_verb(verbs, "pull", "knowledge:pull", "write this project's files now, and print where they are", listing=True)
    verb = add_verb(verbs, "memory", "knowledge:memory", "show what matters most in this project now", listing=True)
    verb.add_argument(
        "mode", nargs="?", choices=MODES, help="show the last session, the tags, recurring points, or project knowledge"
    )
