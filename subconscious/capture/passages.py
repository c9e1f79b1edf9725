"""Divides markdown into passages: pieces of prose that are clear alone, each a verbatim span of the text.

A passage is a paragraph, some sentences of a long paragraph, or neighbouring list items with the line that introduces
them. Code, tables and quotes are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from subconscious.text.stops import gaps

LONGEST = 400
"""The maximum length of a passage in characters. Only a passage of a single sentence may be longer."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<title>.+?)[ \t#]*\Z|[ \t]*\*\*(?P<bold>[^*\n]{3,100}?):?\*\*:?[ \t]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*•+]|\d{1,2}[.)]|[✅✓✔☑❌]+)[ \t]+(?=\S)")
_NOT_PROSE = re.compile(r"[ \t]*(?:[|>│├└┌+]|[-*_=]{3,}[ \t]*\Z|<[/!a-zA-Z]|\$ |!\[|★|`─|─)")
_SENTENCE_END = re.compile(r"(?<=[.!?:…])[\"')\]*]*\s+(?=[\"'`(*]*[A-Z0-9`*])")
_MARKS = re.compile(
    r"(?P<code>`[^`\n]*`)|(?<!/)\*\*(?!/|\.\w)|__(?=\S)|(?<=\S)__|\[(?P<label>[^\]\n]{1,200})\]\([^)\n]{0,1000}\)|[✅✓✔☑❌⚠️🎉🚀\ufe0f]|^#+ +",
    re.MULTILINE,
)
_LINE_MARK = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_CHECKBOX = re.compile(r"\[[ xX]\] ")
_NUMBER = re.compile(r"\A(?:(?:step|phase|issue|task|fix|file|part|change) )?#?\d+[.):]?[ :—-]*", re.IGNORECASE)
_LONGEST_TEXT = 120_000


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text: its span, its wording, the headings above it, and the line that introduces it.

    ``index`` is the passage's position among the passages of the text, ``count`` the number of these passages.
    """

    start: int
    end: int
    wording: str
    headings: tuple[str, ...] = ()
    lead: str = ""
    listed: bool = False
    index: int = 0
    count: int = 1

    @property
    def heading(self) -> str:
        """Return the nearest heading; "" if there is none."""
        return self.headings[-1] if self.headings else ""


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or an item of a list."""

    start: int
    end: int
    headings: tuple[str, ...]
    bullet: bool
    depth: int
    lead: str = ""


def passages(text: str, longest: int = LONGEST) -> list[Passage]:
    """Return the passages of ``text`` in order. Only a single sentence may have more than ``longest`` characters."""
    text = text[:_LONGEST_TEXT]
    found = [passage for run in _runs(text, list(_blocks(text))) for passage in _pack(text, run, longest)]
    return [replace(passage, index=at, count=len(found)) for at, passage in enumerate(found)]


def points(text: str, longest: int = LONGEST) -> list[Passage]:
    """Return the points of a text: paragraphs, and list items with their nested items. Long points are divided.

    The last sentence of a paragraph is left out if it only introduces what follows.
    """
    text = text[:_LONGEST_TEXT]
    blocks = [_unled(text, block) for block in _blocks(text)]
    found: list[Passage] = []
    for group in _groups(text, [block for block in blocks if block.end > block.start]):
        found += _pack_spans(text, [span for block in group for span in _spans(text, block, longest)], longest)
    return [replace(passage, index=at, count=len(found)) for at, passage in enumerate(found)]


def _fenced(text: str, block: _Block, following: _Block) -> bool:
    """Whether there is fenced code between two blocks, so that the blocks can't be joined into one passage."""
    return "```" in text[block.end : following.start]


def _unled(text: str, block: _Block) -> _Block:
    """Return a block without its last sentence if that sentence introduces the next block."""
    if block.bullet or not text[block.start : block.end].rstrip(" *").endswith(":"):
        return block
    ends = [gap for gap in gaps(_SENTENCE_END, text, block.start, block.end) if gap.end() < block.end]
    return replace(block, end=ends[-1].start() if ends else block.start)


def plain(text: str) -> str:
    """Return markdown as one line of plain text; code keeps its backticks."""
    text = _MARKS.sub(lambda mark: mark["code"] or mark["label"] or "", text)
    lines = [_CHECKBOX.sub("", _LINE_MARK.sub("", line)).strip() for line in text.splitlines()]
    joined = ""
    for line in filter(None, lines):
        gap = "" if not joined else " " if joined[-1] in ".:;,!?" or line[0].islower() else "; "
        joined += gap + line
    return " ".join(joined.split())


def _blank_fences(text: str) -> str:
    """Return the text with fenced code replaced by spaces, so that offsets stay valid."""
    return _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)


