"""The labels of histories: what each session needed, and which text satisfies a need.

`matches` and `pieces` are those of the scorer, so that "it was stored" means "it would have counted".
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PIECE, STEP = 400, 300

Match = list[list[str]]
Row = dict[str, Any]


def matches(text: str, match: Match) -> bool:
    """Whether a text contains all terms of one of the alternatives."""
    text = " ".join(text.casefold().split())
    return any(alternative and all(term.casefold() in text for term in alternative) for alternative in match)


def pieces(text: str) -> Iterator[str]:
    """The pieces in which the scorer looks for terms."""
    text = " ".join(text.split())
    for at in range(0, max(1, len(text) - PIECE + STEP), STEP):
        yield text[at : at + PIECE]


def tells(text: str, match: Match) -> bool:
    """Whether a piece of a text matches."""
    return any(matches(piece, match) for piece in pieces(text))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one history; sessions from ``until`` on have none."""

    history: str
    until: int
    needs: tuple[Row, ...]
    facts: tuple[Row, ...]

    def needs_of(self, session: int) -> list[Row]:
        """The needs of one session."""
        return [need for need in self.needs if need["session"] == session]

    def confirm(self, text: str) -> bool:
        """Whether a text states a need or a fact of the history."""
        return any(tells(text, row["match"]) for row in (*self.needs, *self.facts))


def read_labels(paths: Sequence[Path]) -> dict[str, Labels]:
    """Read files, or folders of them, by history."""
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in map(json.loads, lines):
        rows[row["history"], row["type"]].append(row)
    ranges = {name: found[0]["until"] for (name, kind), found in rows.items() if kind == "range"}
    return {
        name: Labels(
            name,
            until,
            tuple(need for need in rows[name, "need"] if need["session"] < until),
            tuple(rows[name, "fact"]),
        )
        for name, until in ranges.items()
    }
