"""What many commands share: how a command is added, its common options, and the types of their values."""

from __future__ import annotations

import argparse
import re
from math import inf
from typing import Any, TypeAlias

Verbs: TypeAlias = "argparse._SubParsersAction[Any]"


def add_verb(verbs: Verbs, name: str, function: str, help_text: str, listing: bool = False) -> argparse.ArgumentParser:
    """Add a command that ``function`` (``module:name``) runs; a ``listing`` takes --json."""
    verb: argparse.ArgumentParser = verbs.add_parser(
        name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."
    )
    verb.set_defaults(verb=function)
    if listing:
        # SUPPRESS: `review --json approve 3` must not be undone by the default of the inner parser.
        verb.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    return verb


def positive(text: str) -> int:
    """A number from 1 on, as people write ids."""
    number = natural(text)
    if number == 0:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def dollars(text: str) -> float:
    """A sum of money."""
    try:
        sum_of = float(text.lstrip("$"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a sum") from None
    if not 0 <= sum_of < inf:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return sum_of


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return found


def natural(text: str) -> int:
    """A number from 0 on."""
    # Ids are shown bare here, but the model is given them as [12], and people write #12.
    digits = text.strip("#[]")
    if re.fullmatch(r"-\d+", digits):
        raise argparse.ArgumentTypeError(f"{text} is below 0; give a number such as 10")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(digits)


def add_filters(verb: argparse.ArgumentParser, limit: int) -> None:
    """Add the options that filter a list of memories."""
    add_narrowing(verb)
    verb.add_argument("--archived", action="store_true", help="only archived memories")
    verb.add_argument("--unconfirmed", action="store_true", help="only memories that no session has confirmed yet")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=limit, help=f"show at most this many ({limit})")


def add_narrowing(verb: argparse.ArgumentParser) -> None:
    """Add the options that filter memories by their properties."""
    verb.add_argument("--kind", action="append", default=[], help="only this kind: decision, ...; may be repeated")
    verb.add_argument("--tag", action="append", default=[], help="only with this tag; if repeated, with all of them")
    verb.add_argument("--file", metavar="PATH", help="only about this file, or files in this folder")
    verb.add_argument(
        "--branch", metavar="NAME", nargs="?", const="", help="only of this branch; without NAME: of the current one"
    )
    verb.add_argument(
        "--since",
        metavar="DATE",
        help="said (with --archived: archived) since: 2026-01-31, last week, 14d",
    )
    verb.add_argument("--until", metavar="DATE", help="said until then")
    verb.add_argument(
        "--min-confidence", metavar="SHARE", type=share, help="only with at least this confidence, 0 to 1"
    )
    verb.add_argument("--project", metavar="NAME", help="in another project: its name or folder")


def add_telling(verb: argparse.ArgumentParser) -> None:
    """Add the options that say how much of each memory is shown."""
    verb.add_argument(
        "--tier", choices=("minimal", "compact", "standard", "full"), help="how much of each memory is shown"
    )
    verb.add_argument(
        "--section", metavar="NAME", help="show only this section of long memories: Decision, Context, ..."
    )


def add_manner(verb: argparse.ArgumentParser) -> None:
    """Add the options of a search; an omitted one has its value from the settings."""
    modes = ("any", "auto", "execution", "planning", "brainstorming")
    verb.add_argument(
        "--mode", choices=modes, help="how many results, and how relevant; `auto` decides by the question"
    )
    verb.add_argument(
        "--budget", choices=("lean", "balanced", "deep"), help="how far to search, and how much to return"
    )
    verb.add_argument("--nearest", action="store_true", help="also list the nearest memories that do not match")


def add_ids(verb: argparse.ArgumentParser) -> None:
    """Add the ids that a command works on."""
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    verb.add_argument("--reason", help="kept in the history")
