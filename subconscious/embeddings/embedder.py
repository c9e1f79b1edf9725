"""Embedders: texts to vectors whose cosine measures similarity in meaning.

To add an embedder, write a class that implements the protocol and add its row to EMBEDDERS; the contract tests run over
the table. numpy, the model's runtime and the providers' SDKs are imported when an embedder is opened: the daemon
answers before that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from subconscious.domain.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"
"""The setting for no embeddings: recall uses full text only."""


Spent = Callable[[str, str, int], None]
"""Called after each call that may cost money: embedder, model, tokens. Called from any thread."""


def spends_nothing(embedder: str, model: str, tokens: int) -> None:
    """Ignore the costs."""


@dataclass(frozen=True, slots=True)
class Access:
    """Parameters for opening an embedder; nothing is read from the environment.

    ``key`` is "" if none is needed. ``timeout`` is for one call, ``check_seconds`` for the first one, which tests key
    and model.
    """

    model: str = ""
    key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    check_seconds: float = 5.0
    spent: Spent = spends_nothing


@dataclass(frozen=True, slots=True)
class Model:
    """The vectors of one model: the name stored with each, and their length."""

    name: str
    dim: int


class Embedder(Protocol):
    """Computes embeddings. Synchronous, because it uses a processor or a connection; several threads may call it."""

    name: str
    """The model's name, stored with each vector: vectors with different names can't be compared."""

    dim: int
    """The length of a vector."""

    batch: int
    """The best number of texts per call."""

    remote: bool
    """Whether texts leave this process, which may cost money and take long."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), dim), each row of unit length.

        A text's vector depends on that text alone; of a text that is too long, the beginning is used. There are no
        retries. Raises the matching EmbedderError, also after ``close``.
        """
        ...

    def close(self) -> None:
        """Release the model. May be called twice."""
        ...


@runtime_checkable
class Unloadable(Protocol):
    """An embedder whose model takes memory here, and can be unloaded while it is unused.

    ``embed`` loads it again.
    """

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        ...

    @property
    def idle_seconds(self) -> float:
        """Seconds since the embedder was last used."""
        ...

    def load(self) -> None:
        """Load the model if it is not loaded. Takes a fraction of a second: call it in a thread."""
        ...

    def unload(self) -> None:
        """Free the model's memory; running calls finish first."""
        ...


EMBEDDERS: dict[str, str] = {
    "local": "subconscious.embeddings.local:LocalEmbedder",
    "openai": "subconscious.embeddings.openai:OpenAIEmbedder",
    "ollama": "subconscious.embeddings.ollama:OllamaEmbedder",
}
"""Name of the setting -> "module:Class"; the class is called with an Access."""

FALLBACK = "local"
"""The embedder used while the chosen one is unavailable: it needs no network."""


def open_embedder(name: str, access: Access | None = None) -> Embedder | None:
    """Load or connect the embedder of that name; None for ``none``. Takes up to seconds: call it in a thread.

    Raises EmbedderError if there is no such embedder, its model can't be loaded, or its key is refused.
    """
    if name == NONE:
        return None
    embedder: Embedder = _class_of(name)(access or Access())
    return embedder


def model_of(name: str) -> Model | None:
    """The model of an embedder, without loading it; None if only a request would show it.

    Raises EmbedderError if there is no such embedder.
    """
    if name == NONE:
        return None
    embedder = _class_of(name)
    return None if embedder.remote else Model(embedder.name, embedder.dim)


def _class_of(name: str) -> Any:
    if name not in EMBEDDERS:
        raise EmbedderError(
            f"there is no embedder {name!r}", f"set embedder to one of: {', '.join([*EMBEDDERS, NONE])}"
        )
    module, _, attribute = EMBEDDERS[name].partition(":")
    return getattr(import_module(module), attribute)
