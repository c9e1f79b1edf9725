"""``subconscious doctor``: print the findings, with the command that repairs each fault."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from subconscious.doctor import examine
from subconscious.doctor.findings import Finding
from subconscious.domain.errors import SubconsciousError

from . import screen
from .ask import ask

TIMEOUT_SECONDS = 600.0
"""Seconds to wait while the daemon rebuilds the indexes."""


def checkup(options: Namespace) -> int:
    """Examine the installation; return exit code 1 if there are faults."""
    if options.fix:
        _repair(quiet=options.json)
    findings = examine()
    faults = [finding for finding in findings if not finding.ok]
    if options.json:
        screen.as_json([asdict(finding) for finding in findings])
        return int(bool(faults))
    indent = max(len(finding.name) for finding in findings) + 9
    for finding in findings:
        _print_finding(finding, indent)
    print(f"\n{screen.counted(len(faults), 'fault')}." if faults else "\nAll is well.")
    return int(bool(faults))


def _repair(*, quiet: bool) -> None:
    """Have the daemon rebuild derived data and retry failed embeddings."""
    try:
        repaired = ask("mend", TIMEOUT_SECONDS)["mended"]
        waiting = ask("embed")["pending"]
    except SubconsciousError as error:
        # The findings that follow show what is wrong with the daemon.
        if not quiet:
            print(f"Nothing could be repaired: {screen.line(error.message)}\n")
        return
    if not quiet:
        for name, count in repaired.items():
            print(f"Repaired: {screen.line(name)} ({count}).")
        what = screen.counted(waiting, "memory", "memories")
        print(f"Embedding {what} again; `subconscious status` shows the progress.\n")


def _print_finding(finding: Finding, indent: int) -> None:
    verdict = screen.paint("ok   ", "green") if finding.ok else screen.paint("FAULT", "red")
    # Escape sequences of colours would count as width, so the verdict is added after wrapping.
    rest = screen.wrapped(screen.line(finding.detail), indent, f"{'':5}  {finding.name}")
    print(f"{verdict}{rest[5:]}")
    if finding.remedy:
        # Not wrapped, so that the command can be copied.
        print(f"{' ' * indent}{screen.paint(screen.line(finding.remedy), 'bold')}")
