"""The command line: the commands, their arguments, and the function that runs each, as ``module:function``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import cast

from subconscious import __version__

from . import arguments_data, arguments_memories
from .command_line import Commands, Group, Parser, RootParser, Text
from .completion import SCRIPTS
from .options import (
    Subparsers,
    Words,
    add_command,
    add_display_options,
    add_filters,
    add_ids,
    add_memory_filters,
    add_search_options,
    add_subcommand,
    natural,
    number,
    path,
    positive,
)

AGENTS = ("codex", "gemini", "cursor")
DESCRIPTION = "A memory for Claude Code: learns from your sessions, helps the next ones."
EPILOG = """\
All commands with descriptions: subconscious help --all
Options of a command: subconscious help COMMAND
New here? subconscious demo"""


def parser(only: str = "") -> RootParser:
    """Return the parser of the command ``only``, or of the whole command line if no command has that name."""
    built, names = _built(only)
    return built if names else _built("")[0]


def _built(only: str) -> tuple[RootParser, Sequence[str]]:
    """Return a parser for the command ``only`` (for all commands if ""), and the names of the parser's commands."""
    root = RootParser(prog="subconscious", description=DESCRIPTION, epilog=EPILOG)
    root.add_argument("--version", action="version", version=f"subconscious {__version__}")
    root.set_defaults(json=False, function="status:overview", prints=Text.OWN)
    commands = cast(
        "Commands", root.add_subparsers(action=Commands, title="commands", metavar="COMMAND", parser_class=Parser)
    )
    commands.only = only
    _add_reading(commands)
    _add_listing(commands)
    _add_writing(commands)
    _add_tracing(commands)
    _add_review(commands)
    arguments_memories.add(commands)
    arguments_data.add(commands)
    _add_running(commands)
    return root, list(commands.choices)


def _add_reading(commands: Commands) -> None:
    command = add_command(
        commands,
        "status",
        "status:status",
        "show what is stored and whether everything runs",
        group=Group.MAIN,
        prints=Text.OWN,
    )
    command.add_argument("--settings", action="store_true", help="list every setting with its value")
    command = add_command(
        commands,
        "recall",
        "memories:recall",
        "print the text that Claude would get for a question",
        group=Group.MEMORY,
        prints=Text.FRAMED,
    )
    command.add_argument("query", metavar="QUERY", nargs="+", action=Words)
    command.add_argument("--tokens", type=positive, help="print at most this many tokens")
    add_memory_filters(command)
    add_display_options(command)
    add_search_options(command)
    command = add_command(commands, "search", "memories:search", "find memories by meaning and words", group=Group.MAIN)
    command.add_argument("query", metavar="QUERY", nargs="+", action=Words)
    add_filters(command, limit=10)
    add_display_options(command)
    command.add_argument(
        "--preset",
        choices=("relative", "rrf", "nexus"),
        help="how the results of the word search and the meaning search are combined",
    )
    add_search_options(command)


def _add_listing(commands: Commands) -> None:
    command = add_command(
        commands, "list", "memories:list_memories", "list memories, the newest first", group=Group.MAIN
    )
    add_filters(command, limit=20)
    command.add_argument("--offset", type=natural, default=0, help="skip this many memories")
    command = add_command(
        commands,
        "show",
        "memories:show",
        "show everything about one memory, or list what was learned on a branch",
        group=Group.MAIN,
    )
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", type=number, nargs="?")
    which.add_argument(
        "--branch",
        metavar="NAME",
        nargs="?",
        const="",
        help="the Git branch; without NAME: the current one",
    )
    command.add_argument("--limit", type=positive, default=20, help="with --branch: show at most this many (20)")
    command = add_command(
        commands,
        "stats",
        "stats:stats",
        "count captures, decisions, uses and model costs",
        group=Group.REVIEW,
        prints=Text.OWN,
    )
    command.add_argument(
        "--calibration", action="store_true", help="compare the confidence of captures with your decisions on them"
    )
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")


def _add_writing(commands: Commands) -> None:
    command = add_command(
        commands, "remember", "memories:remember", "store a statement", group=Group.MAIN, prints=Text.OWN
    )
    command.add_argument("text", metavar="TEXT", nargs="+")
    command.add_argument("--kind", help="decision, preference, lesson, ...; detected if omitted")
    command.add_argument("--everywhere", action="store_true", help="for all projects, not only this one")
    command.add_argument("--tag", action="append", default=[], help="add a tag; may be repeated")
    command = add_command(
        commands, "capture", "sessions:capture", "learn from a Claude Code transcript", group=Group.REVIEW
    )
    command.add_argument("transcript", metavar="TRANSCRIPT", type=path, help="a .jsonl file below ~/.claude/projects")


