"""Finds the commits that a shell command made, from its text and its output."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePath

_HERE_DOCUMENT = re.compile(
    r"(?<!<)<<-?[ \t]*(['\"]?)(?P<mark>\w+)\1(?P<rest>[^\n]*)"
    r"(?:\n(?P<body>.*?)(?:\n[ \t]*(?P=mark)(?=[\s)\"]|\Z)|\Z)|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<joint>&&|\|\||\|&|(?<![<>])&(?!>)|[;|\n()])|(?<![^\s;])#[^\n]*"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[<>]&|&>|[^\s;&|()'\"\\])+)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`])")
_STANDS_FOR = "\x00{}\x00"
"""Replaces a here-document while a command is split into words."""

_STOOD_FOR = re.compile(r"\x00(\d+)\x00")
_OF_GIT = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))
"""Git's own options that are followed by a value."""

_MESSAGE = re.compile(r"-[apsneiovqzS]*m(.*)|--message(?:=(.*))?", re.DOTALL)
_ONLY_SHOWS = frozenset(("--dry-run", "--short", "--porcelain", "--long", "--help", "-h"))
"""Options of `git commit` with which it commits nothing."""

_PRINTS = frozenset(
    "ack ag alias awk cat docker echo git-help grep kubectl man podman printf rg sed ssh type whereis which".split()
)
"""Programs whose arguments may name `git commit` without running it in this checkout."""

_SHELLS = frozenset("bash dash sh zsh".split())
_IN_SCRIPT = re.compile(r"-[a-z]*c")

_MADE = re.compile(r"^[ \t]*+\[[^\]\n]{1,200} [0-9a-f]{7,64}\]|\bfailed to push\b", re.MULTILINE)
"""Output that shows that a commit was made: Git's line for it, or that the push after it failed."""

_CHANGED = re.compile(
    r"\b\d+ files? changed\b|^ ?\d+ [^\n]{2,200}\([+-]\)|^[ \t]*+(?:create|delete) mode \d{6} "
    r"|^[ \t]*+[*+ ]?[ \t]*+(?:[0-9a-f]{7,64}\.{2,3}[0-9a-f]{7,64}|\[new branch\])[ \t]++\S{1,200} -> \S",
    re.MULTILINE,
)
"""Further lines that Git prints, in any language, for a commit or the push after it; the end of an output has them,
even if it lacks the first line. `git diff` prints them, too."""

_LISTED = re.compile(
    r"^[ \t]*+(?:(?:create|delete) mode .*|(?:mode change|rename|copy) .*=>.*|(?:[*] )?[0-9a-f]{7,40} .*"
    r"|\S.{0,200} \| +(?:\d+(?: [+-]+)?|Bin .*))$",
    re.MULTILINE,
)
"""Lines in which Git quotes names of files or subjects of commits, whose words say nothing about success."""

_SUBJECT_LISTED = r"^[ \t]*+(?:[*] )?[0-9a-f]{{7,40}} (?:\([^)\n]{{1,200}}\) )?{}$"
"""A commit's line in `git log --oneline`; the subject is filled in."""

_QUIET = re.compile(r"-[apsneiovzS]*q.*|--quiet|[1&]?>.*", re.DOTALL)
"""An option of `git commit`, or a redirection, that suppresses its output."""

_NOT_MADE = re.compile(
    r"\bnothing (?:added )?to commit\b(?!.{0,3}working tree clean)|\bno changes added to commit\b"
    r"|\bnichts zu committen\b|\brien à valider\b|\bnada para (?:hacer commit|confirmar)\b"
    r"|^[ \t]*+(?:fatal|error|schwerwiegend\w*|erreur|fatale)\s?:|\baborting commit\b"
    r"|(?<!\b0 )\b(?:fail(?:s|ed|ure)?|errors?|unable|cannot|denied|unknown)\b(?! to push\b)"
    r"|\bcode:? [1-9]|\u2716",
    re.IGNORECASE | re.MULTILINE,
)
"""Output about a failure that the exit code may hide: of a commit, or of another part of the command."""

_CODE = re.compile(r"^[^\w\n]*+(?:\w+[^\w\n]{1,3}){0,2}[1-9]\d{0,2}\s*?$", re.MULTILINE)
"""A line that prints the exit code of a command that failed: "1", "exit code: 1"."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A call of `git commit`: its subject ("" if unknown), and the changes of folder that apply to it, such as `cd`.

    ``hidden`` means that the exit code of the whole command does not show whether the commit failed. ``quiet`` means
    that the call prints nothing if it succeeds.
    """

    subject: str
    folders: tuple[str, ...] = ()
    hidden: bool = False
    quiet: bool = False

    def is_elsewhere(self, folder: str) -> bool:
        """Whether the commit was made outside of ``folder`` and its sub-folders, or in a folder of an unknown name."""
        if not self.folders:
            return False
        at = os.path.normpath(PurePath(folder, *map(os.path.expanduser, self.folders)))
        return "$" in at or not (at == folder or at.startswith(f"{folder.rstrip('/')}/"))


