"""The command line: every verb, its arguments, and what carries it out, as ``module:function``."""

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
    verb = add_verb(verbs, "status", "status:status", "what is remembered, and how the daemon is", listing=True)
    verb.add_argument("--settings", action="store_true", help="list every setting with its value")
    verb = add_verb(verbs, "recall", "memories:recall", "the memories that answer a question, as text", listing=True)
    verb.add_argument("query", metavar="QUERY", nargs="+")
    verb.add_argument("--tokens", type=positive, help="how much text to return at most")
    add_narrowing(verb)
    add_telling(verb)
    add_manner(verb)
    verb = add_verb(verbs, "search", "memories:search", "find memories by meaning and words", listing=True)
    verb.add_argument("query", metavar="QUERY", nargs="+")
    add_filters(verb, limit=10)
    add_telling(verb)
    verb.add_argument("--preset", choices=("relative", "rrf", "nexus"), help="how engines are fused")
    add_manner(verb)
    verb = add_verb(verbs, "list", "memories:list_memories", "memories, the newest first", listing=True)
    add_filters(verb, limit=20)
    verb.add_argument("--offset", type=natural, default=0, help="skip so many")
    verb = add_verb(verbs, "show", "memories:show", "a memory, where it comes from; or a branch", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", type=positive, nargs="?")
    which.add_argument(
        "--branch", metavar="NAME", nargs="?", const="", help="what was learned on it, or on the current"
    )
    verb.add_argument("--limit", type=positive, default=20, help="of a branch at most so many (20)")
    verb = add_verb(verbs, "stats", "stats:stats", "what was captured, decided and given", listing=True)
    verb.add_argument("--calibration", action="store_true", help="stated confidence against what it was worth")
    verb.add_argument("--everywhere", action="store_true", help="of all projects, not only this one")


def _add_writing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "remember", "memories:remember", "store a statement", listing=True)
    verb.add_argument("text", metavar="TEXT", nargs="+")
    verb.add_argument("--kind", help="decision, preference, lesson, ...; found in the words if left out")
    verb.add_argument("--everywhere", action="store_true", help="for all projects, not only this one")
    verb.add_argument("--tag", action="append", default=[], help="a tag; may be repeated")
    verb = add_verb(verbs, "capture", "sessions:capture", "learn from a transcript of Claude Code", listing=True)
    verb.add_argument("transcript", metavar="TRANSCRIPT", help="a .jsonl file below ~/.claude/projects")
    _add_import(verbs)
    _add_purge(verbs)


def _add_import(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "import", "imports:import_past", "learn from sessions of before, and from notes", listing=True
    )
    verb.add_argument("paths", metavar="PATH", nargs="*", help="transcripts, markdown, folders of them, or an export")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--project", metavar="FOLDER", help="that project's sessions; with PATH, the notes' project")
    which.add_argument("--all", action="store_true", help="the sessions of every project")
    verb.add_argument("--from", dest="tool", choices=tuple(arguments_files.TOOLS), help="what another tool remembers")
    verb.add_argument("--yes", action="store_true", help="don't ask whether to begin")
    verb.add_argument("--with-model", action="store_true", help="have the provider's model read the sessions too")
    verb.add_argument("--max-cost", metavar="DOLLARS", type=dollars, help="what the model may cost at the very most")


def _add_purge(verbs: Verbs) -> None:
    verb = add_verb(verbs, "purge", "purges:purge", "delete for good, with every trace; there is no undo", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    which.add_argument("--session", metavar="ID", help="all that one session brought; its first letters will do")
    which.add_argument("--project", action="store_true", help="all of this project")
    which.add_argument("--all", action="store_true", help="everything")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb = add_verb(verbs, "scan", "purges:scan", "secrets in what is stored already", listing=True)
    verb.add_argument("--fix", action="store_true", help="take them out for good, with every trace")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb = add_verb(verbs, "redactions", "purges:redactions", "what was taken out of texts", listing=True)
    verb.add_argument("--limit", type=positive, default=50, help="at most so many (50)")
    choices = verb.add_subparsers(title="decide", metavar="DECISION")
    deed = add_verb(choices, "allow", "purges:allow", "let it pass from now on: it is no secret", listing=True)
    deed.add_argument("hash", metavar="HASH", help="as `subconscious redactions` shows it")
    deed.add_argument("--reason", help="kept in the history")
    deed = add_verb(choices, "disallow", "purges:disallow", "take it out again", listing=True)
    deed.add_argument("hash", metavar="HASH")


def _add_tracing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "sessions", "sessions:sessions", "sessions, and what each was about", listing=True)
    verb.add_argument("id", metavar="ID", nargs="?", help="tell one in full; its first letters will do")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=20, help="at most so many (20)")
    verb = add_verb(verbs, "explain", "explaining:explain", "what became of each sentence, and why", listing=True)
    verb.add_argument(
        "what",
        metavar="SESSION|TRANSCRIPT|SENTENCE",
        nargs="*",
        help="a session's id (its first letters will do), a .jsonl file, or a sentence; else the last session",
    )
    verb.add_argument("--all", action="store_true", help="also what Claude said that is no candidate")
    verb = add_verb(
        verbs,
        "why-surfaced",
        "sessions:why_surfaced",
        "what was given to which session, and why",
        listing=True,
    )
    verb.add_argument(
        "what", metavar="SESSION|ID", nargs="?", help="one session, or one memory; else the latest of all"
    )
    verb.add_argument("--session", help="one session, also where its id looks like a number")
    verb.add_argument("--limit", type=positive, default=20, help="at most so many (20)")


