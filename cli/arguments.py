"""The command line: every command, its arguments, and the function that runs it, as ``module:function``."""

from __future__ import annotations

import argparse

from subconscious import __version__

from . import (
    arguments_changes,
    arguments_consolidating,
    arguments_fading,
    arguments_files,
    arguments_knowledge,
    arguments_links,
    arguments_upkeep,
)
from .command_line import Parser, RootParser
from .completion import SCRIPTS
from .options import (
    Verbs,
    add_filters,
    add_ids,
    add_manner,
    add_narrowing,
    add_telling,
    add_verb,
    dollars,
    natural,
    positive,
)

DESCRIPTION = "A memory for Claude Code: learns from your sessions, helps the next ones."
EPILOG = "Options of a command: subconscious COMMAND --help. New here: subconscious demo."


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = RootParser(prog="subconscious", description=DESCRIPTION, epilog=EPILOG)
    root.add_argument("--version", action="version", version=f"subconscious {__version__}")
    root.set_defaults(json=False, verb="status:overview")
    verbs = root.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    _add_reading(verbs)
    _add_writing(verbs)
    _add_tracing(verbs)
    _add_review(verbs)
    _add_rollback(verbs)
    arguments_links.add(verbs)
    arguments_fading.add(verbs)
    arguments_files.add(verbs)
    arguments_consolidating.add(verbs)
    arguments_changes.add(verbs)
    arguments_upkeep.add(verbs)
    arguments_knowledge.add(verbs)
    _add_running(verbs)
    return root


def _add_reading(verbs: Verbs) -> None:
    verb = add_verb(verbs, "status", "status:status", "show what is stored and how the daemon is doing", listing=True)
    verb.add_argument("--settings", action="store_true", help="list every setting with its value")
    verb = add_verb(
        verbs, "recall", "memories:recall", "print the text that Claude would get for a question", listing=True
    )
    verb.add_argument("query", metavar="QUERY", nargs="+")
    verb.add_argument("--tokens", type=positive, help="print at most this many tokens")
    add_narrowing(verb)
    add_telling(verb)
    add_manner(verb)
    verb = add_verb(verbs, "search", "memories:search", "find memories by meaning and words", listing=True)
    verb.add_argument("query", metavar="QUERY", nargs="+")
    add_filters(verb, limit=10)
    add_telling(verb)
    verb.add_argument(
        "--preset", choices=("relative", "rrf", "nexus"), help="how the results of the search engines are combined"
    )
    add_manner(verb)
    verb = add_verb(verbs, "list", "memories:list_memories", "list memories, the newest first", listing=True)
    add_filters(verb, limit=20)
    verb.add_argument("--offset", type=natural, default=0, help="skip this many")
    verb = add_verb(verbs, "show", "memories:show", "show one memory in full, or what a branch taught", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", type=positive, nargs="?")
    which.add_argument(
        "--branch",
        metavar="NAME",
        nargs="?",
        const="",
        help="what was learned on this branch; without NAME: on the current one",
    )
    verb.add_argument("--limit", type=positive, default=20, help="with --branch: show at most this many (20)")
    verb = add_verb(verbs, "stats", "stats:stats", "count captures, decisions, uses and model costs", listing=True)
    verb.add_argument("--calibration", action="store_true", help="compare the stated confidence with your decisions")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")


def _add_writing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "remember", "memories:remember", "store a statement", listing=True)
    verb.add_argument("text", metavar="TEXT", nargs="+")
    verb.add_argument("--kind", help="decision, preference, lesson, ...; detected if omitted")
    verb.add_argument("--everywhere", action="store_true", help="for all projects, not only this one")
    verb.add_argument("--tag", action="append", default=[], help="add a tag; may be repeated")
    verb = add_verb(verbs, "capture", "sessions:capture", "learn from a Claude Code transcript", listing=True)
    verb.add_argument("transcript", metavar="TRANSCRIPT", help="a .jsonl file below ~/.claude/projects")
    _add_import(verbs)
    _add_purge(verbs)


