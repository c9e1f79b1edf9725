"""Computes signatures of errors: hashes of the stable words in their significant lines. The words are not kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator

MOST_LINES = 60
"""The number of lines that are read at the beginning and at the end of an output, where failures are reported."""
LONGEST_LINE = 300
MOST_SIGNATURES = 8
FEWEST_WORDS = 2
ALIKE = 0.5
"""Two errors are alike if they share at least this part (0 to 1) of the signatures of the error that has fewer."""

_TAGS = re.compile(r"</?tool_use_error>|\x1b\[[0-9;]*[A-Za-z]")
_STATUS = re.compile(r"\s*Exit code \d+\s*\Z")
_TELLING = re.compile(
    r"error|fail|fatal|cannot|can't|could not|not found|no such|unknown|unrecogni[sz]ed|unexpected|invalid|illegal|"
    r"denied|refused|missing|require|unsupported|ignored by|usage:|conflict|reject|does not|did not|not been|"
    r"would have|no module",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    r"'[^'\n]{0,120}'|\"[^\"\n]{0,120}\"|`[^`\n]{0,120}`|\u2018[^\u2019\n]{0,120}\u2019|\S*[/\\=]\S*|\S+\.\w{1,5}\b\S*|"
    r"\b[0-9a-f]{7,40}\b|\S*\d\S*"
)
_WORD = re.compile(r"[^\W\d_]{2,30}")

USAGE = re.compile(
    r"command not found|not recogni[sz]ed as|flag provided but not defined|missing script|script not found|"
    r"(?:unknown|unrecogni[sz]ed|illegal|invalid|unexpected|unsupported|ambiguous|no such|bad) "
    r"(?:sub-?commands?|commands?|options?|flags?|arguments?|switch|task|target|script|parameter)\b|"
    r"no such file or directory|not a git repository|no module named|cannot find module|can't open file|"
    r"could not resolve to a|ignored by one of your|did not match any|is not a \S{1,40} command|no rule to make target|"
    r"no (?:task|recipe|project|package\.json|pyproject\.toml|configuration file)\b.{0,40}\bfound|"
    r"does not (?:exist|contain)\b|unable to find|not installed|usage:",
    re.IGNORECASE,
)
"""Errors about the call itself: a command, option or file that does not exist."""
USAGE_LINES = 4
"""The number of lines at each end of an output that may report a wrong call; other lines report the command's work."""

PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_WRONG_MANAGER = re.compile(
    r"\A\W{0,20}(?:ERR_PNPM_NO_LOCKFILE\b|(?:npm (?:ERR!|error)|error:?|ERROR|Usage ?Error:)\s+(?:"
    r"code (?:EUNSUPPORTEDPROTOCOL|EBADDEVENGINES|ENOLOCK)\b"
    r"|(?:Unsupported URL Type|Couldn't find any versions|No version matching) (?:.{0,120} )?\"(?:workspace|catalog):"
    r"|This project(?:'s package\.json)? (?:is configured to use (?:npm|pnpm|yarn|bun)\b|defines \"packageManager\")"
    r"|(?:\S+ ){0,4}(?:can only install with|requires) an existing (?:package-lock\.json|lock-?file)\b"
    r"|(?:Unsupported|Unknown|Missing|No) lock-?file\b|Lock-?file (?:is missing|not found)\b))"
)
"""Errors of a package manager if the project uses another one, or if it finds no lock file that it can read.

Their prefix is case-sensitive. It distinguishes them from what a project's own code prints ("Error: No lockfile").
"""


def signatures(output: str) -> tuple[str, ...]:
    """Return the signatures of an error in the order of its lines; none if no line has enough stable words.

    If no line is significant, the first three lines are used.
    """
    lines = list(_lines(output))
    telling = [line for line in lines if _TELLING.search(line)] or lines[:3]
    stable = dict.fromkeys(" ".join(_stable(line)) for line in telling)
    return tuple(_digest(words) for words in stable if words.count(" ") >= FEWEST_WORDS - 1)[:MOST_SIGNATURES]


def alike(one: Collection[str], other: Collection[str]) -> bool:
    """Whether two errors, compared by their signatures, are probably of the same type."""
    shared = len(set(one) & set(other))
    return shared > 0 and shared >= ALIKE * min(len(set(one)), len(set(other)))


def of_the_call(output: str) -> bool:
    """Whether an error says that the command itself was wrong, not that its work failed."""
    return any(map(USAGE.search, _ends(output)))


def of_the_manager(output: str, failed: str, other: str) -> bool:
    """Whether an error says that ``failed`` is the wrong package manager, and names ``other`` if it names any."""
    lines = _ends(output)
    named = PACKAGE_MANAGERS.intersection(re.findall(r"[a-z]+", " ".join(lines))) - {failed}
    return any(map(_WRONG_MANAGER.match, lines)) and (not named or other in named)


def _ends(output: str) -> list[str]:
    lines = list(_lines(output))
    return [*lines[:USAGE_LINES], *lines[-USAGE_LINES:]]


def _lines(output: str) -> Iterator[str]:
    lines = _TAGS.sub("", output[: 200 * LONGEST_LINE]).splitlines()
    chosen = lines if len(lines) <= 2 * MOST_LINES else [*lines[:MOST_LINES], *lines[-MOST_LINES:]]
    return (line[:LONGEST_LINE] for line in chosen if line.strip() and not _STATUS.match(line))


def _stable(line: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_VARIABLE.sub(" ", line))]


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:16]
