"""The arguments of `consolidate`."""

from __future__ import annotations

from .options import Verbs, add_verb, positive


def add(verbs: Verbs) -> None:
    """Add the command."""
    verb = add_verb(
        verbs, "consolidate", "consolidating:consolidate", "summarize groups of similar memories", listing=True
    )
    verb.add_argument("--preview", action="store_true", help="only show the groups and their summaries")
    verb.add_argument(
        "--everywhere", action="store_true", help="your memories for all projects instead of this project's"
    )
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    verb.add_argument("--yes", action="store_true", help="don't ask")
