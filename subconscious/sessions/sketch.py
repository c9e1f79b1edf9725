"""The sketch of a running session: a small record from which its summary and hand-over are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from pydantic import TypeAdapter, ValidationError

from subconscious.domain.model import Origin, Role, Turn
from subconscious.sessions.corrected import (
    sentences_of,
    without,
    without_contradicted,
    without_corrected,
    without_undone,
)
from subconscious.sessions.deeds import Deeds
from subconscious.text import wording

ASK_LENGTH = 400
ANSWER_LENGTH = 1500
BEGINNING, ENDING = 1000, 400
"""The number of characters that are kept of the beginning and of the end of a longer answer."""

REPORT_LENGTH = 200
"""The minimum number of characters of an answer that counts as a report: shorter ones only say that work is done."""
LEAST_ANSWER = 60
"""The minimum number of characters of an answer that is searched for sentences to keep."""

LOOKED_THROUGH = 6000
"""The maximum number of characters of a report that are searched for sentences."""

FIRST_ASKS, LAST_ASKS = 4, 4
"""The number of first requests, and of latest requests, that are kept."""

_NEVER = 1 << 62
MOST_COUNTED = 120
MOST_DECIDED = 4
CHANGE = 3
"""The weight of a change of a file; reading the file counts 1."""

_CHANGES = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_PROJECT_FOLDERS = frozenset({"agents", "commands", "hooks", "output-styles", "rules", "skills", "worktrees"})
"""Folders within ``.claude`` that contain a project's files: those in its repository, and the client's worktrees."""

PLAN = "Implement the following plan:"
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+)$", re.MULTILINE)
_LABEL = re.compile(r"(?:plan|task|goal)\s*:\s*", re.IGNORECASE)
_BREAK = re.compile(r"(?<=[.!?]) +|\n+")
_WORD = re.compile(r"[A-Za-z][\w-]{3,30}")


@dataclass(frozen=True, slots=True)
class Report:
    """An answer that ended a turn: its time, its position in the transcript, the request before it, and its text."""

    at: float
    place: int
    asked: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The kept part of an answer: its time, the request before it, and the sentences for later sessions."""

    at: float
    asked: str
    told: tuple[str, ...]

    @property
    def text(self) -> str:
        """The request and the sentences, as one text."""
        return " ".join((self.asked, *self.told))


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of a session so far.

    ``asks`` are the requests in the user's words, ``answer`` is the latest text of the assistant. ``busy`` means that
    the assistant used tools after that text, ``answered`` that it wrote something since the last prompt. ``asked_at``
    is the position of the first request in the transcript. ``report`` is the latest long answer that ended a turn
    before the last prompt. ``answers`` are the sentences kept of earlier reports, ``reports`` the unexamined ones.
    ``latest`` is the report that ends the present turn unless the assistant continues.
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
        """Return the sketch after more turns; ``decided`` are the statements of the user that were captured from them.

        ``stopped`` says that the user interrupted the assistant and has typed nothing since.
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
            return known._corrected_by(turn.text)._asked(turn)
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
        known = self if turn.tools else self._contradicted_by(turn.text)
        kept = turn.text if len(turn.text) <= ANSWER_LENGTH else _ends_of(turn.text)
        latest = None if turn.tools else self._report(turn)
        return replace(known, files=files, answer=kept, answered=True, busy=bool(turn.tools), latest=latest)

    def _corrected_by(self, prompt: str) -> Sketch:
        """Return the sketch without the sentences of reports that a prompt corrects."""
        newest = {*sentences_of(self.answer), *self._newest()}
        reported = self._reported()
        kept = without_corrected(reported, prompt, newest, asked=self.answer.rstrip().endswith("?"))
        return self._without({*reported}.difference(kept))

    def _contradicted_by(self, answer: str) -> Sketch:
        """Return the sketch without the sentences of reports that the ``answer`` contradicts or says were undone."""
        reported, newest = self._reported(), self._newest()
        undone = {*newest}.difference(without_undone(newest, answer))
        return self._without(undone.union({*reported}.difference(without_contradicted(reported, answer))))

    def _newest(self) -> list[str]:
        """Return the sentences of the latest report at the end of an earlier turn."""
        told = list(self.answers[-1].told) if self.answers else []
        newest = sentences_of(self.reports[-1].text) if self.reports else told
        whole = sentences_of(self.report)
        return list(dict.fromkeys([*newest, *(() if {*newest}.isdisjoint(whole) else whole)]))

    def _reported(self) -> list[str]:
        """Return the sentences of all reports."""
        told = [sentence for answer in self.answers for sentence in answer.told]
        texts = (self.report, self.answer, *(report.text for report in self.new_reports))
        return list(dict.fromkeys([*told, *(sentence for text in texts for sentence in sentences_of(text))]))

    def _without(self, wrong: Collection[str]) -> Sketch:
        if not wrong:
            return self
        kept = (replace(one, told=tuple(told for told in one.told if told not in wrong)) for one in self.answers)
        return replace(
            self,
            answer=without(self.answer, wrong),
            report=without(self.report, wrong),
            reports=tuple(replace(one, text=without(one.text, wrong)) for one in self.reports),
            latest=self.latest and replace(self.latest, text=without(self.latest.text, wrong)),
            answers=tuple(answer for answer in kept if answer.told),
        )

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
        """Return the reports that have not been examined yet, including the report that ends the present turn."""
        return self.reports if self.latest is None else (*self.reports, self.latest)

    def to_json(self) -> str:
        """Return the JSON text that the store keeps."""
        return _SKETCH.dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Sketch:
        """Parse the result of ``to_json``; return an empty sketch for any other text."""
        try:
            return _SKETCH.validate_json(text or "{}")
        except ValidationError:
            return cls()


def _is_of_project(path: PurePath) -> bool:
    """Whether a file may belong to a project. Plans and notes of the client do not; a project's skills and rules do."""
    _, found, inside = f"/{path.as_posix()}".partition("/.claude/")
    return not found or inside.partition("/")[0] in _PROJECT_FOLDERS


def _ends_of(text: str) -> str:
    """Return the beginning and the end of a long answer, cut at sentences or lines."""
    ending = text[-ENDING:]
    begins = _BREAK.search(ending)
    return f"{_whole_lines(text, BEGINNING)}\n\u2026\n{ending[begins.end() :] if begins else ending}"


def _whole_lines(text: str, length: int) -> str:
    """Return at most ``length`` characters of a text, cut at a sentence or line, or anywhere if there is none."""
    if len(text) <= length:
        return text
    ends = [found.start() for found in _BREAK.finditer(text, 0, length)]
    return text[: ends[-1] + 1].rstrip() if ends else text[:length]


def _ends(asks: tuple[str, ...]) -> tuple[str, ...]:
    return asks if len(asks) <= FIRST_ASKS + LAST_ASKS else (*asks[:FIRST_ASKS], *asks[-LAST_ASKS:])


def _recent_turns(statements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statements))[-MOST_DECIDED:]


def _count(known: Mapping[str, int], found: Iterable[str], weight: int = 1) -> dict[str, int]:
    """Return the updated counts of names; if there are too many names, the least frequent ones are dropped."""
    counted = Counter(dict(known))
    for name in found:
        if wording.content_words(name):
            counted[name] += weight
    return dict(counted.most_common(MOST_COUNTED)) if len(counted) > 2 * MOST_COUNTED else dict(counted)


_SKETCH = TypeAdapter(Sketch)
