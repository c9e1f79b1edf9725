"""Splits a statement for comparison: its words with their roles, its numbers, and its conditions and limits.

This is no parser: a word's role is the preposition or conjunction before it in its clause, and a negation covers its
clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from subconscious.text import vocabulary
from subconscious.text.rewrites import rewrite
from subconscious.text.words import is_name

Mark = tuple[str, str]
"""What limits a statement as a whole: its sort (modality, scope, time, condition) and its value."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that carries meaning: ``key`` is the same for its synonyms, ``stem`` for its forms."""

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
    """Whether it is written as a past tense or a participle: "failed", "chosen"."""


@dataclass(frozen=True, slots=True)
class Passive:
    """Roles: the object before a verb, the agent, and the source or target."""

    verb: str
    patients: frozenset[str]
    agents: frozenset[str]
    ends: frozenset[str]
    by: bool
    """Whether "by" names the agent."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What of a statement is compared."""

    words: tuple[Word, ...]
    numbers: frozenset[str]
    marks: frozenset[Mark]
    imperative: bool
    bids: bool
    passives: tuple[Passive, ...]
    only: str
    copula: bool
    """Whether a form of "be" is followed by a description."""
    of: frozenset[tuple[str, str]]
    """Keys on either side of an "of"."""
    by_key: Mapping[str, Sequence[Word]]
    heavy: frozenset[str]
    """Keys of the words that may not be missing from a paraphrase."""
    keys: frozenset[str]


_TOKEN = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<stop>[,;:()\n\u2013\u2014])"
    r"|(?P<word>[^\s,;()\[\]{}\"\u201c\u201d`]+)"
)
_HYPHENATED = re.compile(r"[a-z]{2,}(?:-[a-z]{2,})+", re.IGNORECASE)
_MIXED = re.compile(r"[a-z][A-Z]|_")
_NUMBER = re.compile(r"[#~]?\d+(?:[.:]\d+)*")
_ACRONYMS = re.compile(r"([A-Z]{2,})s")

_CLIPPED = re.compile(r"[^aeiou][aeiou][^aeiouwxy]")
_THINGS = (
    *("string", "thing", "staging", "billing", "setting", "pricing", "meeting", "during", "marketing", "spring"),
    *("warning", "landing", "heading", "sibling", "ceiling", "morning", "evening", "training", "rating", "ranking"),
)
"""Endings of words in "ing" that name a thing in any position."""

_NEGATIONS = frozenset("not no never avoid none neither nor without".split())
_CONTRAST = frozenset("_instead without".split())
"""Negations that cover what follows them alone."""

_AUXILIARY = frozenset("is are was were be been being do does did _must _may _neednot will get gets".split())
_BE = frozenset("is are was were be been being get gets got".split())
_COPULA = frozenset("is are was were be".split())
_WAS = frozenset(("was", "were"))
_ROLES = frozenset(
    "to from into onto as over under than in on at for with by via through before after until unless if because except"
    " without against".split()
)
_PRONOUNS = frozenset("we i they he she you it".split())
_DETERMINERS = frozenset("the a an our its this that these those my your".split())
_OPENERS = _DETERMINERS | _PRONOUNS | {"every", "each", "all", "any", "no"}
_SUBORDINATORS = frozenset("before after if unless until because".split())
_FRONTED = frozenset("because if unless until before after in on at for with without from by under".split())
_CONTINUED = (
    _ROLES | _DETERMINERS | _AUXILIARY | {"of", "and", "or", "but", "not", "both", "all", "only", "even", "_instead"}
)
"""Behind these a determiner continues the phrase: "of the", "and the", "all the"."""
_NO_COMMANDS = _ROLES | _DETERMINERS | _PRONOUNS | _AUXILIARY | vocabulary.FILLERS | {"only", "not", "when", "because"}
_FINITE = frozenset("do does will _must _may _neednot".split())
"""Beside these a participle describes the next word: "does not include generated files"."""
_BEFORE_VERB = frozenset("always please do just then and".split())
_OBJECT_NEXT = frozenset("use avoid prefer add write need needs no".split())
"""These are followed by a thing, so that a participle describes it: "use structured logging"."""

