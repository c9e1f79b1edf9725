"""The arguments of commands that change memories: archive, fade, correct, summarize, promote, link."""

from __future__ import annotations

import argparse
from datetime import datetime

from .command_line import Commands, Group, Text
from .options import add_command, add_ids, number, positive

LEVELS = ("constitutional", "critical", "important", "normal", "temporary", "deprecated")
DIGESTS = ("summarize", "tag", "patterns", "synthesize")
LINK_STATUSES = ("active", "proposed", "refused", "withdrawn", "all")


def add(commands: Commands) -> None:
    """Add the commands of this module to the command line."""
    _add_archiving(commands)
    _add_decay(commands)
    _add_importance(commands)
    _add_correcting(commands)
    _add_consolidating(commands)
    _add_knowledge(commands)
    _add_link_lists(commands)
    _add_link_changes(commands)
    _add_link_walks(commands)


def _add_archiving(commands: Commands) -> None:
    _add_moving(commands, "archive", "archiving:archive", "take memories out of use; nothing is deleted")
    _add_moving(commands, "forget", "archiving:archive", "the same as archive; `unarchive` brings memories back")
    _add_moving(commands, "unarchive", "archiving:unarchive", "bring archived memories back")


def _add_moving(commands: Commands, name: str, function: str, help_text: str) -> None:
    command = add_command(commands, name, function, help_text, group=Group.MEMORY)
    command.add_argument("ids", metavar="ID", nargs="*", type=number, default=[])
    command.add_argument(
        "--session", metavar="ID", help="everything learned in this session; the start of its id is enough"
    )
    command.add_argument("--query", metavar="WORD", nargs="+", help="memories that contain all these words")
    command.add_argument("--everywhere", action="store_true", help="with --query: in all projects, not only this one")
    command.add_argument("--yes", action="store_true", help="don't ask")
    command.add_argument("--reason", help="why; kept in the history")


def _add_decay(commands: Commands) -> None:
    command = add_command(
        commands,
        "decay",
        "fading:decay",
        "show which memories fade, which are archived next, and why",
        group=Group.MEMORY,
    )
    command.add_argument("ids", metavar="ID", nargs="*", type=number, default=[], help="show how these memories fade")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--preview", action="store_true", help="show what the next run archives (the default)")
    which.add_argument("--log", action="store_true", help="list what has faded and was archived, and why")
    which.add_argument(
        "--reset", action="store_true", help="restart the fading of these memories, or of all in the project"
    )
    which.add_argument("--run", action="store_true", help="archive faded memories now, in all projects")
    command.add_argument("--since", metavar="DATE", type=day, help="with --log: from this day on")
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    command.add_argument("--yes", action="store_true", help="don't ask")


def _add_importance(commands: Commands) -> None:
    command = add_command(
        commands, "importance", "fading:importance", "set how important a memory is", group=Group.MEMORY
    )
    command.add_argument("id", metavar="ID", type=number)
    command.add_argument("level", metavar="LEVEL", choices=LEVELS, help=", ".join(LEVELS))
    command = add_command(
        commands, "pin", "fading:pin", "never let memories fade; every session starts with them", group=Group.MEMORY
    )
    command.add_argument("ids", metavar="ID", nargs="+", type=number)
    command = add_command(commands, "unpin", "fading:unpin", "let pinned memories fade again", group=Group.MEMORY)
    command.add_argument("ids", metavar="ID", nargs="+", type=number)


def _add_correcting(commands: Commands) -> None:
    command = add_command(
        commands, "correct", "correcting:correct", "replace, reword, merge or retire a memory", group=Group.MEMORY
    )
    command.add_argument("id", metavar="ID", type=number)
    change = command.add_mutually_exclusive_group(required=True)
    change.add_argument("--superseded-by", metavar="ID", type=number, help="the newer memory that replaces it")
    change.add_argument(
        "--deprecated", action="store_true", help="the memory no longer applies, and nothing replaces it"
    )
    change.add_argument("--refined", metavar="TEXT", nargs="+", help="a better wording")
    change.add_argument("--merged-into", metavar="ID", type=number, help="keep this memory, which has the same meaning")
    command.add_argument("--reason", help="why; kept in the history")
    for name, what in (("useful", "mark memories as useful"), ("wrong", "mark memories as wrong")):
        command = add_command(commands, name, f"correcting:{name}", what, group=Group.MEMORY)
        command.add_argument("ids", metavar="ID", nargs="+", type=number)
        command.add_argument("--reason", help="why; kept in the history")


def day(text: str) -> float:
    """Return when a date begins in the local time zone, in seconds since the epoch."""
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a date: write it as 2026-11-20") from None