def _add_tracing(commands: Commands) -> None:
    command = add_command(
        commands, "sessions", "sessions:sessions", "list sessions, and what each was about", group=Group.REVIEW
    )
    command.add_argument("id", metavar="ID", nargs="?", help="show this session in full; the start of its id is enough")
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    command = add_command(
        commands,
        "explain",
        "explaining:explain",
        "show what became of each sentence of a session, and why",
        group=Group.REVIEW,
    )
    command.add_argument(
        "what",
        metavar="SESSION|TRANSCRIPT|SENTENCE",
        nargs="*",
        help="a session (the start of its id is enough), a .jsonl file or a sentence; default: the last session",
    )
    command.add_argument(
        "--all", action="store_true", help="include Claude's sentences that were not candidates for a memory"
    )
    command = add_command(
        commands,
        "why-surfaced",
        "sessions:why_surfaced",
        "show which memories each session got, and why",
        group=Group.REVIEW,
    )
    command.add_argument(
        "what",
        metavar="SESSION|ID",
        nargs="?",
        help="the id of a session or a memory; default: all sessions, the latest first",
    )
    command.add_argument("--session", help="the id of a session, even if it looks like a number")
    command.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")


def _add_review(commands: Commands) -> None:
    command = add_command(
        commands, "review", "review:waiting", "decide on captures that wait for review", group=Group.MAIN
    )
    command.add_argument(
        "--status",
        default="review",
        choices=("review", "unconfirmed", "quarantined", "captured", "discarded", "approved", "rejected", "expired"),
        metavar="STATUS",
        help="review (default), unconfirmed, quarantined, captured, discarded, approved, rejected or expired",
    )
    command.add_argument("--session", help="only captures of this session")
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--list", action="store_true", help="print the captures instead of asking about each")
    command.add_argument(
        "--limit",
        type=positive,
        help="show at most this many (default: 3; with --session, --json or another --status: 100)",
    )
    choices = command.add_subparsers(title="decide", metavar="DECISION")
    _add_approve(choices)
    reject = add_subcommand(choices, "reject", "review:reject", "reject captures, so that they are not stored")
    add_ids(reject)
    reject.add_argument("--teach", action="store_true", help="also flag later statements like these as suspicious")
    add_ids(add_subcommand(choices, "release", "review:release", "release captures from quarantine"))
    add_subcommand(
        choices, "code", "review:codes", "show the codes that confirm decisions typed in a session", as_json=False
    )
    lessons = add_subcommand(
        choices, "lessons", "review:lessons", "list the lessons that `review reject --teach` stored"
    )
    lessons.add_argument("--forget", metavar="ID", nargs="+", type=number, help="delete these lessons")
    edit = add_subcommand(choices, "edit", "review:edit", "store a capture in your own words")
    edit.add_argument("id", metavar="ID", type=number)
    edit.add_argument("text", metavar="TEXT", nargs="+")
    edit.add_argument("--kind", help="change its kind: decision, preference, lesson, ...")
    edit.add_argument("--reason", help="why; kept in the history")
    undo = add_subcommand(choices, "undo", "review:undo", "undo your latest decision on a capture")
    undo.add_argument("ids", metavar="ID", nargs="+", type=number)
    add_ids(
        add_subcommand(
            choices, "restore", "review:restore", "put rejected, expired or discarded captures back into the queue"
        )
    )


def _add_approve(choices: Subparsers) -> None:
    command = add_subcommand(choices, "approve", "review:approve", "store captures as memories")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=number, default=[])
    which.add_argument("--all", action="store_true", help="store all that wait in this project, except suspicious ones")
    command.add_argument("--everywhere", action="store_true", help="with --all: in all projects")
    command.add_argument("--reason", help="why; kept in the history")