def _blocks(text: str) -> Iterator[_Block]:
    headings: tuple[tuple[int, str], ...] = ()
    lead, at, block = "", 0, None
    for line in _blank_fences(text).splitlines(keepends=True):
        start, at = at, at + len(line)
        body = line.strip()
        bullet = _BULLET.match(line)
        if body and block is not None and not bullet and _continues(line, block):
            block = replace(block, end=start + len(line.rstrip()))
            continue
        if block is not None:
            yield block
            lead = _lead(text[block.start : block.end], lead, block)
            block = None
        if not body or _NOT_PROSE.match(line):
            lead = lead if not body else ""
            continue
        if title := _HEADING.match(line.rstrip()):
            headings, lead = _under(headings, line, title), ""
            continue
        depth = len(bullet["indent"].expandtabs(4)) if bullet else 0
        names = tuple(name for _, name in headings)
        first = start + (bullet.end() if bullet else len(line) - len(line.lstrip()))
        block = _Block(first, start + len(line.rstrip()), names, bool(bullet), depth, lead)
    if block is not None:
        yield block


def _continues(line: str, block: _Block) -> bool:
    if _HEADING.match(line.rstrip()) or _NOT_PROSE.match(line):
        return False
    return not block.bullet or line[:1] in " \t"


def _lead(said: str, before: str, block: _Block) -> str:
    """Return the line that introduces the text after a block: the block itself if it ends with a colon."""
    if said.rstrip(" *").endswith(":") and len(said) <= LONGEST // 2:
        return plain(said)
    return before if block.bullet else ""


def _under(headings: tuple[tuple[int, str], ...], line: str, title: re.Match[str]) -> tuple[tuple[int, str], ...]:
    level = len(line.lstrip()) - len(line.lstrip().lstrip("#")) or 7
    name = _NUMBER.sub("", plain(title["title"] or title["bold"])).strip(" :")
    return (*((lv, name_) for lv, name_ in headings if lv < level), *(((level, name),) if name else ()))


def _runs(text: str, blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Yield neighbouring blocks that may form one passage: items of a list, or a single paragraph."""
    run: list[_Block] = []
    for block in blocks:
        if text[block.start : block.end].rstrip(" *").endswith(":") and not block.bullet:
            continue  # such a paragraph introduces the next block
        if run and not (block.bullet and run[-1].bullet and block.headings == run[-1].headings):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _groups(text: str, blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Yield the blocks that belong together: a list item and its nested items."""
    group: list[_Block] = []
    for block in blocks:
        below = group and group[0].bullet and block.bullet and block.depth > group[0].depth
        if group and not (below and not _fenced(text, group[-1], block)):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _pack_spans(text: str, spans: list[tuple[int, int, _Block]], longest: int) -> Iterator[Passage]:
    """Yield passages made of neighbouring spans: as many spans per passage as fit."""
    start, end, owner = spans[0]
    for next_start, next_end, block in spans[1:]:
        if len(plain(text[start:next_end])) <= longest:
            end = next_end
            continue
        yield _passage(text, start, end, owner)
        start, end, owner = next_start, next_end, block
    yield _passage(text, start, end, owner)


def _pack(text: str, run: list[_Block], longest: int) -> Iterator[Passage]:
    """Yield passages made of neighbouring blocks: as many whole items or sentences per passage as fit."""
    spans = [span for block in run for span in _spans(text, block, longest)]
    start, end, owner = spans[0]
    for next_start, next_end, block in spans[1:]:
        if len(plain(text[start:next_end])) <= longest and (
            block.depth > 0 or not block.bullet or _short(text, start, end)
        ):
            end = next_end
            continue
        yield _passage(text, start, end, owner)
        start, end, owner = next_start, next_end, block
    yield _passage(text, start, end, owner)


def _short(text: str, start: int, end: int) -> bool:
    """Whether a list item is too short to be a passage of its own."""
    return len(text[start:end]) < 3 * LONGEST // 4


def _spans(text: str, block: _Block, longest: int) -> Iterator[tuple[int, int, _Block]]:
    """Yield a whole block, or its sentences if it is too long; a sentence is never cut."""
    if len(plain(text[block.start : block.end])) <= longest:
        yield block.start, block.end, block
        return
    start = block.start
    for gap in gaps(_SENTENCE_END, text, block.start, block.end):
        if text[start : gap.start()].strip():
            yield start, gap.start(), block
        start = gap.end()
    yield start, block.end, block


def _passage(text: str, start: int, end: int, owner: _Block) -> Passage:
    return Passage(start, end, plain(text[start:end]), owner.headings, owner.lead, owner.bullet)
