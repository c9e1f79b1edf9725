"""Fuzz the transcript parser, the socket's protocol, the hooks' payloads, the redactor and the frame.

    python -m bench.fuzz --minutes 30 [--seed N] [--only TARGET]

Prints each finding with its seed, which goes into tests/fuzz/test_fuzz.py, and the inputs tried; fails if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from bench.fuzzing import TARGETS, Finding, attempt

MOST = 20
"""Findings of one target after which it is not tried any more."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1_000_000, help="where to begin; CI tries the first ones from 0")
    parser.add_argument("--only", choices=TARGETS)
    options = parser.parse_args()
    tried, findings = search(options.minutes * 60, options.seed, options.only)
    print("tried: " + ", ".join(f"{number} {name}" for name, number in sorted(tried.items())))
    print(f"findings: {len(findings)}")
    sys.exit(bool(findings))


def search(seconds: float, seed: int, only: str | None) -> tuple[Counter[str], list[Finding]]:
    """Try one input after the other, of each target in turn, until time is up."""
    tried: Counter[str] = Counter()
    findings: list[Finding] = []
    wrong: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for target in [only] if only else TARGETS:
            if wrong[target] >= MOST:
                continue
            tried[target] += 1
            if finding := attempt(target, seed):
                findings.append(finding)
                wrong[target] += 1
                print(f"{target} {seed}: {finding.error}", flush=True)
        seed += 1
    return tried, findings


if __name__ == "__main__":
    main()
