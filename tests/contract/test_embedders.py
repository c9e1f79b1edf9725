"""Every embedder in the table keeps the contract of ``Embedder``.

Remote ones speak over HTTP to a server on loopback, behind which is the local model.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from subconscious.domain.errors import EmbedderError
from subconscious.embeddings.embedder import EMBEDDERS, Access, Embedder, open_embedder
from tests.support.embedding_server import EmbeddingServer, embedding_server

TEXTS = (
    "We decided to keep the queue in SQLite.",
    "The job queue lives in an SQLite database.",
    "The cat sleeps on the warm roof.",
)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    local = open_embedder("local")
    assert local is not None
    with embedding_server() as server:
        server.models[""] = lambda texts: [list(3.0 * vector) for vector in local.embed(texts)]
        yield server
    local.close()


def access_of(name: str, server: EmbeddingServer) -> Access:
    return Access(base_url=server.url + ("/v1" if name == "openai" else ""), key="dummy")


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer) -> Iterator[Embedder]:
    opened = open_embedder(request.param, access_of(request.param, server))
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
def test_a_closed_embedder_says_so(name: str, server: EmbeddingServer) -> None:
    opened = open_embedder(name, access_of(name, server))
    assert opened is not None
    opened.close()
    opened.close()
    with pytest.raises(EmbedderError):
        opened.embed(["too late"])
