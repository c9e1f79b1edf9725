"""The parser of the command line: help in groups, and errors that suggest what was probably meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .screen import clean, paint, width

WRONG_USAGE = 2

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Main commands": tuple(
        "status setup remember search list show why review undo sessions explain import export doctor".split()
    ),
    "memory: read and change memories": (
        *"recall archive forget unarchive pin unpin importance correct useful wrong attach".split(),
        *"decay consolidate promote pull memory".split(),
    ),
    "review: what was captured, used and changed": tuple("stats why-surfaced history rollback capture".split()),
    "links: how memories relate to each other": tuple("links link confirm unlink relink graph conflicts".split()),
    "admin: the daemon, its files, your data": (
        *"daemon maintenance backup restore accept-settings purge scan redactions".split(),
        *"completion mcp demo uninstall".split(),
    ),
}
"""The commands by purpose; a command that is in no group is listed with the last one."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and the next step."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Reject unknown arguments in the parser that meets them: it can suggest its own options."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown argument {unknown[0]!r}{_meant(unknown[0], self._option_string_actions)}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Reject an invalid choice, and suggest the nearest one instead of listing all."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        is_command = isinstance(action, argparse._SubParsersAction)
        what = f"there is no command {value!r}" if is_command else f"{value!r} is none of its values"
        listed = "" if is_command and not self._is_nested else f": {', '.join(choices)}"
        raise argparse.ArgumentError(None if is_command else action, what + (_meant(str(value), choices) or listed))

    @property
    def _is_nested(self) -> bool:
        return " " in self.prog

    def error(self, message: str) -> NoReturn:
        """Print the error and how to get help; exit with 2."""
        print(f"{paint('error:', 'red', sys.stderr)} {clean(message)}", file=sys.stderr)
        print(f"  {self._usage()}\n  {self.prog} --help lists its options", file=sys.stderr)
        self.exit(WRONG_USAGE)

    def _usage(self) -> str:
        """The usage on one line, without optional options."""
        needed = [action for action in self._actions if action.required or not action.option_strings]
        usage = argparse.HelpFormatter(self.prog, width=1000)
        usage.add_usage(None, needed, self._mutually_exclusive_groups, prefix="")
        return f"usage: {usage.format_help().strip()}"


class RootParser(Parser):
    """The parser of the whole command line."""

    def format_help(self) -> str:
        """The commands in groups, each with what it does."""
        told = self._commands()
        lines = [f"usage: {self.prog} [COMMAND] [OPTIONS]", "", str(self.description)]
        for title, names in grouped(told).items():
            lines += ["", paint(title, "bold"), *(_row(name, told[name]) for name in names)]
        return "\n".join([*lines, "", str(self.epilog), ""])

    def _commands(self) -> dict[str, str]:
        """Every command with its help, in the order in which they were added."""
        (commands,) = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        return {name: helps.get(name, "") for name in commands.choices if name in helps}


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """These commands in their groups."""
    known = set(names)
    found = {title: [name for name in group if name in known] for title, group in GROUPS.items()}
    listed = {name for group in found.values() for name in group}
    found[list(GROUPS)[-1]] += [name for name in names if name not in listed]
    return found


def _row(name: str, text: str) -> str:
    room = width() - 20
    return f"  {name:<16}  {text if len(text) <= room else text[: room - 1].rsplit(' ', 1)[0] + '…'}"


def _meant(typed: str, known: Iterable[str]) -> str:
    """What was probably meant, as the end of an error's message; "" where nothing is near."""
    import difflib  # only what goes wrong needs it

    near = difflib.get_close_matches(typed.partition("=")[0], list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def commands(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, by its words: ``review approve``; "" is the whole command line."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, f"{path} {name}".strip())
