"""Rewrites an ONNX model with int8 weights, so that the weights are multiplied as int8 instead of as floats.

all-MiniLM-L6-v2 as shipped widens every weight to float32 when it is loaded: the process grows to 219 MB. The same
weights, multiplied as integers by ONNX Runtime's ``DynamicQuantizeMatMul``, need 108 MB and half the time per text; the
vectors have a mean cosine of .991 with the original ones (bench/embedding.py). The rewrite takes a tenth of a second
and is done at each load, so that no stored result can be outdated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory  # type: ignore[import-untyped]

from subconscious.domain.errors import EmbedderError

RUNTIME_DOMAIN = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""

_Field = descriptor_pb2.FieldDescriptorProto

# The part of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto) that is used here, so that the `onnx`
# package (36 MB) isn't needed: message -> field -> (number, type). Protocol Buffers preserve the fields that a schema
# doesn't name. Capitals name a message; a star means repeated.
SCHEMA: dict[str, dict[str, tuple[int, str]]] = {
    "Model": {"graph": (7, "Graph"), "opset_import": (8, "Opset*")},
    "Graph": {"node": (1, "Node*"), "initializer": (5, "Tensor*"), "output": (12, "Value*")},
    "Value": {"name": (1, "string")},
    "Node": {"input": (1, "string*"), "output": (2, "string*"), "op_type": (4, "string"), "domain": (7, "string")},
    "Tensor": {"dims": (1, "int64*"), "name": (8, "string"), "raw_data": (9, "bytes")},
    "Opset": {"domain": (1, "string"), "version": (2, "int64")},
}


class _Weight(NamedTuple):
    """A weight of the model: int8 ``values``, which the nodes ``cast`` and ``mul`` convert to floats by ``scale``."""

    values: Any
    scale: Any
    cast: Any
    mul: Any


def integer_model(model: bytes, also: Sequence[str] = ()) -> bytes:
    """Return ``model`` with matrix products computed in int8, and lookups that convert only the selected rows.

    ``also`` are the names of intermediate values that the new model returns as additional outputs. Raises EmbedderError
    if the bytes are not an ONNX model with int8 weights.
    """
    parsed = _model_class()()
    try:
        parsed.ParseFromString(model)
    except message.DecodeError as error:
        raise _unfit() from error
    graph = _Graph(parsed.graph)
    if not graph.rewrite():
        raise _unfit()
    for name in also:
        parsed.graph.output.add(name=name)
    parsed.opset_import.add(domain=RUNTIME_DOMAIN, version=1)
    rewritten: bytes = parsed.SerializeToString()
    return rewritten


class _Graph:
    """An ONNX graph with its initializers by name, and its nodes by the name of their output."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._initializers = {tensor.name: tensor for tensor in graph.initializer}
        self._makers = {node.output[0]: node for node in graph.node}

    def rewrite(self) -> int:
        """Change the graph in place; return how many matrix products now work on integers."""
        products = 0
        for node in list(self._graph.node):
            if node.op_type == "MatMul" and (weight := self._weight(node.input[1])):
                self._multiply(node, weight)
                products += 1
            elif node.op_type == "Gather" and (weight := self._weight(node.input[0])):
                self._look_up(node, weight)
        return products

    def _weight(self, name: str) -> _Weight | None:
        """Return the int8 weight of the value ``name`` if that is Mul(Cast(values), scale); None if it is not."""
        mul = self._makers.get(name)
        if mul is None or mul.op_type != "Mul" or mul.input[1] not in self._initializers:
            return None
        cast = self._makers.get(mul.input[0])
        if cast is None or cast.op_type != "Cast" or cast.input[0] not in self._initializers:
            return None
        return _Weight(self._initializers[cast.input[0]], self._initializers[mul.input[1]], cast, mul)

    def _multiply(self, node: Any, weight: _Weight) -> None:
        _halve(weight)
        weight.scale.dims[:] = [weight.values.dims[1]]
        node.op_type, node.domain = "DynamicQuantizeMatMul", RUNTIME_DOMAIN
        node.input[1:] = [weight.values.name, weight.scale.name]
        self._graph.node.remove(weight.cast)
        self._graph.node.remove(weight.mul)

    def _look_up(self, node: Any, weight: _Weight) -> None:
        """Change a lookup to convert only the selected rows to floats, not all 30,522 rows of the vocabulary."""
        rows = node.output[0]
        node.output[0], node.input[0] = f"{rows}_values", weight.values.name
        scales = self._graph.node.add(
            op_type="Gather", input=[weight.scale.name, node.input[1]], output=[f"{rows}_scales"]
        )
        weight.cast.input[0], weight.cast.output[0] = node.output[0], f"{rows}_floats"
        weight.mul.input[:] = [weight.cast.output[0], scales.output[0]]
        weight.mul.output[0] = rows


_HALVES = np.rint(np.arange(256, dtype=np.uint8).view(np.int8) / np.float32(2)).astype(np.int8).tobytes()
"""Half of each int8, rounded, indexed by its byte: looking up 23 million weights is faster than dividing them."""


def _halve(weight: _Weight) -> None:
    """Halve weights to 7 bits: x86 without VNNI adds two products in 16 bits, and 2 x 255 x 127 would overflow."""
    scale = np.frombuffer(weight.scale.raw_data, np.float32)
    weight.values.raw_data = weight.values.raw_data.translate(_HALVES)
    weight.scale.raw_data = (scale * np.float32(2)).tobytes()


def _unfit() -> EmbedderError:
    return EmbedderError("this is not an ONNX model with int8 weights", "reinstall the package that contains the model")


@cache
def _model_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="subconscious/onnx.proto", package="onnx")
    for title, fields in SCHEMA.items():
        described = file.message_type.add(name=title)
        for name, (number, kind) in fields.items():
            described.field.append(_field(name, number, kind))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx.Model"))


def _field(name: str, number: int, kind: str) -> Any:
    repeated, kind = kind.endswith("*"), kind.rstrip("*")
    field = _Field(name=name, number=number)
    field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    if kind[0].isupper():
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".onnx.{kind}"
    else:
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
    return field
