"""Markdown notes and decision records become candidates: the kind from the path, then the front matter.

A note is a file, and a file can hold anybody's words: a colleague's, a page's, the model's. So its origin is `tool`,
and all of it waits for a person, unless the person who imports it vouches for it in a terminal:
then the words count as theirs, and the gate decides as it does on what they type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from subconscious.capture import wording
from subconscious.capture.gate import Thresholds, admit
from subconscious.capture.offline import extract
from subconscious.kinds import KINDS
from subconscious.model import Admission, Candidate, Decision, Evidence, Origin, Role, Strength, Turn

EXTRACTOR = "notes-1"
CONTENT_LENGTH = 400
MOST_STATEMENTS = 30
"""Statements that one note may give: a longer one is a book, not a note."""

_FOLDERS = {
    "decision": "adr adrs architecture-decisions decision-log decision-records decisions",
    "learning": "learnings til",
    "lesson": "lessons lessons-learned",
    "pattern": "patterns",
    "preference": "conventions",
    "research": "research spikes",
    "retrospective": "postmortems retros retrospectives",
}
_KIND_OF = {name: kind for kind, names in _FOLDERS.items() for name in names.split()}
_NUMBERED_RECORD = re.compile(r"(?:adr|decision)[-_ ]?\d+", re.IGNORECASE)
_NO_RECORD = re.compile(r"(?:readme|index|(?:.*[-_])?template(?:[-_].*)?)\Z", re.IGNORECASE)

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\n---[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([\w-]+):[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_\n]{1,300}?)(?<=\S)\1(?!\w)")
_NUMBER = re.compile(
    r"(?:(?:ADR|RFC|Decision)[-\s#]*)?\d{1,5}\s*[.:)\u2013\u2014-]+\s*|(?:ADR|RFC)[-\s]*\d+\s+", re.IGNORECASE
)

_DECISION = re.compile(r"(?:the )?(?:decisions?(?: outcome)?|resolution|outcome|solution)\b", re.IGNORECASE)
_CONTEXT = re.compile(r"(?:context|problem|motivation|why|rationale|justification)\b", re.IGNORECASE)
_STATUS_LINE = re.compile(r"^[-*\s]{0,4}\**status\**[ \t]*:\**[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_DATE_LINE = re.compile(r"^[-*\s]{0,4}\**date\**[ \t]*:\**[ \t]*(\d{4}-\d\d-\d\d)", re.IGNORECASE | re.MULTILINE)
_OVER = re.compile(r"\b(superseded|deprecated|rejected|obsolete|withdrawn|replaced|declined)\b", re.IGNORECASE)
_UNDECIDED = re.compile(r"\b(proposed|draft|pending|open|in progress|in review|wip)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Note:
    """One markdown file, free of secrets already. ``place`` is its path within the project, ``at`` its age."""

    id: str
    place: str
    file: str
    text: str
    at: float
    vouched: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    level: int
    body: str


@dataclass(frozen=True, slots=True)
class _Record:
    """A note taken apart."""

    note: Note
    front: dict[str, str]
    sections: tuple[_Section, ...]

    @property
    def status(self) -> str:
        told = [self.front.get("status", ""), *_STATUS_LINE.findall(self.note.text)]
        told += [section.body for section in self.sections if section.heading.lower().startswith("status")]
        return "\n".join(told)

    @property
    def title(self) -> str:
        first = next((section.heading for section in self.sections if section.heading), "")
        named = self.front.get("title") or first or PurePath(self.note.place).stem.replace("-", " ")
        bare = _NUMBER.sub("", _plain(named), count=1) if _NUMBER.match(_plain(named)) else _plain(named)
        return bare or _plain(named)

    @property
    def at(self) -> float:
        dated = re.match(r"\d{4}-\d\d-\d\d", self.front.get("date", "")) or _DATE_LINE.search(self.note.text)
        try:
            day = datetime.fromisoformat(dated[dated.lastindex or 0]) if dated else None
        except ValueError:
            return self.note.at
        return day.replace(tzinfo=UTC).timestamp() if day and day.year > 1970 else self.note.at


def judge(note: Note, thresholds: Thresholds) -> list[tuple[Candidate, Admission]]:
    """Return what a note states, each statement with the gate's answer."""
    record = _take_apart(replace(note, text=_COMMENT.sub("", note.text.replace("\r\n", "\n"))))
    kind = kind_of(note.place, record.front)
    found = _stated(record) if not kind else _recorded(record, kind)
    return [_admit(candidate, record, thresholds) for candidate in found]


def kind_of(place: str, front: dict[str, str]) -> str:
    """Return the kind that a note's path gives it, or else its front matter; "" where neither says."""
    path = PurePath(place.lower())
    if _NO_RECORD.fullmatch(path.stem):
        return ""
    for part in (path.stem, *reversed(path.parts[:-1])):
        if part in _KIND_OF:
            return _KIND_OF[part]
    if _NUMBERED_RECORD.match(path.stem):
        return "decision"
    named = (front.get("kind") or front.get("type") or front.get("category") or "").lower()
    return named if named in KINDS and named != "meta" else _KIND_OF.get(named, "")


def _take_apart(note: Note) -> _Record:
    front = _FRONT.match(note.text)
    pairs = {key.lower(): value.strip("\"' ") for key, value in _PAIR.findall(front[1])} if front else {}
    return _Record(note, pairs, tuple(_sections(note.text[front.end() if front else 0 :])))


