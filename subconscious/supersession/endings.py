"""Finds sentences that end an earlier statement: "scrap that", "we moved off X", "the freeze is over".

Only text that the user typed is read. `supersession/retirement.py` finds the memory that an ending refers to. Questions,
conditions, plans and tasks end nothing: a memory that is retired wrongly is worse than one that stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from subconscious.supersession.ending_patterns import PATTERNS, End
from subconscious.supersession.limits import is_limited, is_reported, places
from subconscious.text.edit_distance import slips
from subconscious.text.sentences import sentences

LONGEST = 240
"""The most characters of a sentence that can end a statement."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A sentence that says that an earlier statement no longer holds; ``start`` is its position in the text.

    ``topic`` names what no longer holds; "" stands for the statement made just before. ``sure`` means that the
    sentence can't be a task or have another meaning, ``alone`` that the sentence says nothing else. ``only`` are phrases,
    such as places: only statements with all their words are ended. ``limited`` means that the sentence only sounds like
    an ending and ends nothing.
    """

    end: End
    topic: str
    evidence: str
    start: int
    sure: bool = True
    alone: bool = True
    only: tuple[str, ...] = ()
    limited: bool = False


def endings(text: str) -> list[Ending]:
    """Return those sentences of a text typed by the user that end earlier statements."""
    return [ending for ending in like_endings(text) if not ending.limited]


@lru_cache(maxsize=256)
def like_endings(text: str) -> tuple[Ending, ...]:
    """Return the sentences of a text that end earlier statements, or only sound like it (``Ending.limited``)."""
    found = []
    place = 0
    for sentence in sentences(text):
        place = max(place, text.find(sentence, place))
        ending = _ending(sentence, place) if len(sentence) <= LONGEST else None
        if ending is not None:
            found.append(ending)
    return tuple(found)


def _ending(sentence: str, start: int) -> Ending | None:
    plain = _LEAD.sub("", spelled(sentence.replace("\u2019", "'"))).strip()
    if not plain or _OPEN.search(plain) or _OF_CODE.search(plain):
        return None
    for end, pattern, sure in PATTERNS:
        match = pattern.search(plain)
        if match is None or (_BEFORE.search(before := plain[: match.start()]) and not is_reported(before)):
            continue
        if end is End.LEFT and _SCHEDULED.search(plain):
            continue
        if end is not End.OVER or not _NOT_YET.search(match[0]):
            return _made(sentence, start, plain, match, end, sure)
    return None


def _made(sentence: str, start: int, plain: str, match: re.Match[str], end: End, sure: bool) -> Ending | None:
    """Return the ending for a match in ``plain``, the cleaned-up sentence; None if it needs a topic and has none."""
    topic = _topic(plain, match, end)
    alone = end in (End.LAST, End.NAMED, End.LEFT) and not plain[match.end() :].strip(" .,!;-")
    if end in (End.LAST, End.OVER):
        return Ending(end, topic, sentence, start, sure, alone) if topic or end is End.LAST else None
    only = tuple(places(plain, match, end))
    if _WANTED.search(match[0]):
        only = (*only, topic)
    return Ending(end, topic, sentence, start, sure, alone, only, is_limited(plain, match, end)) if topic else None


def _topic(plain: str, match: re.Match[str], end: End) -> str:
    """Return the words that name what no longer holds: the pattern's groups, or the sentence without the matched words."""
    groups = [one for one in match.groups() if one]
    if end is End.LAST:
        return ""
    if end is End.DENIED and not groups:
        return f"{plain[: match.start()]} {plain[match.end() :]}".strip(" .,!;")
    return _CLAUSE.split(" ".join(groups))[0].strip(" .,!;:")


_CLAUSE = re.compile(
    r"[,;:!]\s|\s[-\u2013\u2014]\s|\.(?:\s|$)|\s(?:and|but|so|just|we|use|because|since|now|please|bitte|und|aber)\s",
    re.IGNORECASE,
)
"""Words and marks that end a topic."""


def spelled(sentence: str) -> str:
    """Return a sentence with common slips in cue words corrected: "forgte waht i said abt", "dont need"."""
    corrected = _WORD.sub(lambda found: _SLIPS.get(found[0].lower(), found[0]), sentence)
    return _WITHOUT_APOSTROPHE.sub(r"\1n't", corrected)


