"""Embedders: they turn texts into vectors; the cosine of two vectors measures how similar the meanings are.

To add an embedder, write a class that implements the protocol and add it to EMBEDDERS; the contract tests run for each
entry. numpy, the model's runtime and the providers' SDKs are imported only when an embedder is opened, so that the
daemon starts fast.
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
"""The value of the setting ``embedder`` that turns embeddings off: then there is only full-text search."""


Spent = Callable[[str, str, int], None]
"""A callback with an embedder, its model and the tokens of a call that may cost money; any thread may call it."""


def spends_nothing(embedder: str, model: str, tokens: int) -> None:
    """Record nothing: the callback for embedders that cost nothing."""


@dataclass(frozen=True, slots=True)
class Access:
    """The parameters for opening an embedder; nothing is read from the environment.

    ``key`` is "" if no key is needed. ``timeout`` is the most seconds for one call, ``check_seconds`` the most seconds
    for the first call, which tests key and model.
    """

    model: str = ""
    key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    check_seconds: float = 5.0
    spent: Spent = spends_nothing


@dataclass(frozen=True, slots=True)
class Model:
    """A model: the name that is stored with each of its vectors, and their length."""

    name: str
    dim: int


class Embedder(Protocol):
    """Computes embeddings. Its methods block, and several threads may call them at once."""

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

        The vector of a text must not depend on the other texts. Of a text that is too long, only the beginning
        is used. Failed calls are not retried. Raises EmbedderError or a subclass on failure and after ``close``.
        """
        ...

    def close(self) -> None:
        """Release the model; may be called twice."""
        ...


@runtime_checkable
class Unloadable(Protocol):
    """An embedder with a model in this process's memory, which can be unloaded while it is not used.

    ``embed`` loads the model again.
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
        """Load the model if it is not loaded. This takes a fraction of a second, so call it in a thread."""
        ...

    def unload(self) -> None:
        """Free the model's memory; running calls finish first."""
        ...


EMBEDDERS: dict[str, str] = {
    "local": "subconscious.embeddings.local:LocalEmbedder",
    "openai": "subconscious.embeddings.openai:OpenAIEmbedder",
    "ollama": "subconscious.embeddings.ollama:OllamaEmbedder",
}
"""The class ("module:Class") of each embedder, by the value of the setting; it is called with an Access."""

FALLBACK = "local"
"""The embedder that is used while the chosen embedder is unavailable; it needs no network."""


def open_embedder(name: str, access: Access | None = None) -> Embedder | None:
    """Return the embedder with a name, loaded or connected; None for ``none``. It takes seconds: call it in a thread.

    Raises EmbedderError if there is no such embedder, its model can't be loaded, or its key is refused.
    """
    if name == NONE:
        return None
    embedder: Embedder = _class_of(name)(access or Access())
    return embedder


def model_of(name: str) -> Model | None:
    """Return the model of an embedder without loading it; None if only a request to the server can show it.

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
