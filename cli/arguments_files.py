"""The arguments of `export`, and the tools that `import` reads."""

from __future__ import annotations

from .options import Verbs, add_verb

TOOLS = ("claude-mem", "mem0", "basic-memory", "claude-notes")
"""Tools whose memories `import --from` reads; listed here because `--help` must not load the readers."""


def add(verbs: Verbs) -> None:
    """Add the command."""
    verb = add_verb(verbs, "export", "files:export", "write memories as Markdown notes or JSON", listing=True)
    verb.add_argument("--format", choices=("markdown", "json"), default="markdown", help="default: markdown")
    verb.add_argument(
        "--out", metavar="DIR", help="an empty folder or an earlier export (default: ~/subconscious-export)"
    )
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--project", metavar="NAME", help="export another project: its name or folder")
    which.add_argument("--all", action="store_true", help="export all projects")
    verb.add_argument(
        "--status",
        action="append",
        choices=("active", "unconfirmed", "archived"),
        default=[],
        help="export only these; may be repeated (default: all three)",
    )
    verb.add_argument(
        "--watch", action="store_true", help="keep the folder up to date and ask about edits, until Ctrl-C"
    )
