"""Measure on hand-made pairs which statements count as equivalent: `python -m bench.same_statement`.

For each set it prints how many paraphrases and look-alikes are merged: by the rule with the local embedder's cosine, by
the rule or the trained model (supersession/pair_model.py), and by the rule with any cosine. It also prints how many
have a cosine above the threshold.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from subconscious.domain.model import Relation
from subconscious.embeddings.local import LocalEmbedder
from subconscious.supersession.pair_model import relations
from subconscious.text.same_statement import NEAR, same_statement

DATA = Path(__file__).parents[1] / "tests" / "unit" / "data"


def measure(path: Path) -> None:
    embedder = LocalEmbedder()
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    vectors = embedder.embed([text for row in rows for text in row[2:]])
    near = [float(vectors[2 * at] @ vectors[2 * at + 1]) for at in range(len(rows))]
    begun = perf_counter()
    joined = [same_statement(row[2], row[3], cosine) for row, cosine in zip(rows, near, strict=True)]
    took = (perf_counter() - begun) / len(rows)
    model = [relations(row[3], [row[2]], embedder)[0] is Relation.SAME for row in rows]
    anyway = [same_statement(row[2], row[3], 1.0) for row in rows]
    for label in sorted({row[0] for row in rows}):
        ours = [at for at, row in enumerate(rows) if row[0] == label]
        print(
            f"{path.stem} {label}: {sum(joined[at] for at in ours)} of {len(ours)} joined,"
            f" {sum(joined[at] or model[at] for at in ours)} with the model,"
            f" {sum(anyway[at] for at in ours)} by their words,"
            f" {sum(near[at] >= NEAR for at in ours)} with a cosine of {NEAR} or more"
        )
    print(f"{path.stem}: {1e6 * took:.0f} us a pair, parsed for the first time")


def main() -> None:
    for path in sorted(DATA.glob("same_statement_*.tsv")):
        measure(path)


if __name__ == "__main__":
    main()
