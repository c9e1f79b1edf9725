"""The sketch of a running session: small, but enough to write its summary and hand-over from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from pydantic import TypeAdapter, ValidationError

from subconscious.domain.model import Origin, Role, Turn
from subconscious.sessions.deeds import Deeds
from subconscious.text import wording

ASK_LENGTH = 400
ANSWER_LENGTH = 1500
BEGINNING, ENDING = 1000, 400
"""Characters that are kept of the beginning and the end of a longer answer."""

REPORT_LENGTH = 200
"""Characters from which an answer counts as a report: shorter ones only say that something is done."""
LEAST_ANSWER = 60
"""Characters from which an answer is searched for sentences."""

LOOKED_THROUGH = 6000
"""Characters of a report that are searched for sentences."""

FIRST_ASKS, LAST_ASKS = 4, 4
"""Requests that are kept: the first and the latest."""

_NEVER = 1 << 62
MOST_COUNTED = 120
MOST_DECIDED = 4
CHANGE = 3
"""Weight of a change of a file; reading it counts 1."""

_CHANGES = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_PROJECT_FOLDERS = frozenset({"agents", "commands", "hooks", "output-styles", "rules", "skills", "worktrees"})
"""Folders of ``.claude`` with files of a project: what it keeps in its repository, and the client's checkouts of it."""

PLAN = "Implement the following plan:"
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+)$", re.MULTILINE)
_LABEL = re.compile(r"(?:plan|task|goal)\s*:\s*", re.IGNORECASE)
_BREAK = re.compile(r"(?<=[.!?]) +|\n+")
_WORD = re.compile(r"[A-Za-z][\w-]{3,30}")


@dataclass(frozen=True, slots=True)
class Report:
    """An answer that ended a turn: its time, its position, the request that it answers, and its text."""

    at: float
    place: int
    asked: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The stored part of an answer: its time, its request, and the sentences that later sessions may be given."""

    at: float
    asked: str
    told: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of its words."""
        return " ".join((self.asked, *self.told))


