"""Has the judge (``judge.py``) assess sentences that the user typed, if the local embedder is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from subconscious.app import App
from subconscious.capture.detectors.typed import Opinions, spoken
from subconscious.capture.judge import opinions as judged_with
from subconscious.domain.model import Turn
from subconscious.embeddings.local import LocalEmbedder

MOST_SENTENCES = 400
"""The maximum number of sentences embedded per batch; further sentences are judged by their words alone."""


async def opinions_of(app: App, turns: Sequence[Turn]) -> Opinions:
    """Return the judge's opinion on each sentence that the user typed; {} if the local embedder is not loaded."""
    said = dict.fromkeys(one for turn in turns for one in spoken(turn))
    embedder = await app.embedding.loaded_embedder() if said else None
    if not isinstance(embedder, LocalEmbedder):
        return {}
    return await asyncio.to_thread(judged_with, list(said)[:MOST_SENTENCES], embedder)
