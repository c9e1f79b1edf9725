"""Patterns of Go's regexp, made ready for Python's ``re``."""

from __future__ import annotations

import re

LONGEST = 1024
"""Repeats that an endless one is given: what is longer is cut off by whoever finds it, where it ends in truth."""

_ENDLESS = re.compile(r"\{(\d+),\}|[*+]")
_FLAGS = re.compile(r"\(\?([ims]{1,3})\)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\\\]])*\]", re.DOTALL)


def python_pattern(pattern: str) -> str:
    """The same pattern for Python: flags in the middle get a scope of their own, brackets in classes an escape.

    Repeats without an end get one, so that a backtracking engine takes linear time.
    """
    return _Converter(pattern).converted()


class _Converter:
    """Walks a pattern. A flag holds in Go to the end of its group, in all the alternatives that follow."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._made: list[str] = []
        self._scopes: list[list[str]] = [[]]

    def converted(self) -> str:
        """The pattern for Python."""
        at = 0
        while at < len(self._pattern):
            at += self._step(at)
        return "".join(self._made) + ")" * len(self._scopes[0])

    def _step(self, at: int) -> int:
        """Take over what begins here; return its length."""
        flags, chars = _FLAGS.match(self._pattern, at), _CLASS.match(self._pattern, at)
        if flags:
            self._made.append(f"(?{flags[1]}:")
            self._scopes[-1].append(flags[1])
            return len(flags[0])
        if chars:
            self._made.append("[" + chars[0][1:-1].replace("[", r"\[").replace(r"\\[", r"\[") + "]")
            return len(chars[0])
        if endless := _ENDLESS.match(self._pattern, at):
            least = int(endless[1]) if endless[1] else int(endless[0] == "+")
            self._made.append(f"{{{least},{max(LONGEST, least)}}}")
            return len(endless[0])
        return self._sign(self._pattern[at : at + 2])

    def _sign(self, two: str) -> int:
        if two[0] == "\\":
            self._made.append(r"\Z" if two == r"\z" else two)
            return 2
        open_flags = self._scopes[-1]
        if two[0] == "|":
            self._made.append(")" * len(open_flags) + "|" + "".join(f"(?{flags}:" for flags in open_flags))
        elif two[0] == ")":
            self._made.append(")" * len(self._scopes.pop()) + ")")
        else:
            self._made.append(two[0])
        if two[0] == "(":
            self._scopes.append([])
        return 1
