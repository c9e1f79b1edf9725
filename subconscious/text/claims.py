"""What a statement claims: its subject, the value of the subject, and its conditions.

One subject has one value at a time. So a later statement with another value for the same subject replaces the earlier
one, with or without a word of change. This is no parser, and a wrong replacement is worse than a missed one: in doubt,
two statements have different subjects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from subconscious.text import vocabulary
from subconscious.text.alternatives import FAMILIES, SLOTS, STORES
from subconscious.text.same_statement import same_statement
from subconscious.text.statement import stem

LETTERS = 600
"""Characters of a statement that is compared."""

LONGEST = 60
"""Words of a statement that is compared; a longer one says more than one thing."""

FEWEST = 3
"""Words of a clause that is a statement of its own."""

ENOUGH = 0.75
"""Share of the words of two statements that agree where one denies what the other says."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement, taken apart.

    ``about`` are the words of its subject and its conditions, ``value`` those of the value, ``without`` those of
    rejected values. ``frame`` is the kind of its verb, "" for verbs that don't assign a value.
    """

    about: frozenset[str]
    value: frozenset[str]
    without: frozenset[str]
    numbers: frozenset[str]
    frame: str
    negative: bool
    changes: bool
    places: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """All words that carry meaning."""
        return self.about | self.value


def replaces(new: str, old: str) -> bool:
    """Whether a statement says otherwise of the same thing than an earlier one, so that it takes its place."""
    pair = _comparable(new, old)
    return pair is not None and (_denies(*pair) or _renames(*pair) or _revalues(*pair))


def gives_another_value(new: str, old: str) -> bool:
    """Like `replaces`, without what only denies in the same words what the earlier one says."""
    pair = _comparable(new, old)
    return pair is not None and not _denies(*pair) and (_renames(*pair) or _revalues(*pair))


def tells_of_a_change(content: str) -> bool:
    """Whether a statement says that something is otherwise than it was."""
    return bool(_TOLD_CHANGE.search(content))


_TOLD_CHANGE = re.compile(
    r"\b(?:now|moved|moves|moving|switch(?:ed|ing)?|migrat(?:ed|ing)|changed|instead|no longer|any ?more|ran out|left|"
    r"gone|replac(?:ed|es)|dropped|settled on|renamed|back to|overkill|yesterday|last (?:night|week|month)|as of|"
    r"from now on|used to|took over|takes over|turns out|actually|correction|scratch that|not .{1,40} after all|"
    r"since (?:\w+day|yesterday|last|this|january|february|march|april|may|june|july|august|september|october|"
    r"november|december)|jetzt|inzwischen|umgezogen|gewechselt|ab sofort|stattdessen|nicht mehr|maintenant|désormais|"
    r"ahora|ya no|agora|já não)\b|\bthen\W",
    re.IGNORECASE,
)
"""Words of change: without a value they replace nothing."""


def _comparable(new: str, old: str) -> tuple[Claim, Claim] | None:
    """What two statements claim, where they say different things of the same place."""
    if same_statement(new, old, cosine=1.0):
        return None
    later, earlier = claim(new), claim(old)
    if later is None or earlier is None or later.places != earlier.places:
        return None
    return later, earlier


def _denies(new: Claim, old: Claim) -> bool:
    """Whether one says in the same words that something is so, and the other that it is not."""
    if new.negative == old.negative or new.numbers != old.numbers:
        return False
    mine, its = ({word for word in one.words if word not in _POLAR} for one in (new, old))
    shared = mine & its
    return len(shared) >= 1 and len(shared) >= ENOUGH * max(len(mine), len(its)) and not new.names ^ old.names


def _renames(new: Claim, old: Claim) -> bool:
    """Whether the new one rejects what the old one chose for the same thing: "NATS for the queue, not Redis"."""
    if not new.without or new.negative or old.negative:
        return False
    rejected = new.without & old.value
    return bool(rejected) and not (new.value & rejected) and _same_subject(new, old, certain=True)


def _revalues(new: Claim, old: Claim) -> bool:
    """Whether both give the same subject a value of one sort, and not the same."""
    mine, its = new.value - old.value, old.value - new.value
    if new.negative or old.negative or not mine or not its:
        return False
    if mine & new.numbers and its & old.numbers:
        return _differ_in_numbers(new, old)
    ours, theirs = _families(mine), _families(its)
    if ours.keys() & theirs.keys():
        return _rest_agrees(mine, its) and _same_subject(new, old, certain=True)
    if ours and theirs:  # a language is no alternative to a framework, but data moves from one store to another
        return new.changes and {*ours, *theirs} <= STORES and _same_subject(new, old, certain=False)
    return _is_single(new, old) and bool(new.about & old.about) and _same_subject(new, old, certain=False)


def _families(values: frozenset[str]) -> dict[str, str]:
    """The values that are of a family, by it, without those of which there are several of one."""
    chosen = [FAMILY[word] for word in values if word in FAMILY]
    return {FAMILY[word]: word for word in values if word in FAMILY and chosen.count(FAMILY[word]) == 1}


def _rest_agrees(mine: frozenset[str], its: frozenset[str]) -> bool:
    """Whether no more than one of two values says more than the alternatives that they choose."""
    rest = [{word for word in words if word not in FAMILY and word not in _GENERIC} for words in (mine, its)]
    return not all(rest) or rest[0] == rest[1]


def _differ_in_numbers(new: Claim, old: Claim) -> bool:
    """Whether two say the same with other numbers: as many, of the same things."""
    if len(new.numbers) != len(old.numbers) and not new.changes:
        return False
    mine, its = (replace(one, about=one.words - one.numbers - _UNITS) for one in (new, old))
    return _same_subject(mine, its, certain=False)


_UNITS = frozenset(stem(unit) for unit in vocabulary.UNITS)


def _is_single(new: Claim, old: Claim) -> bool:
    """Whether the subject has one value at a time, so that another one can't hold beside it."""
    if not new.frame or not old.frame:
        return False
    if new.frame != old.frame:
        return new.changes and "is" not in (new.frame, old.frame)
    if new.changes or new.frame in ("place", "lead"):
        return True
    return new.frame in ("is", "use") and any(word in _SLOT_STEMS for word in new.about & old.about)


