"""Hand-overs to the next session: what was asked, done, decided, left open or failed, and what the assistant reported.

All text is quoted from the session's transcript, unless a model worded it (`story`). What was asked and done is read
from the transcript's records; `reports` chooses the sentences of the report. Rules and facts are not handed over:
they reach later sessions as memories, which are checked first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from subconscious.domain.model import Level
from subconscious.failures import commands
from subconscious.poisoning import check_text
from subconscious.poisoning.claims import is_claim
from subconscious.poisoning.reservations import reserved
from subconscious.sessions.deeds import Deeds
from subconscious.sessions.reports import (
    DEED,
    RISKY,
    Transcript,
    only_tells,
    own_claims,
    report_sentences,
    unfinished_status,
    without_status,
)
from subconscious.sessions.sentences import stands_alone
from subconscious.sessions.sketch import CHANGE, PLAN, Answer, Sketch
from subconscious.sessions.telling import (
    HAD_ASKED,
    ON_ITS_LIST,
    asks_to_choose,
    choices_in,
    left_open_in,
    question_in,
    requests_of,
)
from subconscious.text import wording

REQUEST_LENGTH = 160
MOST_ASKED = 4
"""The maximum number of requests that a hand-over quotes: the first, the last, and the longest between them."""
MOST_STATED = 5
"""The maximum number of the user's latest statements in a hand-over.

