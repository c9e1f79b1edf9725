"""Normalises the words of statements, to find out whether two of them say the same.

The local model sees bags of words: "use tabs, not spaces" and "use spaces, not tabs" have a cosine of 1, and another
word in a sentence of ten still gives .95. So a cosine above .85 only makes candidates. The words decide: each word with
a meaning occurs in both, in the same form, another form or as a synonym, and in the same order once "is kept" is read
as "keep".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from subconscious.text import vocabulary

_LIGHT = frozenset(
    "a an the this that these those which we our i it its am is are be being do does please just really also very"
    " quite simply actually basically of so well ok okay".split()
)
"""Words without which a statement says the same."""

_ALIKE = (
    "use utilise utilize employ",
    "must should shall",
    "run execute",
    "fix repair",
    "folder directory dir",
    "repo repository",
    "config configuration",
    "db database",
    "env environment",
    "doc documentation",
    "param parameter",
    "arg argument",
    "var variable",
    "dep dependency",
    "func function",
    "app application",
    "spec specification",
    "pkg package",
    "id identifier",
    "info information",
    "delete remove",
    "begin start",
    "choose pick select",
    "prefer favour favor",
    "ensure guarantee",
    "every each all",
    "big large",
    "when whenever",
    "not never avoid no",
)
"""Synonyms; the first one represents them."""

_DONE = {
    done: verb
    for pair in (
        "built build,chosen choose,done do,found find,given give,held hold,kept keep,made make,meant mean,put put,"
        "read read,run run,sent send,set set,shown show,split split,taken take,thrown throw,written write"
    ).split(",")
    for done, verb in [pair.split()]
}
"""Irregular participles after "is"."""

_REWRITES = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"^\W*+(?:(?:please|fyi|going forward|from now on)\b[,:]?\s*+(?:(?:that|to)\b\s*+)?|"
            r"(?:remember|note|important|reminder)(?:\s*[,:]\s*(?:that\b|to\b)?|\s+(?:that|to)\b)\s*|"
            r"(?:don['\u2019]t forget|be sure|we (?:decided|agreed))\s+(?:that|to)\s+)+",
            "",
        ),
        (r"\b(?:have|has|need|needs|ought|is supposed|are supposed) to\b", "must"),
        (r"\b(?:rather than|in place of|instead of)\b", "instead"),
        (r"\bmake sure(?: that)?\b", "ensure"),
        (r"\bin order to\b", "to"),
        (r"\bcan ?not\b|\bcan['\u2019]t\b", "can not"),
        (r"\bwon['\u2019]t\b", "will not"),
        (r"n['\u2019]t\b", " not"),
        (r"['\u2019]ll\b", " will"),
        (r"(?<=\w)['\u2019](?:s|re|m)\b", ""),
        (r"(?<=\d),(?=\d{3}\b)", ""),
    )
)
_NUMBERS = {word: str(value) for value, word in enumerate("two three four five six seven eight nine ten".split(), 2)}

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_TOKEN = re.compile(r"`[^`\n]+`|!?[^\s,;!()\[\]{}\"\u201c\u201d`]+")
"""An exclamation mark ends a sentence; before a word or "=" it negates, like "not"."""

_CODE = re.compile(r"[a-z][A-Z]")
_AUXILIARY = frozenset("is are be being".split())
_BEFORE_DOING = frozenset("not never avoid no before after when while without by".split())
"""Behind these a word in "ing" is what somebody does; elsewhere it may be a thing of that name: "staging"."""

_CLIPPED = re.compile(r"[^aeiou][aeiou][^aeiouwxy]|[^aeiou]y[^aeiouwxy]")
"""Three letters that were four: of "using" and "noting"; of a verb with three the last one is doubled ("running")."""


def same_words(one: str, other: str) -> bool:
    """Whether two statements say the same and nothing besides."""
    first, second = read(one), read(other)
    return first == second and (bool(first) or one == other)


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[str, ...]:
    """What a statement is made of: its words that carry meaning, each in one form, in their order."""
    for pattern, instead in _REWRITES:
        text = pattern.sub(instead, text)
    words = [word for sentence in _SENTENCE.split(text) for word in _actively(list(_forms(sentence)))]
    # What holds, holds always; but what does not hold always may hold.
    return tuple(word for word, _ in words if word != "alway" or any(one == "not" for one, _ in words))


Form = tuple[str, bool]
"""A word, and whether it is a participle that applies to the word before it."""


def _actively(words: list[Form]) -> list[Form]:
    """A passive sentence as an instruction."""
    at = next((place for place, (_, passive) in enumerate(words) if passive), 0)
    before, verb = words[:at], words[at : at + 1]
    must = [word for word in before if word[0] == "must"]
    if must and ("not", False) in before[: before.index(must[0])]:
        return words  # what need not be done may be; what must not be done may not
    return must + verb + [word for word in before if word[0] != "must"] + words[at + 1 :]


def _forms(sentence: str) -> Iterator[Form]:
    before = ""
    for found in _TOKEN.finditer(sentence):
        token = found[0].strip("`").rstrip(".:'\u2019").lstrip("'\u2018")
        quoted = found[0].startswith("`")
        word = token.casefold()
        if quoted and token:
            yield token, False
        elif token and (word not in _LIGHT or _is_name(token, first=found.start() == 0)):
            yield _form(token, word, before)
        before = "`" if quoted else word


def _is_name(written: str, *, first: bool) -> bool:
    """Whether its capitals make a name of it, as of "option A" and "the US region"."""
    return written.isupper() and written != "I" and not (first and len(written) == 1)


def _form(token: str, word: str, before: str) -> Form:
    """A plain word as its representative synonym; other tokens unchanged."""
    if not word.isalpha() or _CODE.search(token) or (token.isupper() and 1 < len(token) < 4):
        return (token if _CODE.search(token) else word), False
    passive = before in _AUXILIARY and (word in _DONE or (word.endswith("ed") and len(word) > 3))
    verb = (_DONE.get(word) or _infinitive(word[:-2])) if passive else _NUMBERS.get(word, word)
    doing = not before or before in _BEFORE_DOING
    stem = _stem(_infinitive(verb[:-3]) if doing and verb.endswith("ing") and len(verb) > 4 else verb)
    return _NAMES.get(stem, stem), passive


def _stem(word: str) -> str:
    """A word without the ending of number or person; the ending of tense stays, because past and present differ."""
    if word in vocabulary.UNCHANGED:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return _bare(word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word)


def _infinitive(root: str) -> str:
    """A verb without "ing" or "ed", with the silent letter that it may have lost: "fix" and "add" have none."""
    return root if len(root) == 3 and not _CLIPPED.fullmatch(root) else root + "e"


def _bare(word: str) -> str:
    """Without a silent and a doubled letter at its end; a short word is another one without: "note", "not"."""
    bare = word[:-1] if word.endswith("e") and len(word) > 4 else word
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "lsz" else bare


_NAMES = {_stem(word): _stem(group.split()[0]) for group in _ALIKE for word in group.split()}
