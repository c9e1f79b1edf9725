"""Gets the judge's opinions on typed sentences, if the local embedder is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from subconscious.app import App
from subconscious.capture.detectors.typed import Opinions, spoken
from subconscious.capture.judge import opinions as judged_with
from subconscious.domain.model import Turn
from subconscious.embeddings.local import LocalEmbedder

MOST_SENTENCES = 400
"""How many typed sentences of one batch are embedded at most; further sentences are judged by their words alone."""


async def opinions_of(app: App, turns: Sequence[Turn]) -> Opinions:
    """Return the judge's opinions on typed sentences; {} without the local embedder: then words alone decide."""
    said = dict.fromkeys(one for turn in turns for one in spoken(turn))
    embedder = await app.embedding.loaded_embedder() if said else None
    if not isinstance(embedder, LocalEmbedder):
        return {}
    return await asyncio.to_thread(judged_with, list(said)[:MOST_SENTENCES], embedder)
