"""``subconscious completion``: scripts that complete commands and options in bash, zsh and fish."""

from __future__ import annotations

import argparse
from argparse import Namespace

from .command_line import commands

FIND_COMMAND = """\
    for word in {typed}; do
        case "$command $word" in
            {known}) command="$command $word" ;;
        esac
    done
    case "$command" in
{cases}
    esac
"""

BASH = """\
# subconscious completion bash >> ~/.bashrc
_subconscious() {{
    local command="" word options=""
{body}    COMPREPLY=($(compgen -W "$options" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _subconscious subconscious
"""

ZSH = """\
#compdef subconscious
# subconscious completion zsh > "${{fpath[1]}}/_subconscious", or: eval "$(subconscious completion zsh)"
_subconscious() {{
    local command="" word options=""
{body}    compadd -- ${{=options}} || _files
}}
compdef _subconscious subconscious
"""

FISH = """\
# subconscious completion fish > ~/.config/fish/completions/subconscious.fish
function __subconscious_words
    set -l command ""
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case {known}
                set command "$command $word"
        end
    end
    switch "$command"
{cases}
    end
end
function __subconscious_matches
    string match -q -- (commandline -ct)'*' (__subconscious_words)
end
# Files are offered only where no word matches.
complete -c subconscious -n __subconscious_matches -f -a '(__subconscious_words)'
"""


def completion(options: Namespace) -> None:
    """Print the script for a shell."""
    from .arguments import parser  # here, because that module imports this one

    table = {path: _words(command) for path, command in commands(parser())}
    print(SCRIPTS[options.shell](table), end="")


def _words(parser: argparse.ArgumentParser) -> str:
    """Return the words that can follow a command: its subcommands, its choices and its long options."""
    found: list[str] = []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        values = () if action.option_strings else action.choices or ()
        found += [*values, *(name for name in action.option_strings if name.startswith("--"))]
    return " ".join(found)


def _bash(table: dict[str, str]) -> str:
    return BASH.format(body=_body(table, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'))


def _zsh(table: dict[str, str]) -> str:
    return ZSH.format(body=_body(table, "${words[2,CURRENT-1]}"))


def _body(table: dict[str, str], typed: str) -> str:
    """Return the lines of the script that find the typed command and the words that can follow it."""
    known = " | ".join(f'" {name}"' for name in table if name)
    cases = "\n".join(f'        "{_padded(name)}") options="{words}" ;;' for name, words in table.items())
    return FIND_COMMAND.format(typed=typed, known=known, cases=cases)


def _padded(command: str) -> str:
    """Return a command as the scripts build it, with a space before each word."""
    return f" {command}" if command else ""


def _fish(table: dict[str, str]) -> str:
    known = " ".join(f'" {name}"' for name in table if name)
    cases = "\n".join(
        f'        case "{_padded(name)}"\n            string split " " -- "{words}"' for name, words in table.items()
    )
    return FISH.format(known=known, cases=cases)


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
