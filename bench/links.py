"""Measure link discovery: `python -m bench.links CORPORA`.

Pairs of decision records and proposals, judged by the shipped code. A repository's pairs are judged by weights fitted
without it; the figures of the shipped weights, which were fitted to all of them, are shown for comparison only. Our own
cases represent one-line memories, and types that are rare in the corpus.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.links_train import NONE, Pair, cases, corpus, embedded, material, noted, train
from subconscious.links.judge import PairVerdict, Weights, judge, shipped
from subconscious.links.reading import read
from subconscious.settings.settings import Settings

SHOWN = Settings().link_proposal_threshold
ACTIVE = Settings().link_threshold
TENTHS = (0.0, 0.2, 0.35, 0.5, 0.7, 0.85, 1.01)
DRAWS, SEED = 1000, 6

REFERENCES = frozenset(f"{name}_{side}" for name in ("refers", "referred", "fits") for side in ("new", "old"))
"""Features that depend on references to other records, which the corpus replaces by one placeholder."""

Rows = Sequence[tuple[Pair, PairVerdict, bool]]


def judged(pair: Pair, weights: Weights | None) -> tuple[PairVerdict, bool]:
    """The result for a pair, with the target first in half of them; whether the direction is right."""
    key = f"{pair.source.note.title}|{pair.target.note.title}"
    turned = bool(hashlib.sha256(key.encode()).digest()[0] & 1)
    ends = (pair.target, pair.source) if turned else (pair.source, pair.target)
    found = judge(*ends, pair.cosine, weights)
    return found, found.forward != turned or pair.type == found.type == "CONTRADICTS"


def held_back(folder: Path, without: frozenset[str] = frozenset()) -> list[tuple[Pair, PairVerdict, bool]]:
    """Judge every repository by weights that have not seen it, nor our cases' own half, ``without`` some features."""
    pairs, every, table = material(folder)
    names = tuple(name for name in every if name not in without)
    rows = table[:, [every.index(name) for name in names]]
    found = []
    for group in sorted({pair.group for pair in pairs if not pair.group.startswith("case ")}):
        kept = [at for at, pair in enumerate(pairs) if pair.group != group]
        weights = train([pairs[at] for at in kept], names, rows[kept])
        found += [(pair, *judged(pair, weights)) for pair in pairs if pair.group == group and pair.weight == 1.0]
    return found


def in_sample(pairs: Sequence[Pair], weights: Weights | None = None) -> list[tuple[Pair, PairVerdict, bool]]:
    return [(pair, *judged(pair, weights)) for pair in pairs]


def without_cosine(pairs: Sequence[Pair]) -> list[tuple[Pair, PairVerdict, bool]]:
    """The same where no embedding is known."""
    rows = []
    for pair in pairs:
        found = judge(pair.source, pair.target, None)
        rows.append((pair, found, found.forward or pair.type == found.type == "CONTRADICTS"))
    return rows


def report(name: str, rows: Rows, told: Callable[[str], None]) -> None:
    for least in (SHOWN, ACTIVE):
        told(f"{name}, from {least:g}: {_score(_verdicts(rows, least))}")
    kinds = Counter(pair.type for pair, *_ in rows)
    hits = [(pair, found, right) for pair, found, right in rows if pair.type != NONE and found.linked >= SHOWN]
    for kind in ("", *sorted(set(kinds) - {NONE}, key=lambda one: -kinds[one])):
        mine = [(pair, found, right) for pair, found, right in hits if kind in ("", pair.type)]
        number = kinds[kind] if kind else len(rows) - kinds[NONE]
        typed = sum(found.type == pair.type for pair, found, _ in mine)
        told(
            f"  {kind or 'all types':12} n {number:4}  found {_percent(len(mine), number)}  of those:"
            f" type right {_percent(typed, len(mine))}  direction right {_percent(sum(r for *_, r in mine), len(mine))}"
        )


def _verdicts(rows: Rows, least: float) -> list[tuple[bool, bool]]:
    """Whether each pair is linked, and whether it is predicted to be."""
    return [(pair.type != NONE, found.linked >= least) for pair, found, _ in rows]


def _score(pairs: Sequence[tuple[bool, bool]]) -> str:
    precision, recall, f1 = _rates(pairs)
    return f"precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}"


def _rates(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float, float]:
    count = Counter(pairs)
    hit = count[True, True]
    precision, recall = hit / max(1, hit + count[False, True]), hit / max(1, hit + count[True, False])
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def spread(rows: Rows, told: Callable[[str], None]) -> None:
    """How far chance could move the figures: by drawing other repositories, and by always naming the commonest type."""
    groups = sorted({pair.group for pair, *_ in rows})
    mine = {group: _verdicts([row for row in rows if row[0].group == group], SHOWN) for group in groups}
    chance = random.Random(SEED)
    draws = [chance.choices(groups, k=len(groups)) for _ in range(DRAWS)]
    drawn = sorted(_rates([one for group in draw for one in mine[group]])[2] for draw in draws)
    told(
        f"{len(rows)} pairs of {len(groups)} repositories; F1 {drawn[DRAWS // 20]:.3f} to {drawn[-DRAWS // 20]:.3f}"
        " in nine of ten draws of as many repositories"
    )
    kinds = Counter(pair.type for pair, found, _ in rows if pair.type != NONE and found.linked >= SHOWN)
    ((kind, number),) = kinds.most_common(1)
    told(f"always {kind} would be right for {_percent(number, kinds.total())} of the linked pairs that are found")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    --"


def reliability(name: str, rows: Rows, told: Callable[[str], None]) -> None:
    """The predicted probability, and the observed rate."""
    told(f"{name}: stated likelihood of being linked, and the share that was")
    for low, high in pairwise(TENTHS):
        mine = [(pair, found) for pair, found, _ in rows if low <= found.linked < high]
        stated = sum(found.linked for _, found in mine) / max(1, len(mine))
        told(f"  {stated:.2f}  {_percent(sum(p.type != NONE for p, _ in mine), len(mine))}  of {len(mine)}")


@cache
def _reading(title: str, date: str, text: str) -> Any:
    return read(noted({"title": title, "date": date, "text": text})), embedded(f"{title}\n{text}")


def detector(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, str] | None:
    """The shipped judgement as the shared evaluation calls it: what would be shown."""
    readings = [_reading(one["title"] or "", one["date"] or "", one["text"] or "") for one in (first, second)]
    found = judge(readings[0][0], readings[1][0], float(readings[0][1] @ readings[1][1]), shipped())
    if found.linked < SHOWN:
        return None
    return found.type, "forward" if found.forward else "backward"


def main(arguments: Sequence[str], told: Callable[[str], None] = print) -> None:
    folder = Path(arguments[0])
    rows = held_back(folder)
    report("whole repositories held back", rows, told)
    spread(rows, told)
    report("the same, blind to references", held_back(folder, REFERENCES), told)
    reliability("whole repositories held back", rows, told)
    whole = corpus(folder)
    report("in sample, shipped weights (counts for nothing)", in_sample(whole), told)
    report("in sample, no embeddings", without_cosine(whole), told)
    report("our own cases (the rules were written to them)", in_sample(cases()), told)


if __name__ == "__main__":
    main(sys.argv[1:])
