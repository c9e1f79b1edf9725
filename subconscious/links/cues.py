"""Finds links that a memory states by a cue word ("because of") next to words that the other memory contains. Pure.

A row of CUES says which link type a cue states, which memory is the link's source, and on which side of the cue the
other memory is named. Each sentence of a memory is searched for cues. The confidence of the link grows with the share
of the words next to the cue that the other memory contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from zlib import crc32

from subconscious.links.reading import Reading, Sentence, stems, worth
from subconscious.text import synonyms
from subconscious.text.claims import changes_value
from subconscious.text.denied_change import denies_change
from subconscious.text.same_statement import differences, same_statement
from subconscious.text.vocabulary import IMPERATIVES

RULES = 5
"""The version of this code.

Increase it after every change of the code or the weights, so that memories are searched again. A change of CUES needs
no increase, because VERSION depends on CUES too.
"""

LONGEST = 40
"""The most words of a memory that is searched for cues: in longer texts, cue words often state no link."""

TOUCHED = 0.3
"""The share (0 to 1) of the shorter memory's terms that the longer one must contain for a cue to mean SUPERSEDES."""

CLAUSE = 90
"""How many characters before or after a cue are searched for words of the other memory."""

Side = Literal["after", "before", "whole"]


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue and the link that it states.

    ``holder`` says whether the memory with the cue is the link's source or target. ``side`` is the side of the cue on
    which the other memory is named. ``sure`` is the confidence of the link, ``least`` the share of the words next to
    the cue that the other memory must contain. ``late`` means that only the later memory can state the link.

    VERSION is computed from all names and values of these fields: after a change, all memories are searched again.
    """

    type: str
    words: re.Pattern[str]
    side: Side
    sure: float
    holder: Literal["source", "target"] = "source"
    late: bool = False
    least: float = 0.5


@dataclass(frozen=True, slots=True)
class StatedLink:
    """A link that a memory states.

    ``from_new`` means that the later memory is its source, ``sure`` is its confidence (0 to 1), and ``evidence`` the
    sentence that states it.
    """

    type: str
    from_new: bool
    sure: float
    evidence: str


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


CUES = (
    Cue(
        "SUPERSEDES",
        _cue(
            r"instead of|in place of|rather than|no longer (?:use|run|need|support|rely on|store)?|stop(?:ped)? using"
            r"|replac(?:es?|ed|ing)|supersed(?:es?|ed|ing)|switch(?:ed|ing)? (?:\w+ ){0,3}from"
            r"|mov(?:ed|e|ing) (?:\w+ ){0,2}(?:away )?from|migrat(?:ed|e|ing) (?:\w+ ){0,2}(?:away )?from"
            r"|drop(?:ped|ping)?|remov(?:ed|e|ing)|got rid of|abandon(?:ed|ing)?|deprecat(?:ed|e|es|ing)"
            r"|revert(?:ed|ing)?|(?<=, )not(?: from| with| in)?|undo(?:es|ing)?"
        ),
        "after",
        0.9,
        late=True,
    ),
    Cue(
        "SUPERSEDES",
        _cue(
            r"(?:is|are|was|were|has been|have been|gets?) (?:now )?(?:replaced|superseded|deprecated|obsolete|gone|off"
            r"|removed|dropped|retired)|goes away|go away"
        ),
        "before",
        0.9,
        late=True,
    ),
    Cue(
        "SUPERSEDES",
        _cue(
            r"(?:is|are) now|now|from now on|as of (?:today|now)|since today|actually|raised|lowered|increased|reduced"
            r"|bumped|changed|set to|renamed"
        ),
        "whole",
        0.72,
        late=True,
        least=0.62,
    ),
    Cue(
        "REQUIRES",
        _cue(
            r"requires?|required|depends? (?:up)?on|relies on|rely on|needs?|presuppos\w+|assum(?:es?|ing)"
            r"|only works? (?:when|if|with|while)|can(?:'t| ?not) \w+ without|needed|built on top of|prerequisites?"
        ),
        "after",
        0.85,
    ),
    Cue(
        "EXTENDS",
        _cue(
            r"in addition(?: to)?|additionally|also|as well|too|more precisely|more exactly|further(?:more)?|extends?"
            r"|extended|building on|builds on|on top of|exceptions? (?:to|from)|except(?:ion)?|applies to|new field"
            r"|amend(?:s|ed)?|refines?|specifically"
        ),
        "whole",
        0.75,
        late=True,
        least=0.4,
    ),
    Cue(
        "SUPPORTS",
        _cue(
            r"benchmark\w*|profil(?:ing|ed?)|measur(?:ed|ements?)|load tests?|confirm(?:s|ed)?|prov(?:es?|ed)"
            r"|show(?:s|ed)|found that|surveys?|experiments?|a/b test|evidence|outage|incident|reviewers?"
            r"|caught|failed|traces"
        ),
        "whole",
        0.7,
        least=0.3,
    ),
    Cue("SUPPORTS", _cue(r"because(?! of)|since|so that|which is why|given that"), "after", 0.75, "target", least=0.6),
    Cue(
        "CAUSED", _cue(r"caused by|because of|because|due to|broke (?:after|since)"), "after", 0.8, "target", least=0.6
    ),
    Cue("ENABLED", _cue(r"made it possible|thanks to|unblocked by|enabled by|possible since"), "whole", 0.8, "target"),
    Cue(
        "DERIVED_FROM",
        _cue(r"lesson (?:from|of)|learned from|as a (?:consequence|result) of|conclusion from|following the|after the"),
        "after",
        0.8,
        least=0.5,
    ),
)


def version_of(cues: Sequence[Cue]) -> str:
    """Return the version of the rules with these cues.

    The ``repr`` of a compiled pattern contains only its first 200 characters, so the whole pattern is added.
    """
    rows = [(cue.words.pattern, repr(replace(cue, words=_NO_WORDS))) for cue in cues]
    return f"{RULES}-{crc32(repr(rows).encode()):08x}"


_NO_WORDS = re.compile("")
VERSION = version_of(CUES)
"""The version of the rules. Memories that were searched with another version are searched again."""

_FUNCTION = frozenset(
    "in out on off up down with without over under above below before after get set yes no end".split()
)
OPPOSITES = tuple(pair for pair in synonyms.OPPOSITES if not pair & _FUNCTION)
"""Pairs of words that make two statements opposites, without very frequent words, which have several senses."""

_NEGATION = re.compile(
    r"\b(?:not(?! just| only)|no|never|none|nothing|without|forbidden|avoid|\w+n['\u2019]t)\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|no longer|hardly|cannot)|n['\u2019]t)"
    r"(?: (?:be|been|really|actually|exactly|currently|even|yet|the|a|an)){0,3} \Z",
    re.IGNORECASE,
)
"""The end of the text before a cue if the cue is denied."""
_TURNED = re.compile(r"\b(?:instead|rather|no longer|anymore|any more)\b", re.IGNORECASE)
_FOUND = re.compile(
    r"\b(?:confirm\w*|prov(?:es?|ed)|show(?:s|ed)|found|measured|failed|caught|missed|asks?|review|outage"
    r"|incident|survey|benchmark)\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\d|(?:second|minut|hour|day|week|month|year|mb|gb|kb|ms|percent|request)")
_WORD = re.compile(r"[a-z]+")


def stated(new: Reading, old: Reading) -> list[StatedLink]:
    """Return the links between two memories that the words of either memory state, the most confident first."""
    if max(new.words, old.words) > LONGEST:
        return []
    hits = [*_cued(new, old, late=True), *_cued(old, new, late=False)]
    texts = new.note.text, old.note.text
    if same_statement(*texts, cosine=1.0):
        return [hit for hit in hits if hit.type == "EXTENDS"]  # a repetition neither replaces nor causes a statement
    kept = _FOUND.search(old.note.text) or denies_change(new.note.text)
    if kept or common(new, old) < TOUCHED or differences(*texts) & _ELSEWHERE:
        hits = [hit for hit in hits if hit.type != "SUPERSEDES"]  # a decision does not undo a measurement or finding
    if changes_value(new.note.text, old.note.text):
        hits.append(StatedLink("SUPERSEDES", True, 0.95, new.note.text))
    if not any(hit.type == "SUPERSEDES" for hit in hits):
        hits += _opposed(new, old)
    return sorted(hits, key=lambda hit: -hit.sure)


_ELSEWHERE = frozenset(("environment", "place", "system"))
"""Kinds of differences with which two statements can both be true, for instance about two systems."""


def _cued(one: Reading, other: Reading, *, late: bool) -> Iterator[StatedLink]:
    for sentence in one.sentences:
        for cue in CUES:
            found = _stated_cue(cue, sentence.text) if late or not cue.late else None
            if found is None:
                continue
            share = meets(_named_by(sentence, found, cue.side), other)
            if share >= cue.least:
                confidence = cue.sure * (0.6 + 0.4 * share)
                yield StatedLink(cue.type, (cue.holder == "source") == late, confidence, sentence.text)


def _stated_cue(cue: Cue, text: str) -> re.Match[str] | None:
    """Return the first match of a cue that no negation denies, as in "does not depend on"; None if there is none."""
    return next((one for one in cue.words.finditer(text) if not _DENIED.search(text[: one.start()][-CLAUSE:])), None)


def _named_by(sentence: Sentence, found: re.Match[str], side: Side) -> frozenset[str]:
    """Return the terms next to a cue, by which the sentence names the other memory."""
    if side == "whole":
        rest = f"{sentence.text[: found.start()]} {sentence.text[found.end() :]}"
    elif side == "after":
        rest = re.split(r"[,;:()]|\bto\b|\bwith\b|\band\b|\bby\b", sentence.text[found.end() :][:CLAUSE].strip())[0]
    else:
        rest = sentence.text[: found.start()][-CLAUSE:]
    return frozenset(term for term in stems(rest) if worth(term))


def meets(terms: frozenset[str], other: Reading) -> float:
    """Return the share of ``terms`` that another memory contains, weighted by how rare each term is, 0 to 1."""
    whole = sum(map(worth, terms))
    return sum(worth(term) for term in terms if term in other.terms) / whole if whole else 0.0


def _opposed(new: Reading, old: Reading) -> Iterator[StatedLink]:
    """Yield a contradiction if a negation, opposite words or different numbers show that the two can't both be true."""
    texts = new.note.text, old.note.text
    if denies_change(new.note.text) or any(_TURNED.search(text) or _FOUND.search(text) for text in texts):
        return
    alike = common(new, old)
    if alike >= _enough(new, old) and len(new.terms.keys() & old.terms.keys()) > 1:
        yield StatedLink("CONTRADICTS", True, min(0.9, 0.45 + 0.5 * alike), " / ".join(texts))


