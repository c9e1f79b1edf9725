"""What the arguments of many verbs have in common: how a verb is added, and the types of what follows it."""

from __future__ import annotations

import argparse
from math import inf
from typing import TypeAlias

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_verb(verbs: Verbs, name: str, function: str, help_text: str, listing: bool = False) -> argparse.ArgumentParser:
    """Add a verb that ``function`` (``module:name``) carries out; a ``listing`` takes --json."""
    verb = verbs.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
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


def natural(text: str) -> int:
    """A number from 0 on."""
    # Ids are shown bare here, but the model is given them as [12], and people write #12.
    digits = text.strip("#[]")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(digits)


def add_filters(verb: argparse.ArgumentParser, limit: int) -> None:
    """Add what narrows a listing of memories."""
    verb.add_argument("--kind", help="only this kind: decision, preference, lesson, ...")
    verb.add_argument("--archived", action="store_true", help="those that were archived")
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=limit, help=f"at most so many ({limit})")


def add_manner(verb: argparse.ArgumentParser) -> None:
    """Add how something is to be found; what is left out is a setting."""
    modes = ("any", "auto", "execution", "planning", "brainstorming")
    verb.add_argument("--mode", choices=modes, help="how many and how sure; `auto` reads it off the question")
    verb.add_argument("--budget", choices=("lean", "balanced", "deep"), help="how far to look, and how much to answer")


def add_ids(verb: argparse.ArgumentParser) -> None:
    """Add the ids that a verb is about."""
    verb.add_argument("ids", metavar="ID", nargs="+", type=positive)
    verb.add_argument("--reason", help="kept in the history")