def commits_made(command: str, output: str, *, failed: bool) -> list[Commit]:
    """Return the commits that a shell command made; ``failed`` means that its exit code was not 0."""
    found = commits_in(command)
    if failed:
        return found if _MADE.search(output) else []
    if _MADE.search(output):
        return found
    if _reports_failure(command, output):
        return [commit for commit in found if not commit.hidden]
    shown = bool(_CHANGED.search(output))
    return [commit for commit in found if shown or not commit.hidden or commit.quiet or _is_listed(commit, output)]


def _reports_failure(command: str, output: str) -> bool:
    """Whether output reports a failure that the exit code may hide: of a commit, or of another part of the command."""
    said = _LISTED.sub("", output)
    return bool(_NOT_MADE.search(said) or ("$?" in command and _CODE.search(said)))


def _is_listed(commit: Commit, output: str) -> bool:
    """Whether output contains a commit's line of `git log --oneline`."""
    listed = _SUBJECT_LISTED.format(re.escape(commit.subject))
    return bool(commit.subject and re.search(listed, output, re.MULTILINE))


def commits_in(command: str) -> list[Commit]:
    """Return the calls of `git commit` in a shell command."""
    if "commit" not in command:
        return []
    documents: list[str] = []

    def stand_for(found: re.Match[str]) -> str:
        documents.append(found["body"] or "")
        return f"{_STANDS_FOR.format(len(documents) - 1)}{found['rest']}"

    return list(_calls(_HERE_DOCUMENT.sub(stand_for, command.replace("\0", "")), documents))


def _calls(line: str, documents: Sequence[str]) -> Iterator[Commit]:
    parts = list(_parts(line.replace("\\\n", " ")))
    folders: tuple[str, ...] = ()
    for at, (words, _) in enumerate(parts):
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folders = (*folders, words[1])
        hidden = any(joint != "&&" for _, joint in parts[at:-1]) or parts[-1][1] == "&"
        if words[0] in _SHELLS and (script := _script(words)):
            yield from (
                replace(one, folders=(*folders, *one.folders), hidden=hidden or one.hidden)
                for one in _calls(script, documents)
            )
        elif (call := _call(words, documents)) is not None:
            yield replace(call, folders=(*folders, *call.folders), hidden=hidden)


def _parts(line: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each simple command, with the operator that joins it to the next one."""
    words: list[str] = []
    for token in _TOKEN.finditer(line):
        if token["word"]:
            words.append(_QUOTED.sub(_unquoted, token["word"]))
        elif words and token["joint"] and token["joint"] != ")":
            yield words, "&&" if token["joint"] == "(" else token["joint"]
            words = []
    if words:
        yield words, ""


def _unquoted(quoted: re.Match[str]) -> str:
    return quoted[1] or _ESCAPED.sub(r"\1", quoted[2] or "") or quoted[3] or ""


def _script(words: Sequence[str]) -> str:
    """Return the script that a shell is given as an argument; "" if there is none."""
    return next((script for option, script in pairwise(words) if _IN_SCRIPT.fullmatch(option)), "")


def _call(words: Sequence[str], documents: Sequence[str]) -> Commit | None:
    """Return the commit that a simple command makes, also behind a wrapper such as `time`; None if it makes none."""
    names = [PurePath(word).name.removesuffix(".exe") for word in words]
    if "git" not in names or names[0] in _PRINTS:
        return None
    rest = list(words[names.index("git") + 1 :])
    folders: list[str] = []
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        value = rest.pop(0) if option in _OF_GIT and rest else ""
        folders += [value] if option == "-C" else []
    if rest[:1] != ["commit"] or _ONLY_SHOWS & set(rest):
        return None
    return Commit(_subject(rest[1:], documents), tuple(folders), quiet=any(map(_QUIET.fullmatch, rest)))


def _subject(options: Sequence[str], documents: Sequence[str]) -> str:
    """Return the first line of a commit's message; "" if the command does not contain it."""
    text = ""
    for at, option in enumerate(options):
        if found := _MESSAGE.fullmatch(option):
            text = found[1] or found[2] or "".join(options[at + 1 : at + 2])
            break
    inserted = _STOOD_FOR.search(text or " ".join(options))
    if inserted:
        text = documents[int(inserted[1])]
    lines = (line.strip() for line in text.replace("\\n", "\n").splitlines())
    subject = next(filter(None, lines), "")
    return "" if subject.startswith("$") else subject  # the shell's value of a variable is unknown
