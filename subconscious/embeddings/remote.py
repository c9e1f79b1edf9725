"""The base class of remote embedders: splits texts into requests, truncates them, and validates responses.

Texts must already be free of secrets and private spans: they are sent unchanged.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from subconscious.domain.errors import EmbedderError, EmbedderTextError
from subconscious.embeddings.embedder import Access

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROBE = "The quick brown fox jumps over the lazy dog."
"""The text that the constructor embeds, to check key and model and to learn the length of the vectors."""

BLANK = "-"
"""The replacement for an empty text, which servers refuse."""

LEAST = 256
"""The fewest characters to which a text is truncated: if a model refuses even this text, it is not too long."""

SHORTEST = 1e-12
"""A vector with at most this norm is invalid: it is zero apart from rounding errors."""

TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|too (long|large|many tokens)|maximum.{0,30}(tokens|length|input)"
    r"|exceed|input length",
    re.IGNORECASE,
)
"""Matches servers' messages about a text that is too long; there is no common error code."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's response: a vector for each text, and the tokens charged."""

    vectors: Sequence[Sequence[float]]
    tokens: int


class RemoteEmbedder(ABC):
    """An embedder on a server. The constructor makes a request, to check the key and learn the vectors' length."""

    provider: ClassVar[str]
    default_model: ClassVar[str]
    batch: ClassVar[int] = 64
    portion_characters: ClassVar[int] = 100_000
    """The most characters sent in one request."""
    text_characters: ClassVar[int] = 24_000
    """The most characters sent of one text; in prose, they are fewer than the 8,191 tokens that most models accept."""
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
            # Also on cancellation: an embedder without an owner would keep its connections.
            self.close()
            raise
        self.name = f"{self.provider}:{self.model}:{self.dim}"

    @abstractmethod
    def _connect(self) -> None:
        """Import the SDK and create its client."""

    @abstractmethod
    def _ask(self, texts: Sequence[str], timeout: float) -> Answer:
        """Send one request. Raises EmbedderError or a subclass if it fails."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Close the client."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), dim), rows of unit length (see Embedder)."""
        import numpy as np

        sent = [_sendable(text, self.text_characters) for text in texts]
        found = [self._embed_shortened(portion) for portion in portions(sent, self.batch, self.portion_characters)]
        return np.concatenate([np.empty((0, self.dim), np.float32), *found])

    def close(self) -> None:
        """Close the connection."""
        if not self._closed:
            self._closed = True
            self._disconnect()

    def _embed_shortened(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; a text that the model refuses as too long is halved until the model accepts it."""
        import numpy as np

        try:
            return self._vectors(texts, self._access.timeout)
        except EmbedderTextError as error:
            if not TOO_LONG.search(error.message):
                raise
            if len(texts) > 1:
                return np.concatenate([self._embed_shortened([text]) for text in texts])
            if len(texts[0]) <= LEAST:
                raise
            return self._embed_shortened([_sendable(texts[0], max(LEAST, len(texts[0]) // 2))])

    def _vectors(self, texts: Sequence[str], timeout: float) -> NDArray[np.float32]:
        if self._closed:
            raise EmbedderError("the embedder is closed", "open it again")
        try:
            answer = self._ask(texts, timeout)
        except RuntimeError as error:
            # httpx raises this if another thread has closed the client.
            raise EmbedderError(f"the embedder is closed: {error}", "open it again") from error
        self._access.spent(self.provider, self.model, answer.tokens)
        return verified(answer.vectors, len(texts), self.dim)


def portions(texts: Sequence[str], count: int, characters: int) -> Iterator[list[str]]:
    """Split texts, in order, into lists of at most ``count`` texts and ``characters`` characters.

    A longer text is alone in its list.
    """
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
    """Return the vectors, scaled to unit length. With ``dim`` 0, vectors of any common length are accepted.

    Raises EmbedderTextError for invalid results: too few, too many, of another length, not finite or all zeros.
    """
    import numpy as np

    if len(vectors) != count:
        raise EmbedderTextError(f"{len(vectors)} vectors were returned for {count} texts", _BROKEN)
    lengths = {len(vector) for vector in vectors}
    if lengths != {dim or max(lengths, default=0)} or not max(lengths):
        raise EmbedderTextError(
            f"vectors of {sorted(lengths)} numbers were returned, expected {dim or 'some'}", _BROKEN
        )
    try:
        numbers = np.array(vectors, np.float64)
    except (TypeError, ValueError) as error:
        raise EmbedderTextError(f"the result is not a vector: {error}", _BROKEN) from error
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(numbers, axis=1, keepdims=True)
    # The norm is infinite if the numbers are too large, and NaN if one of them is not a number.
    if not np.isfinite(norms).all() or not (norms > SHORTEST).all():
        raise EmbedderTextError("a returned vector is zero or not finite", _BROKEN)
    scaled: NDArray[np.float32] = (numbers / norms).astype(np.float32)
    return scaled


_BROKEN = "choose a model that makes embeddings (embedder_model, embedder_base_url)"


def _sendable(text: str, characters: int) -> str:
    """Return a text that any server accepts: not empty, without NUL or lone surrogates, at most ``characters`` long."""
    cut = text.replace("\0", " ").strip()[:characters]
    return cut.encode("utf-8", "replace").decode() or BLANK