@dataclass(frozen=True, slots=True)
class Sketch:
    """A session so far.

    ``asks`` are the requests in the user's words, ``answer`` is the latest text of the assistant. ``busy`` means it
    used tools after that, ``answered`` that it said something since the last prompt. ``asked_at`` is the position of
    the first request in the transcript. ``report`` is the latest long answer that ended a turn before the last prompt.
    ``answers`` are the kept parts of examined reports, ``reports`` are reports not examined yet. ``latest`` is the
    report that ends the turn unless the assistant continues.
    """

    asks: tuple[str, ...] = ()
    plan: str = ""
    last: str = ""
    answer: str = ""
    report: str = ""
    reports: tuple[Report, ...] = ()
    latest: Report | None = None
    answers: tuple[Answer, ...] = ()
    answered: bool = True
    busy: bool = False
    stopped: bool = False
    asked_at: int = _NEVER
    branch: str = ""
    decided: tuple[str, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    deeds: Deeds = field(default_factory=Deeds)

    def after(self, turns: Sequence[Turn], decided: Iterable[str] = (), *, stopped: bool = False) -> Sketch:
        """Return the sketch after more turns; ``decided`` are the user's statements in them, as they were captured.

        ``stopped`` says that the user interrupted the assistant and typed nothing since.
        """
        sketch = replace(self, decided=_recent_turns((*self.decided, *decided)), stopped=stopped)
        for turn in turns:
            if not turn.sidechain:
                sketch = sketch._heard(turn)
        return sketch

    def _heard(self, turn: Turn) -> Sketch:
        known = replace(self, branch=turn.branch or self.branch)
        if turn.role is Role.ASSISTANT:
            return known._answered(turn)
        if turn.role is Role.USER and turn.origin is Origin.USER and turn.text:
            return known._asked(turn)
        if turn.role is Role.USER and turn.text.startswith(PLAN):
            return known._planned(turn.text)
        return known

    def _asked(self, turn: Turn) -> Sketch:
        text = turn.text
        words = _count(self.words, set(_WORD.findall(text[:ASK_LENGTH].lower())))
        return replace(
            self,
            asks=_ends((*self.asks, text[:ASK_LENGTH])),
            last=text[:ASK_LENGTH],
            report=self.latest_report,
            reports=self.new_reports,
            latest=None,
            asked_at=min(self.asked_at, turn.start),
            answered=False,
            busy=False,
            words=words,
        )

    def _planned(self, text: str) -> Sketch:
        heading = _HEADING.search(text)
        plan = _LABEL.sub("", heading[1] if heading else text.removeprefix(PLAN).strip())
        known = replace(self, reports=self.new_reports, latest=None, answered=False)
        return replace(known, plan=self.plan or plan[:ASK_LENGTH], last=plan[:ASK_LENGTH])

    def _answered(self, turn: Turn) -> Sketch:
        weight = CHANGE if _CHANGES & set(turn.tools) else 1
        paths = [PurePath(file) for file in turn.files]
        files = _count(self.files, [path.name for path in paths if _is_of_project(path)], weight)
        if not turn.text:
            latest = None if turn.tools else self.latest
            return replace(self, files=files, busy=self.busy or bool(turn.tools), latest=latest)
        kept = turn.text if len(turn.text) <= ANSWER_LENGTH else _ends_of(turn.text)
        latest = None if turn.tools else self._report(turn)
        return replace(self, files=files, answer=kept, answered=True, busy=bool(turn.tools), latest=latest)

    def _report(self, turn: Turn) -> Report | None:
        text = _whole_lines(turn.text, LOOKED_THROUGH)
        return Report(turn.time, turn.start, self.last, text) if len(text) >= LEAST_ANSWER else None

    @property
    def finished(self) -> bool:
        """Whether the assistant ended its last turn with an answer."""
        return self.answered and not self.busy and not self.stopped

    @property
    def latest_report(self) -> str:
        """Return the latest long answer that ended a turn; "" if there is none."""
        return self.answer if self.finished and len(self.answer) >= REPORT_LENGTH else self.report

    @property
    def new_reports(self) -> tuple[Report, ...]:
        """Return the reports that were not examined yet, including the one that ends the present turn."""
        return self.reports if self.latest is None else (*self.reports, self.latest)

    def to_json(self) -> str:
        """Return the sketch as the store keeps it."""
        return _SKETCH.dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Sketch:
        """Parse the result of ``to_json``; anything else gives an empty sketch, so that the story begins here."""
        try:
            return _SKETCH.validate_json(text or "{}")
        except ValidationError:
            return cls()


def _is_of_project(path: PurePath) -> bool:
    """Whether a file may belong to a project; plans and notes of the client do not, a project's skills and rules do."""
    _, found, inside = f"/{path.as_posix()}".partition("/.claude/")
    return not found or inside.partition("/")[0] in _PROJECT_FOLDERS


def _ends_of(text: str) -> str:
    """Return the beginning and the end of a long answer, in whole sentences or lines."""
    ending = text[-ENDING:]
    begins = _BREAK.search(ending)
    return f"{_whole_lines(text, BEGINNING)}\n\u2026\n{ending[begins.end() :] if begins else ending}"


def _whole_lines(text: str, length: int) -> str:
    """Return the beginning of a text up to the end of a sentence or line; cut anywhere if there is none."""
    if len(text) <= length:
        return text
    ends = [found.start() for found in _BREAK.finditer(text, 0, length)]
    return text[: ends[-1] + 1].rstrip() if ends else text[:length]


def _ends(asks: tuple[str, ...]) -> tuple[str, ...]:
    return asks if len(asks) <= FIRST_ASKS + LAST_ASKS else (*asks[:FIRST_ASKS], *asks[-LAST_ASKS:])


def _recent_turns(statements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statements))[-MOST_DECIDED:]


def _count(known: Mapping[str, int], found: Iterable[str], weight: int = 1) -> dict[str, int]:
    """Return the updated counts, without the rarest names if there are too many."""
    counted = Counter(dict(known))
    for name in found:
        if wording.content_words(name):
            counted[name] += weight
    return dict(counted.most_common(MOST_COUNTED)) if len(counted) > 2 * MOST_COUNTED else dict(counted)


_SKETCH = TypeAdapter(Sketch)
