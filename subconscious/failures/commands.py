"""Normalises shell commands: program, subcommands and flags, with placeholders for arguments that vary between runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 2000
"""The most characters of a command that is parsed: longer ones are scripts."""
MOST_WORDS = 8
"""The most words of a command that the sentence of a memory can contain."""
MOST_PLAIN = 3
"""The most words after the program that may name subcommands, tasks or scripts; further words are arguments."""

_MESSAGE = re.compile(r'"\$\(cat <<-?\s*[\'"]?(\w+)[\'"]?\n.*?\n\s*\1\s*\)"', re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][\w.:@+-]{0,39}")
_FLAG = re.compile(r"--?[A-Za-z][\w-]{0,39}")
_PROGRAM = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*")
_NUMBER = re.compile(r"[\d.,:]+")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]*\w")
_FILE = re.compile(r".*(?:/|\.[A-Za-z]\w{0,5}\Z).*|[.~]{1,2}", re.DOTALL)
_FILTERS = frozenset("awk cat cut grep head jq less more rg sed sort tail tee tr uniq wc".split())
"""Programs that only filter the output of the previous command in a pipe."""
_ASIDE = frozenset("cd echo export printf pushd popd pwd set sleep true".split())
"""Commands that only prepare or accompany the main command of a line."""
_TRANSPARENT = frozenset("command env nice nohup stdbuf time timeout".split())
_THEN, _AND = frozenset(";"), frozenset({"&&"})

TEXT, PATH, NUMBER, URL, WORD = "<text>", "<path>", "<number>", "<url>", "<word>"
_TEXT_MARK = "__a_text__"
"""The word that replaces a here-document while a line is split; ``<text>`` would be read as redirections."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command as it was run.

    ``words`` are its words, ``shape`` are the words with placeholders. ``env`` names the variables that were set for
    it, and ``directory`` is the folder of a `cd` before it ("" for none). ``masked`` means that a filter hides
    the exit code, ``followed`` that a later command of the line does.
    """

    words: tuple[str, ...]
    shape: tuple[str, ...]
    env: tuple[str, ...] = ()
    directory: str = ""
    masked: bool = False
    followed: bool = False

    @property
    def text(self) -> str:
        """Return the command as a memory's sentence shows it, with placeholders."""
        return " ".join(self.shape)

    @property
    def program(self) -> str:
        """Return the name of the program."""
        return self.shape[0]


def only(command: str) -> Command | None:
    """Return the only command of a line; None if there are several, or if the line can't be parsed."""
    found = parse(command)
    return found[0] if len(found) == 1 else None


def quotable(command: str) -> str:
    """Return a line's last command as later sessions may see it: program, subcommands, flags, paths; "" if unparsable.

    Text arguments are left out, because the assistant may have copied them from a page with planted text.
    """
    found = parse(command)
    return " ".join(_shape(found[-1].words, with_paths=True)) if found else ""


def parse(command: str) -> tuple[Command, ...]:
    """Return the commands of a line, without `cd`, `echo` and the like; none for scripts and unparsable lines.

    If the line succeeded, all of its commands did, except masked and followed ones: these may have failed.
    """
    line = _MESSAGE.sub(_TEXT_MARK, command.strip()).replace("\\\n", " ")
    if len(line) > LONGEST or "\n" in line or "<<" in line or "$(" in line or "`" in line:
        return ()
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        tokens = list(lexer)
    except ValueError:
        return ()
    if {"||", "&", "(", ")", ";;"} & set(tokens):
        return ()
    return _commands(tokens)


