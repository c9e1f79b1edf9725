"""The command line of memories as files: export, and what `import` takes for it."""

from __future__ import annotations

from .options import Verbs, add_verb

TOOLS = ("claude-mem", "mem0", "basic-memory", "claude-notes")
"""Tools whose memories `import --from` reads; named here, for `--help` must not load what reads them."""


def add(verbs: Verbs) -> None:
    """Add the verbs."""
    verb = add_verb(verbs, "export", "files:export", "write memories as Markdown notes or JSON", listing=True)
    verb.add_argument("--format", choices=("markdown", "json"), default="markdown", help="markdown (default) or json")
    verb.add_argument("--out", metavar="DIR", help="an empty folder or an earlier export (~/subconscious-export)")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--project", metavar="NAME", help="of another project: its name or folder")
    which.add_argument("--all", action="store_true", help="of all projects")
    verb.add_argument(
        "--status",
        action="append",
        choices=("active", "unconfirmed", "archived"),
        default=[],
        help="only those; may be repeated; without it all three",
    )
    verb.add_argument("--watch", action="store_true", help="keep the folder current, and ask about edits, until Ctrl-C")
