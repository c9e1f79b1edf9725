"""Search terms of a text: its words without stop words, the parts of its code words, and the names in it.

Searching for stop words reduces recall by 5 percentage points and takes most of the time of a query. A name that a
prompt and a memory share is the strongest sign of relevance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from subconscious.text.codewords import code_parts
from subconscious.text.function_words import REPLIES, function_words, only_replies
from subconscious.text.synonyms import spellings

STOP_WORDS = frozenset(
    word
    for line in (
        "a about above after again against all also am an and any are as at be because been before being",
        "below between both but by can could did do does doing done down during each few for from further get",
        "got had has have having he her here hers herself him himself his how i if in into is it its itself",
        "just let lets like me more most my myself no nor not now of off on once only or other our ours out",
        "over own please s same she should so some such t than that the their theirs them themselves then",
        "there these they this those through to too under until up us use very was we were what when where",
        "which while who whom why will with would you your yours yourself",
    )
    for word in line.split()
)
TERMS = 24
"""The maximum number of terms in one query: for a long pasted text, only terms of its beginning are searched."""

LETTERS = 4000
"""The maximum number of characters of a text that are examined."""

_TOKEN = re.compile(r"[^\W\d_](?:[\w./:-]{0,118}\w)?")
_USES_A_NAME = re.compile(
    r"\b(?:use[sd]?|using|why|in|with|nimm|nutz\w*|verwend\w*|mit|utilis\w*|avec|en|usa\w*|con|com|em)"
    r" (?:go|vale)\b(?! ahead)",
    re.IGNORECASE,
)
""""Go" or "vale" after a word that shows that it is a name, and not an answer."""
_CODE = re.compile(r"[a-z][A-Z]|_|\d|/|\w\.\w|::")
_BEGINS = re.compile(r"(?:^|[.!?:;>\n\"“(])[\s\"'“(*-]*$")


def terms(text: str, limit: int = TERMS) -> list[str]:
    """Return the distinct search terms in order, with parts of camelCase words; all are safe in full-text queries."""
    text = text[:LETTERS]
    words = re.findall(r"\w+", f"{text} {code_parts(text)}".casefold())
    kept = (word for word in words if len(word) > 1 and word not in STOP_WORDS and word.strip("_"))
    return list(dict.fromkeys(kept))[:limit]


def query_terms(text: str) -> list[str]:
    """Return the search terms of a query, without function words and words such as "yes" if it has other terms."""
    found = terms(text, limit=LETTERS)
    left_out = function_words(found) | REPLIES
    return ([word for word in found if word not in left_out] or found)[:TERMS]


def names_a_subject(text: str) -> bool:
    """Whether a text names a subject, and is not only an answer ("yes please"); "use go" names the language Go."""
    return not only_replies(terms(text, limit=LETTERS)) or bool(_USES_A_NAME.search(text[:LETTERS]))


def with_spellings(words: Iterable[str]) -> list[str]:
    """Return words with the other spellings of each: "postgresql" for "postgres"."""
    return list(dict.fromkeys(one for word in words for one in (word, *spellings(word))))


def names(text: str) -> frozenset[str]:
    """Return the names in a text, casefolded: capitalised words inside sentences, identifiers, paths, error numbers."""
    return frozenset(_names(text[:LETTERS]))


def _names(text: str) -> Iterator[str]:
    for token in _TOKEN.finditer(text):
        word = re.sub(r"['\u2019]s$", "", token[0])
        if word.casefold() in STOP_WORDS or len(word) < 2:
            continue
        first = _BEGINS.search(text[max(0, token.start() - 8) : token.start()])
        if _CODE.search(word) or (word[0].isupper() and (not first or (word.isupper() and len(word) > 2))):
            yield word.casefold()


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return a word without common English endings, so that forms of one word are equal."""
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word