_MARKS: dict[str, Mark] = {
    "_must": ("modality", "must"),
    "_may": ("modality", "may"),
    "_neednot": ("modality", "need not"),
    "optional": ("modality", "need not"),
    "will": ("time", "will"),
    "_nolonger": ("time", "no longer"),
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
_NEEDING = frozenset("need needs require requires required mandatory necessary needed".split())
"""Words for a duty, like "must", unless a negation precedes them."""
_UNMARKED = frozenset("every all always each".split())
"""Words that limit a statement only behind "not"."""


@dataclass(slots=True)
class _Builder:
    """The parts of a statement that were read so far."""

    words: list[Word] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)
    marks: set[Mark] = field(default_factory=set)
    passives: list[Passive] = field(default_factory=list)
    imperative: bool = False
    bids: bool = False
    only: str = ""
    copula: bool = False
    of: set[tuple[str, str]] = field(default_factory=set)


LETTERS = 1000
"""Characters of a statement that are compared: the longest that is kept has fewer."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Statement:
    """Take a statement apart."""
    built = _Builder()
    text = text[:LETTERS]
    if text.rstrip().endswith("?"):
        built.marks.add(("modality", "question"))
    if text.isupper() and " " in text.strip():
        text = text.casefold()  # all in capitals, nothing is a name for having some
    text = rewrite(text)
    negated = False
    for clause in _main_first(list(_parts(text))):
        negated = _Clause(clause, built).read(negated)
    words = _in_order(built)
    by_key: dict[str, list[Word]] = {}
    for word in words:
        by_key.setdefault(word.key, []).append(word)
    return Statement(
        words,
        frozenset(built.numbers),
        frozenset(built.marks),
        built.imperative,
        built.bids,
        tuple(built.passives),
        built.only,
        built.copula and not built.passives,
        frozenset(built.of),
        by_key,
        frozenset(key for key, of_key in by_key.items() if weighs(of_key[0])),
        frozenset(by_key),
    )


def _in_order(built: _Builder) -> tuple[Word, ...]:
    """The words with what comes "after" something as what it comes "before": "B after A" is "A before B"."""
    roles = {word.role for word in built.words}
    if "after" not in roles or "before" in roles:
        return tuple(built.words)
    turned = {"after": "", "": "before"}
    return tuple(replace(word, role=turned.get(word.role, word.role)) for word in built.words)


def weighs(word: Word) -> bool:
    """Whether a word may not be missing from a paraphrase."""
    return word.name or word.stem not in LIGHT


Token = tuple[str, bool]
"""A word as it is written, and whether it stood in backquotes."""


def _clauses(text: str) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for found in _TOKEN.finditer(text):
        if found["stop"]:
            yield clause
            clause = []
        elif found["code"]:
            clause.append((found["code"].strip("`"), True))
        else:
            clause += _split(found["word"].rstrip(".:'!?").lstrip("'\u2018"))
            if found["word"].endswith((".", ":", "!", "?")):
                yield clause
                clause = []
    yield clause


def _parts(text: str) -> Iterator[list[Token]]:
    """The clauses, each subordinate one by itself, as is a phrase in front of a main clause without a comma."""
    for clause in _clauses(text):
        lowered = ["`" if code else word.casefold() for word, code in clause]
        main = _main_clause(lowered)
        below = (place for place, word in enumerate(lowered) if place > main and word in _SUBORDINATORS)
        begins = [0, *([main] if main else ()), *below]
        yield from (clause[begin:end] for begin, end in zip(begins, [*begins[1:], len(clause)], strict=True))


def _main_first(parts: list[list[Token]]) -> list[list[Token]]:
    """The clauses with what the first one puts in front of it behind it: "the tests run in CI", "stop if it is red"."""
    opens = parts[0][0][0].casefold() if parts[0] and not parts[0][0][1] else ""
    if len(parts) < 2 or not parts[1] or opens not in _FRONTED or parts[1][0][0].casefold() in ("not", "then"):
        return parts
    if opens in _SUBORDINATORS:
        return [parts[1], parts[0], *parts[2:]]
    return [parts[1] + parts[0], *parts[2:]]


def _main_clause(lowered: list[str]) -> int:
    """Where the main clause begins behind a phrase in front of it: "in CI | the tests", "if it is red | the job"."""
    if not lowered or lowered[0] not in _ROLES - {"to"}:
        return 0
    subordinate = lowered[0] in _SUBORDINATORS
    if lowered[0] == "because":
        return next((place for place, word in enumerate(lowered) if place > 1 and word in _PRONOUNS), 0)
    for place in range(2, len(lowered) - 1):
        ends = not subordinate or not _BE.isdisjoint(lowered[max(place - 3, 0) : place - 1])
        if lowered[place] in _OPENERS and ends and _ends_phrase(lowered[place - 1]):
            return place
    return 0


def _ends_phrase(word: str) -> bool:
    """Whether a phrase may end with a word, so that a determiner behind it opens another one."""
    return word not in _CONTINUED and not word.endswith("ing")


def _split(word: str) -> list[Token]:
    """A word, or the parts of one that is written with hyphens: "read-only" is "read only"."""
    if _HYPHENATED.fullmatch(word):
        return [(part, False) for part in word.split("-")]
    return [(word, False)] if word else []


def _commands(lowered: list[str]) -> bool:
    """Whether a clause begins with a verb that is in no list: a determiner follows it, "reference the ticket"."""
    verb = lowered[0] if len(lowered) > 2 and lowered[1] in _DETERMINERS else ""
    return verb.isalpha() and verb not in _NO_COMMANDS and not verb.endswith(("s", "ed", "ing", "ly"))


class _Clause:
    """Adds the tokens of one clause to the parts that were read before."""

    def __init__(self, tokens: list[Token], built: _Builder) -> None:
        self.tokens = tokens
        self.built = built
        self.role = ""
        self.before = ""
        self.then = False
        self.owned = ""
        self.only = False
        self.lead = not built.words and bool(tokens) and tokens[0][0].casefold() == "because"
        self.recent: tuple[str, ...] = ()
        self.passive: tuple[str, frozenset[str]] | None = None
        self.begin = len(built.words)
        self.filled = False  # whether the phrase has a word
        self.base = False  # whether the clause as a whole is negated
        self.without = False
        self.finite = ""  # the verb of an instruction, or "_" beside an auxiliary
        self.of_phrase = False
        self.owners: set[str] = set()

    def read(self, negated: bool) -> bool:
        """Add the clause's words; return whether a negation continues in the next clause."""
        lowered = ["`" if code else word.casefold() for word, code in self.tokens]
        opens = next((word for word in lowered if word not in _BEFORE_VERB and not word.endswith("ly")), "")
        imperative = opens in vocabulary.IMPERATIVES or opens in ("not", "never", "avoid", "no") or _commands(lowered)
        self.built.imperative |= imperative
        self.built.bids |= imperative and not _DETERMINERS.isdisjoint(lowered[1:2])
        # A list continues as it began ("never log names, mails or keys"); an instruction or a condition starts again.
        anew = imperative or "but" in lowered or (lowered != [] and lowered[0] in _SUBORDINATORS)
        self.negated = (negated and not anew) or self._denied(lowered)
        self.base = self.negated
        self.finite = opens if imperative else "" if _FINITE.isdisjoint(lowered) else "_"
        whole = self.negated and not self._contrasted(lowered)
        self.number = ""
        for place, (word, code) in enumerate(self.tokens):
            self.recent = tuple(lowered[max(0, place - 3) : place])
            self._token(word, code, lowered[place], lowered[place + 1] if place + 1 < len(lowered) else "")
        if self.number:
            self._count("")
        self._by_whom()
        return whole

    def _denied(self, lowered: list[str]) -> bool:
        """Whether a negation covers the clause as a whole."""
        return any(
            word in _NEGATIONS and word not in _CONTRAST and not self._is_contrast(lowered, place)
            for place, word in enumerate(lowered)
        )

    def _contrasted(self, lowered: list[str]) -> bool:
        return bool(lowered) and lowered[0] == "not" and lowered[1:2] != [] and lowered[1] not in vocabulary.IMPERATIVES

    @staticmethod
    def _is_contrast(lowered: list[str], place: int) -> bool:
        """Whether "not" divides two things ("tabs not spaces") rather than belonging to a verb."""
        return lowered[place] == "not" and place > 0 and lowered[place - 1] not in _AUXILIARY | {"to", "if"}

    def _token(self, word: str, code: bool, low: str, after: str) -> None:
        place = len(self.built.words) - self.begin
        if self.lead and place and low in _PRONOUNS:
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
        elif low in _CONTRAST or (low == "not" and place > 0 and self.before not in _AUXILIARY | {"to", "if"}):
            self.negated = True
            self.without, self.filled = low == "without", False
            self.role = low if low in _ROLES else self.role
            self.built.marks.update([_MARKS[low]] if low in _MARKS else ())
        elif low == "but":
            self.negated = False
        elif _NUMBER.fullmatch(low) or low in vocabulary.NUMBERS:
            self.number = vocabulary.NUMBERS.get(low, low.lstrip("#~"))
        elif low not in _NEGATIONS and low != "_did":
            self._word(word, low, after)
        self.built.copula |= low in _COPULA
        self.before = low

    def _end_phrase(self, low: str) -> None:
        """End a phrase with a preposition at what can't belong to it: "requests without an id | are rejected"."""
        ends = low in _BE | _FINITE or (low in _OPENERS and _ends_phrase(self.before))
        if not ends or self.role in _SUBORDINATORS or not (self.role or self.of_phrase):
            return
        self.role, self.of_phrase, self.filled = "", False, False
        if self.without:
            self.negated, self.without = self.base, False

    def _count(self, unit: str) -> None:
        """Add the number that was read, with its unit."""
        number, self.number = _measure(self.number, unit), ""
        self.built.numbers.add(number)
        self._add(number, number, name=True)

    def _word(self, word: str, low: str, after: str) -> None:
        if low == "then" and ("scope", "if") in self.built.marks:
            return
        self._mark(word, low, after)
        self._set_role(low)
        marks_alone = low in _MARKS and low not in vocabulary.IRREGULAR  # "chose" is a word and a past tense
        if marks_alone or low in _ROLES or (low in vocabulary.FILLERS and not self._is_acronym(word)):
            return
        self._plain(word, low, after)

    def _mark(self, word: str, low: str, after: str) -> None:
        """Add what a word says of the statement as a whole."""
        untimed = self.role in _SUBORDINATORS and _MARKS.get(low, ("",))[0] in ("time", "order")
        if low in _MARKS and not untimed and not (word.isupper() and len(word) > 1):
            self.built.marks.add(_MARKS[low])
            if low == "only":
                self.built.only, self.only = "?", after not in _BE and after not in _ROLES
        elif low in _UNMARKED and self.negated and self.before in _NEGATIONS:
            self.built.marks.add(("scope", "not all"))
        if low == "or" and not self.negated:
            self.built.marks.add(("scope", "or"))
        self.built.marks.update(_JOINS.get(low, ()))

    def _set_role(self, low: str) -> None:
        """Begin a phrase at its preposition or conjunction."""
        if low == "of" and len(self.built.words) > self.begin:
            self.owned = self.built.words[-1].key
            self.of_phrase, self.filled = True, False
        if low in _ROLES:
            self.of_phrase, self.filled = False, False
            self.role = self.role if self.role == "because" or self.then else low
        if low == "then":
            self.role, self.then = "before", True

    def _append(self, word: Word) -> None:
        """Add a word, with the word that "only" or "of" connects it to."""
        if self.only:
            self.built.only, self.only = word.key, False
        self.filled = True
        if self.of_phrase:
            self.owners.add(word.key)
        if self.owned:
            self.built.of.add((self.owned, word.key))
            self.owned = ""
        self.built.words.append(word)

    def _is_acronym(self, word: str) -> bool:
        """Whether its capitals make a name of a word that would be left out: "the US region", "option A"."""
        return word.isupper() and word != "I" and not (len(word) == 1 and not self.before)

    def _plain(self, word: str, low: str, after: str) -> None:
        opening = not self.before
        name = is_name(word) and not (opening and word.istitle())
        if _MIXED.search(word):
            self._add(word, word, name=True)
            return
        if plural := _ACRONYMS.fullmatch(word):
            low = plural[1].casefold()
        stem = _stem(low, doing=True) if low.isalpha() else low
        key = _key(stem)
        done = _is_done(low) and self.role not in _SUBORDINATORS
        if done and (self.before in _PRONOUNS or (after in _DETERMINERS and not self.auxiliary)):
            self.built.marks.add(("time", "past"))
        listed = self.passive is not None and self.before in ("and", "or")  # "is stored in UTC and shown in local time"
        if low in _NEEDING and ("modality", "need not") not in self.built.marks:
            self.built.marks.add(("modality", "must"))
        passive = (done or low in vocabulary.PARTICIPLES) and (self.auxiliary or listed)
        if passive and not listed:
            self.passive = key, self._patients()
        # In front of a noun it describes that: "failed jobs".
        finite = not (opening or self.before in _DETERMINERS or self.before in _ROLES or self.before in _OBJECT_NEXT)
        finite = finite and self.before not in _OPENERS | {"only", "some"} - _PRONOUNS
        finite = finite and self.finite in ("", self.before) and not listed
        past = done and finite and (not self.auxiliary or not _WAS.isdisjoint(self.recent))
        past |= self.before == "_did"
        self._append(
            Word(
                key,
                stem,
                self.role,
                self.negated,
                name,
                past,
                passive,
                self._is_thing(low, after),
                low.endswith("ly"),
                done,
            )
        )

    def _patients(self) -> frozenset[str]:
        """The subject of a passive verb, without its complements: "errors (of the API) are returned"."""
        words = self.built.words[self.begin :]
        return frozenset(
            word.key for word in words if word.role in ("", *_SUBORDINATORS) and word.key not in self.owners
        )

    def _is_thing(self, low: str, after: str) -> bool:
        """Whether a word that may be a verb is a noun here: "rotation", "a limit", "a depth limit", "limit of"."""
        if low.endswith(("ion", "ions")) or self.before in _DETERMINERS or after == "of":
            return True
        return not low.endswith(("s", "ed")) and not self.before.endswith("s") and self.recent[-2:-1] in _ARTICLES

    @property
    def auxiliary(self) -> bool:
        """Whether a form of "be" precedes closely, so that a participle is no past tense."""
        return not _BE.isdisjoint(self.recent)

    def _add(self, key: str, stem: str, *, name: bool) -> None:
        self._append(Word(key, stem, self.role, self.negated, name))

    def _by_whom(self) -> None:
        if self.passive is None:
            return
        verb, patients = self.passive
        words = self.built.words[self.begin :]
        agents = {one.key for one in words if one.role in _AGENTS}
        ends = {one.key for one in words if one.role in _ENDS and weighs(one)}
        self.built.passives.append(
            Passive(
                verb, patients, frozenset(agents - patients), frozenset(ends), any(one.role == "by" for one in words)
            )
        )


