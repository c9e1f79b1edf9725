"""Splits a message that the user typed into sentences, without pasted parts: code, quotes, logs, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from subconscious.text.stops import ends_sentence

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d{1,2}\)|\d{1,2}(?P<stop>\.))\s+")
_PASTED_LINE = re.compile(
    r"\s*(?:[>|+\u276f⏺⎿│├└{}\[\]<#]|\$\s|-{3}|\d{1,4}\s?[-+:|→]|\d{4}-\d\d-\d\d|\d\d:\d\d|at\s\S+\(|File \"|"
    r"-->\s|error(?:\[\w+\])?:|warning\[[\w-]+\]:|fatal:|Traceback|"
    r"\w*(?:Error|Exception|Warning)\b:|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FAIL|PASS)\b|\S+:\d+(?::|\s))"
)
_LABEL = re.compile(r"\s*(?:= ?)?(?:error|warning|note|help|hint)(?:\[[\w-]+\])?:\s", re.IGNORECASE)
"""The label of a compiler's message; statements may begin so, too, so the lines beside it decide."""

_SENTENCE_END = re.compile(r"[.!?…][.!?\"')\]]{0,20}\s+|[\u3002\uff01\uff1f]{1,20}[\u300d\u300f\uff09)]{0,3}\s*")
"""A pattern of the end of a sentence; ``ends_sentence`` excludes abbreviations and ordinals.

The second alternative is for Chinese and Japanese, which use no space there.
"""

_HEADING = re.compile(r"^#{1,4} \w", re.MULTILINE)
SHORTEST_DOCUMENT, FEWEST_HEADINGS = 2500, 3
"""A message longer than the first, with at least as many headings as the second, contains a pasted document."""

_MOST_AROUND, _FEW_WORDS = 3, 5
"""A line of at most ``_FEW_WORDS`` words counts as pasted if ``_MOST_AROUND`` of the four lines around it do."""

_LONGEST_LINE = 4000
LONGEST = 1000
"""The maximum length of a sentence in characters; longer sentences count as pasted data.

The longest sentence in about 13,000 recorded messages has 678.
"""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of ``text`` in order, each a verbatim part of it."""
    for prose in _FENCE.split(_without_document(text)):
        for paragraph in _paragraphs(prose):
            yield from _split(paragraph)


def _without_document(text: str) -> str:
    """Return a message, cut off at its first heading if it contains a pasted document."""
    headings = [match.start() for match in _HEADING.finditer(text)] if len(text) > SHORTEST_DOCUMENT else []
    return text[: headings[0]] if len(headings) >= FEWEST_HEADINGS else text


def _paragraphs(prose: str) -> Iterator[str]:
    """Yield the paragraphs of a text; lines that were broken by hand are joined."""
    paragraph = ""
    for line, pasted in _lines(prose):
        if _continues(paragraph, line) and not pasted:
            paragraph += line
            continue
        yield paragraph
        paragraph = "" if pasted else line
    yield paragraph


def _lines(prose: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it looks pasted, or is short and most lines around it look pasted."""
    lines = prose.splitlines(keepends=True)
    looks = _looks(lines)
    filled = [at for at, line in enumerate(lines) if line.strip()]
    among = set()
    for place, at in enumerate(filled):
        if len(lines[at].split()) > _FEW_WORDS:  # somebody may have typed it between two pasted parts
            continue
        around = (*filled[max(0, place - 2) : place], *filled[place + 1 : place + 3])
        if sum(looks[near] for near in around) >= _MOST_AROUND:
            among.add(at)
    yield from ((line, looks[at] or at in among) for at, line in enumerate(lines))


def _looks(lines: list[str]) -> list[bool]:
    """Return whether each line looks pasted. A compiler's message does if a line beside it looks pasted."""
    looks = [_is_pasted(line) for line in lines]
    for order in (range(len(lines)), reversed(range(len(lines)))):
        before = False
        for at in order:
            looks[at] = before = looks[at] or (before and bool(_LABEL.match(lines[at])))
    return looks


def _continues(paragraph: str, line: str) -> bool:
    before = paragraph.rstrip()
    return len(before) >= 50 and before[-1] not in ".!?:" and line[:1].islower()


def _is_pasted(line: str) -> bool:
    """Whether a line looks like output, code, a heading or a table rather than typed prose."""
    if len(line) > _LONGEST_LINE or _PASTED_LINE.match(line):
        return True
    signs = sum(character in "{}[]()<>=;|\\_/$#*" for character in line)
    return signs > max(6, len(line) // 8)


def _split(paragraph: str) -> Iterator[str]:
    mark = _LIST_MARK.match(paragraph)
    if mark and mark["stop"] and not ends_sentence(paragraph, mark.start("stop")):  # "3. Januar"
        mark = None
    start = mark.end() if mark else 0
    stops = (found for found in _SENTENCE_END.finditer(paragraph, start) if ends_sentence(paragraph, found.start()))
    ends = [start, *(found.end() for found in stops), len(paragraph)]
    for start, end in pairwise(ends):
        sentence = paragraph[start:end].strip()
        if 0 < len(sentence) <= LONGEST:
            yield sentence
