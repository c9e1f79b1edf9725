"""Argument parsers with help in groups, and errors that suggest the probable spelling."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Any, NoReturn

from .screen import clean, paint, width, wrapped

WRONG_USAGE = 2


class Group(StrEnum):
    """The groups of commands in the help, in the order in which the help lists them."""

    MAIN = "Main commands"
    MEMORY = "memory: read and change memories"
    REVIEW = "review: what was learned from sessions, and what they got"
    SHARING = "sharing: memories of several people"
    LINKS = "links: how memories relate to each other"
    ADMIN = "admin: the daemon, its files, your data"


class Text(Enum):
    """The kind of text that a command prints. It decides whether the model gets the output framed as quoted data."""

    STORED = "memories and sessions: framed as quoted data"
    FRAMED = "memories, which the daemon or the MCP server has framed"
    OWN = "messages, names and counts: not framed"


class Parser(argparse.ArgumentParser):
    """An argument parser that prints errors as one line and the next step."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Reject unknown arguments in the subcommand's own parser, which can suggest its options."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown argument {unknown[0]!r}{_suggestion(unknown[0], self._option_string_actions)}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Reject an invalid choice. Suggest similar choices; failing that, list all (but not top-level commands)."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        is_command = isinstance(action, argparse._SubParsersAction)
        what = f"there is no command {value!r}" if is_command else f"{value!r} is not a valid value"
        listed = "" if is_command and not self._is_nested else f"; valid: {', '.join(choices)}"
        near = _suggestion(str(value), choices)
        if isinstance(action, argparse._SubParsersAction):
            near = _other_name(str(value), choices) or near or _option_named(str(value), action._name_parser_map)
        raise argparse.ArgumentError(None if is_command else action, what + (near or listed))

    @property
    def _is_nested(self) -> bool:
        return " " in self.prog

    def format_help(self) -> str:
        """Return the help with a short usage line; the options are listed below that line."""
        _, _, rest = super().format_help().partition("\n\n")
        return f"{self._usage()} [OPTIONS]\n\n{rest}"

    def error(self, message: str) -> NoReturn:
        """Print the error, the usage and the way to get help; exit with 2."""
        print(f"{paint('error:', 'red', sys.stderr)} {clean(message)}", file=sys.stderr)
        print(f"  {self._usage()}\n  {self.prog} --help lists its options", file=sys.stderr)
        self.exit(WRONG_USAGE)

    def _usage(self) -> str:
        """Return the usage on one line: the positional arguments and the required options."""
        needed = [action for action in self._actions if action.required or not action.option_strings]
        usage = argparse.HelpFormatter(self.prog, width=1000)
        usage.add_usage(None, needed, self._mutually_exclusive_groups, prefix="")
        return f"usage: {usage.format_help().strip()}"


class Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The commands of the command line, and the group of each.

    If ``only`` names a command, no parsers are built for the other commands.
    """

    only = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups: dict[str, Group] = {}

    def add_parser(self, name: str, **kwargs: Any) -> Any:
        """Return the parser of a new command, or a placeholder if only another command is needed."""
        return super().add_parser(name, **kwargs) if self.only in ("", name) else _Ignored()


class _Ignored:
    """Takes the place of a parser that is not needed: accepts every call, and returns itself."""

    def __getattr__(self, name: str) -> Callable[..., _Ignored]:
        return lambda *_, **__: self


class RootParser(Parser):
    """The parser of the whole command line."""

    def format_help(self) -> str:
        """Return the help: the main commands with descriptions, the other commands by name only."""
        return self._help(full=False)

    def format_full_help(self) -> str:
        """Return the help with the whole description of every command."""
        return self._help(full=True)

    def _help(self, *, full: bool) -> str:
        """Return the help, with the commands in groups; without ``full``, only the first group has descriptions."""
        (commands,) = (action for action in self._actions if isinstance(action, Commands))
        helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        lines = [f"usage: {self.prog} [COMMAND] [OPTIONS]", "", str(self.description)]
        for place, group in enumerate(Group):
            names = [name for name in helps if commands.groups[name] is group]
            lines += ["", paint(group, "bold")]
            rows = [_row(name, helps[name], full) for name in names]
            lines += rows if full or place == 0 else [wrapped(" ".join(names), 2)]
        # The full help omits the epilog's first line, which names the command that prints the full help.
        epilog = str(self.epilog).partition("\n")[2] if full else self.epilog
        return "\n".join([*lines, "", str(epilog), ""])


def _row(name: str, text: str, full: bool) -> str:
    """Return a command with its description: all of it if ``full``, else as much as fits on one line."""
    if full:
        return wrapped(text, 20, f"  {name}")
    columns = width() - 20
    return f"  {name:<16}  {text if len(text) <= columns else text[: columns - 1].rsplit(' ', 1)[0] + '…'}"


def _suggestion(typed: str, known: Iterable[str]) -> str:
    """Return the most similar known words as the end of an error message; "" if none is similar."""
    import difflib  # loaded for errors only

    near = difflib.get_close_matches(typed.partition("=")[0], list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _other_name(typed: str, known: Collection[str]) -> str:
    """Return a "did you mean" hint for a word that other programs use for a command; "" if there is none."""
    name = OTHER_NAMES.get(typed, "")
    return f"; did you mean {name}?" if name in known else ""


OTHER_NAMES = {
    other: name
    for name, others in {
        "correct": "edit change modify update",
        "forget": "delete remove rm del",
        "history": "timeline log changes",
        "list": "ls memories",
        "remember": "add save store new note",
        "search": "find grep query",
        "purge": "wipe erase",
        "doctor": "check diagnose health",
    }.items()
    for other in others.split()
}
"""Maps words that other programs use for commands to the names of this program's commands."""


def _option_named(typed: str, known: Mapping[str, argparse.ArgumentParser]) -> str:
    """Return a hint for an unknown command if exactly one command has an option of that name; else ""."""
    owners = [name for name, parser in known.items() if f"--{typed}" in parser._option_string_actions]
    return f"; did you mean {owners[0]} --{typed}?" if len(owners) == 1 else ""


def commands(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each command, such as ``review approve``, with its parser; "" is the whole command line."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, f"{path} {name}".strip())
