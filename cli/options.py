"""Helpers that add commands and their common options, and the types of option values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from math import inf
from typing import Any, TypeAlias

from .command_line import Commands, Group, Text

Subparsers: TypeAlias = "argparse._SubParsersAction[Any]"

LONGEST_NUMBER = 18
"""The most digits of an id or other number; a longer number may not fit into an integer column of SQLite."""


def add_command(
    commands: Commands,
    name: str,
    function: str,
    help_text: str,
    *,
    group: Group,
    as_json: bool = True,
    prints: Text = Text.STORED,
) -> argparse.ArgumentParser:
    """Add a command that ``function`` (``module:name``) runs; with ``as_json`` it has the option --json.

    ``group`` is the part of the help that lists the command. When the model runs the command, its output is framed as
    quoted data unless ``prints`` says that it needs no frame.
    """
    commands.groups[name] = group
    return add_subcommand(commands, name, function, help_text, as_json=as_json, prints=prints)


def add_subcommand(
    choices: Subparsers,
    name: str,
    function: str,
    help_text: str,
    *,
    as_json: bool = True,
    prints: Text = Text.STORED,
) -> argparse.ArgumentParser:
    """Add a command within a command, such as ``review approve``; otherwise like ``add_command``."""
    command: argparse.ArgumentParser = choices.add_parser(
        name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."
    )
    command.set_defaults(function=function, prints=prints)
    if as_json:
        # SUPPRESS: in `review --json approve 3`, the default of the inner parser must not replace the given value.
        command.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    return command


class Words(argparse.Action):
    """An argparse action that stores the words of a query, and rejects a query of blank words."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse passes it
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002 - argparse passes it
    ) -> None:
        """Store the words of the query. Raises ArgumentError if all are blank."""
        if not "".join(values or ()).strip():
            raise argparse.ArgumentError(None, "type words to search for")
        setattr(namespace, self.dest, values)


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    number = natural(text)
    if number == 0:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def number(text: str) -> int:
    """Parse the id of a memory, a capture, a link or a change: `12`, `#12` or `[12]`."""
    digits = text.strip("#[]")
    if digits.isascii() and digits.isdigit() and len(digits) > LONGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"there is nothing with the id {digits}")
    return positive(text)


def path(text: str) -> str:
    """Return a path unchanged; reject an empty one (a script's unset variable), which would mean the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; for the current folder, write a dot: .")
    return text


def dollars(text: str) -> float:
    """Parse an amount of money, with or without a dollar sign."""
    try:
        amount = float(text.lstrip("$"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount in dollars; write it as 2.50") from None
    if not 0 <= amount < inf:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return amount


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return found


def natural(text: str) -> int:
    """Parse an integer of at least 0."""
    # The terminal shows ids as 12, the model sees them as [12], and people write #12.
    digits = text.strip("#[]")
    if re.fullmatch(r"-\d+", digits):
        raise argparse.ArgumentTypeError(f"{text} is below 0; give a number such as 10")
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    if len(digits) > LONGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"{text} is too large; at most {LONGEST_NUMBER} digits are possible")
    return int(digits)


def add_filters(command: argparse.ArgumentParser, limit: int) -> None:
    """Add the options that filter a list of memories."""
    add_memory_filters(command)
    command.add_argument("--archived", action="store_true", help="only archived memories")
    command.add_argument("--unconfirmed", action="store_true", help="only memories that no session has confirmed yet")
    command.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    command.add_argument("--limit", type=positive, default=limit, help=f"show at most this many ({limit})")


def add_memory_filters(command: argparse.ArgumentParser) -> None:
    """Add the options that filter memories by their properties."""
    command.add_argument("--kind", action="append", default=[], help="only this kind: decision, ...; may be repeated")
    command.add_argument("--tag", action="append", default=[], help="only with this tag; if repeated, with all of them")
    command.add_argument("--file", metavar="PATH", type=path, help="only about this file, or files in this folder")
    command.add_argument(
        "--branch",
        metavar="NAME",
        nargs="?",
        const="",
        help="only memories of this branch; without NAME: of the current branch",
    )
    command.add_argument(
        "--since",
        metavar="DATE",
        help="said (with --archived: archived) since this time, such as 2026-01-31, last week or 14d",
    )
    command.add_argument("--until", metavar="DATE", help="said until this time, in the same formats as --since")
    command.add_argument(
        "--min-confidence", metavar="SHARE", type=share, help="only with at least this confidence, 0 to 1"
    )
    command.add_argument("--project", metavar="NAME", type=path, help="in another project: its name or folder")


def add_display_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose how much of each memory is shown."""
    command.add_argument(
        "--tier", choices=("minimal", "compact", "standard", "full"), help="how much of each memory is shown"
    )
    command.add_argument(
        "--section", metavar="NAME", help="show only this section of long memories: Decision, Context, ..."
    )


def add_search_options(command: argparse.ArgumentParser) -> None:
    """Add the options of a search. Omitted ones take their value from the settings."""
    modes = ("any", "auto", "execution", "planning", "brainstorming")
    command.add_argument(
        "--mode", choices=modes, help="how many results, and how relevant they must be; `auto` decides by the question"
    )
    command.add_argument(
        "--budget",
        choices=("lean", "balanced", "deep"),
        help="how many memories to examine, and how much text to return",
    )
    command.add_argument("--nearest", action="store_true", help="also list the nearest memories that do not match")


def add_ids(command: argparse.ArgumentParser) -> None:
    """Add the argument for the ids that a command works on, and the option --reason, which the history shows."""
    command.add_argument("ids", metavar="ID", nargs="+", type=number)
    command.add_argument("--reason", help="why; kept in the history")
