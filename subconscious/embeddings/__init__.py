"""Texts to vectors whose cosine says how near their meanings are.

To add an embedder, write a class that keeps the protocol and add its row to EMBEDDERS; the contract tests run over
the table. numpy, the model's runtime and the makers' SDKs are imported when an embedder is opened, not before: the
daemon answers before that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from subconscious.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"
"""The choice to have no embeddings: recall goes by full text alone."""


Spent = Callable[[str, str, int], None]
"""Told of every call that may cost something: embedder, model, tokens. Called from any thread."""


def spends_nothing(embedder: str, model: str, tokens: int) -> None:
    """Keep no account."""


@dataclass(frozen=True, slots=True)
class Access:
    """What an embedder is opened with. All of it is passed by hand: nothing is read from the environment.

    ``key`` is "" where none is needed. ``timeout`` is for one call, ``check_seconds`` for the one that
    sees at the start whether key and model are accepted.
    """

    model: str = ""
    key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    check_seconds: float = 5.0
    spent: Spent = spends_nothing


@dataclass(frozen=True, slots=True)
class Model:
    """The vectors of one model: the name stored beside each, and their length."""

    name: str
    dim: int


class Embedder(Protocol):
    """What makes embeddings. Synchronous, for it keeps a processor or a line busy; several threads may call it."""

    name: str
    """The model, as it is stored beside each vector: vectors of different names can't be compared."""

    dim: int
    """The length of a vector."""

    batch: int
    """Texts that are best given at once."""

    remote: bool
    """Whether texts leave this program, cost money perhaps, and may take long to come back as vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), dim), each row of unit length.

        A text's vector depends on that text alone; of a text that is too long, the beginning is read. Tries once.
        Raises EmbedderError of the kind that happened, also after ``close``.
        """
        ...

    def close(self) -> None:
        """Let the model go. May be called twice."""
        ...


@runtime_checkable
class Unloadable(Protocol):
    """An embedder whose model takes memory here, and can be unloaded while nobody needs it.

    ``embed`` loads it again.
    """

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        ...

    @property
    def idle_seconds(self) -> float:
        """Seconds since somebody used the embedder."""
        ...

    def load(self) -> None:
        """Load the model if it is not loaded. Takes a fraction of a second: call it in a thread."""
        ...

    def unload(self) -> None:
        """Free the model's memory; who is embedding right now finishes first."""
        ...


EMBEDDERS: dict[str, str] = {
    "local": "subconscious.embeddings.local:LocalEmbedder",
    "openai": "subconscious.embeddings.openai:OpenAIEmbedder",
    "ollama": "subconscious.embeddings.ollama:OllamaEmbedder",
}
"""Name of the setting -> "module:Class"; the class is called with an Access."""

FALLBACK = "local"
"""What serves while the one that was chosen can't: it needs nobody."""


def open_embedder(name: str, access: Access | None = None) -> Embedder | None:
    """Load or reach the embedder of that name; None for ``none``. Takes up to seconds: call it in a thread.

    Raises EmbedderError when there is no such embedder, its model can't be loaded, or its key is refused.
    """
    if name == NONE:
        return None
    embedder: Embedder = _class_of(name)(access or Access())
    return embedder


def model_of(name: str) -> Model | None:
    """What the embedder of that name will call its vectors, without loading it; None where only asking would tell.

    Raises EmbedderError when there is no such embedder.
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
