"""Fills a statement up with another one of its exchange about the same thing: together they say more than apart.

What alone is narrow (a fault, a fix, a place) is often told by several sentences of one piece of work. The stronger takes
one of those that add most, the one with which it is worth most, if both fit; what was taken is no candidate of its own
any more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from subconscious.capture.draft import Draft
from subconscious.capture.kernel import leans
from subconscious.capture.passages import LONGEST
from subconscious.capture.wording import content_words, is_name, tags

_TAKES = frozenset(("point", "sentence", "finding", "plan", "published", "resolved", "reply", "commit", "commit point"))
_TAKEN = frozenset(("point", "sentence", "finding", "plan", "published", "resolved"))
"""Where a statement comes from that may take another one, and that may be taken."""

_NARROW = 0.04
"""Confidence that a statement loses among others of which it takes none: alone it is of use less often."""

_TRIED = 6
"""Companions that are weighed together with a statement: those that add most."""

_LEAST = 0.5
"""Confidence below which nothing is taken: it would spoil the rest."""

_MOST = 200
"""Statements of one exchange among which a companion is looked for: the strongest."""

_FEWEST_NAMES = 2
"""Names that two statements share; those of one message need none."""

_SHORTEST_NAME = 4
_SAME = 0.6
"""Share of the shorter one's words from which two say the same."""

_FILES = re.compile(r" \([\w./, -]+\.\w{1,5}\)\Z")

Weighed = tuple[Draft, float]
"""A draft and its confidence."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A weighed draft, its words and names, and where in its turn's text it stands."""

    draft: Draft
    confidence: float
    words: frozenset[str]
    names: frozenset[str]
    place: range


def gather(
    weighed: Sequence[Weighed], exchange_of: Mapping[str, int], weigh: Callable[[Draft], float]
) -> list[Weighed]:
    """Return the drafts, each with its companion where it has one, and ``weigh`` what they come to together.

    ``exchange_of`` is the number of a turn's exchange.
    """
    ranked = sorted((_said(*one) for one in weighed), key=lambda one: -one.confidence)
    known: defaultdict[int, list[_Said]] = defaultdict(list)
    for one in ranked:
        near = known[exchange_of[one.draft.turn.id]]
        if one.draft.source in _TAKEN and one.confidence >= _LEAST and len(near) < _MOST:
            near.append(one)
    return list(_gathered(ranked, known, exchange_of, weigh))


def _gathered(
    ranked: list[_Said],
    known: Mapping[int, list[_Said]],
    exchange_of: Mapping[str, int],
    weigh: Callable[[Draft], float],
) -> Iterator[Weighed]:
    gone: set[int] = set()
    for one in ranked:
        if id(one) in gone:
            continue
        takes = one.draft.source in _TAKES and one.confidence >= _LEAST
        near = known[exchange_of[one.draft.turn.id]] if takes else ()
        together = _together(one, [other for other in near if id(other) not in gone], weigh)
        if together is None:
            gone.add(id(one))
            yield one.draft, _alone(one) if len(near) > 1 else one.confidence
        else:
            other, draft, confidence = together
            gone.update((id(one), id(other)))
            yield draft, confidence


def _alone(one: _Said) -> float:
    narrow = _NARROW if one.draft.source in _TAKES else 0.0
    return max(one.confidence - narrow, 0.0)


def _said(draft: Draft, confidence: float) -> _Said:
    words = content_words(draft.content)
    names = {word for word in words if is_name(word) and len(word) >= _SHORTEST_NAME}
    at = draft.turn.text.find(draft.quote)
    place = range(at, at + len(draft.quote)) if at >= 0 else range(0)
    return _Said(draft, confidence, frozenset(map(str.lower, words)), frozenset({*names, *tags(draft.content)}), place)


def _together(
    one: _Said, others: Sequence[_Said], weigh: Callable[[Draft], float]
) -> tuple[_Said, Draft, float] | None:
    """Return the statement that goes best with one, and both as one draft with its confidence; None where none fits."""
    fitting = [other for other in others if other is not one and _belong(one, other) and _fit(one, other)]
    fitting.sort(key=lambda other: -other.confidence * len(other.words - one.words))
    joined = [(other, draft, weigh(draft)) for other in fitting[:_TRIED] for draft in (_with(one, other),)]
    return max(joined, key=lambda found: found[2], default=None)


def _belong(one: _Said, other: _Said) -> bool:
    """Whether two are about the same thing, said by the same, and neither says the other."""
    mine, its = one.draft, other.draft
    alike = mine.turn.id == its.turn.id or len(one.names & other.names) >= _FEWEST_NAMES
    by_one = (mine.origin, mine.turn.origin) == (its.origin, its.turn.origin)
    return alike and by_one and not _repeats(one, other) and not _stand_together(one, other)


def _repeats(one: _Said, other: _Said) -> bool:
    return len(one.words & other.words) > _SAME * min(len(one.words), len(other.words))


def _fit(one: _Said, other: _Said) -> bool:
    added = _added(one.draft, other.draft)
    return not leans(added) and len(_bare(one.draft)) + len(added) + 2 <= LONGEST


def _stand_together(one: _Said, other: _Said) -> bool:
    """Whether two were cut out of the same words."""
    same = one.draft.turn.id == other.draft.turn.id
    return same and max(one.place.start, other.place.start) < min(one.place.stop, other.place.stop)


def _with(one: _Said, other: _Said) -> Draft:
    first = _bare(one.draft)
    first = first if first.endswith((".", "!")) else first.rstrip(" ;:,") + "."
    reason = f"{one.draft.reason or one.draft.source}, with another statement of its exchange"
    return replace(one.draft, content=f"{first} {_added(one.draft, other.draft)}", reason=reason)


def _bare(draft: Draft) -> str:
    """Return what a draft says without the files that were put behind it."""
    return _FILES.sub("", draft.content)


def _added(first: Draft, second: Draft) -> str:
    """Return what the second says without the headings that the first has already."""
    said = _bare(second)
    heading, colon, rest = said.partition(": ")
    while colon and heading in first.content:
        said = rest
        heading, colon, rest = said.partition(": ")
    return said
