"""Reads the claim of a statement: its subject, the value of the subject, and its conditions, by heuristics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from subconscious.text import synonyms, vocabulary
from subconscious.text.alternatives import FAMILIES, SLOTS
from subconscious.text.stems import stem
from subconscious.text.words import has_letters

LETTERS = 600
"""The maximum number of characters of a statement that is compared."""

LONGEST = 60
"""The maximum number of words of a statement that is compared; longer statements make several claims."""

FEWEST = 3
"""The minimum number of words of a clause that counts as a statement of its own."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, split into its subject, its value and its conditions.

    ``about`` has the words of the subject and the conditions, ``value`` the words of the value, ``without`` the words
    of rejected values. ``frame`` is the kind of the verb (see ``_VERBS``), "" if no verb has a kind.
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
        """The words of the subject, the conditions and the value, without those of rejected values."""
        return self.about | self.value


@lru_cache(maxsize=4096)
def claim(text: str) -> Claim | None:
    """Return the claim of a statement; None for questions, guesses, one-time exceptions, long and wordless texts."""
    if len(text) > LETTERS or not has_letters(text):
        return None
    original, text = text, _clean(text)
    words = list(_words(text))
    if not words or len(words) > LONGEST or _DOUBTFUL.search(text):
        return None
    reader = _Reader(words)
    reader.read()
    return reader.claim(changes=bool(_CHANGES.search(original)))


def _clean(text: str) -> str:
    """Return a statement without its introduction, its reason, and everything after its first sentence."""
    text = text.replace("\u2019", "'").strip()
    for pattern, replacement in (
        (_LEAD, " "),
        (_REASON, " "),
        (_LEAD, " "),
        (_GO_WITH, "use"),
        (_SLIP, ", "),
        (_SET, r"\1 is \2"),
    ):
        text = pattern.sub(replacement, text).strip()
    text = _SENTENCE.split(text, maxsplit=1)[0]
    return _CLAUSE.split(text, maxsplit=1)[0] if _CLAUSE.search(text) and _is_whole(text) else text


_SENTENCE = re.compile(r"(?<=[\w)`'\"%][.!])\s+(?=\S)|\n+")


def _is_whole(text: str) -> bool:
    """Whether the part of a text before its first comma is a complete statement, which the rest only explains."""
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
"""A pattern of questions, guesses, wishes and one-time exceptions, which assign no value."""

_CHANGES = re.compile(
    r"\b(?:now|instead|no longer|any ?more|from now on|as of|switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|"
    r"changed|bumped|raised|lowered|increased|reduced|these days|nah|nope|wrong|sorry|oops|"
    r"replac(?:ed?|es|ing)|actually|not|rather than|jetzt|nun|statt|mehr|ahora|ya no|maintenant|plus|"
    r"agora|anymore|these days|nowadays)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"`[^`\n]+`|[^\W_](?:[\w'.:/@#+-]*[\w+#])?|[,;:()=\u2192]|->")
_NUMBER = re.compile(r"[#~v]?\d+(?:[.:]\d+)*")


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word as written and casefolded; punctuation marks are words too."""
    for found in _WORD.findall(text):
        word = found.strip("`").rstrip(".:'") or found
        yield word, word.casefold()


