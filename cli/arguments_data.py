"""The arguments of commands on stored data: import, export, purge, history, maintenance, backups, sharing, teams."""

from __future__ import annotations

from argparse import SUPPRESS

from .command_line import Commands, Group, Text
from .options import add_command, add_subcommand, dollars, number, path, positive

TOOLS = ("claude-mem", "mem0", "basic-memory", "claude-notes")
"""Tools whose memories `import --from` reads; listed here because `--help` must not load the readers."""

RULES = ("decisions", "learnings", "dead-ends", "patterns")
"""The names of the rules in `subconscious.sharing`; listed here because `--help` must not load that package."""


def add(commands: Commands) -> None:
    """Add the commands of this module to the command line."""
    _add_import(commands)
    _add_export(commands)
    _add_purge(commands)
    _add_history(commands)
    _add_rollback(commands)
    _add_upkeep(commands)
    _add_sharing(commands)
    _add_team(commands)


def _add_import(commands: Commands) -> None:
    command = add_command(
        commands, "import", "imports:import_past", "learn from past sessions, notes or an export", group=Group.MAIN
    )
    command.add_argument(
        "paths", metavar="PATH", nargs="*", type=path, help="transcripts, Markdown notes, folders of them, or an export"
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--project",
        metavar="FOLDER",
        type=path,
        help="import the sessions of this project; with PATH: the project that gets the notes",
    )
    which.add_argument("--all", action="store_true", help="import the sessions of every project")
    command.add_argument("--from", dest="tool", choices=tuple(TOOLS), help="import the memories of another tool")
    command.add_argument("--yes", action="store_true", help="start without asking")
    command.add_argument("--with-model", action="store_true", help="also have the provider's model read the sessions")
    command.add_argument(
        "--max-cost",
        metavar="DOLLARS",
        type=dollars,
        help="with --with-model: read the newest sessions, up to this cost",
    )


def _add_export(commands: Commands) -> None:
    command = add_command(
        commands,
        "export",
        "files:export",
        "write memories as Markdown notes or JSON",
        group=Group.MAIN,
        prints=Text.OWN,
    )
    command.add_argument("--format", choices=("markdown", "json"), default="markdown", help="default: markdown")
    command.add_argument(
        "--out", metavar="DIR", type=path, help="an empty folder or an earlier export (default: ~/subconscious-export)"
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--project", metavar="NAME", type=path, help="export another project: its name or folder")
    which.add_argument("--all", action="store_true", help="export all projects")
    command.add_argument(
        "--status",
        action="append",
        choices=("active", "unconfirmed", "archived"),
        default=[],
        help="only memories with this status; may be repeated (default: all three)",
    )
    command.add_argument(
        "--watch", action="store_true", help="keep the folder up to date and ask about edits, until Ctrl-C"
    )


def _add_purge(commands: Commands) -> None:
    command = add_command(
        commands, "purge", "purges:purge", "delete memories for good, with every trace; no undo", group=Group.ADMIN
    )
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=number, default=[])
    which.add_argument(
        "--session", metavar="ID", help="everything learned in this session; the start of its id is enough"
    )
    which.add_argument("--project", action="store_true", help="everything in this project")
    which.add_argument("--all", action="store_true", help="everything in all projects")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command = add_command(
        commands, "scan", "purges:scan", "find secrets in stored data", group=Group.ADMIN, prints=Text.OWN
    )
    command.add_argument("--fix", action="store_true", help="remove them for good, with every trace")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command = add_command(
        commands,
        "redactions",
        "purges:redactions",
        "list what was redacted, without the values",
        group=Group.ADMIN,
        prints=Text.OWN,
    )
    command.add_argument("--limit", type=positive, default=50, help="show at most this many (50)")
    choices = command.add_subparsers(title="decide", metavar="DECISION")
    action = add_subcommand(choices, "allow", "purges:allow", "stop redacting a value that is not a secret")
    action.add_argument("hash", metavar="HASH", help="the hash that `subconscious redactions` shows")
    action.add_argument("--reason", help="why; kept in the history")
    action = add_subcommand(choices, "disallow", "purges:disallow", "redact a value again, after `redactions allow`")
    action.add_argument("hash", metavar="HASH")


