"""Chooses the sentences of a report that can be quoted to another session. A report is an answer that ended a turn.

A report is the assistant's own wording, and may repeat in other words what a file or a page said. So only sentences
about the session's own work are chosen: what the assistant did, how checks ended, and sentences that name files or code
that it wrote. Left out are claims about anything else, rules, instructions, addresses, and commands that fetch,
escalate or skip a check.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subconscious.domain.model import Candidate, Evidence, Level, Origin, Strength
from subconscious.poisoning import check_text
from subconscious.poisoning.claims import is_claim, is_of_session
from subconscious.poisoning.echo import Traced, trace
from subconscious.sessions.sentences import MARKUP, SENTENCE
from subconscious.sessions.telling import EMPTY
from subconscious.text import wording
from subconscious.text.stops import split

REPORT = "report"
"""The turn id of a report's sentences: they are compared with what tools printed, but not with the assistant's text."""

STATUS_LENGTH = 80
"""A sentence about checks with more characters than this also says something else."""

LEAST_CELL = 3
"""The minimum number of words of an informative table cell."""

MOST_SENTENCES = 40
"""The maximum number of sentences of a report that are examined."""

_GIVES_RULES = re.compile(
    r"\b(?:always|never|must(?:n'?t)?|shall|should|ought|(?:need|have|has|needs|required) to|make sure|be sure|remember"
    r"|do not|don'?t|from now on|going forward|in future|future sessions?|next session|please"
    r"|you (?:can|may|could|will)|polic(?:y|ies)|convention|mandatory|trusted|(?:pre-?)?approv\w+|allowed"
    r"|permitted|authori[sz]ed|instructions?)\b"
    r"|必[须須]|务必|始终|总是|禁止|请(?!求)|[应應][该該当]|必ず|ください|べき"
    r"|반드시|항상|해야|하지 마|주세요|십시오|금지|ต้อง|ห้าม|เสมอ|กรุณา|โปรด",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\W*(?:(?:then|after|first|now|also|next|do|and)\b\W*)*(?:add|allow|apply|approve|bypass|call|check|clone|copy|create|delete|disable|download|enable|execute|export"
    r"|fetch|fill|follow|get|give|grant|ignore|import|include|install|invite|keep|load|make|merge|modify|note|open|paste|post|prefer|push"
    r"|read|remove|replace|restart|rerun|run|send|set|skip|source|start|stop|submit|treat|trust|update|upload|use|visit"
    r"|write)\b(?!:)",
    re.IGNORECASE,
)
RISKY = re.compile(
    r"\b(?:curl|wget|sudo|chmod|chown|eval|base64|netcat|nc|ssh|scp|npx|pipx|uvx)\s+\S|\|\s*(?:ba|z)?sh\b|\brm\s+-"
    r"|--(?:no-verify|force|privileged|insecure|index-url|extra-index-url|registry|trusted-host)\b|\bpush\s+-f\b"
    r"|\b(?:credentials?|passwords?|passphrases?|secrets?|api[ _-]?keys?|private keys?|access tokens?)\b"
    r"|\b(?:silenc|delet|remov)\w*\b[^.]{0,30}\b(?:tests?|checks?|hooks?|failures?)\b"
    r"|\b(?:failures?|tests?|checks?)\b[^.]{0,60}\b(?:silenc|suppress|ignor|bypass)\w*"
    r"|\b(?:skip|bypass|disabl|suppress|circumvent|ignor)\w*\b[^.]{0,40}"
    r"\b(?:hooks?|checks?|tests?|lint\w*|reviews?|verif\w+|validat\w+|scan\w*|permission\w*|sandbox\w*|certificat\w+)\b",
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

DEED = re.compile(
    r"(?:[^\w`]*(?:`[^`]{1,80}`|\w[\w./ -]{0,39})(?:\s*\([^)]{0,60}\))?\s*(?::|\u2014|\u2013| -)\s*)?"
    r"(?:(?:i|we)(?:'ve| have)? (?:also |then |now )?|also |now |successfully )?"
    r"(?:(?-i:[A-Za-z][a-z]+ed)|built|cut|did|drew|found|gave|kept|left|made|put|ran|rebuilt|reran|rewrote|sent|set|split|took|wrote)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about finished work, such as "Fixed" or "`x.py`: added".

A name such as ``whenUnlocked`` does not count as a verb.
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
"""Sentences that say that something unnamed is done, or that work is committed: hand-overs list commits anyway."""

_FRAGMENT = re.compile(
    r"\s*\|.*|[^\w`\"'(\[]*(?:[a-z]+(?:[ ,;:]|$)).*|.*[:,\uff1a\uff0c\u3001]$"
    r"|.*\b(?:and|or|with|the|of|to|a|in|for|from)$",
    re.DOTALL,
)
"""Fragments: a row of a table, or a line that belongs to the line before or after it."""

_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*\n]{1,150}\*\*(?:\s*\([^)\n]{0,80}\))?:?\s*)", re.DOTALL)
_IN_CODE = re.compile(r"`[^`]{0,200}`")
_FILE_NAME = re.compile(r"[\w./@+-]{0,200}\w\.[A-Za-z]\w{0,9}\b(?::\d+)?")
_LIST = re.compile(
    r"\W*(?:(?:(?:all|changed|edited|modified|new|touched|updated) ){0,2}files?"
    r"(?: (?:changed|edited|modified|touched|updated))?\s*:)?(?:\W|\b(?:and|[ADMR]|\d+(?: lines?| more)?)\b)*",
    re.IGNORECASE,
)
"""Matches a list of files without its file names. Such lists are skipped: a hand-over lists changed files anyway."""

_HOST = re.compile(
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[\w-]{1,60}(?:\.[\w-]{1,60}){0,6}\.(?:com|org|net|io|dev|example|test|cloud|app|ai|co|eu|us|uk|de|fr"
    r"|internal|local|xyz|info|biz|ru|cn|me)\b(?![\w(/]|\.\w)|\blocalhost\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,20}://\S+|\bwww\.\S+|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,40}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's transcript up to the byte offset ``end``.

    A report must not contain sentences that tools printed in that part.
    """

    path: Path
    end: int


