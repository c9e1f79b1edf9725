"""``subconscious help``."""

from __future__ import annotations

from argparse import Namespace

from .arguments import parser


def show_help(options: Namespace) -> None:
    """Print the commands, or the options of one command."""
    root = parser()
    if options.command:
        root.parse_args([*options.command, "--help"])  # prints the command's help and exits
    print(root.format_full_help() if options.all else root.format_help(), end="")