def _add_running(commands: Commands) -> None:
    command = add_command(commands, "ui", "page:ui", "look at the memories in your browser", group=Group.MAIN)
    command.add_argument("--close", action="store_true", help="close the web page now")
    command = add_command(
        commands,
        "setup",
        "setup:setup",
        "import sessions, choose a model, see what sessions receive",
        group=Group.MAIN,
        prints=Text.OWN,
    )
    command.add_argument("--provider", help="a provider listed by `subconscious setup --show`, or `none` for no model")
    command.add_argument(
        "--yes", action="store_true", help="ask nothing; switch the model on only if the trial succeeds"
    )
    command.add_argument("--no-try", action="store_true", help="skip the trial on the last session")
    command.add_argument(
        "--show", action="store_true", help="only show what would be sent to a model, and the cost of a session"
    )
    command = add_command(
        commands,
        "doctor",
        "checkup:checkup",
        "find faults, and the command that repairs each",
        group=Group.MAIN,
        prints=Text.OWN,
    )
    command.add_argument("--fix", action="store_true", help="first repair the indexes and retry failed embeddings")
    command = add_command(
        commands,
        "help",
        "helping:show_help",
        "show the commands, or the options of one",
        group=Group.MAIN,
        as_json=False,
        prints=Text.OWN,
    )
    command.add_argument("command", metavar="COMMAND", nargs="*", help="show the options of this command")
    command.add_argument("--all", action="store_true", help="show the description of every command")
    add_command(
        commands,
        "demo",
        "demo:demo",
        "watch a recorded session; your data is not touched",
        group=Group.ADMIN,
        as_json=False,
        prints=Text.OWN,
    )
    _add_serving(commands)
    _add_installing(commands)
    _add_daemon(commands)


def _add_serving(commands: Commands) -> None:
    command = add_command(
        commands,
        "mcp",
        "mcp:serve",
        "serve the memory tools to an MCP client on stdin and stdout",
        group=Group.ADMIN,
        as_json=False,
        prints=Text.FRAMED,
    )
    command.add_argument("--handed", metavar="FILE", type=natural, help=argparse.SUPPRESS)
    command = add_command(
        commands,
        "completion",
        "completion:completion",
        "print a script that completes commands in your shell",
        group=Group.ADMIN,
        as_json=False,
        prints=Text.OWN,
    )
    command.add_argument(
        "shell", choices=tuple(SCRIPTS), help="your shell; the first line of the script says where to put it"
    )
    add_command(
        commands,
        "accept-settings",
        "status:accept",
        "apply changed settings that need your approval",
        group=Group.ADMIN,
        as_json=False,
    )
    command = add_command(
        commands, "attach", "status:attach", "take over the memories of a folder that was renamed", group=Group.MEMORY
    )
    command.add_argument(
        "root",
        metavar="FOLDER",
        type=path,
        help="the folder's old path or name; `subconscious status` lists missing folders",
    )


def _add_installing(commands: Commands) -> None:
    command = add_command(
        commands,
        "install",
        "other_agents:install",
        "give another coding agent the same memories",
        group=Group.ADMIN,
        as_json=False,
    )
    command.add_argument("client", metavar="AGENT", choices=AGENTS, help=f"{AGENTS[0]}, {AGENTS[1]} or {AGENTS[2]}")
    command.add_argument("--remove", action="store_true", help="remove the entries from the agent's settings")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command = add_command(
        commands,
        "uninstall",
        "removal:uninstall",
        "stop the daemon and remove Subconscious",
        group=Group.ADMIN,
        as_json=False,
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--keep-memories", action="store_true", help="keep memories, settings and backups")
    which.add_argument("--all", action="store_true", help="delete the memories, too; no undo")


def _add_daemon(commands: Commands) -> None:
    commands.groups["daemon"] = Group.ADMIN
    daemon = commands.add_parser("daemon", help="run, start, stop or drain the daemon, or show its status")
    actions = daemon.add_subparsers(metavar="ACTION", required=True)
    add_subcommand(actions, "run", "running:run", "run the daemon in this terminal", as_json=False, prints=Text.OWN)
    add_subcommand(
        actions, "start", "running:start", "start the daemon in the background", as_json=False, prints=Text.OWN
    )
    command = add_subcommand(
        actions,
        "stop",
        "running:stop",
        "stop the daemon when it has finished its current work",
        as_json=False,
        prints=Text.OWN,
    )
    command.add_argument("--force", action="store_true", help="kill the daemon if it does not answer")
    add_subcommand(
        actions, "status", "running:presence", "show whether the daemon runs, without starting it", prints=Text.OWN
    )
    command = add_subcommand(actions, "drain", "running:drain", "wait until all queued work is done", prints=Text.OWN)
    command.add_argument("--timeout", type=positive, default=120, help="wait at most this many seconds (120)")