def _add_history(commands: Commands) -> None:
    command = add_command(
        commands,
        "history",
        "changes:history",
        "list the latest changes, or those of one memory, capture, link or session",
        group=Group.REVIEW,
        prints=Text.OWN,
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("id", metavar="ID", type=number, nargs="?", help="the changes of this memory")
    which.add_argument("--capture", metavar="ID", type=number, help="the changes of this capture")
    which.add_argument("--link", metavar="ID", type=number, help="the changes of this link")
    which.add_argument(
        "--session", metavar="ID", help="the changes that this session made; the start of its id is enough"
    )
    which.add_argument(
        "--event", metavar="ID", type=number, help="this change, and the changes that were made together with it"
    )
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--limit", type=positive, default=20, help="show at most this many of the latest changes (20)")
    command = add_command(
        commands, "undo", "changes:undo", "undo your latest changes; an undo can be undone", group=Group.MAIN
    )
    command.add_argument(
        "number", metavar="N", type=positive, nargs="?", default=1, help="how many changes to undo (1)"
    )
    command.add_argument(
        "--event", metavar="ID", type=number, nargs="+", help="undo the changes with these ids in `history`"
    )
    command.add_argument(
        "--learned",
        "--daemon",
        dest="daemon",
        action="store_true",
        help="include what was learned from sessions or done by the daemon",
    )
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command.add_argument("--reason", help="why; kept in the history")


def _add_rollback(commands: Commands) -> None:
    command = add_command(
        commands, "rollback", "rollback:rollback", "withdraw everything a session added", group=Group.REVIEW
    )
    command.add_argument("session", metavar="SESSION", help="the session's id; its start is enough")
    command.add_argument("--undo", action="store_true", help="restore what was withdrawn")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command.add_argument("--reason", help="why; kept in the history")


def _add_upkeep(commands: Commands) -> None:
    command = add_command(
        commands,
        "maintenance",
        "upkeep:status",
        "show when each maintenance job last ran, and which jobs wait",
        group=Group.ADMIN,
        prints=Text.OWN,
    )
    choices = command.add_subparsers(title="actions", metavar="ACTION")
    add_subcommand(
        choices,
        "status",
        "upkeep:status",
        "show when each maintenance job last ran, and which jobs wait",
        prints=Text.OWN,
    )
    log = add_subcommand(choices, "log", "upkeep:log", "list what the latest runs did", prints=Text.OWN)
    log.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    repeats = add_subcommand(
        choices, "repeats", "upkeep:repeats", "list the duplicates that the next nightly run would merge"
    )
    repeats.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    repeats.add_argument("--all", action="store_true", help="in all projects")
    action = add_subcommand(choices, "run", "upkeep:run", "run a job now", prints=Text.OWN)
    action.add_argument("job", nargs="?", default="nightly", choices=("nightly", "weekly", "monthly"))
    command = add_command(
        commands,
        "backup",
        "upkeep:backup",
        "make a verified copy of the database now",
        group=Group.ADMIN,
        prints=Text.OWN,
    )
    command.add_argument(
        "--as-is",
        action="store_true",
        help="copy the database even if it differs from its last copy more than expected",
    )
    command = add_command(
        commands,
        "restore",
        "upkeep:restore",
        "list the copies of the database, or put one back",
        group=Group.ADMIN,
        prints=Text.OWN,
    )
    command.add_argument(
        "file", metavar="COPY", nargs="?", type=path, help="the name of a listed copy, `latest`, or a path"
    )
    command.add_argument("--fresh", action="store_true", help="start with an empty database; the copies are kept")
    command.add_argument("--yes", action="store_true", help="don't ask")


def _add_sharing(commands: Commands) -> None:
    for name, meaning in (("share", "choose what teammates get through Git"), ("unshare", "stop sharing memories")):
        command = add_command(commands, name, f"sharing:{name}", meaning, group=Group.SHARING)
        command.add_argument("ids", metavar="ID", nargs="*", type=number, default=[])
        command.add_argument(
            "--rule", choices=RULES, help="all memories of this kind that you stated or approved, including future ones"
        )
    command = add_command(
        commands, "sync", "sharing:sync", "exchange shared memories with a Git remote", group=Group.SHARING
    )
    command.add_argument("remote", metavar="REMOTE", nargs="?", help="default: origin, if there is one")
    command.add_argument("--preview", action="store_true", help="fetch, and only show what would be sent and received")
    command.add_argument(
        "--in-repo", action="store_true", help="also read and write .subconscious/ in the checkout, for pull requests"
    )
    command.add_argument(
        "--install-hook",
        action="store_true",
        help="install Git hooks that sync after each merge or pull, and before each push to REMOTE",
    )
    command.add_argument("--remove-hook", action="store_true", help="remove these Git hooks")
    command.add_argument("--hook", action="store_true", help=SUPPRESS)
    command.add_argument("--yes", action="store_true", help="don't ask before hooks are changed")
    command = add_command(
        commands,
        "trust",
        "sharing:trust",
        "use a teammate's memories, marked as unconfirmed, before you review them",
        group=Group.SHARING,
        as_json=False,
        prints=Text.OWN,
    )
    command.add_argument("author", metavar="AUTHOR", nargs="?", help="an e-mail address or the fingerprint of a key")
    command.add_argument("--remove", action="store_true", help="stop trusting this author")


def _add_team(commands: Commands) -> None:
    what = "show how this project exchanges memories with a team's store"
    command = add_command(commands, "team", "team:status", what, group=Group.SHARING, prints=Text.OWN)
    choices = command.add_subparsers(title="actions", metavar="ACTION")
    join = add_subcommand(choices, "join", "team:join", "connect this project with a project in the team's store")
    join.add_argument("name", metavar="NAME", help="the project's name in the team's store")
    join.add_argument(
        "--create", action="store_true", help="create the project in the team's store; you become its maintainer"
    )
    join.add_argument("--store", metavar="ADDRESS", help="use this store: postgresql://YOU@HOST/DATABASE")
    join.add_argument("--yes", action="store_true", help="don't ask")
    add_subcommand(choices, "leave", "team:leave", "stop exchanging memories with the team's store")
    add_subcommand(choices, "sync", "team:sync", "exchange memories now, and retry the changes that the server refused")
    confirm = add_subcommand(choices, "confirm", "team:confirm", "confirm memories for the whole team, as a maintainer")
    confirm.add_argument("ids", metavar="ID", nargs="+", type=number)
    confirm.add_argument("--back", action="store_true", help="withdraw the confirmation")
    member = add_subcommand(choices, "member", "team:member", "list members, or give one a role", prints=Text.OWN)
    member.add_argument("person", metavar="PERSON", nargs="?", help="the database role with which the person logs in")
    member.add_argument("role", metavar="ROLE", nargs="?", choices=("reader", "author", "maintainer", "none"))
    setup = add_subcommand(choices, "setup", "team:setup", "prepare a database for teams, as its administrator")
    setup.add_argument("store", metavar="ADDRESS", help="postgresql://ADMIN@HOST/DATABASE")