def _split(tokens: Sequence[str], at: frozenset[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in at:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _commands(tokens: Sequence[str]) -> tuple[Command, ...]:
    found: list[Command] = []
    directory = ""
    lists = [_split(part, _AND) for part in _split(tokens, _THEN) if part]
    # The exit code of a line is that of its last list.
    parts = [(part, at < len(lists) - 1) for at, several in enumerate(lists) for part in several]
    committing = any(part[:2] == ["git", "commit"] for part, _ in parts)
    for part, followed in parts:
        stages = _split(part, frozenset({"|", "|&"}))
        words = _without_redirections(stages[0])
        filtered = [stage for stage in stages[1:] if not stage or stage[0] not in _FILTERS]
        if filtered:
            return ()
        if words[:1] == ["cd"] and len(words) == 2:
            directory = words[1]
        if not words or words[0] in _ASIDE or (committing and words[:2] == ["git", "add"]):
            continue
        one = _command(words, directory, masked=len(stages) > 1, followed=followed)
        if one is None:
            return ()
        found.append(one)
    return tuple(found)


def _without_redirections(tokens: Sequence[str]) -> list[str]:
    """Return the words without redirections such as ``2>&1`` and ``> file``."""
    words: list[str] = []
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token and not token.strip("<>&") and ("<" in token or ">" in token):
            skip = True
            if words and words[-1] in ("1", "2"):
                words.pop()
        else:
            words.append(token)
    return words


def _command(tokens: Sequence[str], directory: str, *, masked: bool, followed: bool) -> Command | None:
    words, env = list(tokens), []
    while words and (words[0] in _TRANSPARENT or _ASSIGNMENT.match(words[0])):
        first = words.pop(0)
        if _ASSIGNMENT.match(first):
            env.append(first.partition("=")[0])
        elif first == "timeout" and words:
            words.pop(0)
    if not words:
        return None
    program = words[0].rpartition("/")[2] if words[0].startswith(("/", "~")) else words[0]
    if not _PROGRAM.fullmatch(program):
        return None
    words = [program, *words[1:]]
    return Command(tuple(words), _shape(words), tuple(env), directory, masked, followed)


def _shape(words: Sequence[str], *, with_paths: bool = False) -> tuple[str, ...]:
    shape, plain = [words[0]], 0
    for word in words[1:]:
        shown = _shown(word)
        if shown == PATH and with_paths:
            shape.append(word)
            continue
        if shown == word and not word.startswith("-"):
            plain += 1
            shown = word if plain <= MOST_PLAIN else WORD
        if shown not in (WORD, PATH, TEXT, NUMBER) or shape[-1] != shown:  # equal placeholders in a row become one
            shape.append(shown)
    return tuple(shape)


def _shown(word: str) -> str:
    """Return a word as a memory's sentence shows it: options and subcommands unchanged, others as placeholders."""
    if word == _TEXT_MARK:
        return TEXT
    if word == "--" or _FLAG.fullmatch(word):
        return word
    flag, equals, value = word.partition("=")
    if equals and _FLAG.fullmatch(flag):
        return f"{flag}={_shown(value)}" if value else word
    if "://" in word:
        return URL
    if _NUMBER.fullmatch(word):
        return NUMBER
    if _FILE.fullmatch(word) and not any(character.isspace() for character in word):
        return PATH
    return word if _PLAIN_WORD.fullmatch(word) else TEXT


def placeholder(word: str) -> str:
    """Return the placeholder that replaces a word; "" if the word, or at least an option's name in it, is shown."""
    shown = _shown(word)
    return shown if shown != word and shown.startswith("<") else ""


def hides_text(word: str) -> bool:
    """Whether a sentence shows a placeholder instead of a text or URL in a word, or in the value of an option."""
    return _shown(word).endswith((TEXT, URL))


def paths(command: Command) -> tuple[str, ...]:
    """Return the paths among the words of a command."""
    return tuple(word for word in command.words[1:] if _shown(word) == PATH)


def repositories(command: Command) -> tuple[str, ...]:
    """Return the words of a command that may name a repository (owner/name), also within an API path."""
    named = (word.removeprefix("repos/") for word in command.words[1:] if _shown(word) == PATH)
    return tuple("/".join(word.split("/")[:2]) for word in named if _REPOSITORY.match(word))
