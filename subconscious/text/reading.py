"""Normalises the words of statements, to decide whether two statements mean the same.

Embeddings of the local model depend on the words and hardly on their order: "use tabs, not spaces" and "use spaces, not
tabs" have a cosine of 1, and one different word in ten still gives 0.95. So a cosine above 0.85 only selects
candidates. The words decide: each word that carries meaning must occur in both statements, in any form or as a synonym,
and in the same order. Before the orders are compared, passive sentences are made active: "X is kept" becomes "keep X".
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
"""Words that can be left out without a change of meaning."""

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
"""Synonyms; the first word of a group represents it."""

_PARTICIPLES = {
    done: verb
    for pair in (
        "built build,chosen choose,done do,found find,given give,held hold,kept keep,made make,meant mean,put put,"
        "read read,run run,sent send,set set,shown show,split split,taken take,thrown throw,written write"
    ).split(",")
    for done, verb in [pair.split()]
}
"""The verb of each irregular participle that may follow "is"."""

_REWRITES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
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
"""A pattern of tokens. An exclamation mark ends a sentence; before a word or "=" it negates, like "not"."""

_CODE = re.compile(r"[a-z][A-Z]")
_AUXILIARY = frozenset("is are be being".split())
_BEFORE_DOING = frozenset("not never avoid no before after when while without by".split())
"""Words after which a word in "ing" is a verb; elsewhere it may be a noun such as "staging"."""

_CLIPPED = re.compile(r"[^aeiou][aeiou][^aeiouwxy]|[^aeiou]y[^aeiouwxy]")
"""A pattern of a verb of three letters that may have lost a silent "e": "not" of "noting", not "fix" of "fixing"."""


def same_words(one: str, other: str) -> bool:
    """Whether two statements have the same words, apart from words without meaning."""
    first, second = normalised_words(one), normalised_words(other)
    return first == second and (bool(first) or one == other)


@lru_cache(maxsize=4096)
def normalised_words(text: str) -> tuple[str, ...]:
    """Return the normalised words of a statement, in order."""
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    words = [word for sentence in _SENTENCE.split(text) for word in _to_active(list(_forms(sentence)))]
    # "always" adds no meaning, except in a negation: "not always" is not "not".
    return tuple(word for word, _ in words if word != "alway" or any(one == "not" for one, _ in words))


Form = tuple[str, bool]
"""A word, and whether it is a participle that applies to the word before it."""


def _to_active(words: list[Form]) -> list[Form]:
    """Return a passive sentence as an instruction: "X is kept" becomes "keep X"."""
    at = next((index for index, (_, passive) in enumerate(words) if passive), 0)
    before, verb = words[:at], words[at : at + 1]
    must = [word for word in before if word[0] == "must"]
    if must and ("not", False) in before[: before.index(must[0])]:
        return words  # unlike "must not be done", "need not be done" is not a prohibition
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
    """Whether the capitals of a word make it a name: "option A", "the US region"."""
    return written.isupper() and written != "I" and not (first and len(written) == 1)


def _form(token: str, word: str, before: str) -> Form:
    """Return a word's base form, the same for all its synonyms, and whether it is passive; code stays unchanged."""
    if not word.isalpha() or _CODE.search(token) or (token.isupper() and 1 < len(token) < 4):
        return (token if _CODE.search(token) else word), False
    passive = before in _AUXILIARY and (word in _PARTICIPLES or (word.endswith("ed") and len(word) > 3))
    verb = (_PARTICIPLES.get(word) or _infinitive(word[:-2])) if passive else _NUMBERS.get(word, word)
    doing = not before or before in _BEFORE_DOING
    stem = _stem(_infinitive(verb[:-3]) if doing and verb.endswith("ing") and len(verb) > 4 else verb)
    return _NAMES.get(stem, stem), passive


def _stem(word: str) -> str:
    """Return a word without its plural or third-person ending. The tense is kept, because it changes the meaning."""
    if word in vocabulary.UNCHANGED:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return _without_silent_letter(
        word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
    )


def _infinitive(root: str) -> str:
    """Return the verb for ``root``, its form without "ing" or "ed", with the silent "e" that it may have lost."""
    return root if len(root) == 3 and not _CLIPPED.fullmatch(root) else root + "e"


def _without_silent_letter(word: str) -> str:
    """Return a word without a silent or doubled letter at its end, except in short words: "note" is not "not"."""
    bare = word[:-1] if word.endswith("e") and len(word) > 4 else word
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "lsz" else bare


_NAMES = {_stem(word): _stem(group.split()[0]) for group in _ALIKE for word in group.split()}