def _enough(new: Reading, old: Reading) -> float:
    """Return the minimum overlap of terms (0 to 1) for two statements to contradict each other; 2 if they can't."""
    texts = [reading.note.text.casefold() for reading in (new, old)]
    words = [frozenset(_WORD.findall(text)) for text in texts]
    if any(len(pair & words[0]) == 1 == len(pair & words[1]) and pair <= words[0] | words[1] for pair in OPPOSITES):
        return 0.5
    if _denies(new, old) or _denies(old, new):
        return 0.55
    if new.numbers and old.numbers and not new.numbers & old.numbers and _subject(new) == _subject(old):
        return 0.3
    return 2.0


def _denies(one: Reading, other: Reading) -> bool:
    """Whether ``one`` is negated and ``other`` is not.

    A negated addition (", never on Fridays") counts only if it contains words of ``other``. A statement about who does
    something ("I deploy, you never do") does not deny a fact ("we deploy on fly").
    """
    found = _NEGATION.search(one.note.text.casefold())
    if found is None or _NEGATION.search(other.note.text.casefold()):
        return False
    if _WHO.search(one.note.text) and not _asks(other.note.text):
        return False
    added = re.search(r"[,;] (?:(?:and|but) )?\Z", found.string[: found.start()])
    return not added or meets(frozenset(stems(found.string[found.end() :])), other) > 0