def _add_import(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "import", "imports:import_past", "learn from past sessions, notes or an export", listing=True
    )
    verb.add_argument(
        "paths", metavar="PATH", nargs="*", help="transcripts, Markdown notes, folders of them, or an export"
    )
    which = verb.add_mutually_exclusive_group()
    which.add_argument(
        "--project", metavar="FOLDER", help="import the sessions of this project; with PATH: the project of the notes"
    )
    which.add_argument("--all", action="store_true", help="import the sessions of every project")
    verb.add_argument(
        "--from", dest="tool", choices=tuple(arguments_files.TOOLS), help="import the memories of another tool"
    )
    verb.add_argument("--yes", action="store_true", help="start without asking")
    verb.add_argument("--with-model", action="store_true", help="also have the provider's model read the sessions")
    verb.add_argument(
        "--max-cost", metavar="DOLLARS", type=dollars, help="leave out sessions that would exceed this cost"
    )


def _add_purge(verbs: Verbs) -> None:
    verb = add_verb(verbs, "purge", "purges:purge", "delete memories for good, with every trace; no undo", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    which.add_argument(
        "--session", metavar="ID", help="everything learned in this session; the start of its id is enough"
    )
    which.add_argument("--project", action="store_true", help="everything in this project")
    which.add_argument("--all", action="store_true", help="everything in all projects")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb = add_verb(verbs, "scan", "purges:scan", "find secrets in stored data", listing=True)
    verb.add_argument("--fix", action="store_true", help="remove them for good, with every trace")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb = add_verb(
        verbs, "redactions", "purges:redactions", "list what was redacted, without the values", listing=True
    )
    verb.add_argument("--limit", type=positive, default=50, help="show at most this many (50)")
    choices = verb.add_subparsers(title="decide", metavar="DECISION")
    deed = add_verb(choices, "allow", "purges:allow", "stop redacting a value that is no secret", listing=True)
    deed.add_argument("hash", metavar="HASH", help="the hash that `subconscious redactions` shows")
    deed.add_argument("--reason", help="kept in the history")
    deed = add_verb(choices, "disallow", "purges:disallow", "redact a value again that was allowed", listing=True)
    deed.add_argument("hash", metavar="HASH")


def _add_tracing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "sessions", "sessions:sessions", "list sessions, and what each was about", listing=True)
    verb.add_argument("id", metavar="ID", nargs="?", help="show this session in full; the start of its id is enough")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    verb = add_verb(
        verbs, "explain", "explaining:explain", "show how each sentence of a session was judged, and why", listing=True
    )
    verb.add_argument(
        "what",
        metavar="SESSION|TRANSCRIPT|SENTENCE",
        nargs="*",
        help="a session (the start of its id is enough), a .jsonl file or a sentence; default: the last session",
    )
    verb.add_argument("--all", action="store_true", help="include sentences of Claude's that were no candidates")
    verb = add_verb(
        verbs,
        "why-surfaced",
        "sessions:why_surfaced",
        "show which memories each session got, and why",
        listing=True,
    )
    verb.add_argument("what", metavar="SESSION|ID", nargs="?", help="a session or a memory; default: the latest of all")
    verb.add_argument("--session", help="a session, even if its id looks like a number")
    verb.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")


def _add_review(verbs: Verbs) -> None:
    verb = add_verb(verbs, "review", "review:waiting", "decide on captures that wait for review", listing=True)
    verb.add_argument(
        "--status",
        default="review",
        choices=("review", "unconfirmed", "quarantined", "captured", "discarded", "approved", "rejected", "expired"),
        help="show captures with this status instead (default: review)",
    )
    verb.add_argument("--session", help="only captures of this session")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--list", action="store_true", help="print the captures instead of asking about each")
    verb.add_argument("--limit", type=positive, help="show at most this many (3 that wait for review, else 100)")
    choices = verb.add_subparsers(title="decide", metavar="DECISION")
    _add_approve(choices)
    reject = add_verb(choices, "reject", "review:reject", "do not store captures", listing=True)
    add_ids(reject)
    reject.add_argument("--teach", action="store_true", help="also flag later statements that say the same")
    add_ids(add_verb(choices, "release", "review:release", "release captures from quarantine", listing=True))
    add_verb(choices, "code", "review:codes", "show the codes that confirm decisions typed in a session")
    lessons = add_verb(choices, "lessons", "review:lessons", "list what you taught with reject --teach", listing=True)
    lessons.add_argument("--forget", metavar="ID", nargs="+", type=positive, help="delete these lessons")
    edit = add_verb(choices, "edit", "review:edit", "store a capture in your own words", listing=True)
    edit.add_argument("id", metavar="ID", type=positive)
    edit.add_argument("text", metavar="TEXT", nargs="+")
    edit.add_argument("--kind", help="change its kind: decision, preference, lesson, ...")
    edit.add_argument("--reason", help="kept in the history")
    undo = add_verb(choices, "undo", "review:undo", "undo your latest decision on a capture", listing=True)
    undo.add_argument("ids", metavar="ID", nargs="+", type=positive)
    add_ids(
        add_verb(
            choices,
            "restore",
            "review:restore",
            "put rejected, expired or discarded captures back into the queue",
            listing=True,
        )
    )


