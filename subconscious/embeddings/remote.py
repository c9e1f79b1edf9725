"""What embedders on the other end of a line have in common: portions, lengths, and doubt about every answer.

Texts must be free of secrets and private spans already: they are sent as they are.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from subconscious.embeddings import Access
from subconscious.errors import EmbedderError, EmbedderTextError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROBE = "The quick brown fox jumps over the lazy dog."
"""What is embedded to see whether key and model are accepted, and how long the model's vectors are."""

BLANK = "-"
"""Replaces an empty text, which the servers refuse."""

LEAST = 256
"""Characters to which a text is cut at the most: a model that refuses fewer refuses something else."""

SHORTEST = 1e-12
"""A vector's length up to which it counts as none: there is no direction left in its digits."""

TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|too (long|large|many tokens)|maximum.{0,30}(tokens|length|input)"
    r"|exceed|input length",
    re.IGNORECASE,
)
"""How servers say that a text is too long: there is no code that all of them share."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a list of numbers for each text, and the tokens it is charged for."""

    vectors: Sequence[Sequence[float]]
    tokens: int


class RemoteEmbedder(ABC):
    """Asks once when it is made, so that a wrong key is known at the start and a vector's length too."""

    provider: ClassVar[str]
    default_model: ClassVar[str]
    batch: ClassVar[int] = 64
    portion_characters: ClassVar[int] = 100_000
    """Characters sent at once."""
    text_characters: ClassVar[int] = 24_000
    """Characters of one text that are sent: 8,191 tokens, what most models take, are more than that of any prose."""
    remote = True

    def __init__(self, access: Access) -> None:
        self._access = access
        self._closed = False
        self.model = access.model or self.default_model
        self._connect()
        self.dim = 0
        try:
            self.dim = self._vectors([PROBE], access.check_seconds).shape[1]
        except BaseException:
            # Also when cancelled: an embedder that nobody gets would keep its connections.
            self.close()
            raise
        self.name = f"{self.provider}:{self.model}:{self.dim}"

    @abstractmethod
    def _connect(self) -> None:
        """Import the SDK and make its client."""

    @abstractmethod
    def _ask(self, texts: Sequence[str], timeout: float) -> Answer:
        """Ask once. Raises EmbedderError of the kind that happened."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Close the client."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), dim), rows of unit length (see Embedder)."""
        import numpy as np

        sent = [_sendable(text, self.text_characters) for text in texts]
        found = [self._cutting(portion) for portion in portions(sent, self.batch, self.portion_characters)]
        return np.concatenate([np.empty((0, self.dim), np.float32), *found])

    def close(self) -> None:
        """Let the connection go."""
        if not self._closed:
            self._closed = True
            self._disconnect()

    def _cutting(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Ask; what the model says is too long is halved until it is not."""
        import numpy as np

        try:
            return self._vectors(texts, self._access.timeout)
        except EmbedderTextError as error:
            if not TOO_LONG.search(error.message):
                raise
            if len(texts) > 1:
                return np.concatenate([self._cutting([text]) for text in texts])
            if len(texts[0]) <= LEAST:
                raise
            return self._cutting([_sendable(texts[0], max(LEAST, len(texts[0]) // 2))])

    def _vectors(self, texts: Sequence[str], timeout: float) -> NDArray[np.float32]:
        if self._closed:
            raise EmbedderError("the embedder is closed", "open it anew")
        try:
            answer = self._ask(texts, timeout)
        except RuntimeError as error:
            # The line's own word for having been closed meanwhile by another thread.
            raise EmbedderError(f"the embedder is closed: {error}", "open it anew") from error
        self._access.spent(self.provider, self.model, answer.tokens)
        return verified(answer.vectors, len(texts), self.dim)


def portions(texts: Sequence[str], count: int, characters: int) -> Iterator[list[str]]:
    """Texts in their order, in runs of at most ``count`` texts and, but for a longer single one, ``characters``."""
    portion: list[str] = []
    size = 0
    for text in texts:
        if portion and (len(portion) == count or size + len(text) > characters):
            yield portion
            portion, size = [], 0
        portion.append(text)
        size += len(text)
    if portion:
        yield portion


def verified(vectors: Sequence[Sequence[float]], count: int, dim: int) -> NDArray[np.float32]:
    """The vectors, scaled to unit length; ``dim`` 0 takes any length, the same for all.

    Raises EmbedderTextError for what can't be compared with anything: too few, too many, of another length, not
    numbers, or nothing but zeros.
    """
    import numpy as np

    if len(vectors) != count:
        raise EmbedderTextError(f"{len(vectors)} vectors came back for {count} texts", _BROKEN)
    lengths = {len(vector) for vector in vectors}
    if lengths != {dim or max(lengths, default=0)} or not max(lengths):
        raise EmbedderTextError(f"vectors of {sorted(lengths)} numbers came back where {dim or 'some'} belong", _BROKEN)
    try:
        numbers = np.array(vectors, np.float64)
    except (TypeError, ValueError) as error:
        raise EmbedderTextError(f"what came back is no vector: {error}", _BROKEN) from error
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(numbers, axis=1, keepdims=True)
    # The norm of numbers that are too large is infinite, that of what is no number none itself.
    if not np.isfinite(norms).all() or not (norms > SHORTEST).all():
        raise EmbedderTextError("a vector came back that points nowhere", _BROKEN)
    scaled: NDArray[np.float32] = (numbers / norms).astype(np.float32)
    return scaled


_BROKEN = "see whether the server's model is one that makes embeddings (embedder_model, embedder_base_url)"


def _sendable(text: str, characters: int) -> str:
    """A text as any server takes it: not empty, no NUL, no lone surrogate, and not longer than that."""
    kept = text.replace("\0", " ").strip()[:characters]
    return kept.encode("utf-8", "replace").decode() or BLANK
