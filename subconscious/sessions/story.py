"""Hand-overs that a language model worded (stories): the model's input, and the parts of its reply that are used.

The next session reads the text, and the model may have trusted a file or a page. So the user's decisions must be in the
user's words, and the other parts must be about the session's own work, as in a report (`sessions.reports`). A reply
that looks like an attack, contains a secret or repeats the output of a tool is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.domain.model import Level
from subconscious.poisoning import check_text
from subconscious.poisoning.reservations import reserved
from subconscious.redaction import redact
from subconscious.sessions.handover import LEFT, Handover
from subconscious.sessions.reports import STATUS_LENGTH, Transcript, is_own_work, is_status, only_tells, own_words
from subconscious.sessions.sentences import SENTENCE
from subconscious.sessions.sketch import CHANGE, Sketch
from subconscious.sessions.telling import left_open_in
from subconscious.text import wording
from subconscious.text.codewords import code_parts
from subconscious.text.stops import split
from subconscious.text.terms import STOP_WORDS, stem

MOST_FILES = 12
LONGEST_TAG = 40
MOST_TASKS = 5
MOST_TAGS = 5

SESSION_WORDS = 0.6
"""The minimum share of a sentence's words that the session's record must contain.

Not required of a sentence that reports the session's own work (`_is_deed`).
"""

LEAST_WORDS = 2
"""A sentence with fewer words, stop words excluded, is not compared with the output of tools."""

WORK_PARTS = ("done", "open", "failed")
LENGTHS = {"title": 80, "done": 450, "decided": 240, "open": 240, "failed": 240}

_CLAIM = re.compile(
    r"\b(?:assum|check|conclud|confirm|determin|discover|document|establish|explain|inform|learn|mention|not|notic|observ"
    r"|realis|realiz|report|reveal|show|stat|suggest|verif)(?:e|ed|ied|s|es|ing|ying)\b|\b(?:found|knew|known|learnt|said|saw"
    r"|says|seen|shown|told|understood)\b|\b(?:because|since|that|which)\b",
    re.IGNORECASE,
)
"""Words that turn a sentence about work into a claim, such as "found" or "confirmed"."""

_OF_TELLING = frozenset(
    """user users asked asks ask wanted wants want requested chose decided ruled preferred rejected instead rather
    session assistant also first then later after before without not never no only still new""".split()
)
"""Words such as "asked" or "wanted" that attribute a wish to somebody and claim nothing."""


def read_text(value: Any) -> Any:
    """Return a string without surrounding spaces; "" for anything that is not a string."""
    return value.strip() if isinstance(value, str) else ""


def read_texts(value: Any) -> Any:
    """Return the strings of a list that are not blank; [] for anything that is not a list."""
    return [one for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else []


class Story(BaseModel):
    """A model's wording of a session, before `examined` has checked it."""

    title: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 80})] = ""
    tags: Annotated[list[str], BeforeValidator(read_texts), Field(json_schema_extra={"maxItems": MOST_TAGS})] = []
    done: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 450})] = ""
    decided: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 240})] = ""
    open: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 240})] = ""
    failed: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 240})] = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking a model's wording: the hand-over, title and tags to store.

    ``refused`` is the reason why none of the wording is used, or "". If ``title`` or ``tags`` is empty, the session
    keeps its present title or tags.
    """

    handover: Handover
    title: str = ""
    tags: tuple[str, ...] = ()
    refused: str = ""


def record_of(sketch: Sketch) -> dict[str, Any]:
    """Return the record of a session that is sent to a model; {} if the user asked for nothing."""
    if not sketch.asks and not sketch.plan:
        return {}
    deeds = sketch.deeds
    ranked = sorted(sketch.files.items(), key=lambda pair: -pair[1])
    record: dict[str, Any] = {
        "asked": list(sketch.asks),
        "plan": sketch.plan,
        "stated": list(sketch.decided),
        "commits": [*deeds.commits, *deeds.pulls],
        "changed": [name for name, weight in ranked if weight >= CHANGE][:MOST_FILES],
        "open": list(left_open_in(sketch)),
        "tasks": [f"{status}: {task}" for task, status in deeds.tasks.values()][:MOST_TASKS],
        "failed": deeds.failed,
        "report": list(dict.fromkeys(filter(None, (sketch.report, sketch.answer)))),
    }
    return {name: value for name, value in record.items() if value}


def examined(story: Story, offline: Handover, sketch: Sketch, transcript: Transcript, typed: Iterable[str]) -> Checked:
    """Check a model's wording of a session. Reads the transcript: run it in a thread.

    A part that fails is replaced by that part of ``offline``, which was made without a model. ``typed`` are further
    statements of the user.
    """
    parts = {name: wording.squeeze(getattr(story, name)) for name in LENGTHS}
    if refused := _refusal(parts | {"tags": ", ".join(story.tags)}, transcript, sketch.deeds.commits):
        return Checked(offline, refused=refused)
    words = _Words.of(sketch, typed, offline.reported)
    kept = {"decided": _kept(parts["decided"], words.of_user)}
    kept |= {name: _kept(parts[name], words.of_work) for name in WORK_PARTS}
    if not any(kept.values()):
        return Checked(offline, refused="it states nothing of what was done, decided or left open")
    title = wording.shorten(parts["title"].rstrip("."), LENGTHS["title"])
    named = [tag for raw in story.tags if len(tag := wording.squeeze(raw)) <= LONGEST_TAG and words.of_title(tag)]
    tags = tuple(dict.fromkeys(named))[:MOST_TAGS]
    return Checked(_retold(offline, kept), title if title and words.of_title(title) else "", tags)


def _retold(offline: Handover, kept: Mapping[str, str]) -> Handover:
    """Return the hand-over with the parts that passed; requests and report stay as they are.

    If changes were left uncommitted, this is added, because a model rarely says so.
    """
    parts = {name: wording.shorten(text, LENGTHS[name]) for name, text in kept.items() if text}
    if "done" in parts and LEFT in offline.done:
        parts["done"] = f"{parts['done'].rstrip('.')} ({LEFT})."
    return replace(
        offline,
        done=parts.get("done", offline.done),
        decided=parts.get("decided", offline.decided),
        open=parts.get("open", offline.open),
        failed=parts.get("failed", offline.failed),
        retold=True,
    )


def _refusal(parts: dict[str, str], transcript: Transcript, commits: Iterable[str]) -> str:
    """Return the reason why nothing of a model's wording is used, or "".

    ``commits`` are commit subjects that the session wrote. Git prints them, so they do not count as output of a tool.
    """
    whole = "\n".join(parts.values())
    if any(check_text(text).level.rank >= Level.MEDIUM.rank for text in (whole, *parts.values())):
        return "it looks like an attack"
    if redact(whole).text != whole:
        return "it contains a secret"
    if not transcript.path.is_file():
        return "its transcript is gone"
    sentences = [sentence for name in WORK_PARTS for sentence in _sentences(_without(parts[name], commits))]
    # Without the commit's subject, only a verb of a sentence may be left, which Git also prints.
    reported = [sentence for sentence in sentences if len(wording.content_words(sentence)) >= LEAST_WORDS]
    return "" if len(own_words(reported, transcript)) == len(reported) else "it repeats what a tool said"


def _without(text: str, phrases: Iterable[str]) -> str:
    for phrase in phrases:
        text = text.replace(phrase, "")
    return text


def _sentences(text: str) -> Iterator[str]:
    return (sentence for raw in split(SENTENCE, text) if (sentence := raw.strip()))


def _kept(text: str, stands: Callable[[str], bool]) -> str:
    """Return those sentences of ``text`` for which ``stands`` returns true, joined by spaces."""
    return " ".join(sentence for sentence in _sentences(text) if stands(sentence))


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of the user, and of the session's record as a whole."""

    users: frozenset[str]
    session: frozenset[str]
    written: tuple[str, ...]

    @classmethod
    def of(cls, sketch: Sketch, typed: Iterable[str], reported: str) -> _Words:
        """Collect the words; ``reported`` are the accepted sentences of the assistant's report."""
        deeds = sketch.deeds
        users = _words(" ".join((*sketch.asks, sketch.last, sketch.plan, *sketch.decided, *typed, deeds.named)))
        written = (*(name for name, weight in sketch.files.items() if weight >= CHANGE), *deeds.symbols)
        tasks = [task for task, _ in deeds.tasks.values()]
        named = (*sketch.files, *deeds.symbols, *deeds.commits, *deeds.pulls, *tasks, deeds.failed)
        done = _words(" ".join((*named, reported)))
        return cls(users, users | done, written)

    def of_user(self, sentence: str) -> bool:
        """Whether all words of a sentence are the user's."""
        return _words(sentence) <= self.users | _TELLING

    def of_work(self, sentence: str) -> bool:
        """Whether a sentence is only about the session's work."""
        said = _words(sentence) - _TELLING
        known = len(said & self.session) >= SESSION_WORDS * len(said) > 0
        return only_tells(sentence) and (known or self._is_deed(sentence))

    def _is_deed(self, sentence: str) -> bool:
        """Whether a sentence reports work on a file or code that the session wrote, or how its checks ended.

        A verb of action is not enough: what the session found or checked is a claim, which may come from a planted
        text.
        """
        if is_status(sentence) and len(sentence) <= STATUS_LENGTH:
            return not _CLAIM.search(sentence)
        named = any(name in sentence for name in self.written)
        return named and is_own_work(sentence, self.written) and not (_CLAIM.search(sentence) or reserved(sentence))

    def of_title(self, title: str) -> bool:
        """Whether a title or a tag uses only words of the session's record."""
        return bool(_words(title)) and _words(title) <= self.session | _TELLING


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"\w+", f"{text} {code_parts(text)}".casefold())
    return frozenset(stem(word) for word in found if word not in STOP_WORDS and (len(word) > 1 or word.isdigit()))


_TELLING = frozenset(stem(word) for word in _OF_TELLING)
