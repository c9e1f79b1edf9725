"""Reads a clause of a statement: the words with their roles, the numbers, and the conditions and limits.

This is not a full parser: a word's role is the preposition or conjunction before it in its clause, and a negation
applies to its whole clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from subconscious.text import vocabulary
from subconscious.text.clauses import (
    AUXILIARY,
    BE,
    DETERMINERS,
    OPENERS,
    PRONOUNS,
    ROLES,
    SUBORDINATORS,
    Token,
    ends_phrase,
)
from subconscious.text.stems import LIGHT, is_past_form, stem, synonym_key
from subconscious.text.words import is_name

Mark = tuple[str, str]
"""A property of the statement as a whole: its sort (modality, scope, time, ended, order, ...) and its value."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that carries meaning. Synonyms have the same ``key``, all forms of a word the same ``stem``."""

    key: str
    stem: str
    role: str
    negated: bool
    name: bool
    past: bool = False
    participle: bool = False
    noun: bool = False
    adverb: bool = False
    done: bool = False
    """Whether the word has the form of a past tense or a participle: "failed", "chosen"."""


@dataclass(frozen=True, slots=True)
class Passive:
    """A passive verb with the object that it affects (``patients``), its agents, and sources or targets (``ends``)."""

    verb: str
    patients: frozenset[str]
    agents: frozenset[str]
    ends: frozenset[str]
    by: bool
    """Whether "by" introduces the agent."""


_MIXED = re.compile(r"[a-z][A-Z]|_")
_NUMBER = re.compile(r"[#~]?\d+(?:[.:]\d+)*")
_ACRONYMS = re.compile(r"([A-Z]{2,})s")


_NEGATIONS = frozenset("not no never avoid none neither nor without".split())
_CONTRAST = frozenset("_instead without".split())
"""Negations that cover only the words after them."""

_COPULA = frozenset("is are was were be".split())
_WAS = frozenset(("was", "were"))
_NO_COMMANDS = ROLES | DETERMINERS | PRONOUNS | AUXILIARY | vocabulary.FILLERS | {"only", "not", "when", "because"}
_FINITE = frozenset("do does will _must _may _neednot".split())
"""Words after which a participle describes the next word: "does not include generated files"."""
_BEFORE_VERB = frozenset("always please do just then and".split())
_BEFORE_NOUN = (OPENERS | {"only", "some"}) - PRONOUNS
"""Words that are followed by a noun, so that a participle describes it: "every failed job", but not "we failed"."""
_BEFORE_OBJECT = frozenset("use avoid prefer add write need needs no".split())
"""Words that are followed by an object, so that a participle describes it: "use structured logging"."""

_MARKS: dict[str, Mark] = {
    "_must": ("modality", "must"),
    "_may": ("modality", "may"),
    "_neednot": ("modality", "need not"),
    "optional": ("modality", "need not"),
    "will": ("time", "will"),
    "_nolonger": ("ended", "no longer"),
    "still": ("time", "still"),
    "yet": ("time", "yet"),
    "until": ("time", "until"),
    **dict.fromkeys(vocabulary.PAST, ("time", "past")),
    "before": ("order", "before"),
    "then": ("order", "before"),
    "after": ("order", "after"),
    "unless": ("scope", "unless"),
    "if": ("scope", "if"),
    "except": ("scope", "except"),
    **{
        word: ("scope", word)
        for word in "only some most many few partly usually sometimes often rarely almost nearly hardly mostly"
        " mainly partially too".split()
    },
}
_JOINS: dict[str, tuple[Mark, ...]] = {
    "and": (("join", "and"),),
    **dict.fromkeys(("every", "all", "each"), (("all", ""),)),
}
_DUTY_WORDS = frozenset("need needs require requires required mandatory necessary needed".split())
"""Words for a duty, like "must", unless a negation precedes them."""
_LIMITS_AFTER_NOT = frozenset("every all always each".split())
"""Words that limit the scope of a statement only if "not" precedes them: "not every test"."""
_ARTICLES = (("a",), ("an",), ("the",))
_AGENTS = frozenset("by in on at with".split())
"""Prepositions before an agent: "blocked by the proxy", "blocked in the proxy"."""

