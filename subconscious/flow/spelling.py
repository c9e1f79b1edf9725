"""Corrections of what somebody searches for, by the words of the memories that are searched."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from subconscious.search import spelling
from subconscious.search.engines import projects_of
from subconscious.search.words import terms
from subconscious.store import full_text
from subconscious.store.connect import Database


async def corrections(database: Database, text: str, project_id: str | None) -> dict[str, str]:
    """Return the words of a query that no memory has, each with the nearest word that one has."""
    words = [word for word in terms(text) if spelling.is_correctable(word)]
    unknown = await full_text.unknown(database, words, projects_of(project_id))
    if not unknown:
        return {}
    texts = await full_text.texts(database, project_id)
    return await asyncio.to_thread(_nearest, unknown[: spelling.MOST], texts)


def _nearest(words: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    used: Mapping[str, int] = spelling.words_used(texts)
    return {word: near for word in words if (near := spelling.nearest(word, used))}
