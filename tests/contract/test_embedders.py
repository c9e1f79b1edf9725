"""Every embedder in the table keeps the contract of ``Embedder``."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from subconscious.embeddings import EMBEDDERS, Embedder, open_embedder
from subconscious.errors import EmbedderError

TEXTS = (
    "We decided to keep the queue in SQLite.",
    "The job queue lives in an SQLite database.",
    "The cat sleeps on the warm roof.",
)


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    opened = open_embedder(request.param)
    assert opened is not None
    yield opened
    opened.close()


def test_vectors_have_the_promised_shape_and_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed([*TEXTS, "", " ", "\0", "word " * 2000, "名前 🙂"])
    assert vectors.shape == (8, embedder.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_near_meanings_are_near(embedder: Embedder) -> None:
    queue, same_queue, cat = embedder.embed(TEXTS)
    assert queue @ same_queue > 0.7
    assert queue @ cat < 0.3


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


def test_threads_may_share_it(embedder: Embedder) -> None:
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: embedder.embed(TEXTS), range(4)))
    assert all(np.array_equal(vectors, found[0]) for vectors in found)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_a_closed_embedder_says_so(name: str) -> None:
    opened = open_embedder(name)
    assert opened is not None
    opened.close()
    opened.close()
    with pytest.raises(EmbedderError):
        opened.embed(["too late"])
