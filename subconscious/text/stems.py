"""Stems of words: all forms of a word have the same stem, and synonyms share a key."""

from __future__ import annotations

import re
from functools import lru_cache

from subconscious.text import synonyms, vocabulary

_CLIPPED = re.compile(r"[^aeiou][aeiou][^aeiouwxy]")
_NOUNS_IN_ING = (
    *("string", "thing", "staging", "billing", "setting", "pricing", "meeting", "during", "marketing", "spring"),
    *("warning", "landing", "heading", "sibling", "ceiling", "morning", "evening", "training", "rating", "ranking"),
)
"""Words in "ing", or endings of such words, that are nouns in any position."""


@lru_cache(maxsize=1 << 14)
def stem(word: str, *, doing: bool = False) -> str:
    """Return a word without common endings; the forms of a verb, and its noun in "ion", have the same stem.

    ``doing`` means that the word may be a gerund.
    """
    if word in vocabulary.UNCHANGED:
        return word
    word = vocabulary.IRREGULAR.get(word, word)
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    word = vocabulary.IRREGULAR.get(word, word)
    if doing and word.endswith("ing") and len(word) > 5 and not word.endswith(_NOUNS_IN_ING):
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
        word = _adjective_of(word)
    return _without_silent_letter(_american_spelling(word))


def _adjective_of(adverb: str) -> str:
    """Return the adjective of an adverb: "strict" of "strictly", "automatic" of "automatically"."""
    return adverb[:-4] if adverb.endswith("ically") else adverb[:-2]


def _american_spelling(word: str) -> str:
    """Return a word in American spelling: "normalize" for "normalise", "color" for "colour"."""
    if word.endswith(("alise", "alis", "imise", "imis", "onise", "onis")) and len(word) > 6:
        return word.removesuffix("e")[:-1] + "ze"
    return _BRITISH.sub("or", word)


_BRITISH = re.compile(r"(?<=\w[lnvi])our$")


def is_past_form(word: str) -> bool:
    """Whether a word has the form of a past tense or a participle."""
    ends = word.endswith("ed") and not word.endswith("eed") and len(word) > 4 and word not in ("embed", "shared")
    return ends or (word in vocabulary.IRREGULAR and not word.endswith(_NOT_DONE))


_NOT_DONE = ("ment", "ion", "al", "ance", "ence", "iry", "es", "ing")
"""Endings of words that are nouns or in the present tense, although they look like irregular past forms."""


def _infinitive(root: str) -> str:
    """Return the verb for ``root``, its form without "ed" or "ing": "code" for "cod", but "fix" for "fix"."""
    return root + "e" if _CLIPPED.fullmatch(root) else root


def _without_silent_letter(word: str) -> str:
    """Return a word without a silent or doubled letter at its end, and with "i" for a final "y".

    Short words are returned unchanged: "note" is not "not".
    """
    bare = word[:-1] if word.endswith("e") and len(word) > 4 else word
    if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "lsz":
        bare = bare[:-1]
    return bare[:-1] + "i" if bare.endswith("y") and len(bare) > 3 else bare


_SYNONYMS: dict[str, str] = {}
for _group in synonyms.SYNONYMS:
    for _one in _group.split():
        _SYNONYMS.setdefault(stem(_one), stem(_group.split()[0]))


def synonym_key(stem: str) -> str:
    """Return the stem that represents a stem and its synonyms."""
    return _SYNONYMS.get(stem, stem)


LIGHT = {
    stem(word): (sort, number)
    for sort, groups in enumerate(vocabulary.LIGHT)
    for number, group in enumerate(groups)
    for word in group.split()
}
"""The stems of light words (words with little meaning), each with its sort (pronoun, verb, noun) and group."""

PLACES = {stem(word): sort for word, sort in vocabulary.PLACES.items()}
"""The sort of each word in ``vocabulary.PLACES``, by the word's stem."""
