"""Shortens a memory to some of its own whole sentences, chosen by the query. No I/O.

Nothing is reworded, and nothing is cut within a word, a number or a code span. A text that fits is returned unchanged,
so shortening twice has no further effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from subconscious.domain.model import Memory
from subconscious.recall.sections import Section, named, nearest, sections, stems
from subconscious.text.stops import split

Tier = Literal["minimal", "compact", "standard", "full"]
TIERS: tuple[Tier, ...] = get_args(Tier)
CHARACTERS_A_TOKEN = 4
GAP = " \u2026 "
"""The mark in place of omitted sentences."""
MOST_SENTENCES = 400

_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\sa-z])|\n+")


@dataclass(frozen=True, slots=True)
class ShortenedText:
    """The shortened text of a memory. ``cut`` is true if something was left out."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tiers:
    """The maximum number of tokens of a memory in each tier. A tier is a length at which memories are shown."""

    minimal: int = 100
    compact: int = 200
    standard: int = 400

    def characters(self, tier: Tier) -> int | None:
        """Return the maximum number of characters of a memory in a tier; None if there is no limit."""
        tokens: dict[str, int] = {"minimal": self.minimal, "compact": self.compact, "standard": self.standard}
        return tokens[tier] * CHARACTERS_A_TOKEN if tier in tokens else None


def shorten(memory: Memory, asked: str, room: int | None, section: str = "") -> ShortenedText:
    """Return a memory's text in at most ``room`` characters (None: no limit).

    A text that fits is returned whole, with the memory's files if there is a limit and room for them. A longer text is
    replaced by the summary and the sentences most similar to the query ``asked``. ``section`` is the only section to
    return; without such a section, the whole memory is used.
    """
    wanted = _section(memory, section) if section else None
    whole = f"{wanted.name}: {wanted.body}" if wanted is not None else memory.content
    if room is None or len(whole) <= room:
        return _with_files(ShortenedText(whole, wanted is not None), memory.files, room)
    more = f"{GAP}[cut: show {memory.id}]"
    left = room - len(more)
    text = shortened(whole if wanted else memory.content, asked, left, "" if wanted else memory.summary)
    return ShortenedText(f"{text}{more}" if text else more.strip()[:room], True)


WHY = "Why"
ALSO_WHY = frozenset({"context", "rationale", "reason", "because"})
"""Headings under which decision records give the rationale."""


def _section(memory: Memory, name: str) -> Section | None:
    """Return the section called ``name``; the rationale counts as a section."""
    parts = [*sections(memory.content), *([Section(WHY, memory.rationale)] if memory.rationale else [])]
    return named(parts, name) or (named(parts, WHY) if name.casefold().strip() in ALSO_WHY else None)


def _with_files(shown: ShortenedText, files: Sequence[str], room: int | None) -> ShortenedText:
    """Append the files that the text does not name, if there is a limit and room for all of them."""
    unnamed = [file for file in files if file not in shown.text]
    line = f" (files: {', '.join(unnamed)})" if unnamed else ""
    fits = room is not None and len(shown.text) + len(line) <= room
    return ShortenedText(shown.text + line, shown.cut) if fits else shown


def shortened(text: str, asked: str, room: int, summary: str = "") -> str:
    """Return ``text`` in at most ``room`` characters: unchanged, or the sentences nearest to the query."""
    if len(text) <= room:
        return text
    lines = _lines(text, asked)
    lead = summary if summary and not _is_beginning(text, summary) and len(summary) <= room else ""
    first = [] if lead or not lines else [_opening(lines)]
    chosen: set[int] = set()
    for index in dict.fromkeys([*first, *_ranked(lines, asked)]):
        if len(_rendered(lines, chosen | {index}, lead)) <= room:
            chosen.add(index)
    return _rendered(lines, chosen, lead) or lead or clipped(text, room)


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence, the name of its section, and whether that section is the most similar one to the query."""

    text: str
    section: str
    nearest: bool


def _lines(text: str, asked: str) -> list[_Line]:
    parts = sections(text)
    best = nearest(parts, asked) if any(part.name for part in parts) else None
    return [line for part in parts for line in _of(part, part is best)][:MOST_SENTENCES]


def _of(part: Section, is_nearest: bool) -> list[_Line]:
    found = (" ".join(sentence.split()) for sentence in split(_SENTENCE, part.body))
    return [_Line(sentence, part.name, is_nearest) for sentence in found if sentence]


def _opening(lines: Sequence[_Line]) -> int:
    """Return the index of the first sentence of the section that is most similar to the query; 0 if there is none."""
    return next((index for index, line in enumerate(lines) if line.nearest), 0)


def _ranked(lines: Sequence[_Line], asked: str) -> list[int]:
    wanted = stems(asked)
    score = [2 * len(wanted & stems(line.text)) + line.nearest for line in lines]
    return sorted(range(len(lines)), key=lambda index: (-score[index], index))


def _rendered(lines: Sequence[_Line], chosen: set[int], lead: str) -> str:
    """Join the chosen sentences in their order, with the names of their sections and a mark at each gap."""
    text, last, section = lead, -1, ""
    for index in sorted(chosen):
        line = lines[index]
        joint = "" if not text else " " if index == last + 1 and text != lead else GAP
        name = f"{line.section}: " if line.section and line.section != section else ""
        text, last, section = f"{text}{joint}{name}{line.text}", index, line.section
    return text


def _is_beginning(text: str, summary: str) -> bool:
    """Whether a summary only repeats the beginning of the text."""
    bare = " ".join(text.split()).casefold()
    return bare.startswith(" ".join(summary.split()).casefold().rstrip(".\u2026 "))


def clipped(text: str, room: int) -> str:
    """Return the beginning of a text, cut between words, but never within a code span or a number with spaces."""
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
