"""Extracts candidates from Markdown notes and decision records; their kind comes from the path or the front matter.

A file can contain anybody's words: a colleague's, a web page's, the model's. So the origin is `tool`, and all
candidates wait for review, unless the person who imports the note vouches for it in a terminal. Then the candidates
count as the person's own words, and are judged like statements that the user typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from subconscious.capture.gate import Thresholds, admit
from subconscious.capture.offline import extract
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Origin, Role, Strength, Turn
from subconscious.text import wording
from subconscious.text.front_matter import split_front_matter

EXTRACTOR = "notes-1"
CONTENT_LENGTH = 400
MAX_STATEMENTS = 30
"""The most statements of one note that are imported."""

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
_NOT_A_RECORD = re.compile(r"(?:readme|index|(?:.*[-_])?template(?:[-_].*)?)\Z", re.IGNORECASE)


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
_CLOSED = re.compile(r"\b(superseded|deprecated|rejected|obsolete|withdrawn|replaced|declined)\b", re.IGNORECASE)
_UNDECIDED = re.compile(r"\b(proposed|draft|pending|open|in progress|in review|wip)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Note:
    """A Markdown file, with its secrets removed.

    ``place`` is its path in the project, ``at`` when it last changed, ``vouched`` whether a person vouches for it.
    """

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
    """A parsed note."""

    note: Note
    front: dict[str, str]
    sections: tuple[_Section, ...]

    @property
    def status(self) -> str:
        statuses = [self.front.get("status", ""), *_STATUS_LINE.findall(self.note.text)]
        statuses += [section.body for section in self.sections if section.heading.lower().startswith("status")]
        return "\n".join(statuses)

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
    """Return the statements of a note, each with the decision whether to store it."""
    record = _parse(replace(note, text=_COMMENT.sub("", note.text.replace("\r\n", "\n"))))
    kind = kind_of(note.place, record.front)
    found = _statements_of_note(record) if not kind else _statements_of_record(record, kind)
    return [_admit(candidate, record, thresholds) for candidate in found]


def kind_of(place: str, front: dict[str, str]) -> str:
    """Return the kind that a note's path names; failing that, the kind in its front matter; failing that, ""."""
    path = PurePath(place.lower())
    if _NOT_A_RECORD.fullmatch(path.stem):
        return ""
    for part in (path.stem, *reversed(path.parts[:-1])):
        if part in _KIND_OF:
            return _KIND_OF[part]
    if _NUMBERED_RECORD.match(path.stem):
        return "decision"
    named = (front.get("kind") or front.get("type") or front.get("category") or "").lower()
    return named if named in KINDS and named != "meta" else _KIND_OF.get(named, "")


def _parse(note: Note) -> _Record:
    front, body = split_front_matter(note.text)
    pairs = {key.lower(): value.strip("\"' ") for key, value in _PAIR.findall(front or "")}
    return _Record(note, pairs, tuple(_sections(body)))


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


def _statements_of_record(record: _Record, kind: str) -> list[Candidate]:
    """Return the candidates of a note of a known kind: only the decision of a decision record, else all statements."""
    decision = next((s for s in record.sections if _DECISION.match(s.heading) and s.body.strip()), None)
    if kind == "decision" and decision is not None:
        return [_decision(record, decision)]
    found = [
        _candidate(record, kind, _join(section.heading, words), words)
        for section in record.sections
        if not section.heading.lower().startswith("status")
        for words in _statements(section.body)
    ]
    return found[:MAX_STATEMENTS]


def _decision(record: _Record, section: _Section) -> Candidate:
    parts = _statements(section.body, together=True) or [record.title]
    text = "; ".join(map(_plain, parts)).replace(":; ", ": ", 1)
    context = next((s.body for s in record.sections if _CONTEXT.match(s.heading)), "")
    why = wording.rationale(text) or _plain(next(_paragraphs(context), ""))
    candidate = _candidate(record, "decision", _join(record.title, text), parts[0])
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
    text = wording.shorten(content, CONTENT_LENGTH)
    return Candidate(
        kind=kind,
        summary=wording.shorten(text, wording.SUMMARY_LENGTH),
        content=text,
        evidence=Evidence(quote, note.id, note.file, *_span(note.text, quote)),
        origin=Origin.TOOL,
        strength=Strength.IMPLIED,
        raw_confidence=Strength.IMPLIED.prior,
        extractor=EXTRACTOR,
        time=record.at,
        reason=f"found in {note.place}",
        rationale=wording.rationale(text),
        tags=wording.tags(text),
        files=wording.files(text),
    )


def _statements_of_note(record: _Record) -> list[Candidate]:
    """Return the candidates of a note of unknown kind, found by the extractor for text that the user typed."""
    note = record.note
    turn = Turn(note.id, "", Role.USER, Origin.USER, note.text, record.at, note.file, 0, 0)
    return [replace(candidate, origin=Origin.TOOL) for candidate in extract([turn])][:MAX_STATEMENTS]


def _admit(candidate: Candidate, record: _Record, thresholds: Thresholds) -> tuple[Candidate, Admission]:
    own = replace(candidate, origin=Origin.USER)
    admission = admit(own, thresholds, heard=record.note.text)
    if over := candidate.kind == "decision" and _CLOSED.search(record.status):
        return candidate, Admission(Decision.DISCARD, admission.confidence, f"the record is {over[1].lower()}")
    if record.note.vouched:
        return own, admission
    if admission.decision is Decision.AUTO:
        admission = Admission(Decision.REVIEW, admission.confidence, "it is from a file: a person must approve it")
    return candidate, admission


def _statements(body: str, *, together: bool = False) -> list[str]:
    """Return a section's list items, or its first paragraph.

    With ``together``, return the first paragraph, and at most five items of the list that it introduces.
    """
    blocks = list(_paragraphs(body))
    first = blocks[:1]
    items = [item for block in blocks for item in _items(block)]
    if together:
        leads = bool(first) and (first[0].rstrip().endswith(":") or bool(_items(first[0])))
        return [*([] if not first or _items(first[0]) else first), *(items[:5] if leads else [])]
    text = items or first
    return [words for words in text if len(_plain(words)) >= 15]


def _paragraphs(body: str) -> Iterator[str]:
    """Yield a section's paragraphs verbatim, without code, tables and comments."""
    fenced = False
    for block in re.split(r"\n[ \t]*\n", body):
        opens = sum(bool(_FENCE.match(line)) for line in block.splitlines())
        words = block.strip()
        if words and not (fenced or opens or words.startswith(("|", "<", "---", ">"))):
            yield words
        fenced ^= bool(opens % 2)


def _items(block: str) -> list[str]:
    """Return the items of a list without their bullets; none for a paragraph."""
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
    title, text = (
        _NUMBER.sub("", _plain(heading), count=1) if _NUMBER.match(heading) else _plain(heading),
        _plain(words),
    )
    if not title or text.lower().startswith(title.lower()):
        return text
    return f"{title.rstrip('.:')}: {text}" if text else title


def _plain(text: str) -> str:
    """Return Markdown as one line of plain text."""
    lines = (_ITEM.sub("", line.strip()) for line in text.splitlines())
    return wording.squeeze(_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", " ".join(lines))))


def _span(text: str, quote: str) -> tuple[int, int]:
    """Return the start and end of a quote in the note, in bytes."""
    at = max(0, text.find(quote))
    start = len(text[:at].encode())
    return start, start + len(quote.encode())