Statements that memories in the context repeat are not shown.
"""
PART_LENGTH = 240
REPORT_LENGTH = 900
SHORT_REPORT = 450
"""A report with fewer characters is short: sentences of earlier answers are added to it."""


MOST_FILES, MOST_TOUCHED = 4, 20
"""How many names of changed files a hand-over shows, and how many it stores to find memories about the files."""

SENTENCE_SPACES = 3
"""A file name with at least this many spaces may be a sentence, and is not shown."""

LEFT = "left uncommitted by that session"
"""The words in the part "done" for changes that no commit contains."""

PARTS = ("asked", "done", "decided", "failed", "open", "reported")
"""The parts in the order in which they are shown."""

_PERMITS = re.compile(
    r"\b(?:allow|permit|authori[sz]e|trust)(?:s|ed)? (?:you|claude|the assistant)\b"
    r"|\byou (?:can|may|could|are (?:allowed|free|permitted)|have (?:my )?permission)\b.{0,60}"
    r"\b(?:commit|push|merge|delete|remove|skip|bypass|ignore|force|overwrite|deploy|publish|install|run|without)\b"
    r"|--no-verify\b|--force\b|\bwithout (?:asking|running|the hooks?|tests?|checks?|verif\w+)\b",
    re.IGNORECASE,
)
_MARKS = (".", "!", "?", ";", "\u3002", "\uff01", "\uff1f")
_JOINS = re.compile(r"[\s,_.\u2013\u2014-]+")
"""Characters that join the words of a file name."""

_ENDS = re.compile(r"[.;!?\u3002\uff01\uff1f](?= )")


@dataclass(frozen=True, slots=True)
class Handover:
    """The parts of a hand-over; a part is "" if there is nothing to report.

    ``files`` are the names of the files that the session changed. ``finished`` means that the work was merged,
    ``retold`` that a model worded the parts. ``answers`` are sentences of the session's reports, for later prompts on
    the same subject.
    """

    asked: str = ""
    done: str = ""
    decided: str = ""
    failed: str = ""
    open: str = ""
    reported: str = ""
    files: tuple[str, ...] = ()
    finished: bool = False
    answers: tuple[Answer, ...] = ()
    retold: bool = False

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and text of each part that is not empty."""
        return ((name, text) for name in PARTS if (text := getattr(self, name)))

    def to_json(self) -> str:
        """Return the JSON text that the store keeps; "" for an empty hand-over."""
        said: dict[str, object] = dict(self.parts())
        if not said:
            return ""
        answers = [[one.at, one.asked, *one.told] for one in self.answers]
        marks: dict[str, object] = {"files": list(self.files), "finished": self.finished, "retold": self.retold}
        marks["answers"] = answers
        return json.dumps(said | {name: mark for name, mark in marks.items() if mark}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Handover:
        """Parse the result of ``to_json``; return an empty hand-over for any other text."""
        try:
            said = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(said, Mapping):
            return cls()
        parts = {name: said[name] for name in PARTS if isinstance(said.get(name), str)}
        files = said.get("files")
        names = tuple(name for name in files if isinstance(name, str)) if isinstance(files, list) else ()
        answers = (
            tuple(filter(None, map(_answer_from, found))) if isinstance(found := said.get("answers"), list) else ()
        )
        finished, retold = said.get("finished") is True, said.get("retold") is True
        return cls(**parts, files=names, finished=finished, retold=retold, answers=answers)


def _answer_from(row: object) -> Answer | None:
    """Return the answer that ``to_json`` stored as ``row``; None if the row has another form."""
    match row:
        case [float() | int() as at, str() as asked, *sentences] if all(isinstance(one, str) for one in sentences):
            return Answer(float(at), asked, tuple(map(str, sentences)))
    return None


def handover_of(sketch: Sketch, transcript: Transcript | None = None) -> Handover:
    """Return the hand-over of a session, made from its sketch. Reads the transcript: run it in a thread."""
    if not sketch.asks and not sketch.plan:
        return Handover()
    return Handover(
        asked=harmless(_asked(sketch)),
        done=harmless(_done(sketch)),
        decided=harmless(_quoted(sketch.decided[-MOST_STATED:], PART_LENGTH // 2)),
        failed=harmless(_failed(sketch.deeds)),
        open=harmless(wording.shorten("; ".join(_open_points(sketch, transcript)), PART_LENGTH)),
        reported=_reported(sketch, transcript),
        files=tuple(changed_files(sketch)[:MOST_TOUCHED]),
        finished=sketch.deeds.merged,
        answers=sketch.answers,
    )


def harmless(text: str) -> str:
    """Return a text, or "" if it looks like an attack."""
    return "" if check_text(text).level.rank >= Level.MEDIUM.rank else text


def _open_points(sketch: Sketch, transcript: Transcript | None) -> Iterator[str]:
    """Yield the open points that can be quoted, without the failed command, which is a separate part of a hand-over."""
    known = replace(sketch, deeds=replace(sketch.deeds, failed=""))
    points = (_with_choices(point, sketch.answer, transcript) for point in left_open_in(known))
    return (
        point for point in points if point and not RISKY.search(point) and not reserved(point) and not _claims(point)
    )


def _claims(point: str) -> bool:
    """Whether an open point (the assistant's question, or its open tasks) makes a claim typical of planted text."""
    said = point.removeprefix(HAD_ASKED) if point.startswith(HAD_ASKED) else point.removeprefix(ON_ITS_LIST)
    return is_claim(said.strip('"'))


def _with_choices(point: str, answer: str, transcript: Transcript | None) -> str:
    """Return an open point; if it is a question that asks for a choice, with the choices.

    Return "" if the choices are unknown or fail the checks for the assistant's reports: choices are also the
    assistant's words.
    """
    question = question_in(answer)
    if not point.startswith(HAD_ASKED) or not asks_to_choose(question):
        return point
    choices = choices_in(answer)
    own = own_claims(choices, transcript) if transcript is not None else list(choices)
    if not choices or len(own) < len(choices) or not all(map(only_tells, choices)):
        return ""
    return f'{HAD_ASKED}"{question} ({" / ".join(choices)})"'


def _asked(sketch: Sketch) -> str:
    asks = [ask for ask in requests_of(sketch) if not (sketch.plan and ask.startswith(PLAN.rstrip(":")))]
    asks = [ask for ask in asks if not permits(ask)]
    return _quoted(dict.fromkeys(_most_telling(asks, " ".join(sketch.decided[-MOST_STATED:]))), REQUEST_LENGTH)


def _most_telling(asks: Sequence[str], stated: str) -> list[str]:
    """Return the first and the last request, and the longest between them that are not in ``stated``, in order."""
    between = [at for at in range(1, len(asks) - 1) if asks[at].strip(" .") not in stated]
    between.sort(key=lambda at: -min(len(asks[at]), REQUEST_LENGTH))
    shown = {0, len(asks) - 1, *between[: MOST_ASKED - 2]}
    return [ask for at, ask in enumerate(asks) if at in shown]


def permits(request: str) -> bool:
    """Whether a request gives a permission, which is valid only in its session and must not be handed over."""
    return bool(_PERMITS.search(request))


def _quoted(texts: Iterable[str], length: int) -> str:
    said = (wording.shorten(wording.squeeze(text), length).replace('"', "'") for text in texts)
    return ", ".join(f'"{text}"' for text in said)


def quotes_in(part: str) -> list[str]:
    """Return the texts that a part of a hand-over quotes."""
    return part.strip('"').split('", "') if part else []


def _done(sketch: Sketch) -> str:
    deeds = sketch.deeds
    subjects = [subject for subject in deeds.commits[-2:] if not is_claim(subject)]
    commits = [f'commit "{wording.shorten(subject, 90)}"' for subject in subjects]
    pulls = [f"pull request {', '.join(deeds.pulls)}"] if deeds.pulls else []
    files = list(_changed(sketch))
    return wording.shorten("; ".join([*commits, *pulls, *files]), PART_LENGTH)


def _changed(sketch: Sketch) -> Iterator[str]:
    """Yield the changed files: those that a commit contains, and those that no commit contains."""
    deeds = sketch.deeds
    changed = [name for name in changed_files(sketch) if not _is_sentence(name)]
    left = [name for name in changed if name in deeds.edited or not deeds.edited] if deeds.uncommitted else []
    edited = left[:MOST_FILES]
    committed = [name for name in changed if name not in left][: MOST_FILES - len(edited)]
    if committed:
        yield f"changed {', '.join(committed)}"
    if edited:
        yield f"changed {', '.join(edited)} ({LEFT})"


def _is_sentence(name: str) -> bool:
    """Whether a file name may be a sentence: it has many spaces, or makes a claim once hyphens are read as spaces."""
    return name.count(" ") >= SENTENCE_SPACES or is_claim(_JOINS.sub(" ", name))


def changed_files(sketch: Sketch) -> list[str]:
    """Return the names of the changed files, those with the most changes first."""
    ranked = sorted(sketch.files.items(), key=lambda pair: -pair[1])
    return [name for name, weight in ranked if weight >= CHANGE]


def _failed(deeds: Deeds) -> str:
    command = commands.quotable(deeds.failed)
    return f"`{wording.shorten(command, 100)}`" if command and not RISKY.search(command) else ""


def _reported(sketch: Sketch, transcript: Transcript | None) -> str:
    """Return what the assistant reported: its last report, and if that is short, sentences of earlier answers."""
    closing = sketch.answer if sketch.finished else ""
    texts = dict.fromkeys(filter(None, (sketch.latest_report, closing)))
    written = (*changed_files(sketch), *sketch.deeds.symbols)
    found = list(dict.fromkeys(sentence for text in texts for sentence in report_sentences(text, written)))
    own = own_claims(found, transcript) if transcript is not None and found else found
    last = without_status(own)
    earlier = _earlier_sentences(sketch.answers, last) if len(joined(last)) < SHORT_REPORT else []
    if not earlier:
        return whole_sentences(joined(last or unfinished_status(own)), REPORT_LENGTH)
    room = max(SHORT_REPORT, len(joined(last)))
    return joined(list(_within([*last, *earlier], room)))


def _earlier_sentences(answers: Sequence[Answer], known: Collection[str]) -> list[str]:
    """Return sentences of answers that are clear without context: first those about finished work, the latest first."""
    latest = dict.fromkeys(one for answer in reversed(answers) for one in answer.told if stands_alone(one))
    return sorted((one for one in latest if one not in known), key=lambda one: not DEED.match(one))


def _within(sentences: Iterable[str], room: int) -> Iterator[str]:
    """Yield the sentences that fit into ``room`` characters, in order."""
    for sentence in sentences:
        if len(sentence) + len("; ") <= room:
            yield sentence
            room -= len(sentence) + len("; ")


def joined(sentences: Sequence[str]) -> str:
    """Return the sentences as one text, with a semicolon after those without a final punctuation mark (list items)."""
    marked = (one if one.endswith(_MARKS) else f"{one};" for one in sentences)
    return " ".join(marked).rstrip(";")


def whole_sentences(text: str, length: int) -> str:
    """Return the first sentences of a text that fit into ``length`` characters; if none fits, its first words."""
    return sentences_within(text, length) or wording.shorten(text, length - 1)


def sentences_within(text: str, length: int) -> str:
    """Return the whole sentences at the beginning of a text that fit into ``length`` characters; "" if none fits.

    A list item that ends with a semicolon counts as a sentence.
    """
    if len(text) <= length:
        return text
    ends = [found.start() for found in _ENDS.finditer(text, 0, length + 1) if found.start() < length]
    return text[: ends[-1] + 1].rstrip(";") if ends else ""