def _sections(text: str) -> Iterator[_Section]:
    heading, level, body, fenced = "", 0, "", False
    for line in text.splitlines(keepends=True):
        fenced ^= bool(_FENCE.match(line))
        mark = None if fenced else _HEADING.match(line.rstrip("\n"))
        if mark is None:
            body += line
            continue
        yield _Section(heading, level, body)
        heading, level, body = mark[2], len(mark[1]), ""
    yield _Section(heading, level, body)


def _recorded(record: _Record, kind: str) -> list[Candidate]:
    """Return what a note of a known kind holds: a record's decision, or else section by section."""
    decision = next((s for s in record.sections if _DECISION.match(s.heading) and s.body.strip()), None)
    if kind == "decision" and decision is not None:
        return [_decision(record, decision)]
    found = [
        _candidate(record, kind, _join(section.heading, words), words)
        for section in record.sections
        if not section.heading.lower().startswith("status")
        for words in _statements(section.body)
    ]
    return found[:MOST_STATEMENTS]


def _decision(record: _Record, section: _Section) -> Candidate:
    parts = _statements(section.body, together=True) or [record.title]
    said = "; ".join(map(_plain, parts)).replace(":; ", ": ", 1)
    context = next((s.body for s in record.sections if _CONTEXT.match(s.heading)), "")
    why = wording.rationale(said) or _plain(next(_paragraphs(context), ""))
    candidate = _candidate(record, "decision", _join(record.title, said), parts[0])
    strength = Strength.IMPLIED if _UNDECIDED.search(record.status) else Strength.EXPLICIT
    return replace(
        candidate,
        strength=strength,
        raw_confidence=strength.prior,
        summary=wording.shorten(record.title, wording.SUMMARY_LENGTH),
        rationale=wording.shorten(why.lstrip(" :"), 300),
    )


def _candidate(record: _Record, kind: str, content: str, quote: str) -> Candidate:
    note = record.note
    said = wording.shorten(content, CONTENT_LENGTH)
    return Candidate(
        kind=kind,
        summary=wording.shorten(said, wording.SUMMARY_LENGTH),
        content=said,
        evidence=Evidence(quote, note.id, note.file, *_span(note.text, quote)),
        origin=Origin.TOOL,
        strength=Strength.IMPLIED,
        raw_confidence=Strength.IMPLIED.prior,
        extractor=EXTRACTOR,
        time=record.at,
        reason=f"stands in {note.place}",
        rationale=wording.rationale(said),
        tags=wording.tags(said),
        files=wording.files(said),
    )


def _stated(record: _Record) -> list[Candidate]:
    """Return the statements in a note of no known kind, as the extractor finds them in what a person types."""
    note = record.note
    turn = Turn(note.id, "", Role.USER, Origin.USER, note.text, record.at, note.file, 0, 0)
    return [replace(candidate, origin=Origin.TOOL) for candidate in extract([turn])][:MOST_STATEMENTS]


def _admit(candidate: Candidate, record: _Record, thresholds: Thresholds) -> tuple[Candidate, Admission]:
    own = replace(candidate, origin=Origin.USER)
    admission = admit(own, thresholds, heard=record.note.text)
    if over := candidate.kind == "decision" and _OVER.search(record.status):
        return candidate, Admission(Decision.DISCARD, admission.confidence, f"the record is {over[1].lower()}")
    if record.note.vouched:
        return own, admission
    if admission.decision is Decision.AUTO:
        admission = Admission(Decision.REVIEW, admission.confidence, "it stands in a file: a person must approve it")
    return candidate, admission


def _statements(body: str, *, together: bool = False) -> list[str]:
    """Return a section's list items, or its first paragraph; ``together`` also what leads to a list."""
    blocks = list(_paragraphs(body))
    first = blocks[:1]
    items = [item for block in blocks for item in _items(block)]
    if together:
        leads = bool(first) and (first[0].rstrip().endswith(":") or bool(_items(first[0])))
        return [*([] if not first or _items(first[0]) else first), *(items[:5] if leads else [])]
    said = items or first
    return [words for words in said if len(_plain(words)) >= 15]


def _paragraphs(body: str) -> Iterator[str]:
    """Give a section's blocks of prose, each a verbatim part of it: no code, tables or comments."""
    fenced = False
    for block in re.split(r"\n[ \t]*\n", body):
        opens = sum(bool(_FENCE.match(line)) for line in block.splitlines())
        words = block.strip()
        if words and not (fenced or opens or words.startswith(("|", "<", "---", ">"))):
            yield words
        fenced ^= bool(opens % 2)


def _items(block: str) -> list[str]:
    """Return the items of a list, without their marks; none for a paragraph."""
    if not _ITEM.match(block):
        return []
    found: list[str] = []
    for line in block.splitlines():
        if mark := _ITEM.match(line):
            found.append(line[mark.end() :])
        elif line[:1].isspace() and not _ITEM.match(line.strip()):
            found[-1] += f"\n{line}"
    return found


def _join(heading: str, words: str) -> str:
    title, said = (
        _NUMBER.sub("", _plain(heading), count=1) if _NUMBER.match(heading) else _plain(heading),
        _plain(words),
    )
    if not title or said.lower().startswith(title.lower()):
        return said
    return f"{title.rstrip('.:')}: {said}" if said else title


def _plain(text: str) -> str:
    """Return markdown as one line of prose."""
    lines = (_ITEM.sub("", line.strip()) for line in text.splitlines())
    return wording.squeeze(_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", " ".join(lines))))


def _span(text: str, quote: str) -> tuple[int, int]:
    """Where a quote stands in the note, in bytes."""
    at = max(0, text.find(quote))
    start = len(text[:at].encode())
    return start, start + len(quote.encode())
