"""Extracts candidates without a language model: by structure, words, and a small linear model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from subconscious.capture.detectors import typed
from subconscious.capture.detectors.chosen import answers, plans
from subconscious.capture.detectors.commit_messages import commits
from subconscious.capture.detectors.conventions import conventions
from subconscious.capture.detectors.findings import findings
from subconscious.capture.detectors.fixed_problems import mended
from subconscious.capture.detectors.obstacles import obstacles
from subconscious.capture.detectors.practices import practices
from subconscious.capture.detectors.published import published
from subconscious.capture.detectors.resolved import resolved
from subconscious.capture.detectors.statements import statements
from subconscious.capture.detectors.struggles import struggles
from subconscious.capture.draft import Draft, candidate
from subconscious.capture.exchange import Exchange, exchanges
from subconscious.capture.weighing import confidence
from subconscious.domain.model import Candidate, Turn
from subconscious.text.examined import examined
from subconscious.text.wording import content_words

_FIRST = frozenset(("finding", "plan", "sentence", "point"))
"""Sources of drafts that are kept even if an earlier draft has all their words: the shorter draft may be better."""

EXTRACTOR = "offline-5"


def extract(turns: Sequence[Turn], opinions: typed.Opinions = typed.NO_OPINIONS) -> list[Candidate]:
    """Return the candidates in some turns. Of candidates with equal content, only the most confident is returned."""
    turns = examined(turns)
    found: dict[str, Candidate] = {}
    weighed = [(draft, confidence(draft)) for draft in distinct(drafts(turns))]
    told = (candidate(*one, EXTRACTOR) for one in weighed)
    for one in (*typed.extract(turns, opinions), *told):
        if not one.content or not one.evidence.quote.strip():
            continue
        known = found.get(one.content.casefold())
        if known is None or known.raw_confidence < one.raw_confidence:
            found[one.content.casefold()] = one
    return list(found.values())


def drafts(turns: Sequence[Turn]) -> Iterator[Draft]:
    """Yield the drafts of some turns, without confidences."""
    found = list(exchanges(turns))
    for exchange in found:
        yield from answers(exchange)
        yield from plans(exchange)
        yield from _told(exchange)
        yield from struggles(exchange)
        yield from obstacles(exchange)
        yield from commits(exchange)
        yield from published(exchange)
    yield from conventions(found)
    yield from practices(found)


def distinct(found: Iterable[Draft]) -> list[Draft]:
    """Return the drafts without those that repeat the wording of another."""
    first: dict[str, Draft] = {}
    for draft in found:
        first.setdefault(draft.content.casefold(), draft)
    return list(first.values())


def _told(exchange: Exchange) -> list[Draft]:
    """Return the assistant's statements in an exchange. Some are returned in a longer and a shorter version."""
    kept: list[Draft] = []
    said: dict[str, list[frozenset[str]]] = {}
    for draft in (*findings(exchange), *mended(exchange), *resolved(exchange), *statements(exchange)):
        words = frozenset(word.lower() for word in content_words(draft.content))
        known = said.setdefault(draft.turn.id, [])
        if draft.source not in _FIRST and any(words and words <= other for other in known):
            continue
        known.append(words)
        kept.append(draft)
    return kept
