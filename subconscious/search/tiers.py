"""Shortens a memory to whole sentences of its own, chosen by the query. Pure.

Nothing is reworded, and nothing is cut within a word, a number or a code span. A text that fits is returned unchanged,
so shortening twice has no further effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from subconscious.model import Memory
from subconscious.search.sections import Section, named, nearest, sections, stems

Tier = Literal["minimal", "compact", "standard", "full"]
TIERS: tuple[Tier, ...] = get_args(Tier)
CHARACTERS_A_TOKEN = 4
GAP = " \u2026 "
"""Marks omitted sentences."""
MOST_SENTENCES = 400

_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\sa-z])|\n+")


@dataclass(frozen=True, slots=True)
class Told:
    """The shortened text of a memory; ``cut`` says that there is more."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tiers:
    """Tokens that each tier gives to one memory."""

    minimal: int = 100
    compact: int = 200
    standard: int = 400

    def room(self, tier: Tier) -> int | None:
        """Characters of a tier; None: as many as there are."""
        tokens: dict[str, int] = {"minimal": self.minimal, "compact": self.compact, "standard": self.standard}
        return tokens[tier] * CHARACTERS_A_TOKEN if tier in tokens else None


def tell(memory: Memory, asked: str, room: int | None, section: str = "") -> Told:
    """Return a memory within ``room`` characters: its summary, the sentences nearest to the query, its files."""
    wanted = _section(memory, section) if section else None
    whole = f"{wanted.name}: {wanted.body}" if wanted is not None else memory.content
    if room is None or len(whole) <= room:
        return _with_files(Told(whole, wanted is not None), memory.files, room)
    more = f"{GAP}[cut: show {memory.id}]"
    left = room - len(more)
    text = shortened(whole if wanted else memory.content, asked, left, "" if wanted else memory.summary)
    return Told(f"{text}{more}" if text else more.strip()[:room], True)


WHY = "Why"
ALSO_WHY = frozenset({"context", "rationale", "reason", "because"})
"""What the reason of a memory is called in decision records."""


def _section(memory: Memory, name: str) -> Section | None:
    """A section by name; the reason of a memory is one too."""
    parts = [*sections(memory.content), *([Section(WHY, memory.rationale)] if memory.rationale else [])]
    return named(parts, name) or (named(parts, WHY) if name.casefold().strip() in ALSO_WHY else None)


def _with_files(told: Told, files: Sequence[str], room: int | None) -> Told:
    """Name the files too, where there is room for all of them and the text does not."""
    unnamed = [file for file in files if file not in told.text]
    line = f" (files: {', '.join(unnamed)})" if unnamed else ""
    fits = room is not None and len(told.text) + len(line) <= room
    return Told(told.text + line, told.cut) if fits else told


def shortened(text: str, asked: str, room: int, summary: str = "") -> str:
    """At most ``room`` characters of ``text``: as it is if it fits, else its nearest sentences in their order."""
    if len(text) <= room:
        return text
    lines = _lines(text, asked)
    begun = summary if summary and not _says(text, summary) and len(summary) <= room else ""
    first = [] if begun or not lines else [_opening(lines)]
    chosen: set[int] = set()
    for place in dict.fromkeys([*first, *_ranked(lines, asked)]):
        if len(_rendered(lines, chosen | {place}, begun)) <= room:
            chosen.add(place)
    return _rendered(lines, chosen, begun) or begun or clipped(text, room)


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence, its section, and whether that is the requested one."""

    text: str
    section: str
    meant: bool


def _lines(text: str, asked: str) -> list[_Line]:
    parts = sections(text)
    best = nearest(parts, asked) if any(part.name for part in parts) else None
    return [line for part in parts for line in _of(part, part is best)][:MOST_SENTENCES]


def _of(part: Section, meant: bool) -> list[_Line]:
    found = (" ".join(sentence.split()) for sentence in _SENTENCE.split(part.body))
    return [_Line(sentence, part.name, meant) for sentence in found if sentence]


def _opening(lines: Sequence[_Line]) -> int:
    """Where the telling begins: with the first sentence of the section that was asked for, else of all."""
    return next((place for place, line in enumerate(lines) if line.meant), 0)


def _ranked(lines: Sequence[_Line], asked: str) -> list[int]:
    wanted = stems(asked)
    score = [2 * len(wanted & stems(line.text)) + line.meant for line in lines]
    return sorted(range(len(lines)), key=lambda place: (-score[place], place))


def _rendered(lines: Sequence[_Line], chosen: set[int], begun: str) -> str:
    """The chosen sentences in their order; each section under its name, a mark where something is left out."""
    told, last, section = begun, -1, ""
    for place in sorted(chosen):
        line = lines[place]
        joint = "" if not told else " " if place == last + 1 and told != begun else GAP
        name = f"{line.section}: " if line.section and line.section != section else ""
        told, last, section = f"{told}{joint}{name}{line.text}", place, line.section
    return told


def _says(text: str, summary: str) -> bool:
    """Whether a summary is only the beginning of the text."""
    bare = " ".join(text.split()).casefold()
    return bare.startswith(" ".join(summary.split()).casefold().rstrip(".\u2026 "))


def clipped(text: str, room: int) -> str:
    """The beginning of a text, cut between words, never within a number with gaps or a code span."""
    if len(text) <= room:
        return text
    at = max(0, room)
    while at > 0 and not (text[at].isspace() and _may_end(text, at)):
        at -= 1
    return text[:at].rstrip()


def _may_end(text: str, at: int) -> bool:
    before, after = text[:at].rstrip(), text[at:].lstrip()
    within_number = before[-1:].isdigit() and after[:1].isdigit()
    return not within_number and before.count("`") % 2 == 0