def _add_consolidating(commands: Commands) -> None:
    command = add_command(
        commands, "consolidate", "consolidating:consolidate", "summarize groups of similar memories", group=Group.MEMORY
    )
    command.add_argument("--preview", action="store_true", help="only show the groups and their summaries")
    command.add_argument(
        "--everywhere", action="store_true", help="your memories that apply to all projects, not this project's"
    )
    command.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    command.add_argument("--yes", action="store_true", help="don't ask")


def _add_knowledge(commands: Commands) -> None:
    command = add_command(
        commands,
        "promote",
        "knowledge:promote",
        "show which memories are project knowledge, and their scores",
        group=Group.MEMORY,
    )
    command.add_argument("--preview", action="store_true", help="only show them, and write no files")
    command.add_argument("--limit", type=positive, default=20, help="show at most this many (20)")
    add_command(
        commands,
        "pull",
        "knowledge:pull",
        "write the files of this project's memories now, and print where they are",
        group=Group.MEMORY,
        prints=Text.OWN,
    )
    command = add_command(
        commands, "memory", "knowledge:memory", "show what matters most in this project now", group=Group.MEMORY
    )
    command.add_argument(
        "mode",
        nargs="?",
        choices=DIGESTS,
        help="show the last session, the tags, recurring statements, or project knowledge (in this order)",
    )


def _add_link_lists(commands: Commands) -> None:
    command = add_command(
        commands, "links", "links:links", "list the links of a memory, or the proposed links", group=Group.LINKS
    )
    command.add_argument("id", metavar="ID", type=number, nargs="?", help="a memory; default: all proposed links")
    command.add_argument(
        "--status",
        choices=LINK_STATUSES,
        help="only links with this status (default: active and proposed; without ID: proposed)",
    )
    _add_types(command)
    _add_extent(command)
    command = add_command(
        commands, "conflicts", "links:conflicts", "list memories that contradict each other", group=Group.LINKS
    )
    command.add_argument(
        "--status", choices=LINK_STATUSES, help="only links with this status (default: active and proposed)"
    )
    _add_extent(command)


def _add_link_changes(commands: Commands) -> None:
    command = add_command(commands, "link", "links:link", "link two memories: link 15 SUPERSEDES 12", group=Group.LINKS)
    command.add_argument("source", metavar="SOURCE", type=number)
    command.add_argument(
        "type", metavar="TYPE", help="SUPPORTS, CONTRADICTS, SUPERSEDES, EXTENDS, REQUIRES, CAUSED, ..."
    )
    command.add_argument("target", metavar="TARGET", type=number)
    command.add_argument("--reason", help="why they are linked; kept as evidence")
    add_ids(add_command(commands, "confirm", "links:confirm", "confirm proposed links", group=Group.LINKS))
    add_ids(
        add_command(
            commands, "unlink", "links:unlink", "remove wrong links; they are not proposed again", group=Group.LINKS
        )
    )
    command = add_command(
        commands, "relink", "links:relink", "change the type or direction of a link", group=Group.LINKS
    )
    command.add_argument("id", metavar="LINK", type=number)
    command.add_argument("type", metavar="TYPE", nargs="?", help="the new type; default: unchanged")
    command.add_argument("--reverse", action="store_true", help="swap source and target")
    command.add_argument("--reason", help="why; kept in the history")


def _add_link_walks(commands: Commands) -> None:
    command = add_command(
        commands,
        "graph",
        "graphs:graph",
        "show the memories that are linked with a memory, directly or through other memories",
        group=Group.LINKS,
    )
    command.add_argument("id", metavar="ID", type=number)
    _add_depth(command)
    _add_types(command)
    command.add_argument("--mermaid", action="store_true", help="print a Mermaid diagram")
    command.add_argument("--everywhere", action="store_true", help="follow links into other projects")
    command = add_command(
        commands,
        "why",
        "graphs:why",
        "show why something is so, as a chain of reasons",
        group=Group.MEMORY,
        prints=Text.FRAMED,
    )
    command.add_argument("question", metavar="ID|QUESTION", nargs="+", help="a memory's id, or a question")
    _add_depth(command)


def _add_types(command: argparse.ArgumentParser) -> None:
    command.add_argument("--type", metavar="TYPE", nargs="+", default=[], help="only links of these types")


def _add_extent(command: argparse.ArgumentParser) -> None:
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--limit", type=positive, default=50, help="show at most this many (50)")


def _add_depth(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--depth",
        type=positive,
        default=3,
        choices=range(1, 7),
        metavar="N",
        help="follow at most this many steps, 1 to 6 (3)",
    )
