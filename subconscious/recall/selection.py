"""Selects the hits to show: only real matches, without duplicates, relevant enough, promoted knowledge first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from string import punctuation
from typing import TYPE_CHECKING

from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory
from subconscious.recall.modes import ANY, BALANCED
from subconscious.text.words import has_letters

if TYPE_CHECKING:
    import numpy

SUMMARY = "meta"
"""The kind of memories that summarise others."""

AS_RELEVANT = 0.8
"""A summary needs this share of a memory's relevance to replace it: summaries are longer and less specific."""

FAR = 0.25
"""The cosine of the local embedder below which two texts are unrelated."""

FAR_FROM_PATH = 0.4
"""The same threshold for a query that is a path: the short parts of any path are a little similar to most texts."""

NEAR = 0.4
"""The cosine below which a text is unrelated if another hit contains all words of the query."""

LEAST_SCORE = 0.4
"""The minimum score of a hit that was found only through another hit, as a share of the best match's score."""

_PATH = re.compile(r"\S*[/\\]\S*")


@dataclass(frozen=True, slots=True)
class Selection:
    """What to select: number of hits, minimum relevance, and the relevance from which promoted memories come first.

    If ``alone`` is true and promoted memories (proven in several sessions) are relevant, nothing else is returned. If
    ``summed`` is true, summaries replace the memories that they summarise. ``mode`` is the search mode, ``tokens`` the
    maximum length of the result.
    """

    hits: int = 1000
    relevance: float = 0.0
    first: float = 1.0
    alone: bool = False
    summed: bool = False
    mode: str = ANY.name
    tokens: int = BALANCED.tokens


EVERYTHING = Selection()


def matches(hits: Sequence[Hit], query: str) -> list[Hit]:
    """Return the hits that share a word with the query or are similar in meaning.

    Vector search always returns the most similar memory, even if it is unrelated. Other hits are found only through a
    hit: by a link, by the second search, which starts from the first hits, or as a neighbour in its session. They are
    kept if their score is not far below that of the best match. If a hit contains all words of the query, the others
    must be more similar to the query, and neighbours are left out. A memory that supersedes a kept hit is kept, too.
    """
    if not any(hit.engines for hit in hits):
        return list(hits)  # listed without a search
    whole = any(hit.share >= 1 for hit in hits)
    direct = [_is_match(hit, query, whole) for hit in hits]
    if not any(direct):
        return []
    least = LEAST_SCORE * max(hit.score for hit in compress(hits, direct))
    kept: list[Hit] = []
    newer: set[int] = set()
    for hit, own in reversed(list(zip(hits, direct, strict=True))):  # a memory comes before the one that it supersedes
        if own or hit.memory.id in newer or (_is_led_to(hit, whole) and hit.score >= least):
            kept.append(hit)
            newer.update(_successors(hit))
    return kept[::-1]


def _is_match(hit: Hit, query: str, whole: bool) -> bool:
    """Whether the query itself found a hit; ``whole`` means that some hit contains all words of the query."""
    found = {one.engine: one.score for one in hit.engines}
    if "text" in found:
        return True
    if not has_letters(query):  # numbers and symbols have no meaning that an embedder could compare
        return _contains(hit.memory.content, query.strip())
    least = FAR_FROM_PATH if _PATH.fullmatch(query.strip()) else NEAR if whole else FAR
    return found.get("vector", 0.0) >= least


def _is_led_to(hit: Hit, whole: bool) -> bool:
    """Whether another hit led to this one: by a link, by the second search, or (unless ``whole``) as a neighbour."""
    return not _has_cosine(hit) if hit.engines else not whole


def _contains(text: str, symbols: str) -> bool:
    """Whether a text contains symbols or a whole number. False for one punctuation mark: too many texts contain it."""
    before, after = ("(?<!\\d)" if symbols[:1].isdigit() else ""), ("(?!\\d)" if symbols[-1:].isdigit() else "")
    return symbols not in set(punctuation) and bool(re.search(f"{before}{re.escape(symbols)}{after}", text))


def _has_cosine(hit: Hit) -> bool:
    return any(one.engine == "vector" for one in hit.engines)


def without_duplicates(
    ranked: Sequence[Hit],
    vectors: Mapping[int, numpy.ndarray],
    alike: float,
    differ: Callable[[Memory, Memory], bool],
) -> list[Hit]:
    """Return the hits, except those with a cosine above ``alike`` to a better hit from which they don't ``differ``."""
    kept: list[Hit] = []
    for hit in ranked:
        own = vectors.get(hit.memory.id)
        same = own is not None and any(
            float(own @ vectors[better.memory.id]) > alike and not differ(hit.memory, better.memory)
            for better in kept
            if better.memory.id in vectors
        )
        if not same:
            kept.append(hit)
    return kept


def selected(ranked: Sequence[Hit], wanted: Selection, known: Collection[int] = ()) -> list[Hit]:
    """Return the hits that are relevant enough, and before them promoted knowledge that is relevant to the query.

    ``known`` are the ids of memories that were promoted to project knowledge.
    """
    sure = [hit for hit in ranked if hit.relevance >= wanted.relevance]
    first = [hit for hit in sure if hit.relevance >= wanted.first and (hit.memory.id in known or promoted(hit.memory))]
    rest = [] if first and wanted.alone else [hit for hit in sure if hit not in first]
    return [*first, *rest][: wanted.hits]


def summaries_shown_instead(hits: Sequence[Hit], sums: Mapping[int, Collection[int]], first: float) -> dict[int, int]:
    """Return the id of the summary that replaces a hit, by the hit's id; pinned hits are not replaced.

    A summary replaces a hit if the summary's relevance is at least ``first``, or at least AS_RELEVANT times that of the
    hit. ``sums`` has the ids of the memories that each summary summarises.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    pinned = {hit.memory.id for hit in hits if hit.memory.pinned}
    return {
        source: summary
        for summary in sorted(sums, key=lambda summary: relevance[summary])
        for source in sums[summary]
        if source in relevance
        and source not in pinned
        and relevance[summary] >= min(first, AS_RELEVANT * relevance[source])
    }


def with_replacements(hits: Sequence[Hit], instead: Mapping[int, int]) -> list[Hit]:
    """Return the hits with memories replaced by summaries (``instead``); each summary occurs once, at its best rank."""
    found = {hit.memory.id: hit for hit in hits}
    return list({number: found[number] for number in (instead.get(one, one) for one in found)}.values())


def successors_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with each memory before the memory that it supersedes, whatever their relevance is."""
    found = {hit.memory.id: hit for hit in hits}
    placed: dict[int, Hit] = {}
    for hit in hits:
        visited, waiting = set(placed), [hit.memory.id]
        while waiting:
            number = waiting[-1]
            visited.add(number)  # ends the loop when two memories supersede each other
            newer = next((one for one in _successors(found[number]) if one in found and one not in visited), None)
            if newer is None:
                placed.setdefault(waiting.pop(), found[number])
            else:
                waiting.append(newer)
    return list(placed.values())


def _successors(hit: Hit) -> Collection[int]:
    return hit.repute.superseded_by if hit.repute else ()


def promoted(memory: Memory) -> bool:
    """Whether a memory ranks as promoted knowledge: a person approved or pinned it, or it is a summary."""
    return memory.pinned or memory.verified or memory.kind == SUMMARY
