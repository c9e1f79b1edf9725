"""Compare written pairs that the shipped model was not trained on: `python -m bench.relation_unseen [FOLDER]`.

Prints for each mark (see bench/relations.py) how many pairs the model takes for a repeat or a replacement. The default
is bench/data/relations/unseen, which no training reads. The last line is about unrelated statements, of testers whose
messages no training reads either (bench/data/speech/unseen).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import relations
from bench.speech import FOLDER
from bench.unrelated import MARK, unrelated
from subconscious.domain.model import Relation
from subconscious.embeddings.local import LocalEmbedder
from subconscious.supersession import pair_model

UNSEEN = relations.DATA / "unseen"


def decisions(pairs: Iterable[relations.Pair], embedder: LocalEmbedder) -> Counter[tuple[str, Relation]]:
    """Count the model's decisions on some pairs, by mark."""
    return Counter((one.mark, pair_model.relations(one.new, [one.old], embedder)[0]) for one in pairs)


def report(counts: Counter[tuple[str, Relation]]) -> Iterator[str]:
    """Yield one line for each mark."""
    for mark in (*relations.MARKS[1:], MARK):
        found = {decision.value: counts[mark, decision] for decision in Relation}
        listed = ", ".join(f"{name} {count}" for name, count in found.items())
        yield f"{mark} {relations.SORTS.get(mark, relations.NEITHER)} ({sum(found.values())} pairs): {listed}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=UNSEEN)
    options = parser.parse_args()
    embedder = LocalEmbedder()
    pairs = [*relations.written(options.folder), *unrelated(embedder, FOLDER / "unseen")]
    for line in report(decisions(pairs, embedder)):
        print(line)


if __name__ == "__main__":
    main()
