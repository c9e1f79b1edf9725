"""Estimates the probability that a memory is about a query, as a number that is comparable between queries.

Fused scores order the hits of one query but can't be compared between queries: the best of many poor hits scores 1.
Proactive surfacing needs a measure that does not depend on other hits. It is a logistic function of the cosine, the
share of the query's terms in the memory, their weight (BM25), the names of the query in the memory, and the length of
the query. The coefficients are rounded. `bench/surfacing.py` measures how many right and wrong memories pass a
threshold of .6.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from subconscious.domain.hits import EngineHit
from subconscious.text.synonyms import spellings
from subconscious.text.terms import names, query_terms, stem

CONSTANT = -5.4
COSINE = 2.0
UNSEEN = 0.4
"""The cosine that is assumed for a hit that only the full text found: the cosine of a typical hit."""
SHARE = 3.3
WEIGHT, MOST_WEIGHT = 0.09, 20.0
NAMES = 1.5
SIZE, LARGE = 1.3, 6
"""The weight of a query's length, and the number of terms at which it counts in full: short queries match by chance."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query prepared for comparison with memories: the stems of its terms, and the names in it.

    Names are identifiers, paths, capitalised words and error numbers. ``spelled`` has, by the stem of a term, the stems
    of its other spellings.
    """

    stems: frozenset[str]
    names: frozenset[str]
    spelled: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> QueryTerms:
        """Parse a query. The result is used for all hits of the query."""
        found = query_terms(text)
        spelled = {stem(term): frozenset(map(stem, others)) for term in found if (others := spellings(term))}
        return cls(frozenset(map(stem, found)), names(text), spelled)

    def names_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the query's names that a text contains."""
        if not self.names:
            return 0.0
        lowered = text.casefold()
        found = (any(_contains_name(lowered, one) for one in (name, *spellings(name))) for name in self.names)
        return sum(found) / len(self.names)

    def terms_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the query's terms that a text contains."""
        if not self.stems:
            return 0.0
        words = {stem(word) for word in re.findall(r"\w+", text.casefold())}
        found = self.stems & words | {one for one, others in self.spelled.items() if others & words}
        return len(found) / len(self.stems)


def relevance(query: QueryTerms, text: str, engines: Sequence[EngineHit], share: float | None = None) -> float:
    """Return how relevant a memory's whole text is to a query: a calibrated value from 0 to 1, before any decay.

    ``share`` is the share of the query's terms that the text contains, if it is known.
    """
    score = {hit.engine: hit.score for hit in engines}
    raw = (
        CONSTANT
        + COSINE * score.get("vector", UNSEEN)
        + SHARE * (query.terms_share(text) if share is None else share)
        + WEIGHT * min(MOST_WEIGHT, score.get("text", 0.0))
        + NAMES * query.names_share(text)
        + SIZE * min(LARGE, len(query.stems)) / LARGE
    )
    return 1.0 / (1.0 + math.exp(-raw))


def _contains_name(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
