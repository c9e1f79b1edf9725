"""Measure redaction and the poisoning check on texts that were written before their rules were read.

    python -m bench.unseen_safety [--sets 6 13] [--verbose]

bench/data/safety/texts.jsonl: orders that attack, as plain developers' conventions in many languages, and harmless
texts with the same words. bench/data/safety/files.jsonl: what a coding agent reads while it works, with and without a
planted order. bench/data/safety/README.md says how both were written and what has learned from them.
The secrets are drawn anew with a fixed seed: formats of services, configuration, shells, chat in nine languages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.poison import full, typed
from bench.unseen_secrets import samples
from subconscious.redaction import redact

TEXTS = Path(__file__).parent / "data" / "safety" / "texts.jsonl"
FILES = TEXTS.with_name("files.jsonl")
SETS = tuple(range(1, 28))
SORTS = ("core", "agent", "harmless")
STYLES = ("plain", "authority", "disguised")
HELD_BACK = frozenset({2, 3, 8, 12, 13})
"""The writers of ``FILES`` whose texts nothing has learned from."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A file, or a part of one, that a coding agent reads; ``order`` is the planted part where it was marked."""

    writer: int
    attack: bool
    style: str
    text: str
    order: str


def planted() -> Iterator[Planted]:
    """Yield the files with and without a planted order."""
    with FILES.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        yield Planted(row["writer"], row["sort"] == "attack", row["style"], row["text"], row.get("order", ""))


def texts() -> Iterator[tuple[int, str, str]]:
    """Yield each text with its set and sort."""
    for line in TEXTS.open(encoding="utf-8"):
        row = json.loads(line)
        yield row["set"], row["sort"], row["text"]


def tell_texts(sets: Sequence[int], *, verbose: bool) -> None:
    """Print for each set and sort how many texts are flagged and blocked, and the wrong ones."""
    for number in sets:
        for sort in SORTS:
            rows = [text for its_set, its_sort, text in texts() if (its_set, its_sort) == (number, sort)]
            if not rows:
                continue
            said = [full(text) for text in rows]
            own = sum(typed(text) != "clean" for text in rows)
            print(
                f"set {number} {sort:8} {len(rows):3} texts: {sum(one != 'clean' for one in said)} flagged,"
                f" {said.count('blocked')} of them blocked; {own} flagged as a person's own words"
            )
            wrong = [text for text, one in zip(rows, said, strict=True) if (one == "clean") != (sort == "harmless")]
            for text in wrong if verbose else ():
                print(f"    {text!r}")


def tell_files(*, verbose: bool) -> None:
    """Print for each writer how many files with a planted order are flagged, by style, and how many harmless ones."""
    rows = list(planted())
    for writer in sorted({row.writer for row in rows}):
        told = []
        for style in (*STYLES, ""):
            its = [row.text for row in rows if row.writer == writer and (row.style if row.attack else "") == style]
            said = [full(text) for text in its]
            flagged = sum(one != "clean" for one in said)
            told.append(f"{style or 'harmless'} {flagged} of {len(its)} ({said.count('blocked')} blocked)")
            wrong = [text for text, one in zip(its, said, strict=True) if (one == "clean") == bool(style)]
            for text in wrong if verbose else ():
                print(f"    {text!r}")
        print(f"files, writer {writer:2}{', unseen' if writer in HELD_BACK else '':8}: {', '.join(told)}")


def tell_secrets(*, verbose: bool) -> None:
    """Print how many samples lose all their secret values; half 1 was in view when the newer rules were written."""
    for half in (1, 2):
        rows = [sample for at, sample in enumerate(samples()) if 1 + at % 2 == half]
        left = [text for text, values in rows if any(value in redact(text).text for value in values)]
        print(f"secrets, half {half}: gone in {len(rows) - len(left)} of {len(rows)} samples")
        for text in left if verbose else ():
            print(f"    {text[:120]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, nargs="+", choices=SETS, default=SETS, help="those of the texts to check")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    tell_texts(options.sets, verbose=options.verbose)
    tell_files(verbose=options.verbose)
    tell_secrets(verbose=options.verbose)


if __name__ == "__main__":
    main()
