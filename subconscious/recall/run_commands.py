"""Decides whether a session used a memory by running a command, or changing a file, that the memory names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from subconscious.domain.model import Memory
from subconscious.failures.commands import Command, parse
from subconscious.recall.file_binding import NAMED, Touched, bond
from subconscious.text.folders import restricts

COMMON = frozenset(
    "ls cat cd echo pwd grep rg find head tail sed awk sort wc cut diff mkdir rm cp mv touch chmod which ps kill sleep"
    " tree less git".split()
)
"""Programs that nearly every session runs. Only a whole command with three or more words shows that it was meant."""

_RUNNERS = frozenset("run exec compose dlx -m".split())
"""Words after which a program's name follows: `npm run lint` and `npm run build` are different commands."""

_FLAG = re.compile(r"-(?!m\Z)|.*[=<>$*\"'{]")
_CLAUSE = re.compile(r"[.;!?\n](?=\s|\Z)|,|:(?=\s)| - | \u2013 | \bbut\b|\baber\b|\bpero\b|\bmais\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:never|not|no|nobody|cannot|without|avoid|stop|forget|skip|instead of|rather than|(?:do|does|is|are|ca|can"
    r"|must|should|wo|would)n'?t|nicht|nie|niemals|kein\w*|niemand|ohne|statt|vergiss|nunca|sin|no|jamais|ne|pas|sans|n[ãa]o"
    r"|sem|mai|non|senza)\b|不要|不许|禁止",
    re.IGNORECASE,
)
_RESERVED = re.compile(
    r"\b(?:only|nur|solo|sólo|seul)\b.{0,40}\b(?:may|can|runs?|allowed|darf|dürfen|puede|peut)\b", re.IGNORECASE
)
_REFUSED = re.compile(
    r"\A.{0,60}?\b(?:(?:must|may|should|shall|can|do|does|is|are|will|wo|ca|darf|soll)(?: not| never| nicht| nie|n'?t)"
    r"|cannot|forbidden|broken|fails?|failed|hangs|off limits|verboten|(?:nicht|nie) (?:mehr )?\w+en|no longer"
    r"|prohibido|interdit)\b",
    re.IGNORECASE | re.DOTALL,
)


def ran(memory: Memory, asked: str, commands: Iterable[str]) -> str:
    """Return how commands of a session used a memory: they include one that the memory names; "" if they did not.

    A command that the request (``asked``) names does not count, nor one that the memory forbids, nor one that nearly
    every session runs.
    """
    for phrase, forbidden in _named(memory, commands):
        if not forbidden and not _places(asked, phrase.strip("`")):
            return "a command that it names"
    return ""


def forbids(memory: Memory, command: str) -> bool:
    """Whether a memory names a command only to forbid it."""
    return any(forbidden for _, forbidden in _named(memory, [command]))


def _named(memory: Memory, commands: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield the commands that a memory names, as it names them, and whether it forbids them wherever it does so."""
    text = " ".join(memory.content.split())
    for command in (one for line in commands for one in _commands(line)):
        phrase = next((phrase for phrase in _phrases(command.words) if _places(text, phrase)), "")
        if phrase:
            yield phrase, all(_forbidden(text, *place) for place in _places(text, phrase))


def changed(memory: Memory, asked: str, files: Iterable[tuple[str, str]]) -> str:
    """Return how the files that a session changed used a memory: it names one of them; "" if it does not.

    ``files`` are paths, each with the folder in which the session worked. A file that the request names does not
    count, and a statement that restricts work on files is not used by a change of one.
    """
    if restricts(memory.content):
        return ""
    for path, folder in files:
        touched = Touched(path.removeprefix(f"{folder}/"), folder)
        stated = touched.name in memory.content and touched.name not in asked
        if stated and bond(memory, touched) >= NAMED:
            return "a file that it names"
    return ""


@lru_cache(maxsize=1000)
def _commands(line: str) -> tuple[Command, ...]:
    """Return the commands of a line; cached, because each memory of a session is compared with all of its commands."""
    return parse(line)


def _phrases(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the beginnings of a command that name it, the longest first."""
    if len(words) > 2:
        yield " ".join(words)
    if words[0] in COMMON:
        return
    plain = [words[0]]
    for word in words[1:]:
        if _FLAG.match(word):
            break
        plain.append(word)
    fewest = 3 if len(plain) > 1 and plain[1] in _RUNNERS else 2
    yield from (" ".join(plain[:size]) for size in range(len(plain), fewest - 1, -1))
    if len(plain) == 1:
        yield plain[0] if "/" in plain[0] else f"`{plain[0]}`"


def _places(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return where a text contains a command, with or without "./" before it."""
    bare = phrase.removeprefix("./")
    found = re.finditer(rf"(?<![\w./-])(?:\./)?{re.escape(bare)}(?![\w/-]|[.:]\w)", text, re.IGNORECASE)
    return [one.span() for one in found]


def _forbidden(text: str, begin: int, end: int) -> bool:
    """Whether a statement forbids the command at a place, or says that it does not work.

    Two negations before a command demand it: "don't commit without running it".
    """
    plain = text.replace("\u2019", "'")
    before = _CLAUSE.split(plain[:begin])[-1]
    after = _CLAUSE.split(plain[end:])[0]
    denied = len(_NEGATION.findall(before)) % 2 == 1
    return denied or bool(_RESERVED.search(before) or _REFUSED.match(after))
