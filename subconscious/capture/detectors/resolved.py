"""Pairs problems with their fixes: a sentence that names a fault, and the sentence that reports its fix.

The two sentences are often far apart, with an hour of work between them. Later readers need both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from subconscious.capture.detectors.findings import changed_files, named, refuted, signs, spoken
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import is_broken, is_passing, is_trifle, leans, units
from subconscious.capture.narration import is_narration
from subconscious.capture.passages import LONGEST, Passage, plain, points
from subconscious.domain.model import Turn
from subconscious.text.wording import content_words, is_name, tags

_FAULT = re.compile(
    r"\b(?:root cause|(?:the|a) (?:real |actual |main )?(?:problem|issue|bug|error|cause|reason|culprit|catch) (?:is|was|were)\b|because|"
    r"caused by|due to|fails? (?:when|because|since|with|to|on)|crash\w*|throws?|breaks?|doesn't|does not|didn't|never|silently|stale|"
    r"missing|wrong(?:ly)?|conflicts? with|overwrit\w+|leaks?|instead of)\b",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\A\W*(?:\w+ ){0,6}?(?:fix(?:ed|es)?|solution|added|adds?|replac\w+|chang\w+|mov\w+|remov\w+|renam\w+|us(?:e|es|ed|ing)|updat\w+|"
    r"extract\w+|now|switch\w*|wrapp\w+|pass(?:es|ed|ing)?|skip\w*|check\w*|handl\w+|return\w*|set\w*)\b",
    re.IGNORECASE,
)
_IS_SO = frozenset(
    "adds replaces changes moves removes renames uses updates extracts wraps checks skips passes handles returns sets".split()
)
_OF_CHANGES = re.compile(r"\b(?:fix|change|commit|patch|solution)\b", re.IGNORECASE)
"""Subjects of sentences about a change. With another subject, a verb describes behaviour ("this returns early")."""

_IN_VAIN = re.compile(
    r"\bd(?:id|oes|o)(?: not|n't) (?:help|work|fix|change|solve|matter|suffice)|\bno effect\b|\bin vain\b|\bto no avail\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:nothing|none|d(?:id|oes|o)(?: not|n't)|w(?:as|ere)(?: not|n't)|breaks|broke|fails|failed|crashes|crashed)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\([^)]*\)|`[^`]*`|\b(?:so|because|since|instead of|rather than|when|if|where|(?<!, )which|that|even|like|for)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""Parts of a sentence that do not say whether a change worked: names, asides, reasons and conditions."""

_GUESS = re.compile(
    r"\b(?:might|may|could|would|probably|perhaps|maybe|possibly|likely|if you|should)\b", re.IGNORECASE
)
_SHORTEST_NAME = 3
_LONGEST_PART = 260
_FEWEST_WORDS = 5
_FEWEST_NAMES = 2
"""How many names a fault and its fix must share; one is enough if the fix is near, within ``_NEAR`` sentences."""

_NEAR = 3
_AHEAD = 400
"""The number of sentences after a fault that are searched for its fix."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence, its position and the names in it; ``words`` is the sentence without "I found that" and the like."""

    turn: Turn
    start: int
    end: int
    words: str
    passage: Passage
    names: frozenset[str]

    @property
    def quote(self) -> str:
        return self.turn.text[self.start : self.end].strip()


def resolved(exchange: Exchange) -> Iterator[Draft]:
    """Yield the faults that an exchange names, each with the fix that shares the most names with it."""
    said = spoken(exchange)
    told = [one for turn in said for one in _sentences(turn)]
    for at, fault in enumerate(told):
        if not _FAULT.search(fault.words) or _GUESS.search(fault.words) or _FIX.match(fault.words):
            continue
        fix = _fix(fault, told[at + 1 : at + 1 + _AHEAD])
        draft = _draft(exchange, fault, fix) if fix else None
        if draft is not None and not refuted(fault.turn, fault.quote, said):
            yield draft


def _sentences(turn: Turn) -> Iterator[_Said]:
    for passage in points(turn.text):
        for start, end in units(turn.text, passage.start, passage.end):
            words = plain(impersonal(turn.text[start:end]))
            doubtful = (is_passing(words) or is_trifle(words)) and not tags(words)
            idle = is_narration(words) or is_broken(words) or doubtful
            if not idle and len(words) <= _LONGEST_PART and len(content_words(words)) >= _FEWEST_WORDS:
                names = {word for word in content_words(words) if is_name(word) and len(word) > _SHORTEST_NAME}
                yield _Said(turn, start, end, words, passage, frozenset(names).union(tags(words)))


def _fix(fault: _Said, later: Sequence[_Said]) -> _Said | None:
    """Return the sentence that reports the fix of a fault: the change that shares the most names with the fault."""
    near = {id(one) for one in later[:_NEAR] if one.turn.id == fault.turn.id}
    shared = [
        (len(one.names & fault.names) + (id(one) in near), one)
        for one in later
        if one.names & fault.names and _mends(one.words)
    ]
    most, fix = max(shared, key=lambda pair: pair[0], default=(0, None))
    return fix if most >= _FEWEST_NAMES else None


def _mends(words: str) -> bool:
    """Whether a sentence reports a successful change, and does not describe a behaviour or a failed attempt."""
    told = _FIX.match(words)
    if told is None or _GUESS.search(words):
        return False
    *before, verb = told[0].split()
    is_so = bool(before) and verb.lower() in _IS_SO and not _OF_CHANGES.search(told[0])
    return not (is_so or _IN_VAIN.search(words) or _FAILS.search(_ASIDE.sub("", words)))


def _draft(exchange: Exchange, fault: _Said, fix: _Said) -> Draft | None:
    if leans(fault.words) and not exchange.task:
        return None
    said = f"{_ended(fault.words)} Mended so: {_ended(fix.words)}"
    content = named(replace(exchange, topic=exchange.task), fault.passage, said)
    if not content or len(said) > LONGEST:
        return None
    marks = (*signs(exchange, fault.turn, fault.passage, said), "cut:resolved")
    quote = _quote(fault, fix)
    return Draft(fix.turn, "learning", content, quote, "resolved", signs=marks, files=changed_files(exchange))


def _quote(fault: _Said, fix: _Said) -> str:
    """Return a quote of both sentences if they are close to each other, else a quote of the fix.

    The fix alone is enough as evidence: its text is later, and not more trusted than the text about the fault.
    """
    near = fault.turn.id == fix.turn.id and fix.end - fault.start <= 2 * LONGEST
    return fix.turn.text[fault.start : fix.end].strip() if near else fix.quote


def _ended(words: str) -> str:
    return words if words.endswith((".", "!")) else words.rstrip(" :;,") + "."
