"""Hand-overs from one session to the next: asked, done, decided, failed, open, and the assistant's report.

All text is quoted from the session's transcript. The user's words and the deeds are read from the structure of the
transcript. The report is the assistant's own wording, and may repeat in other words what a file or a page said. So only
sentences about the session's own work are included: what the assistant did, how checks ended, and sentences that name
files or code that it wrote. Left out are claims about anything else, rules, instructions, addresses, and commands that
fetch, escalate or skip a check. Rules and facts reach later sessions as memories, after the checks for memories.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from subconscious.domain.model import Candidate, Evidence, Level, Origin, Strength
from subconscious.failures import commands
from subconscious.poisoning import check_text
from subconscious.poisoning.claims import is_claim, is_of_session
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.reservations import reserved
from subconscious.sessions.deeds import Deeds
from subconscious.sessions.sentences import stands_alone
from subconscious.sessions.sketch import CHANGE, PLAN, Answer, Sketch
from subconscious.sessions.telling import (
    EMPTY,
    HAD_ASKED,
    MARKUP,
    ON_ITS_LIST,
    SENTENCE,
    asks_to_choose,
    choices_in,
    left_open_in,
    question_in,
    requests_of,
)
from subconscious.text import wording

REQUEST_LENGTH = 160
MOST_ASKED = 4
"""The most requests that a hand-over quotes: the first, the last, and the longest of those between them."""
MOST_STATED = 5
"""The most statements of the user in a hand-over, the latest; those that given memories repeat are not shown."""
PART_LENGTH = 240
REPORT_LENGTH = 900
SHORT_REPORT = 450
"""A report with fewer characters is short: sentences of earlier answers are added to it."""

REPORT = "report"
"""The turn id of reports. They are only compared with what tools printed, not with text that the assistant wrote."""

STATUS_LENGTH = 80
"""The most characters of a sentence about checks that contains nothing else."""

LEAST_CELL = 3
"""The fewest words of a table's cell that is informative."""

MOST_SENTENCES = 40
"""The most sentences of a report that are examined."""
MOST_FILES, MOST_TOUCHED = 4, 20
"""The most names of changed files that a hand-over shows, and that it stores to find memories about these files."""

SENTENCE_SPACES = 3
"""A file name with at least this many spaces may be a sentence, and is not shown."""

PARTS = ("asked", "done", "decided", "failed", "open", "reported")
"""The parts in the order in which they are shown."""

