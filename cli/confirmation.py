"""Confirmation questions that commands ask before they change anything."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from pathlib import Path

from subconscious.domain.errors import RequestError

from . import screen

NO_TERMINAL = "this needs a confirmation, but there is no terminal to ask on"


def ask_yes(question: str) -> bool:
    """Return whether the answer is yes; False at the end of the input."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def typed_word(question: str) -> str:
    """Return the typed answer in lower case; "" at the end of the input. What can't be undone needs a whole word."""
    try:
        return input(question).strip().lower()
    except EOFError:
        return ""


def print_change(path: Path, before: str, after: str) -> None:
    """Print the lines added to and removed from a file; ``before`` or ``after`` is "" for a missing file."""
    verb = "changes" if before and after else "is new" if after else "is removed"
    print(screen.paint(f"{screen.line(str(path))} {verb}:", "bold"))
    for text in difflib.ndiff(before.splitlines(), after.splitlines()):
        if text.startswith(("- ", "+ ")):
            print(f"  {text[0]} {screen.line(text[2:])}")


def agreed(options: Namespace, question: str) -> bool:
    """Return whether the user agrees, by --yes or by an answer on the terminal; without a terminal, only by --yes."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to do it.", file=sys.stderr)
        return False
    return ask_yes(question)


def agreed_to_import(question: str) -> bool:
    """Return whether the user agrees to an import. Raises RequestError without a terminal."""
    if not sys.stdin.isatty():
        raise RequestError(NO_TERMINAL, "add --yes, or --json to see what would be imported")
    return ask_yes(question)


def require_yes(options: Namespace, question: str) -> None:
    """Raise RequestError unless the user agrees, by --yes or by answering yes."""
    require_terminal(options)
    if not (options.yes or ask_yes(question)):
        raise RequestError("nothing was changed", "")


def require_terminal(options: Namespace) -> None:
    """Raise RequestError if the user must be asked (there is no --yes), but there is no terminal to ask on."""
    if not options.yes and (options.json or not sys.stdin.isatty()):
        raise RequestError(NO_TERMINAL, "add --yes")
