"""Corrects query words that occur in no memory: replaces each with the most similar word that occurs in one."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from subconscious.recall.engines import projects_of
from subconscious.store import full_text
from subconscious.store.connect import Database
from subconscious.text.edit_distance import distance
from subconscious.text.terms import terms

SHORTEST = 5
"""The minimum number of letters of a corrected word: one changed letter often makes a short word another word."""

LONG = 9
"""The minimum length of a word that may have two mistakes, in letters; a shorter word may have one."""

MOST = 3
"""The most words of one query that are corrected."""

_WORD = re.compile(r"[^\W\d_]+")


async def corrections(database: Database, text: str, project_id: str | None) -> dict[str, str]:
    """Return the words of a query that occur in no memory, each with the most similar word that occurs in one."""
    words = [word for word in terms(text) if is_correctable(word)]
    unknown = await full_text.unknown(database, words, projects_of(project_id))
    if not unknown:
        return {}
    texts = await full_text.texts(database, project_id)
    return await asyncio.to_thread(_corrected, unknown[:MOST], texts)


def _corrected(words: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    used = words_used(texts)
    return {word: near for word in words if (near := nearest(word, used))}


def is_correctable(word: str) -> bool:
    """Whether a word is long enough and made of letters only: numbers and identifiers are not corrected."""
    return len(word) >= SHORTEST and _WORD.fullmatch(word) is not None


def words_used(texts: Iterable[str]) -> Counter[str]:
    """Count the words in ``texts`` that are long enough to be a correction. CPU-bound: run it in a thread."""
    found = (word for text in texts for word in _WORD.findall(text.casefold()))
    return Counter(word for word in found if len(word) >= SHORTEST - 1)


def nearest(word: str, used: Mapping[str, int]) -> str:
    """Return the most similar word in ``used`` (of several, the most frequent); "" if all words differ too much."""
    most = 2 if len(word) >= LONG else 1
    near = (
        (mistakes, -count, other)
        for other, count in used.items()
        if abs(len(other) - len(word)) <= most and (mistakes := distance(word, other, most)) <= most
    )
    return min(near, default=(0, 0, ""))[2]