_WORD = re.compile(r"[A-Za-z]{3,}")
_WITHOUT_APOSTROPHE = re.compile(
    r"\b(do|does|did|is|are|was|were|have|has|need|should|would|could|ca)nt\b", re.IGNORECASE
)
_MEANT = "forget scrap scratch never mind what said about anymore longer decision actually again instead rule".split()
_REAL = frozenset("forge forgot forged scrape wat sad rue mid ruel agin".split()) - {"ruel", "agin"}
_SLIPS = {slip: word for word in _MEANT for slip in slips(word) if slip not in _REAL and slip not in _MEANT}
_SLIPS |= {"abt": "about"}

_LEAD = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|and|also|but|well|yes|yeah|oh|hm+|uh+|um+|please|btw|fyi|wait|sorry|hey|right|good news|"
    r"great|ah|ach|also|bitte|por favor|s'il te pla[iî]t|ok)\b[\s,:.!-]*)+",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\?\W*$|^(?:should|could|can|shall|would|do|does|did|is|are|was|were|what(?! (?:i|we) \w)|why|how|who|which|where|when|if|maybe|"
    r"perhaps|suppose|imagine|let's discuss|wonder\w*|i wonder|not sure|once|until|unless|after|before|as soon as|"
    r"sollte\w*|soll|wenn|falls|vielleicht|si|quand|peut-[eê]tre|cuando|quiz[aá]s?|tal vez|se|quando|talvez)\b"
    r"|\b(?:maybe|perhaps|not sure|vielleicht|peut-[eê]tre|quiz[aá]s|talvez|just this once|this time|for now|"
    r"i think we should|we should|we could|we might|might|would|plan to|planning to|going to|want to|wants? us to|"
    r"about to|will|someday|eventually|thinking (?:of|about)|not yet)\b",
    re.IGNORECASE,
)
"""Questions, conditions, wishes and single exceptions, which end nothing."""

_OF_CODE = re.compile(
    r"\b(?:(?:es)?lint(?:er)?|ruff|mypy|css|firewall|iptables|iam|nginx|ingress|security group|make(?:file)?|robots|"
    r"prettier|alert(?:ing)?|routing|redirect|rewrite|ci|cron|s3|lifecycle)[ -]rules?\b|\brules? (?:from|in|out of|off) [`\w./-]*"
    r"(?:[./`]|(?:rc|config|conf|tsconfig|pyproject|makefile|dockerfile)\b)",
    re.IGNORECASE,
)
"""Rules in files, such as lint rules: a sentence about dropping one is a task and ends nothing."""

_BEFORE = re.compile(
    r"\b(?:if|when|once|until|unless|after|before|as soon as|whether|because|since|don't|do not|never|not|said|says|"
    r"asked|wenn|nicht|si|quand|cuando|quando)\b[^,;.]*$",
    re.IGNORECASE,
)
"""Words that turn the rest of a sentence into a condition, a report or a negation."""

_SCHEDULED = re.compile(
    r"\b(?:is|are|gets?|ist|sind|werden|wird|est|sont|está|están|são) (?:deleted|removed|shut ?down|switched off|turned off|"
    r"entfernt|gelöscht|abgeschaltet|supprimée?s?|eliminad[oa]s?|removid[oa]s?) (?:(?:after|every|each|when\w*|if|unless|once|"
    r"daily|nightly|weekly|monthly|hourly|nach|jede\w*|wenn|après|chaque|si|después|cada|cuando|depois|quando)\b|in \d)",
    re.IGNORECASE,
)
"""Recurring actions, which end nothing: "files are deleted after a week"."""

_WANTED = re.compile(r"\b(?:don't|do not) (?:need|want) (?!(?:to|those|these|the|that)\b)", re.IGNORECASE)
"""Words after which only rules with all words of the topic are ended: "we don't need long comments anymore".

After "the", "those" or the like ("we don't need those long comments"), "long" only describes known comments.
"""

_NOT_YET = re.compile(r"\b(?:not|never|almost|nearly|half|nicht|kein\w*|pas|todavía|ainda)\b|n't\b", re.IGNORECASE)
