"""The rules of gitleaks, read from gitleaks.toml (the original file of version 8.30.1, unchanged; see NOTICE).

Its patterns are for Go's regexp and are converted for Python's ``re``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .rule import Rule, compiled, entropy

VERSION = "8.30.1"

OURS = frozenset(
    {"curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml", "nuget-config-password", "private-key"}
)
"""Gitleaks rules that this project replaces: on hostile text, they take more than linear time in Python."""

_BEFORE = re.compile(r"[\w.-]*$")
_LEAD = r"[\w.-]{0,50}?"
"""Optional text before a keyword. Patterns are used without it, because it would cost fifty steps per character."""

MOST_REPEATS = 1024
"""The upper bound that replaces unbounded repeats; the caller extends truncated matches to their real end."""

_ENDLESS = re.compile(r"\{(\d+),\}|[*+]")
_FLAGS = re.compile(r"\(\?([ims]{1,3})\)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\\\]])*\]", re.DOTALL)

Allowed = Callable[[re.Match[str], str], bool]


def rules() -> Iterator[Rule]:
    """Yield the rules that have a pattern and are not in ``OURS``, in the order of their file."""
    import tomllib  # imported when the first text is redacted, so that no start waits for it

    book = tomllib.loads(Path(__file__).with_name("gitleaks.toml").read_text(encoding="utf-8"))
    everywhere = _allowance(book["allowlist"])
    for row in book["rules"]:
        if "regex" in row and row["id"] not in OURS:
            yield _rule(row, everywhere)


def _rule(row: dict[str, Any], everywhere: Allowed) -> Rule:
    allowed = (everywhere, *map(_allowance, row.get("allowlists", ())))
    judge = partial(_is_secret, row.get("entropy", 0.0), allowed)
    return Rule(row["id"], tuple(word.lower() for word in row["keywords"]), _pattern(row["regex"]), judge)


def _pattern(source: str) -> str:
    return python_pattern(source.replace(_LEAD, ""))


def _is_secret(least: float, allowed: tuple[Allowed, ...], match: re.Match[str], secret: str) -> bool:
    if least and entropy(secret) <= least:
        return False
    return not any(is_allowed(match, secret) for is_allowed in allowed)


def _allowance(row: dict[str, Any]) -> Allowed:
    """Return a function that says whether an allowlist exempts a match; its conditions on file paths exempt none."""
    patterns = [python_pattern(each) for each in row.get("regexes", ())]
    words = tuple(word.lower() for word in row.get("stopwords", ()))
    target = row.get("regexTarget", "secret")
    whole = row.get("condition", "OR") == "AND"

    def allowed(match: re.Match[str], secret: str) -> bool:
        target_text = {"secret": secret, "match": _with_lead(match)}.get(target) or _line(match)
        by_pattern = any(compiled(pattern).search(target_text) for pattern in patterns)
        by_word = any(word in secret.lower() for word in words)
        if whole:
            return by_pattern and (by_word or not words) and "paths" not in row
        return by_pattern or by_word

    return allowed


def _with_lead(match: re.Match[str]) -> str:
    """Return the match with the text before its keyword (see ``_LEAD``)."""
    lead = _BEFORE.search(match.string[max(0, match.start() - 50) : match.start()])
    return (lead[0] if lead else "") + match[0]


def _line(match: re.Match[str]) -> str:
    """Return the line in which a match begins, up to a limited length."""
    start = match.string.rfind("\n", max(0, match.start() - 500), match.start()) + 1 or max(0, match.start() - 500)
    return match.string[start : match.end() + 500].partition("\n")[0]


def python_pattern(pattern: str) -> str:
    """Return a Go pattern converted for Python: flags become groups, brackets in classes are escaped, repeats bounded.

    With bounded repeats, a backtracking engine takes linear time.
    """
    return _Converter(pattern).converted()


class _Converter:
    """Converts a Go regular expression to Python's syntax, element by element.

    In Go, an inline flag such as "(?i)" applies up to the end of its group, even across "|". Python allows such a flag
    only at the start of a pattern, so each flag becomes a group, "(?i:...)".
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._parts: list[str] = []
        self._scopes: list[list[str]] = [[]]

    def converted(self) -> str:
        """Return the pattern for Python."""
        at = 0
        while at < len(self._pattern):
            at += self._step(at)
        return "".join(self._parts) + ")" * len(self._scopes[0])

    def _step(self, at: int) -> int:
        """Convert the element at an index; return its length."""
        flags, chars = _FLAGS.match(self._pattern, at), _CLASS.match(self._pattern, at)
        if flags:
            self._parts.append(f"(?{flags[1]}:")
            self._scopes[-1].append(flags[1])
            return len(flags[0])
        if chars:
            self._parts.append("[" + chars[0][1:-1].replace("[", r"\[").replace(r"\\[", r"\[") + "]")
            return len(chars[0])
        if endless := _ENDLESS.match(self._pattern, at):
            least = int(endless[1]) if endless[1] else int(endless[0] == "+")
            self._parts.append(f"{{{least},{max(MOST_REPEATS, least)}}}")
            return len(endless[0])
        return self._sign(self._pattern[at : at + 2])

    def _sign(self, two: str) -> int:
        if two[0] == "\\":
            self._parts.append(r"\Z" if two == r"\z" else two)
            return 2
        open_flags = self._scopes[-1]
        if two[0] == "|":
            self._parts.append(")" * len(open_flags) + "|" + "".join(f"(?{flags}:" for flags in open_flags))
        elif two[0] == ")":
            self._parts.append(")" * len(self._scopes.pop()) + ")")
        else:
            self._parts.append(two[0])
        if two[0] == "(":
            self._scopes.append([])
        return 1
