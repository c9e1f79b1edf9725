"""Try hostile repositories, files, spool entries, environments, clocks and disks on the real product.

    python -m bench.hostile [--short] [--only TEXT] [--jobs 1]

Prints each case with "held" or what happened, then "N of N held"; exits 1 unless all held. ``--short`` runs the quick
cases, as CI does, and tries a failed one once more, alone; ``--only`` those whose point or name contains TEXT.
``--jobs`` is the number of cases that run at a time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack

from bench.hostile.case import Case, attempt, collect


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    chosen = [
        at
        for at, one in enumerate(collect())
        if (one.quick or not options.short) and options.only.casefold() in _title(one).casefold()
    ]
    failed = [at for at, happened in _tried(chosen, options.jobs) if happened]
    if failed and options.short:  # some measure time, and CI may share its machine
        print("tried again, one at a time:", flush=True)
        failed = [at for at, happened in _tried(failed, 1) if happened]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} held")
    return 0 if chosen and not failed else 1


def _tried(chosen: list[int], jobs: int) -> Iterator[tuple[int, str]]:
    """Yield each case with its failure, "" if it passed, as soon as it is known."""
    with ExitStack() as stack:
        run = map if jobs == 1 else stack.enter_context(ProcessPoolExecutor(jobs)).map
        for at, (happened, seconds) in zip(chosen, run(_try, chosen), strict=True):
            print(f"{_title(collect()[at])}: {happened or 'held'} ({seconds:.1f} s)", flush=True)
            yield at, happened


def _try(at: int) -> tuple[str, float]:
    """Try one case: what happened, and how long it took."""
    begun = time.monotonic()
    return attempt(collect()[at]), time.monotonic() - begun


def _title(one: Case) -> str:
    return f"{one.point}: {one.name}"


if __name__ == "__main__":
    sys.exit(main())
