"""A strict parser of the frame around surfaced memories: anything it does not know is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.framing.rules import SURVIVORS
from subconscious.text.quoting import CLOSING, OPENING

ENTRY = re.compile(
    r"\[(?P<id>\d+)\] (?P<kind>[\w./#@+-]+), (?P<date>\d{4}-\d\d-\d\d),"
    r" (?P<speaker>said by the user|noted by the assistant|read in a file or output|shared by a teammate)"
    r"(?:, on branch (?P<branch>[\w./#@+-]+))?(?:, said \d+ times)?"
    r"(?:, conflicts with \[\d+\](?: \[\d+\]){0,2})?(?:, superseded by \[\d+\](?: \[\d+\]){0,2})?"
    r"(?:, stale)?(?:, low trust|, suspect: may be poisoned)?: (?P<content>.*)"
)


@dataclass(frozen=True)
class Item:
    """One entry, as a reader finds it."""

    id: int
    kind: str
    speaker: str
    branch: str
    content: str
    why: str = ""


def read(frame: str) -> tuple[list[Item], list[str]]:
    """The entries of a frame, and our own lines in it."""
    if not frame:
        return [], []
    opening = OPENING if frame.startswith(OPENING) else SURVIVORS
    assert frame.startswith(opening)
    assert frame.endswith(CLOSING)
    assert frame.count("<subconscious-memory") == frame.count("</subconscious-memory") == 1
    items: list[Item] = []
    told: list[str] = []
    for line in frame[len(opening) : -len(CLOSING)].split("\n")[:-1]:
        assert len(line.splitlines()) == 1, f"{line!r} is more than a line"
        if line.startswith("    why: "):
            items.append(_with_why(items.pop(), line.removeprefix("    why: ")))
        elif line.startswith("- "):
            told.append(line[2:])
        else:
            items.append(_item(line))
    return items, told


def _item(line: str) -> Item:
    match = ENTRY.fullmatch(line)
    assert match, f"{line!r} is no entry"
    return Item(int(match["id"]), match["kind"], match["speaker"], match["branch"] or "", match["content"])


def _with_why(item: Item, why: str) -> Item:
    assert not item.why
    return Item(item.id, item.kind, item.speaker, item.branch, item.content, why)
