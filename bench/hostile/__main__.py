"""Try hostile repositories, files, spool entries, environments, clocks and disks on the real product.

    python -m bench.hostile [--short] [--only TEXT]

Prints each case with "held" or what happened, then "N of N held"; exits 1 unless all held. ``--short`` runs the quick
cases, as CI does, and tries a failed one once more; ``--only`` those whose point or name contains TEXT.
"""

from __future__ import annotations

import argparse
import sys
import time

from bench.hostile.case import attempt, collect


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    chosen = [
        one
        for one in collect()
        if (one.quick or not options.short) and options.only.casefold() in f"{one.point}: {one.name}".casefold()
    ]
    held = 0
    for one in chosen:
        begun = time.monotonic()
        happened = attempt(one)
        if happened and options.short:  # some measure time, and CI may share its machine
            print(f"{one.point}: {one.name}: tried again, for {happened}", flush=True)
            happened = attempt(one)
        held += not happened
        print(f"{one.point}: {one.name}: {happened or 'held'} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{held} of {len(chosen)} held")
    return 0 if chosen and held == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