def _same_subject(new: Claim, old: Claim, *, certain: bool) -> bool:
    """Whether both are about the same thing; ``certain``: their values say so, where the subject is not named.

    What only the new one names makes it an exception to the old one. What only the old one names may be left out.
    """
    mine, its = (
        frozenset(word for word in one - other if word not in _GENERIC)
        for one, other in ((new.about, old.about), (old.about, new.about))
    )
    shared = {word for word in new.about & old.about if word not in _GENERIC}
    if mine and its:
        return False
    if not shared:
        return certain and not mine and (not its or new.changes) and not (new.names | old.names) & (mine | its)
    if mine | its:
        return new.changes and not (mine | its) & (_PLACE_STEMS | new.names | old.names) and (certain or not mine)
    return True


@lru_cache(maxsize=4096)
def claim(text: str) -> Claim | None:
    """Take a statement apart; None for a question, a condition, a document."""
    if len(text) > LETTERS:
        return None
    said, text = text, _clean(text)
    words = list(_words(text))
    if not words or len(words) > LONGEST or _DOUBTFUL.search(text):
        return None
    built = _Reader(words)
    built.read()
    return built.claim(changes=bool(_CHANGES.search(said)))


def _clean(text: str) -> str:
    """A statement without how it is introduced, its reason, and what follows its first sentence's end."""
    text = text.replace("\u2019", "'").strip()
    for pattern, instead in (
        (_LEAD, " "),
        (_REASON, " "),
        (_LEAD, " "),
        (_GO_WITH, "use"),
        (_SLIP, ", "),
        (_SET, r"\1 is \2"),
    ):
        text = pattern.sub(instead, text).strip()
    text = _SENTENCE.split(text, maxsplit=1)[0]
    return _CLAUSE.split(text, maxsplit=1)[0] if _CLAUSE.search(text) and _is_whole(text) else text


_SENTENCE = re.compile(r"(?<=[\w)`'\"%][.!])\s+(?=\S)|\n+")


def _is_whole(text: str) -> bool:
    """Whether a text says something before its first comma, so that what follows only explains it."""
    words = [word for _, word in _words(_CLAUSE.split(text, maxsplit=1)[0])]
    return len(words) >= FEWEST and any(word in _VERBS for word in words[1:]) and not {"if", "when"} & {*words[:1]}


_CLAUSE = re.compile(r"[,;] (?!not\b|no\b|instead\b|rather\b|for\b|in\b|on\b|at\b|and\b|nicht\b|no\b)", re.IGNORECASE)


_SET = re.compile(
    r"^(?:we |i )?(?:have |'ve )?(?:just )?"
    r"(?:bumped|raised|lowered|increased|reduced|set|changed|moved|switched|renamed)"
    r" (?:the |our )?(.+?)(?: over)? (?:from \S+ )?to (.+)$",
    re.IGNORECASE,
)
_SLIP = re.compile(r"[.,;]\s+(?:no,? wait|wait,? no|sorry|i mean)\b[\s,]*", re.IGNORECASE)
_GO_WITH = re.compile(r"\b(?:go|goes|going|went|stick|stay) with\b", re.IGNORECASE)


