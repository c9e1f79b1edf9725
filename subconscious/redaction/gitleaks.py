"""The rules of gitleaks, read from its own file (gitleaks.toml, version 8.30.1, unchanged; see NOTICE)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .goregex import python_pattern
from .rule import Rule, compiled, entropy

VERSION = "8.30.1"

OURS = frozenset(
    {"curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml", "nuget-config-password", "private-key"}
)
"""Rules in whose place we have our own: on hostile text, theirs cost more than linear time in a backtracking engine."""

_BEFORE = re.compile(r"[\w.-]*$")
_LEAD = r"[\w.-]{0,50}?"
"""What may stand before a keyword: it is never taken out, and costs fifty steps at every character of a text."""

Allowed = Callable[[re.Match[str], str], bool]


def rules() -> Iterator[Rule]:
    """All rules, in the order of their file."""
    import tomllib  # only now: reading the file is put off till a text is looked at, and so is what reads it

    book = tomllib.loads(Path(__file__).with_name("gitleaks.toml").read_text(encoding="utf-8"))
    everywhere = _allowance(book["allowlist"])
    for row in book["rules"]:
        if "regex" in row and row["id"] not in OURS:
            yield _rule(row, everywhere)


def _rule(row: dict[str, Any], everywhere: Allowed) -> Rule:
    allowed = (everywhere, *map(_allowance, row.get("allowlists", ())))
    judge = partial(_stands, row.get("entropy", 0.0), allowed)
    return Rule(row["id"], tuple(word.lower() for word in row["keywords"]), _pattern(row["regex"]), judge)


def _pattern(source: str) -> str:
    return python_pattern(source.replace(_LEAD, ""))


def _stands(least: float, allowed: tuple[Allowed, ...], match: re.Match[str], secret: str) -> bool:
    if least and entropy(secret) <= least:
        return False
    return not any(is_allowed(match, secret) for is_allowed in allowed)


def _allowance(row: dict[str, Any]) -> Allowed:
    """What is no secret after all. Where something else than the text is asked for (a path), nothing is allowed."""
    patterns = [python_pattern(each) for each in row.get("regexes", ())]
    words = tuple(word.lower() for word in row.get("stopwords", ()))
    target = row.get("regexTarget", "secret")
    whole = row.get("condition", "OR") == "AND"

    def allowed(match: re.Match[str], secret: str) -> bool:
        looked_at = {"secret": secret, "match": _led(match)}.get(target) or _line(match)
        by_pattern = any(compiled(pattern).search(looked_at) for pattern in patterns)
        by_word = any(word in secret.lower() for word in words)
        if whole:
            return by_pattern and (by_word or not words) and "paths" not in row
        return by_pattern or by_word

    return allowed


def _led(match: re.Match[str]) -> str:
    """The match with what stood before its keyword (see ``_LEAD``)."""
    lead = _BEFORE.search(match.string[max(0, match.start() - 50) : match.start()])
    return (lead[0] if lead else "") + match[0]


def _line(match: re.Match[str]) -> str:
    """The line that a match begins in, as much of it as is near."""
    start = match.string.rfind("\n", max(0, match.start() - 500), match.start()) + 1 or max(0, match.start() - 500)
    return match.string[start : match.end() + 500].partition("\n")[0]