_GIVES_RULES = re.compile(
    r"\b(?:always|never|must(?:n'?t)?|shall|should|ought|(?:need|have|has|needs|required) to|make sure|be sure|remember"
    r"|do not|don'?t|from now on|going forward|in future|future sessions?|next session|please"
    r"|you (?:can|may|could|will)|polic(?:y|ies)|convention|mandatory|trusted|(?:pre-?)?approv\w+|allowed"
    r"|permitted|authori[sz]ed|instructions?)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\W*(?:(?:then|after|first|now|also|next|do|and)\b\W*)*(?:add|allow|apply|approve|bypass|call|check|clone|copy|create|delete|disable|download|enable|execute|export"
    r"|fetch|fill|follow|get|give|grant|ignore|import|include|install|invite|keep|load|make|merge|modify|note|open|paste|post|prefer|push"
    r"|read|remove|replace|restart|rerun|run|send|set|skip|source|start|stop|submit|treat|trust|update|upload|use|visit"
    r"|write)\b(?!:)",
    re.IGNORECASE,
)
_RISKY = re.compile(
    r"\b(?:curl|wget|sudo|chmod|chown|eval|base64|netcat|nc|ssh|scp|npx|pipx|uvx)\s+\S|\|\s*(?:ba|z)?sh\b|\brm\s+-"
    r"|--(?:no-verify|force|privileged|insecure|index-url|extra-index-url|registry|trusted-host)\b|\bpush\s+-f\b"
    r"|\b(?:credentials?|passwords?|passphrases?|secrets?|api[ _-]?keys?|private keys?|access tokens?)\b"
    r"|\b(?:silenc|delet|remov)\w*\b[^.]{0,30}\b(?:tests?|checks?|hooks?|failures?)\b"
    r"|\b(?:failures?|tests?|checks?)\b[^.]{0,60}\b(?:silenc|suppress|ignor|bypass)\w*"
    r"|\b(?:skip|bypass|disabl|suppress|circumvent|ignor)\w*\b[^.]{0,40}"
    r"\b(?:hooks?|checks?|tests?|lint\w*|reviews?|verif\w+|validat\w+|scan\w*|permission\w*|sandbox\w*|certificat\w+)\b",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    r"\b(?:allow|permit|authori[sz]e|trust)(?:s|ed)? (?:you|claude|the assistant)\b"
    r"|\byou (?:can|may|could|are (?:allowed|free|permitted)|have (?:my )?permission)\b.{0,60}"
    r"\b(?:commit|push|merge|delete|remove|skip|bypass|ignore|force|overwrite|deploy|publish|install|run|without)\b"
    r"|--no-verify\b|--force\b|\bwithout (?:asking|running|the hooks?|tests?|checks?|verif\w+)\b",
    re.IGNORECASE,
)
_CODE_BLOCK = re.compile(r"^\s*```.*?(?:^\s*```\s*$|\Z)", re.MULTILINE | re.DOTALL)
_ANNOUNCES = re.compile(
    r"(?:perfect|great|done|excellent)?\W*"
    r"(?:here(?:'s| is| are)\b.{0,80}|(?:final |implementation )?summary\b.{0,60}|(?:code )?changes(?: made)?"
    r"|all (?:changes|tasks|items)\b.{0,30}\b(?:done|completed?)|what (?:was|i)\b.{0,40})[.:!]?",
    re.IGNORECASE,
)
"""Sentences that only announce the sentences after them."""
_DEED = re.compile(
    r"(?:[^\w`]*(?:`[^`]{1,80}`|\w[\w./ -]{0,39})(?:\s*\([^)]{0,60}\))?\s*(?::|\u2014|\u2013| -)\s*)?"
    r"(?:(?:i|we)(?:'ve| have)? (?:also |then |now )?|also |now |successfully )?"
    r"(?:(?-i:[A-Za-z][a-z]+ed)|built|cut|did|drew|found|gave|kept|left|made|put|ran|rebuilt|reran|rewrote|sent|set|split|took|wrote)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about finished work, such as "Fixed" or "`x.py`: added".

A name such as ``whenUnlocked`` counts as no verb.
"""
_WORK = re.compile(
    r"\W*(?:the )?(?:(?:(?:fix|root cause|cause|problem)(?: \d+)?|(?:bug|change) \d+)\b|now (?:when|the|it)\b"
    r"|`[\w.()<>-]{2,60}`(?:\s*\([^)]{0,60}\))?\s*(?:\u2014|\u2013|:| - )|\d+ files? changed\b)"
    r"|.{0,80}\b(?:is|are|were|was) (?:now )?(?:committed|unstaged|staged|pushed)\b"
    r"|(?:the |there are |all )?(?:other|pre-?existing|remaining|unrelated|untracked|uncommitted)\b"
    r".{0,30}\b(?:changes?|files?)\b",
    re.IGNORECASE,
)
"""Sentences that explain a change, list new things, or state the progress and what was left uncommitted."""
_CHECKS = re.compile(
    r"\W*(?:all |the |both |\d[\d,]* |full )*(?:\w+ )?"
    r"(?:tests?|checks?|lint(?:er|ing)?|builds?|type-?check\w*|commit|suite)\b"
    r".{0,40}\b(?:pass\w*|fail\w*|clean|green|succeed\w*|compiles?)\b",
    re.IGNORECASE,
)
"""Sentences that say how checks ended."""
_FINISHED = re.compile(
    r"\W*(?:(?:all|both|everything|it|that|this|the (?:changes?|fix|commit|plan|work))(?:'s| is| are| was| were)?\W*)?"
    r"(?:now |been |already )*(?:(?:merged|done|fixed|completed?|ready|implemented|updated|finished)\b\W*"
    r"(?:(?:now|successfully)\b\W*)?$|(?:committed|pushed)\b|commit succeeded\b)",
    re.IGNORECASE,
)
"""Sentences that say that something is done without naming it, or that it is committed: commits are listed anyway."""
_FRAGMENT = re.compile(
    r"\s*\|.*|[^\w`\"'(\[]*(?:[a-z]+(?:[ ,;:]|$)).*|.*[:,]$|.*\b(?:and|or|with|the|of|to|a|in|for|from)$", re.DOTALL
)
"""Fragments: a row of a table, or a line that belongs to the line before or after it."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*\n]{1,150}\*\*(?:\s*\([^)\n]{0,80}\))?:?\s*)", re.DOTALL)
_IN_CODE = re.compile(r"`[^`]{0,200}`")
_ENDS = re.compile(r"[.;!?](?= )")
_HOST = re.compile(
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[\w-]{1,60}(?:\.[\w-]{1,60}){0,6}\.(?:com|org|net|io|dev|example|test|cloud|app|ai|co|eu|us|uk|de|fr"
    r"|internal|local|xyz|info|biz|ru|cn|me)\b(?![\w(/]|\.\w)|\blocalhost\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,20}://\S+|\bwww\.\S+|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,40}", re.IGNORECASE
)


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
        """Return the hand-over in the result of ``to_json``; an empty hand-over for any other text."""
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
    """Return the answer in one row of ``to_json``; None for anything else."""
    match row:
        case [float() | int() as at, str() as asked, *sentences] if all(isinstance(one, str) for one in sentences):
            return Answer(float(at), asked, tuple(map(str, sentences)))
    return None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of a session. A report must not repeat text that tools printed before the byte offset ``end``."""

    path: Path
    end: int


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
    """Yield the open points, without the failed command: a hand-over has a part of its own for it."""
    known = replace(sketch, deeds=replace(sketch.deeds, failed=""))
    points = (_with_choices(point, sketch.answer, transcript) for point in left_open_in(known))
    return (
        point for point in points if point and not _RISKY.search(point) and not reserved(point) and not _claims(point)
    )


def _claims(point: str) -> bool:
    """Whether a question of the assistant, or the items of its list, make a claim that a planted text needs."""
    said = point.removeprefix(HAD_ASKED) if point.startswith(HAD_ASKED) else point.removeprefix(ON_ITS_LIST)
    return is_claim(said.strip('"'))


def _with_choices(point: str, answer: str, transcript: Transcript | None) -> str:
    """Return an open point with the choices if it is a question about choices; "" if the choices are unknown.

    Choices are the assistant's words, so they must pass the checks of its reports.
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
    """Whether a request gives a permission. It was meant for that moment, and repeating it would extend it."""
    return bool(_PERMITS.search(request))


def _quoted(texts: Iterable[str], length: int) -> str:
    said = (wording.shorten(wording.squeeze(text), length).replace('"', "'") for text in texts)
    return ", ".join(f'"{text}"' for text in said)


def _done(sketch: Sketch) -> str:
    deeds = sketch.deeds
    subjects = [subject for subject in deeds.commits[-2:] if not is_claim(subject)]
    commits = [f'commit "{wording.shorten(subject, 90)}"' for subject in subjects]
    pulls = [f"pull request {', '.join(deeds.pulls)}"] if deeds.pulls else []
    changed = [name for name in changed_files(sketch)[:MOST_FILES] if name.count(" ") < SENTENCE_SPACES]
    left = " (left uncommitted by that session)" if deeds.uncommitted else ""
    files = [f"changed {', '.join(changed)}{left}"] if changed else []
    return wording.shorten("; ".join([*commits, *pulls, *files]), PART_LENGTH)


def changed_files(sketch: Sketch) -> list[str]:
    """Return the names of the changed files, those with the most changes first."""
    ranked = sorted(sketch.files.items(), key=lambda pair: -pair[1])
    return [name for name, weight in ranked if weight >= CHANGE]


def _failed(deeds: Deeds) -> str:
    command = commands.quotable(deeds.failed)
    return f"`{wording.shorten(command, 100)}`" if command and not _RISKY.search(command) else ""


def _reported(sketch: Sketch, transcript: Transcript | None) -> str:
    """Return what the assistant reported: its last report, and if that is short, sentences of earlier answers."""
    closing = sketch.answer if sketch.finished else ""
    texts = dict.fromkeys(filter(None, (sketch.latest_report, closing)))
    written = (*changed_files(sketch), *sketch.deeds.symbols)
    found = list(dict.fromkeys(sentence for text in texts for sentence in report_sentences(text, written)))
    own = own_claims(found, transcript) if transcript is not None and found else found
    last = _without_status(own)
    earlier = _earlier_sentences(sketch.answers, last) if len(joined(last)) < SHORT_REPORT else []
    if not earlier:
        return whole_sentences(joined(last or _unfinished_status(own)), REPORT_LENGTH)
    room = max(SHORT_REPORT, len(joined(last)))
    return joined(list(_within([*last, *earlier], room)))


def _without_status(sentences: Sequence[str]) -> list[str]:
    """Return the sentences that say more than that checks passed; none if all only say that something is done."""
    if all(_is_short(one, _FINISHED) for one in sentences):
        return []
    return [one for one in sentences if not _is_short(one, _CHECKS)]


def _unfinished_status(sentences: Sequence[str]) -> Sequence[str]:
    """Return the sentences; none if all only say that the work is done, because commits are listed anyway."""
    return () if all(_is_short(one, _FINISHED) for one in sentences) else sentences


def _earlier_sentences(answers: Sequence[Answer], known: Collection[str]) -> list[str]:
    """Return sentences of answers that are clear without context: first those about finished work, the latest first."""
    latest = dict.fromkeys(one for answer in reversed(answers) for one in answer.told if stands_alone(one))
    return sorted((one for one in latest if one not in known), key=lambda one: not _DEED.match(one))


def _within(sentences: Iterable[str], room: int) -> Iterator[str]:
    """Yield the sentences that fit into ``room`` characters, in order."""
    for sentence in sentences:
        if len(sentence) + len("; ") <= room:
            yield sentence
            room -= len(sentence) + len("; ")


def is_status(sentence: str) -> bool:
    """Whether a sentence only says that checks passed, or that the work was committed or is done."""
    return _is_short(sentence, _CHECKS) or bool(_FINISHED.match(sentence))


def _is_short(sentence: str, pattern: re.Pattern[str]) -> bool:
    return len(sentence) <= STATUS_LENGTH and bool(pattern.match(sentence))


def joined(sentences: Sequence[str]) -> str:
    """Return the sentences as one text, with a semicolon after those that end without a mark, such as list items."""
    marked = (one if one.endswith((".", "!", "?", ";")) else f"{one};" for one in sentences)
    return " ".join(marked).rstrip(";")


def whole_sentences(text: str, length: int) -> str:
    """Return the whole sentences or items at the beginning of a text that fit; if none fits, the words that fit."""
    return sentences_within(text, length) or wording.shorten(text, length - 1)


def sentences_within(text: str, length: int) -> str:
    """Return the whole sentences or items at the beginning of a text that fit; "" if the first one does not."""
    if len(text) <= length:
        return text
    ends = [found.start() for found in _ENDS.finditer(text, 0, length + 1) if found.start() < length]
    return text[: ends[-1] + 1].rstrip(";") if ends else ""


def own_words(sentences: Sequence[str], transcript: Transcript) -> list[str]:
    """Return the sentences that do not repeat what a tool of the session printed, in nearly the same words."""
    found = (one.candidate for one in _traced(sentences, transcript))
    return [one.content for one in found if one.origin is Origin.ASSISTANT]


def own_claims(sentences: Sequence[str], transcript: Transcript) -> list[str]:
    """Return the sentences that can be quoted, as far as the transcript shows where they come from."""
    return [one.candidate.content for one in _traced(sentences, transcript) if is_of_session(one)]


def _traced(sentences: Sequence[str], transcript: Transcript) -> list[Traced]:
    path, end = str(transcript.path), transcript.end
    said = [
        Candidate(
            kind="progress",
            summary=sentence,
            content=sentence,
            evidence=Evidence(sentence, REPORT, path, end, end),
            origin=Origin.ASSISTANT,
            strength=Strength.INFERRED,
            raw_confidence=0.0,
            extractor="report",
            time=0.0,
        )
        for sentence in sentences
    ]
    return trace(said, {REPORT})


def report_sentences(answer: str, written: Collection[str] = ()) -> Iterator[str]:
    """Yield the sentences of an answer that are about the session's work; none if the answer looks like an attack.

    ``written`` are the names of the files that the session changed, and of the code that it wrote in them.
    """
    if _is_poisoned(answer):
        return
    for raw in SENTENCE.split(_CODE_BLOCK.sub("\n", answer))[:MOST_SENTENCES]:
        sentence = _ADDRESS.sub("[link]", wording.squeeze(MARKUP.sub("", _row_in_words(raw))))
        if not _HEADING.fullmatch(raw) and _is_whole(sentence) and is_own_work(sentence, written):
            yield sentence


def _row_in_words(line: str) -> str:
    """Return a row of a table as a sentence that begins with its first cell, "" if it says little; else the line."""
    if not (line.lstrip().startswith("|") and line.rstrip().endswith("|")):
        return line
    first, *others = (cell.strip() for cell in line.strip().strip("|").split("|"))
    telling = [cell for cell in others if len(cell.split()) >= LEAST_CELL]
    return f"{first}: {'; '.join(telling)}" if first and telling else ""


def _is_whole(sentence: str) -> bool:
    """Whether a sentence is complete: it has words, and is no fragment or announcement of other lines."""
    if EMPTY.fullmatch(sentence) or _ANNOUNCES.fullmatch(sentence) or _FRAGMENT.fullmatch(sentence):
        return False
    in_words = any(letter.isalpha() for letter in _IN_CODE.sub("", sentence))
    return in_words and sentence.count("`") % 2 == 0 and sentence.count("(") == sentence.count(")")


def is_own_work(sentence: str, written: Collection[str]) -> bool:
    """Whether a sentence reports the session's work or the result of checks, or names a file or code that it wrote."""
    about = (
        _DEED.match(sentence)
        or _WORK.match(sentence)
        or _CHECKS.match(sentence)
        or any(name in sentence for name in written)
    )
    return bool(about) and only_tells(sentence)


@lru_cache(maxsize=100)
def _is_poisoned(answer: str) -> bool:
    return check_text(answer).level.rank >= Level.MEDIUM.rank


@lru_cache(maxsize=2000)
def only_tells(sentence: str) -> bool:
    """Whether a sentence only reports events: no rule, risky command or host. Cached: each turn makes a hand-over."""
    if (
        _GIVES_RULES.search(sentence)
        or _IMPERATIVE.match(sentence)
        or _RISKY.search(sentence)
        or _HOST.search(sentence)
        or is_claim(sentence)
    ):
        return False
    return check_text(sentence).level is Level.NONE