_LEAD = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|and|also|but|well|yes|yeah|no|nope|nah|sorry|oops|please|btw|fyi|actually|wait|hm+|"
    r"note|remember|important|decision|decided|rule|update|correction|heads up|from now on|going forward|"
    r"as of (?:now|today)|starting (?:now|today)|"
    r"we (?:have |just |'ve )?(?:decided|agreed|settled)(?: (?:that|to|on))?|"
    r"let'?s (?:say|agree)(?: that)?|ab (?:jetzt|sofort)|desde ahora|a partir d[e']\s?\w+|d[eé]sormais|"
    r"it(?:'s| is) (?:now )?decided(?: that)?|our rule is(?: that| to)?|the (?:team|plan) (?:decided|is) to)"
    r"\b[\s,:.!-]*)+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[\s,;(-]+(?:because|since (?!\d)|so that|as (?:it|they|we|this|that)\b|otherwise|or else|due to|weil|porque|"
    r"parce que)\b[^.;]*",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(
    r"\?|\b(?:maybe|perhaps|might|could(?! not\b|n't)|should we|what if|suppose|wondering|not sure|consider|would|"
    r"if we|i'd like|i want|can you|"
    r"just this once|this time|for (?:now|today)|once\b(?! (?:a|per))|vielleicht|quiz[aá]s|peut-[eê]tre|talvez)\b",
    re.IGNORECASE,
)
"""A question, a condition, an exception for once: it sets nothing."""

_CHANGES = re.compile(
    r"\b(?:now|instead|no longer|any ?more|from now on|as of|switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|"
    r"changed|bumped|raised|lowered|increased|reduced|these days|nah|nope|wrong|sorry|oops|"
    r"replac(?:ed?|es|ing)|actually|not|rather than|jetzt|nun|statt|mehr|ahora|ya no|maintenant|plus|"
    r"agora|anymore)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"`[^`\n]+`|[^\W_](?:[\w'.:/@#+-]*[\w+#])?|[,;:()=\u2192]|->")
_NUMBER = re.compile(r"[#~v]?\d+(?:[.:]\d+)*")


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Words as they are written, and folded; punctuation ends a clause."""
    for found in _WORD.findall(text):
        word = found.strip("`").rstrip(".:'") or found
        yield word, word.casefold()


class _Reader:
    """Reads a statement's words from left to right: subject, verb, value, limits."""

    def __init__(self, words: list[tuple[str, str]]) -> None:
        self.words = words
        self.about: set[str] = set()
        self.value: set[str] = set()
        self.without: set[str] = set()
        self.numbers: set[str] = set()
        self.names: set[str] = set()
        self.order: list[str] = []
        self.frame = ""
        self.subject: frozenset[str] = frozenset()
        self.negative = False
        self.zone = self.about

    def read(self) -> None:
        """Sort every word into its zone."""
        for place, (word, low) in enumerate(self.words):
            before = self.words[place - 1][1] if place else ""
            if not self._steers(low, before, place):
                self._add(word, low, counts=self._counts(place))

    def _counts(self, place: int) -> bool:
        """Whether a number says how many there are ("2 approvals"), and is no label ("shard 2 holds")."""
        after = self.words[place + 1][1] if place + 1 < len(self.words) else ""
        if place and self.words[place - 1][1] in _LABELLED:
            return False
        if not self.frame and all(low in _FILLERS or low in _PREPOSITIONS for _, low in self.words[place + 1 :]):
            return True  # "line length 100"
        return after.isalpha() and after not in _VERBS and after not in _LIMITS and after not in _PREPOSITIONS

    def _steers(self, low: str, before: str, place: int) -> bool:
        """Whether a word says where the next ones belong, or turns the statement round, and means nothing itself."""
        if low in _REJECTS and place and self.frame and before not in _AUXILIARIES | {"do"}:
            self.zone = self.without
        elif low in _NEGATIONS or low.endswith("n't"):
            self.negative = self.negative or self.zone is not self.without
        elif low in _VERBS and not self.frame:
            self.frame, self.zone, self.subject = _VERBS[low], self.value, frozenset(self.about)
        elif low in _LIMITS and self.frame and self.value and self.zone is not self.without:
            self.zone = self.about
        elif low in _LIMITS or low in _PREPOSITIONS:
            self.zone = self._behind(low)
        elif low in _VERBS or low in _FILLERS:
            pass
        elif low in _STOPS:
            self.zone = self.value if self.zone is self.without else self.zone
        else:
            return False
        return True

    def _behind(self, low: str) -> set[str]:
        """Where the words behind a preposition belong: days and places are values, with any verb."""
        if self.frame == "is" and not self.value and low in _PLACING:
            self.frame = "place"
        if not self.frame and low in _GIVING:
            self.frame = "via"
            return self.value
        return self.zone

    def _add(self, word: str, low: str, *, counts: bool) -> None:
        low = "1" if low == "one" and counts else vocabulary.NUMBERS.get(low, low)
        number = _NUMBER.fullmatch(low)
        key = low if number or not low.replace("'", "").isalpha() else key_of(low)
        if number or low.isdecimal():
            self.numbers.add(key)
        elif word[1:] != word[1:].lower() or not low.replace("'", "").isalpha():
            self.names.add(key)
        self.order.append(key)
        chosen = (key in FAMILY and not low.endswith("'s")) or (bool(number) and counts)
        (self.value if chosen and self.zone is self.about else self.zone).add(key)

    def claim(self, *, changes: bool) -> Claim:
        """What was read."""
        value, about = frozenset(self.value), frozenset(self.about)
        if self.frame == "lead":
            value, about = self.subject, about - self.subject | value  # "Ann leads the team"
        if self.frame == "is" and self.subject and value <= _SLOT_STEMS and not self.subject & _SLOT_STEMS:
            value, about = self.subject, about - self.subject | value  # "Ann is the owner", "the owner is Ann"
        return Claim(
            about=about - value,
            value=value,
            without=frozenset(self.without),
            numbers=frozenset(self.numbers),
            frame=self.frame,
            negative=self.negative,
            changes=changes,
            places=frozenset(word for word in value | about if word in _PLACE_STEMS),
            names=frozenset(self.names),
            order=tuple(self.order),
        )


