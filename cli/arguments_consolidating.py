"""The command line of summing up: consolidate."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the verb."""
    verb = add_verb(
        verbs, "consolidate", "consolidating:consolidate", "sum up what says much of the same", listing=True
    )
    verb.add_argument("--preview", action="store_true", help="only show what would be summed up, and how")
    verb.add_argument("--everywhere", action="store_true", help="your own memories, which hold in every project")
    verb.add_argument("--limit", type=positive, default=20, help="show at most so many (20)")
    verb.add_argument("--yes", action="store_true", help="don't ask")
