"""Compare the local embedder with its published weights.

    python -m bench.embedding

Each runs in a separate process, one after the other, on sentences of a developer's day: load time (imports included),
resident memory after 50 texts, the time of one sentence, texts of 60 words a second, and the similarity of the vectors.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.fill import sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SENTENCES = 200
TEXTS = 100
SENTENCES_A_TEXT = 4
SEED = 11

Embed = Callable[[list[str]], "NDArray[np.float32]"]


def ours() -> Embed:
    """The embedder as the daemon uses it: integer matrix products."""
    from subconscious.embeddings.local import LocalEmbedder

    return LocalEmbedder().embed


def shipped() -> Embed:
    """The same embedder on the original file, whose weights are converted to floats at loading."""
    from subconscious.embeddings import local

    embedder = local.LocalEmbedder()
    embedder._session = local.open_session(local._packaged())
    return embedder.embed


VARIANTS = {"shipped": shipped, "ours": ours}


def measure(variant: str) -> dict[str, Any]:
    """Load one variant in this process and time it; times in milliseconds, memory in MB."""
    begun = time.perf_counter()
    embed = VARIANTS[variant]()
    loaded = (time.perf_counter() - begun) * 1e3
    rng = random.Random(SEED)
    sentences = [sentence(rng) for _ in range(SENTENCES)]
    texts = [" ".join(sentence(rng) for _ in range(SENTENCES_A_TEXT)) for _ in range(TEXTS)]
    embed(sentences[:50])
    memory = resident()
    times = sorted(timed(embed, [text]) for text in sentences)
    return {
        "load ms": loaded,
        "memory MB": memory,
        "p50 ms": times[SENTENCES // 2],
        "p95 ms": times[SENTENCES * 95 // 100],
        "texts/s": TEXTS / timed(embed, texts) * 1e3,
        "vectors": embed(sentences).tolist(),
    }


def timed(embed: Embed, texts: list[str]) -> float:
    """Milliseconds that ``texts`` take."""
    begun = time.perf_counter()
    embed(texts)
    return (time.perf_counter() - begun) * 1e3


def resident() -> float:
    """Resident memory of this process in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    """Measure both and print them side by side."""
    found = {variant: run(variant) for variant in VARIANTS}
    vectors = [found[variant].pop("vectors") for variant in VARIANTS]
    print(f"{'':<12}{'shipped':>10}{'ours':>10}{'ratio':>8}")
    for name, before in found["shipped"].items():
        after = found["ours"][name]
        print(f"{name:<12}{before:>10.1f}{after:>10.1f}{after / before:>8.2f}")
    cosines = [sum(a * b for a, b in zip(*pair, strict=True)) for pair in zip(*vectors, strict=True)]
    print(f"cosine to shipped: mean {sum(cosines) / len(cosines):.4f}, least {min(cosines):.4f}")


def run(variant: str) -> dict[str, Any]:
    """Measure one variant in a fresh process."""
    command = [sys.executable, "-m", "bench.embedding", variant]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