_ENDS = frozenset("from to into onto".split())
"""Prepositions before a source or a target."""


@dataclass(slots=True)
class Builder:
    """The parts of a statement that have been read so far."""

    words: list[Word] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)
    marks: set[Mark] = field(default_factory=set)
    passives: list[Passive] = field(default_factory=list)
    imperative: bool = False
    names_object: bool = False
    only: str = ""
    copula: bool = False
    of: set[tuple[str, str]] = field(default_factory=set)


def read_clause(tokens: list[Token], builder: Builder, negated: bool) -> bool:
    """Add a clause's words to ``builder``; return whether a negation continues: the next clause's ``negated``."""
    return _Clause(tokens, builder).read(negated)


def weighs(word: Word) -> bool:
    """Whether a word is so important that a paraphrase of its statement must contain it."""
    return word.name or word.stem not in LIGHT


def _is_unlisted_command(lowered: list[str]) -> bool:
    """Whether a clause begins with an unlisted verb and a determiner: "reference the ticket"."""
    verb = lowered[0] if len(lowered) > 2 and lowered[1] in DETERMINERS else ""
    return verb.isalpha() and verb not in _NO_COMMANDS and not verb.endswith(("s", "ed", "ing", "ly"))


class _Clause:
    """Adds the tokens of one clause to the parts read so far."""

    def __init__(self, tokens: list[Token], builder: Builder) -> None:
        self.tokens = tokens
        self.builder = builder
        self.role = ""
        self.before = ""
        self.then = False
        self.owned = ""
        self.only = False
        self.lead = not builder.words and bool(tokens) and tokens[0][0].casefold() == "because"
        self.recent: tuple[str, ...] = ()
        self.passive: tuple[str, frozenset[str]] | None = None
        self.begin = len(builder.words)
        self.filled = False  # whether the phrase has a word
        self.base = False  # whether the clause as a whole is negated
        self.without = False
        self.finite = ""  # the verb of an instruction, else "_" if there is an auxiliary
        self.of_phrase = False
        self.owners: set[str] = set()

    def read(self, negated: bool) -> bool:
        """Add the clause's words; return whether its negation continues in the next clause."""
        lowered = ["`" if code else word.casefold() for word, code in self.tokens]
        opens = next((word for word in lowered if word not in _BEFORE_VERB and not word.endswith("ly")), "")
        imperative = (
            opens in vocabulary.IMPERATIVES or opens in ("not", "never", "avoid", "no") or _is_unlisted_command(lowered)
        )
        self.builder.imperative |= imperative
        self.builder.names_object |= imperative and not DETERMINERS.isdisjoint(lowered[1:2])
        # A list continues a negation ("never log names, mails or keys"); an instruction or a condition ends it.
        anew = imperative or "but" in lowered or (lowered != [] and lowered[0] in SUBORDINATORS)
        self.negated = (negated and not anew) or self._is_negated(lowered)
        self.base = self.negated
        self.finite = opens if imperative else "" if _FINITE.isdisjoint(lowered) else "_"
        whole = self.negated and not self._contrasted(lowered)
        self.number = ""
        for index, (word, code) in enumerate(self.tokens):
            self.recent = tuple(lowered[max(0, index - 3) : index])
            self._token(word, code, lowered[index], lowered[index + 1] if index + 1 < len(lowered) else "")
        if self.number:
            self._count("")
        self._add_passive()
        return whole

    def _is_negated(self, lowered: list[str]) -> bool:
        """Whether a negation covers the clause as a whole."""
        return any(
            word in _NEGATIONS and word not in _CONTRAST and not self._is_contrast(lowered, index)
            for index, word in enumerate(lowered)
        )

    def _contrasted(self, lowered: list[str]) -> bool:
        return bool(lowered) and lowered[0] == "not" and lowered[1:2] != [] and lowered[1] not in vocabulary.IMPERATIVES

    @staticmethod
    def _is_contrast(lowered: list[str], index: int) -> bool:
        """Whether "not" contrasts two things ("tabs not spaces") rather than negating a verb."""
        return lowered[index] == "not" and index > 0 and lowered[index - 1] not in AUXILIARY | {"to", "if"}

    def _token(self, word: str, code: bool, low: str, after: str) -> None:
        index = len(self.builder.words) - self.begin
        if self.lead and index and low in PRONOUNS:
            self.role = ""  # "because of the lock we can't": the main clause begins
        if self.filled and not code:
            self._end_phrase(low)
        if self.number:
            unit = "" if code else vocabulary.UNITS.get(low, "")
            self._count(unit)
            if unit:
                self.before = low
                return
        if code:
            self._add(word, word, name=True)
        elif low in _CONTRAST or (low == "not" and index > 0 and self.before not in AUXILIARY | {"to", "if"}):
            self.negated = True
            self.without, self.filled = low == "without", False
            self.role = low if low in ROLES else self.role
            self.builder.marks.update([_MARKS[low]] if low in _MARKS else ())
        elif low == "but":
            self.negated = False
        elif _NUMBER.fullmatch(low) or low in vocabulary.NUMBERS:
            self.number = vocabulary.NUMBERS.get(low, low.lstrip("#~"))
        elif low not in _NEGATIONS and low != "_did":
            self._word(word, low, after)
        self.builder.copula |= low in _COPULA
        self.before = low

    def _end_phrase(self, low: str) -> None:
        """End a prepositional phrase before a word that can't belong to it: "requests without an id | are rejected"."""
        ends = low in BE | _FINITE or (low in OPENERS and ends_phrase(self.before))
        if not ends or self.role in SUBORDINATORS or not (self.role or self.of_phrase):
            return
        self.role, self.of_phrase, self.filled = "", False, False
        if self.without:
            self.negated, self.without = self.base, False

    def _count(self, unit: str) -> None:
        """Add the number that was read last, with its unit."""
        number, self.number = _measure(self.number, unit), ""
        self.builder.numbers.add(number)
        self._add(number, number, name=True)

    def _word(self, word: str, low: str, after: str) -> None:
        if low == "then" and ("scope", "if") in self.builder.marks:
            return
        self._mark(word, low, after)
        self._set_role(low)
        marks_alone = low in _MARKS and low not in vocabulary.IRREGULAR  # "chose" is more than a mark of the past
        if marks_alone or low in ROLES or (low in vocabulary.FILLERS and not self._is_acronym(word)):
            return
        self._plain(word, low, after)

    def _mark(self, word: str, low: str, after: str) -> None:
        """Record how a word limits the statement as a whole."""
        untimed = self.role in SUBORDINATORS and _MARKS.get(low, ("",))[0] in ("time", "ended", "order")
        if low in _MARKS and not untimed and not (word.isupper() and len(word) > 1):
            self.builder.marks.add(_MARKS[low])
            if low == "only":
                self.builder.only, self.only = "?", after not in BE and after not in ROLES
        elif low in _LIMITS_AFTER_NOT and self.negated and self.before in _NEGATIONS:
            self.builder.marks.add(("scope", "not all"))
        if low == "or" and not self.negated:
            self.builder.marks.add(("scope", "or"))
        self.builder.marks.update(_JOINS.get(low, ()))

    def _set_role(self, low: str) -> None:
        """Start a phrase at its preposition or conjunction."""
        if low == "of" and len(self.builder.words) > self.begin:
            self.owned = self.builder.words[-1].key
            self.of_phrase, self.filled = True, False
        if low in ROLES:
            self.of_phrase, self.filled = False, False
            self.role = self.role if self.role == "because" or self.then else low
        if low == "then":
            self.role, self.then = "before", True

    def _append(self, word: Word) -> None:
        """Add a word, and connect it to a preceding "only" or "of"."""
        if self.only:
            self.builder.only, self.only = word.key, False
        self.filled = True
        if self.of_phrase:
            self.owners.add(word.key)
        if self.owned:
            self.builder.of.add((self.owned, word.key))
            self.owned = ""
        self.builder.words.append(word)

    def _is_acronym(self, word: str) -> bool:
        """Whether capitals make a filler word a name: "the US region", "option A"."""
        return word.isupper() and word != "I" and not (len(word) == 1 and not self.before)

    def _plain(self, word: str, low: str, after: str) -> None:
        opening = not self.before
        name = is_name(word) and not (opening and word.istitle())
        if _MIXED.search(word):
            self._add(word, word, name=True)
            return
        if plural := _ACRONYMS.fullmatch(word):
            low = plural[1].casefold()
        word_stem = stem(low, doing=True) if low.isalpha() else low
        key = synonym_key(word_stem)
        done = is_past_form(low) and self.role not in SUBORDINATORS
        if done and (self.before in PRONOUNS or (after in DETERMINERS and not self.auxiliary)):
            self.builder.marks.add(("time", "past"))
        listed = self.passive is not None and self.before in ("and", "or")  # "is stored in UTC and shown in local time"
        if low in _DUTY_WORDS and ("modality", "need not") not in self.builder.marks:
            self.builder.marks.add(("modality", "must"))
        passive = (done or low in vocabulary.PARTICIPLES) and (self.auxiliary or listed)
        if passive and not listed:
            self.passive = key, self._patients()
        # A participle before a noun describes the noun: "failed jobs".
        finite = not (opening or self.before in _BEFORE_NOUN or self.before in ROLES or self.before in _BEFORE_OBJECT)
        finite = finite and self.finite in ("", self.before) and not listed
        past = done and finite and (not self.auxiliary or not _WAS.isdisjoint(self.recent))
        past |= self.before == "_did"
        self._append(
            Word(
                key,
                word_stem,
                self.role,
                self.negated,
                name,
                past,
                passive,
                self._is_noun(low, after),
                low.endswith("ly"),
                done,
            )
        )

    def _patients(self) -> frozenset[str]:
        """Return the subject of a passive verb, without its complements: "errors (of the API) are returned"."""
        words = self.builder.words[self.begin :]
        return frozenset(
            word.key for word in words if word.role in ("", *SUBORDINATORS) and word.key not in self.owners
        )

    def _is_noun(self, low: str, after: str) -> bool:
        """Whether a word that may be a verb is a noun here: "rotation", "a limit", "a depth limit", "limit of"."""
        if low.endswith(("ion", "ions")) or self.before in DETERMINERS or after == "of":
            return True
        return not low.endswith(("s", "ed")) and not self.before.endswith("s") and self.recent[-2:-1] in _ARTICLES

    @property
    def auxiliary(self) -> bool:
        """Whether a form of "be" comes shortly before, so that a participle is not a past tense."""
        return not BE.isdisjoint(self.recent)

    def _add(self, key: str, stem: str, *, name: bool) -> None:
        self._append(Word(key, stem, self.role, self.negated, name))

    def _add_passive(self) -> None:
        if self.passive is None:
            return
        verb, patients = self.passive
        words = self.builder.words[self.begin :]
        agents = {one.key for one in words if one.role in _AGENTS}
        ends = {one.key for one in words if one.role in _ENDS and weighs(one)}
        self.builder.passives.append(
            Passive(
                verb, patients, frozenset(agents - patients), frozenset(ends), any(one.role == "by" for one in words)
            )
        )


def _measure(number: str, unit: str) -> str:
    """Return a number with its unit; times in units up to weeks are converted to seconds."""
    if unit in vocabulary.SECONDS and number.replace(".", "", 1).isdecimal():
        return f"{float(number) * vocabulary.SECONDS[unit]:.9g} second"
    return f"{number} {unit}".strip()