def _add_review(verbs: Verbs) -> None:
    verb = add_verb(verbs, "review", "review:waiting", "what waits for your decision", listing=True)
    verb.add_argument(
        "--status",
        default="review",
        choices=("review", "unconfirmed", "quarantined", "captured", "discarded", "approved", "rejected", "expired"),
        help="see what is in quarantine, or what was decided, instead",
    )
    verb.add_argument("--session", help="of one session")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--list", action="store_true", help="print them, instead of asking for each")
    verb.add_argument("--limit", type=positive, help="at most so many (3 that wait, 100 others)")
    choices = verb.add_subparsers(title="decide", metavar="DECISION")
    _add_approve(choices)
    reject = add_verb(choices, "reject", "review:reject", "don't store it", listing=True)
    add_ids(reject)
    reject.add_argument("--teach", action="store_true", help="flag from now on whatever says the same")
    add_ids(add_verb(choices, "release", "review:release", "let it out of quarantine", listing=True))
    add_verb(choices, "code", "review:codes", "show the codes for decisions that a session asked for")
    lessons = add_verb(choices, "lessons", "review:lessons", "what your refusals have taught", listing=True)
    lessons.add_argument("--forget", metavar="ID", nargs="+", type=positive, help="take these back")
    edit = add_verb(choices, "edit", "review:edit", "store it in other words", listing=True)
    edit.add_argument("id", metavar="ID", type=positive)
    edit.add_argument("text", metavar="TEXT", nargs="+")
    edit.add_argument("--kind", help="another kind: decision, preference, lesson, ...")
    edit.add_argument("--reason", help="kept in the history")
    undo = add_verb(choices, "undo", "review:undo", "take your latest decision on it back", listing=True)
    undo.add_argument("ids", metavar="ID", nargs="+", type=positive)
    add_ids(add_verb(choices, "restore", "review:restore", "let wait again what was closed", listing=True))


def _add_rollback(verbs: Verbs) -> None:
    verb = add_verb(verbs, "rollback", "rollback:rollback", "withdraw all that a session added", listing=True)
    verb.add_argument("session", metavar="SESSION", help="the session's id; its first letters will do")
    verb.add_argument("--undo", action="store_true", help="put back what was withdrawn")
    verb.add_argument("--yes", action="store_true", help="don't ask")
    verb.add_argument("--reason", help="kept in the history")


def _add_approve(choices: Verbs) -> None:
    verb = add_verb(choices, "approve", "review:approve", "store what waited", listing=True)
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", type=positive, default=[])
    which.add_argument("--all", action="store_true", help="all that wait in this project")
    verb.add_argument("--everywhere", action="store_true", help="with --all: in all projects")
    verb.add_argument("--reason", help="kept in the history")


def _add_running(verbs: Verbs) -> None:
    verb = add_verb(verbs, "doctor", "checkup:checkup", "what is wrong, and the command that mends it", listing=True)
    verb.add_argument(
        "--fix", action="store_true", help="first mend the indexes, and try again what could not be embedded"
    )
    add_verb(verbs, "demo", "demo:demo", "watch a recorded session being remembered; changes nothing of yours")
    verb = add_verb(verbs, "mcp", "mcp:serve", "serve the model's tools to an MCP client, over stdin and stdout")
    verb.add_argument("--handed", metavar="FILE", type=natural, help=argparse.SUPPRESS)
    verb = add_verb(verbs, "completion", "completion:completion", "a script that completes commands in your shell")
    verb.add_argument("shell", choices=tuple(SCRIPTS), help="which shell; the script says where it goes")
    verb = add_verb(
        verbs, "setup", "setup:setup", "choose a model that helps: what is sent, what it costs", listing=True
    )
    verb.add_argument("--provider", help="one that `subconscious setup --show` lists; none switches it off")
    verb.add_argument("--yes", action="store_true", help="ask nothing; switched on only if the trial succeeds")
    verb.add_argument("--no-try", action="store_true", help="without the trial on the last session")
    verb.add_argument("--show", action="store_true", help="only show what is sent and what a session costs")
    add_verb(verbs, "accept-settings", "status:accept", "let changed settings take effect that only you may change")
    verb = add_verb(
        verbs, "attach", "status:attach", "take over the memories of a folder that was renamed", listing=True
    )
    verb.add_argument("root", metavar="FOLDER", help="where it was, or its name; `status` lists those that are gone")
    verb = add_verb(verbs, "uninstall", "removal:uninstall", "stop the daemon, remove everything; asks about memories")
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--keep-memories", action="store_true", help="memories, settings and backups stay")
    which.add_argument("--all", action="store_true", help="the memories go, too: there is no undo")
    daemon = verbs.add_parser("daemon", help="run, start, stop, drain or ask the daemon")
    deeds = daemon.add_subparsers(metavar="DEED", required=True)
    add_verb(deeds, "run", "running:run", "run it in this terminal")
    add_verb(deeds, "start", "running:start", "start it in the background")
    verb = add_verb(deeds, "stop", "running:stop", "let it finish its work and leave")
    verb.add_argument("--force", action="store_true", help="kill it if it does not answer")
    add_verb(deeds, "status", "running:presence", "whether it runs; starts nothing", listing=True)
    verb = add_verb(deeds, "drain", "running:drain", "wait until all that was captured is worked off", listing=True)
    verb.add_argument("--timeout", type=positive, default=120, help="seconds to wait at most (120)")
