"""``subconscious doctor``: print the findings, the faults with the command that mends them."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from subconscious.doctor import examine
from subconscious.doctor.findings import Finding
from subconscious.errors import SubconsciousError

from . import screen
from .ask import ask

PATIENCE = 600.0
"""Seconds for making the indexes anew."""


def checkup(options: Namespace) -> int:
    """Examine the installation; exit code 1 when there are faults."""
    if options.fix:
        _try_again(quiet=options.json)
    findings = examine()
    faults = [finding for finding in findings if not finding.ok]
    if options.json:
        screen.as_json([asdict(finding) for finding in findings])
        return int(bool(faults))
    indent = max(len(finding.name) for finding in findings) + 9
    for finding in findings:
        _tell(finding, indent)
    print(f"\n{screen.counted(len(faults), 'fault')}." if faults else "\nAll is well.")
    return int(bool(faults))


def _try_again(*, quiet: bool) -> None:
    """Let the daemon mend what is derived, and try once more to embed what it could not."""
    try:
        mended = ask("mend", PATIENCE)["mended"]
        waiting = ask("embed")["pending"]
    except SubconsciousError as error:
        # The examination tells what is wrong with whom we asked.
        if not quiet:
            print(f"Nothing could be mended: {screen.line(error.message)}\n")
        return
    if not quiet:
        for name, count in mended.items():
            print(f"Mended: {screen.line(name)} ({count}).")
        what = screen.counted(waiting, "memory", "memories")
        print(f"Embedding {what} anew; `subconscious status` says how far it is.\n")


def _tell(finding: Finding, indent: int) -> None:
    verdict = screen.paint("ok   ", "green") if finding.ok else screen.paint("FAULT", "red")
    # Colours would count as width, so the verdict is put before what is already folded.
    rest = screen.wrapped(screen.line(finding.detail), indent, f"{'':5}  {finding.name}")
    print(f"{verdict}{rest[5:]}")
    if finding.remedy:
        # Never folded: a command is there to be copied.
        print(f"{' ' * indent}{screen.paint(screen.line(finding.remedy), 'bold')}")
