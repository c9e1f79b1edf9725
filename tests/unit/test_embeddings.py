import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from subconscious.domain.errors import EmbedderError
from subconscious.embeddings.embedder import EMBEDDERS, model_of, open_embedder
from subconscious.embeddings.integer_model import SCHEMA, _model_class, integer_model
from subconscious.embeddings.local import LocalEmbedder, _packaged


def test_none_means_no_embeddings() -> None:
    assert open_embedder("none") is None
    assert model_of("none") is None


def test_an_unknown_embedder_is_refused_with_the_choices() -> None:
    with pytest.raises(EmbedderError) as raised:
        open_embedder("locl")
    assert "local, openai, ollama, none" in raised.value.remedy


def test_a_model_is_known_before_it_is_loaded() -> None:
    model = model_of("local")
    assert model is not None
    assert (model.name, model.dim) == (LocalEmbedder.name, LocalEmbedder.dim)


def test_nothing_heavy_is_imported_until_a_model_is_opened() -> None:
    heavy = "{'numpy', 'onnxruntime', 'google.protobuf', 'openai', 'ollama', 'httpx', 'httpx2'} & set(sys.modules)"
    code = f"import sys; from subconscious.embeddings.embedder import model_of; model_of('local'); print({heavy})"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


@pytest.mark.slow
def test_the_daemon_starts_listening_before_anything_heavy_is_imported() -> None:
    code = "import sys, daemon.lifecycle; print({'numpy', 'onnxruntime', 'openai', 'httpx'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


@pytest.mark.slow
def test_the_runtime_leaves_no_trace_of_a_report(tmp_path: Path) -> None:
    code = "from subconscious.embeddings.embedder import open_embedder; open_embedder('local').embed(['a'])"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(Path.cwd()),
    }
    subprocess.run([sys.executable, "-B", "-c", code], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not the model"])
def test_only_the_model_we_know_is_loaded(tmp_path: Path, content: bytes) -> None:
    weights = tmp_path / "model.onnx"
    weights.write_bytes(content)
    with pytest.raises(EmbedderError, match="not the model that was released"):
        LocalEmbedder(weights=weights)


def test_a_missing_model_is_reported_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError) as raised:
        LocalEmbedder(weights=tmp_path / "nowhere.onnx")
    assert raised.value.code == "E051"
    assert 'embedder = "none"' in raised.value.remedy


def test_an_invalid_model_is_rejected() -> None:
    for content in (b"\xff\xff", b""):
        with pytest.raises(EmbedderError):
            integer_model(content)


def test_every_product_of_weights_becomes_an_integer_one() -> None:
    model = _model_class()()
    model.ParseFromString(integer_model(_packaged().read_bytes()))
    operators = [node.op_type for node in model.graph.node]
    assert operators.count("DynamicQuantizeMatMul") == 36  # six layers of query, key, value, output and two of the mlp
    assert operators.count("MatMul") == 12  # attention multiplies activations with each other
    ends = {name for node in model.graph.node for name in node.output}
    ends |= {tensor.name for tensor in model.graph.initializer}
    wanted = {name for node in model.graph.node for name in node.input if name}
    assert wanted - ends == {"input_ids", "attention_mask", "token_type_ids"}


def test_seven_bits_can_not_overflow() -> None:
    model = _model_class()()
    model.ParseFromString(integer_model(_packaged().read_bytes()))
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "DynamicQuantizeMatMul":
            values = np.frombuffer(tensors[node.input[1]].raw_data, np.int8)
            assert 2 * 255 * int(np.abs(values).max()) <= 2**15 - 1


def test_the_schema_has_all_declared_embedders() -> None:
    kinds = {kind.rstrip("*") for fields in SCHEMA.values() for _, kind in fields.values()}
    assert {kind for kind in kinds if kind[0].isupper()} <= SCHEMA.keys()


def test_the_table_names_classes_of_its_own_room() -> None:
    assert all(place.startswith("subconscious.embeddings.") for place in EMBEDDERS.values())