def key_of(word: str) -> str:
    """The same for a word, its forms and its synonyms."""
    word = word.removesuffix("'s")
    found = stem(_infinitive(word))
    return _KEYS.get(found, found)


def _infinitive(word: str) -> str:
    """The verb of a gerund: "merge" of "merging"; any other word unchanged."""
    root = word.removesuffix("ing")
    forms = (root, f"{root}e", root[:-1])
    return next((form for form in forms if form in vocabulary.IMPERATIVES), word) if root != word else word


_KEYS: dict[str, str] = {}
for _group in vocabulary.SYNONYMS:
    for _word in _group.split():
        _KEYS.setdefault(stem(_word), stem(_group.split()[0]))
_KEYS |= {stem("deployments"): stem("deploy"), stem("indentation"): stem("indent"), stem("indenting"): stem("indent")}

FAMILY = {key_of(word): family for word, family in FAMILIES.items()}
_SLOT_STEMS = frozenset(map(key_of, SLOTS))
_PLACE_STEMS = frozenset(
    key_of(word) for word, sort in vocabulary.PLACES.items() if sort in ("environment", "place", "system", "direction")
)
_GENERIC = frozenset(
    map(
        key_of,
        "we our everything all every each service system thing stuff project repo code team job new current whole"
        " only way one always whenever anything here there commit merge".split(),
    )
)
_POLAR = frozenset(map(key_of, "always never again any more longer ever allow allowed fine ok okay please".split()))
_VERBS = {
    **dict.fromkeys(
        "is are was were be isn't aren't equals = : -> \u2192 becomes ist sind es son est sont sera".split(), "is"
    ),
    **dict.fromkeys(
        "use uses using run runs running adopt choose pick prefer utilize take takes nutzen nehmen benutzen verwenden"
        " usamos usar utilisons utiliser utiliza".split(),
        "use",
    ),
    **dict.fromkeys(
        "lives live sits sit comes come resides belongs belong goes go stays stay listens listen moved moves move"
        " points point"
        " called named happens happen starts start ends end laufen läuft liegt liegen gehört".split(),
        "place",
    ),
    **dict.fromkeys("leads lead owns own".split(), "lead"),
    **dict.fromkeys("must should shall has have had needs need".split(), ""),
}
"""Verbs by the kind of what they say; "" says nothing of how many values there may be."""

_LABELLED = frozenset(
    "case step phase item number issue ticket pr part section option variant shard v version line row rule test"
    " attempt example build run".split()
)
"""Words whose number is a label: "step 2" is another step than "step 1"."""

_AUXILIARIES = frozenset("is are was were be do does did must should will can".split())
_NEGATIONS = frozenset("not never no don't doesn't avoid without nicht nie kein keine no nunca jamais pas não".split())
_REJECTS = frozenset("not instead rather off anymore than statt".split())
_LIMITS = frozenset(
    "for in of within inside if when unless except during while before after from by during für bei".split()
)
_PLACING = frozenset("at on in under".split())
_GIVING = frozenset("at on to into from with under".split())
"""Prepositions that are followed by the value, where no verb is more specific: "deploy from main"."""

_PREPOSITIONS = frozenset("on at to into onto from as via through over under out up auf zu".split())
_STOPS = frozenset(", ; ( ) and und y et e".split())
_FILLERS = vocabulary.FILLERS | frozenset(
    "we i you they it's we're let's lets us now from any more anymore only just must should please everything always"
    " your my me will can gets get got it das die der den dem ein eine immer jetzt nun los las el la les le un une"
    " on que ahora siempre toujours maintenant only but than instead rather per enough max"
    " last night yesterday today ago done already".split()
)