_ARTICLES = (("a",), ("an",), ("the",))


def _measure(number: str, unit: str) -> str:
    """A number with its unit, in seconds where it is a time: 1 minute is 60 seconds."""
    if unit in vocabulary.SECONDS and number.replace(".", "", 1).isdecimal():
        return f"{float(number) * vocabulary.SECONDS[unit]:.9g} second"
    return f"{number} {unit}".strip()


_AGENTS = frozenset("by in on at with".split())
"""These are followed by the agent: "blocked by the proxy", "blocked in the proxy"."""

_ENDS = frozenset("from to into onto".split())
"""These are followed by a source or a target."""


@lru_cache(maxsize=1 << 14)
def _stem(word: str, *, doing: bool) -> str:
    """A word without its most common endings; forms of one verb, and its noun in "ion", have one stem."""
    if word in vocabulary.UNCHANGED:
        return word
    word = vocabulary.IRREGULAR.get(word, word)
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    word = vocabulary.IRREGULAR.get(word, word)
    if doing and word.endswith("ing") and len(word) > 5 and not word.endswith(_THINGS):
        word = _infinitive(word[:-3])
    elif word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("ed") and not word.endswith("eed") and len(word) > 4:
        word = _infinitive(word[:-2])
    elif word.endswith(("ization", "isation")):
        word = word[:-7] + "iz"
    elif word.endswith("ion") and len(word) > 7:
        word = word[:-3]
    elif word.endswith("ly") and len(word) > 6 and word not in vocabulary.NO_ADVERBS:
        word = _adjective(word)
    return _bare(_spelled(word))