_WHO = re.compile(
    r"\bi(?:['\u2019]ll| will| only| always)? (?!(?:tell|told|sa(?:y|id)|ask(?:ed)?|want(?:ed)?|like|prefer|think"
    r"|thought|meant?|hate|need|see|saw|know|wish|hope|repeat|don['\u2019]?t|do not|never|have|had|am)\b)"
    r"\w[^.;:,]{0,60}[.;:,] (?:(?:and|so|not|but) )?(?:you|u)\b"
    r"|\b(?:i|\w{2,20}) do(?:es)? (?:it|that|this|those|them)\b|[.;:,] (?:only )?i(?: always| will)? do\b"
    r"|\b(?:yourself|myself)\b|\bonly (?:i|me)\b|\bleave (?:it|that|this|those|them) to\b|\bmy (?:job|call)\b",
    re.IGNORECASE,
)
"""Words that say who does something: "I deploy, you never do", "Marie does that", "don't run it yourself"."""

_ASKS = re.compile(r"\b(?:i|you|u|claude|must|should|shall|may|always|have to|need to|please)\b", re.IGNORECASE)


def _asks(text: str) -> bool:
    """Whether a statement says what somebody has to do, rather than only how things are."""
    begins = (re.match(r"\W*(\w+)", clause) for clause in re.split(r"[.;:,]\s", text))
    return bool(_ASKS.search(text)) or any(word and word[1].casefold() in IMPERATIVES for word in begins)


def _subject(reading: Reading) -> frozenset[str]:
    """Return the terms of a statement, without numbers and units."""
    return frozenset(term for term in reading.terms if not _UNIT.match(term))


def common(one: Reading, other: Reading) -> float:
    """Return the share of the shorter statement's terms that the longer one contains, weighted by rarity, 0 to 1."""
    masses = [sum(map(worth, reading.terms)) for reading in (one, other)]
    shared = sum(worth(term) for term in one.terms.keys() & other.terms.keys())
    return shared / min(masses) if min(masses) else 0.0