class _Reader:
    """Reads a statement's words from left to right, and assigns each to a part: subject, verb, value, limits."""

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
        """Assign each word to its part."""
        for index, (word, low) in enumerate(self.words):
            before = self.words[index - 1][1] if index else ""
            if not self._is_control_word(low, before, index):
                self._add(word, low, counts=self._counts(index))

    def _counts(self, index: int) -> bool:
        """Whether a number is a quantity ("2 approvals") and not a label ("shard 2")."""
        after = self.words[index + 1][1] if index + 1 < len(self.words) else ""
        if index and self.words[index - 1][1] in _LABELLED:
            return False
        if not self.frame and all(low in _FILLERS or low in _PREPOSITIONS for _, low in self.words[index + 1 :]):
            return True  # "line length 100"
        return after.isalpha() and after not in _VERBS and after not in _LIMITS and after not in _PREPOSITIONS

    def _is_control_word(self, low: str, before: str, index: int) -> bool:
        """Handle a word that only has a function, such as a preposition or negation; return whether ``low`` is one."""
        if low in _REJECTS and index and self.frame and before not in _AUXILIARIES | {"do"}:
            self.zone = self.without
        elif low in _NEGATIONS or low.endswith("n't"):
            self.negative = self.negative or self.zone is not self.without
            self._begin_value(low)  # "isn't" is a verb, too
        elif low in _VERBS and not self.frame:
            self._begin_value(low)
        elif low in _LIMITS and self.frame and self.value and self.zone is not self.without:
            self.zone = self.about
        elif low in _LIMITS or low in _PREPOSITIONS:
            self.zone = self._zone_after(low)
        elif low in _VERBS or low in _FILLERS:
            pass
        elif low in _STOPS:
            self.zone = self.value if self.zone is self.without else self.zone
        else:
            return False
        return True

    def _begin_value(self, low: str) -> None:
        """Assign the words after the first verb to the value; for a negation that is not a verb, do nothing."""
        if low in _VERBS and not self.frame:
            self.frame, self.zone, self.subject = _VERBS[low], self.value, frozenset(self.about)

    def _zone_after(self, low: str) -> set[str]:
        """Return the part to which the words after a preposition belong.

        A preposition may also determine the kind of the verb: "at" or "on" after "is" states a place.
        """
        if self.frame == "is" and not self.value and low in _PLACING:
            self.frame = "place"
        if not self.frame and low in _BEFORE_VALUE:
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
        """Return the claim that was read; ``changes`` is whether the statement reports a change."""
        value, about = frozenset(self.value), frozenset(self.about)
        if self.frame == "lead":
            value, about = self.subject, about - self.subject | value  # "Ann leads the team"
        if self.frame == "is" and self.subject and value <= SLOT_STEMS and not self.subject & SLOT_STEMS:
            value, about = self.subject, about - self.subject | value  # "Ann is the owner", "the owner is Ann"
        return Claim(
            about=about - value,
            value=value,
            without=frozenset(self.without),
            numbers=frozenset(self.numbers),
            frame=self.frame,
            negative=self.negative,
            changes=changes,
            places=frozenset(word for word in value | about if word in PLACE_STEMS),
            names=frozenset(self.names),
            order=tuple(self.order),
        )


def key_of(word: str) -> str:
    """Return a key that a word shares with its forms and synonyms."""
    word = word.removesuffix("'s")
    found = stem(_infinitive(word))
    return _KEYS.get(found, found)


def _infinitive(word: str) -> str:
    """Return the infinitive for a gerund: "merge" for "merging"; other words are returned unchanged."""
    root = word.removesuffix("ing")
    forms = (root, f"{root}e", root[:-1])
    return next((form for form in forms if form in vocabulary.IMPERATIVES), word) if root != word else word


_KEYS: dict[str, str] = {}
for _group in synonyms.SYNONYMS:
    for _word in _group.split():
        _KEYS.setdefault(stem(_word), stem(_group.split()[0]))
_KEYS |= {stem("deployments"): stem("deploy"), stem("indentation"): stem("indent"), stem("indenting"): stem("indent")}

FAMILY = {key_of(word): family for word, family in FAMILIES.items()}
SLOT_STEMS = frozenset(map(key_of, SLOTS))
PLACE_STEMS = frozenset(
    key_of(word) for word, sort in vocabulary.PLACES.items() if sort in ("environment", "place", "system", "direction")
)
_VERBS = {
    **dict.fromkeys(
        "is are was were be isn't aren't wasn't weren't equals = : -> \u2192 becomes ist sind es son est sont"
        " sera".split(),
        "is",
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
"""The kind of each verb; "" if the verb does not imply how many values the subject may have."""

_LABELLED = frozenset(
    "case step phase item number issue ticket pr part section option variant shard v version line row rule test"
    " attempt example build run".split()
)
"""Words that are followed by a label: "step 2" and "step 1" are different steps."""

_AUXILIARIES = frozenset("is are was were be do does did must should will can".split())
_NEGATIONS = frozenset("not never no don't doesn't avoid without nicht nie kein keine no nunca jamais pas não".split())
_REJECTS = frozenset("not instead rather off anymore than statt".split())
_LIMITS = frozenset(
    "for in of within inside if when unless except during while before after from by during für bei".split()
)
_PLACING = frozenset("at on in under".split())
_BEFORE_VALUE = frozenset("at on to into from with under".split())
"""Prepositions that introduce the value if no verb with a kind precedes them: "deploy from main"."""

_PREPOSITIONS = frozenset("on at to into onto from as via through over under out up auf zu".split())
_STOPS = frozenset(", ; ( ) and und y et e".split())
_FILLERS = vocabulary.FILLERS | frozenset(
    "we i you they it's we're let's lets us now from any more anymore only just must should please everything always"
    " your my me will can gets get got it das die der den dem ein eine immer jetzt nun los las el la les le un une"
    " on que ahora siempre toujours maintenant only but than instead rather per enough max"
    " last night yesterday today ago done already".split()
)