def without_status(sentences: Sequence[str]) -> list[str]:
    """Return the sentences that say more than how checks ended; none if all only say that something is done."""
    if all(_is_short(one, _FINISHED) for one in sentences):
        return []
    return [one for one in sentences if not _is_short(one, _CHECKS)]


def unfinished_status(sentences: Sequence[str]) -> Sequence[str]:
    """Return the sentences; none if all only say that the work is done, because commits are listed anyway."""
    return () if all(_is_short(one, _FINISHED) for one in sentences) else sentences


def is_status(sentence: str) -> bool:
    """Whether a sentence only says that checks passed, or that the work was committed or is done."""
    return _is_short(sentence, _CHECKS) or bool(_FINISHED.match(sentence))


def _is_short(sentence: str, pattern: re.Pattern[str]) -> bool:
    return len(sentence) <= STATUS_LENGTH and bool(pattern.match(sentence))


def own_words(sentences: Sequence[str], transcript: Transcript) -> list[str]:
    """Return the sentences that do not repeat, in nearly the same words, what a tool of the session printed."""
    found = (one.candidate for one in _traced(sentences, transcript))
    return [one.content for one in found if one.origin is Origin.ASSISTANT]


def own_claims(sentences: Sequence[str], transcript: Transcript) -> list[str]:
    """Return the sentences that are the session's own according to the transcript, so that they can be quoted."""
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
    for raw in split(SENTENCE, _CODE_BLOCK.sub("\n", answer))[:MOST_SENTENCES]:
        sentence = _ADDRESS.sub("[link]", wording.squeeze(MARKUP.sub("", _row_in_words(raw))))
        if not _HEADING.fullmatch(raw) and _is_whole(sentence) and is_own_work(sentence, written):
            yield sentence


def _row_in_words(line: str) -> str:
    """Return a table row as a sentence that begins with the first cell, "" if it says little; other lines unchanged."""
    if not (line.lstrip().startswith("|") and line.rstrip().endswith("|")):
        return line
    first, *others = (cell.strip() for cell in line.strip().strip("|").split("|"))
    telling = [cell for cell in others if len(cell.split()) >= LEAST_CELL]
    return f"{first}: {'; '.join(telling)}" if first and telling else ""


def _is_whole(sentence: str) -> bool:
    """Whether a sentence is complete: not a list of names, a fragment, or an announcement of other lines."""
    if EMPTY.fullmatch(sentence) or _ANNOUNCES.fullmatch(sentence) or _FRAGMENT.fullmatch(sentence):
        return False
    listed = _LIST.fullmatch(_FILE_NAME.sub("", _IN_CODE.sub("", sentence)))
    return not listed and sentence.count("`") % 2 == 0 and sentence.count("(") == sentence.count(")")


def is_own_work(sentence: str, written: Collection[str]) -> bool:
    """Whether a sentence reports the session's work or the result of checks, or names a file or code of the session.

    False if it contains anything that a report must not contain (`only_tells`).
    """
    about = (
        DEED.match(sentence)
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
    """Whether a sentence only reports events: it contains no rule, risky command or host.

    Cached, because a hand-over is made after each turn.
    """
    if (
        _GIVES_RULES.search(sentence)
        or _IMPERATIVE.match(sentence)
        or RISKY.search(sentence)
        or _HOST.search(sentence)
        or is_claim(sentence)
    ):
        return False
    return check_text(sentence).level is Level.NONE
