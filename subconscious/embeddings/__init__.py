"""Texts to vectors whose cosine says how near their meanings are.

To add an embedder, write a class that keeps the protocol and add its row to EMBEDDERS; the contract tests run over
the table. numpy and the model's runtime are imported when an embedder is opened, not before: the daemon answers
before that is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from subconscious.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"
"""The choice to have no embeddings: recall goes by full text alone."""


@dataclass(frozen=True, slots=True)
class Model:
    """The vectors of one model: the name stored beside each, and their length."""

    name: str
    dim: int


class Embedder(Protocol):
    """What makes embeddings. Synchronous, for it keeps a processor busy; safe to call from several threads."""

    name: str
    """The model, as it is stored beside each vector: vectors of different names can't be compared."""

    dim: int
    """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), dim), each row of unit length.

        A text's vector depends on that text alone. Raises EmbedderError after ``close``.
        """
        ...

    def close(self) -> None:
        """Let the model go. May be called twice."""
        ...


EMBEDDERS: dict[str, str] = {"local": "subconscious.embeddings.local:LocalEmbedder"}
"""Name of the setting -> "module:Class"; the class is called without arguments."""


def open_embedder(name: str) -> Embedder | None:
    """Load the embedder of that name; None for ``none``. Takes a third of a second: call it in a thread.

    Raises EmbedderError when there is no such embedder or its model can't be loaded.
    """
    if name == NONE:
        return None
    embedder: Embedder = _class_of(name)()
    return embedder


def model_of(name: str) -> Model | None:
    """What the embedder of that name will call its vectors, without loading it; None for ``none``.

    Raises EmbedderError when there is no such embedder.
    """
    if name == NONE:
        return None
    embedder = _class_of(name)
    return Model(embedder.name, embedder.dim)


def _class_of(name: str) -> type[Embedder]:
    if name not in EMBEDDERS:
        raise EmbedderError(
            f"there is no embedder {name!r}", f"set embedder to one of: {', '.join([*EMBEDDERS, NONE])}"
        )
    module, _, attribute = EMBEDDERS[name].partition(":")
    found: type[Embedder] = getattr(import_module(module), attribute)
    return found
