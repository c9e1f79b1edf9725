"""Pairs of typed statements of one writer that have nothing to do with each other: what a store is full of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy

from bench.relations import NEITHER, Pair
from bench.speech import FOLDER, sentences
from subconscious.embeddings.local import LocalEmbedder
from subconscious.supersession.relating import FAR, NEAREST
from subconscious.text.words import plain

MARK = "unrelated"

TWIN = 0.55
"""The cosine from which two statements may say the same."""

FEWEST_WORDS = 4


def unrelated(embedder: LocalEmbedder, folder: Path = FOLDER) -> Iterator[Pair]:
    """Yield each English statement, paired with the nearest earlier ones of its writer, as the daemon pairs them."""
    for name, said in _statements(folder).items():
        vectors = embedder.embed([plain(text) for text in said])
        for at in range(1, len(said)):
            near = vectors[:at] @ vectors[at]
            rows = [row for row in numpy.argsort(-near)[:NEAREST] if FAR <= near[row] < TWIN]
            yield from (Pair(said[at], said[row], NEITHER, f"{name} {at}", MARK) for row in rows)


def _statements(folder: Path) -> dict[str, list[str]]:
    """Return what is worth keeping of the typed sentences, by writer."""
    found: dict[str, dict[str, None]] = {}
    for one in sentences(folder):
        if one.keep and one.lang == "en" and len(one.text.split()) >= FEWEST_WORDS:
            found.setdefault(one.writer, {})[one.text] = None
    return {writer: list(said) for writer, said in found.items()}