def _adjective(adverb: str) -> str:
    """What an adverb is made of: "strict" of "strictly", "automatic" of "automatically"."""
    return adverb[:-4] if adverb.endswith("ically") else adverb[:-2]


def _spelled(word: str) -> str:
    """A word in American spelling: "normalize" of "normalise", "color" of "colour"."""
    if word.endswith(("alise", "alis", "imise", "imis", "onise", "onis")) and len(word) > 6:
        return word.removesuffix("e")[:-1] + "ze"
    return _BRITISH.sub("or", word)


_BRITISH = re.compile(r"(?<=\w[lnvi])our$")


def _is_done(word: str) -> bool:
    """Whether a word is a past tense or a participle by its form."""
    ends = word.endswith("ed") and not word.endswith("eed") and len(word) > 4 and word not in ("embed", "shared")
    return ends or (word in vocabulary.IRREGULAR and not word.endswith(_NOT_DONE))


_NOT_DONE = ("ment", "ion", "al", "ance", "ence", "iry", "es", "ing")
"""Endings of irregular forms that are nouns, or in the present."""


def _infinitive(root: str) -> str:
    """A verb of three letters with the silent one that it lost: "coded" is of "code", "fixed" of "fix"."""
    return root + "e" if _CLIPPED.fullmatch(root) else root


def _bare(word: str) -> str:
    """Without a silent or a doubled letter at its end; a short word is another one without: "note", "not"."""
    bare = word[:-1] if word.endswith("e") and len(word) > 4 else word
    if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "lsz":
        bare = bare[:-1]
    return bare[:-1] + "i" if bare.endswith("y") and len(bare) > 3 else bare


def stem(word: str) -> str:
    """The stem of a single word."""
    return _stem(word, doing=False)


_SYNONYMS: dict[str, str] = {}
for _group in vocabulary.SYNONYMS:
    for _one in _group.split():
        _SYNONYMS.setdefault(stem(_one), stem(_group.split()[0]))


def _key(stem: str) -> str:
    return _SYNONYMS.get(stem, stem)


LIGHT = {
    stem(word): (sort, number)
    for sort, groups in enumerate(vocabulary.LIGHT)
    for number, group in enumerate(groups)
    for word in group.split()
}
"""Stems of the light words, each with its sort (pronoun, verb, noun) and group."""
