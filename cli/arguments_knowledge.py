"""The verbs on what a project knows."""

from __future__ import annotations

from .options import Verbs, add_verb, positive

MODES = ("summarize", "tag", "patterns", "synthesize")


def add(verbs: Verbs) -> None:
    """Add them."""
    verb = add_verb(
        verbs, "promote", "knowledge:promote", "what has become project knowledge, and by what score", listing=True
    )
    verb.add_argument("--preview", action="store_true", help="only show it, and render nothing")
    verb.add_argument("--limit", type=positive, default=20, help="at most so many (20)")
    add_verb(verbs, "pull", "knowledge:pull", "render this project's files now, and say where they lie", listing=True)
    verb = add_verb(verbs, "memory", "knowledge:memory", "what is worth telling of this project now", listing=True)
    verb.add_argument(
        "mode", nargs="?", choices=MODES, help="the last session, tags, what keeps coming back, or what is known"
    )