def _add_rollback(verbs: Verbs) -> None:
    verb = add_verb(verbs, "rollback", "rollback:rollback", "withdraw everything a session added", listing=True)
    verb.add_argument("session", metavar="SESSION", help="the session's id; its start is enough")
    verb.add_argument("--undo", action="store_true", help="put it back")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")


def _add_approve(choices: Verbs) -> None:
    verb = add_verb(choices, "approve", "review:approve", "store captures", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    which.add_argument("--all", action="store_true", help="all that wait in this project, except suspicious ones")
    verb.add_argument("--everywhere", action="store_true", help="with --all: in all projects")
    verb.add_argument("--reason", help="kept in the history")


def _add_running(verbs: Verbs) -> None:
    verb = add_verb(verbs, "doctor", "checkup:checkup", "find faults, and the command that repairs each", listing=True)
    verb.add_argument("--fix", action="store_true", help="first repair the indexes and retry failed embeddings")
    add_verb(verbs, "demo", "demo:demo", "watch a recorded session; your data is not touched")
    verb = add_verb(verbs, "mcp", "mcp:serve", "serve Claude's tools to an MCP client on stdin and stdout")
    verb.add_argument("--handed", metavar="FILE", type=natural, help=argparse.SUPPRESS)
    verb = add_verb(
        verbs, "completion", "completion:completion", "print a script that completes commands in your shell"
    )
    verb.add_argument(
        "shell", choices=tuple(SCRIPTS), help="your shell; the first line of the script says where to put it"
    )
    verb = add_verb(
        verbs, "setup", "setup:setup", "choose a model that helps; shows what it gets and costs", listing=True
    )
    verb.add_argument("--provider", help="a provider that `subconscious setup --show` lists; none switches it off")
    verb.add_argument("--yes", action="store_true", help="ask nothing; switch it on only if the trial succeeds")
    verb.add_argument("--no-try", action="store_true", help="skip the trial on the last session")
    verb.add_argument("--show", action="store_true", help="only show what it gets and what a session costs")
    add_verb(verbs, "accept-settings", "status:accept", "apply changed settings that need your approval")
    verb = add_verb(
        verbs, "attach", "status:attach", "take over the memories of a folder that was renamed", listing=True
    )
    verb.add_argument(
        "root", metavar="FOLDER", help="its old path or name; `subconscious status` lists missing folders"
    )
    verb = add_verb(verbs, "uninstall", "removal:uninstall", "stop the daemon and remove Subconscious")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--keep-memories", action="store_true", help="keep memories, settings and backups")
    which.add_argument("--all", action="store_true", help="delete the memories, too; no undo")
    daemon = verbs.add_parser("daemon", help="run, start, stop or drain the daemon, or show its status")
    deeds = daemon.add_subparsers(metavar="ACTION", required=True)
    add_verb(deeds, "run", "running:run", "run it in this terminal")
    add_verb(deeds, "start", "running:start", "start it in the background")
    verb = add_verb(deeds, "stop", "running:stop", "let it finish its work, then stop it")
    verb.add_argument("--force", action="store_true", help="kill it if it does not answer")
    add_verb(deeds, "status", "running:presence", "show whether it runs, without starting it", listing=True)
    verb = add_verb(deeds, "drain", "running:drain", "wait until all queued work is done", listing=True)
    verb.add_argument("--timeout", type=positive, default=120, help="wait at most this many seconds (120)")
