"""Daemons that are killed -9 in a phase of their maintenance: reads ``JOB PHASE before|after`` by lines from stdin.

``before`` is before the phase's first step, ``after`` when that is done and its place is not saved. Each daemon is a
fork, so that what a daemon imports is imported once; the line ends with the exit code of the fork on stdout.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace

from bench.tuned_daemon import apply_tuning
from daemon.__main__ import main
from subconscious.app import App
from subconscious.settings.home import find_home
from subconscious.store.maintenance import Run
from subconscious.upkeep import phases
from subconscious.upkeep.phases import Phase, Step


def deadly(phase: Phase, when: str) -> Phase:
    """The same phase, in which the process ends."""

    async def work(app: App, run: Run) -> Step:
        if when == "after":
            await phase.work(app, run)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it is dead")

    return replace(phase, work=work)


def run_doomed(job: str, name: str, moment: str) -> int:
    """Be a daemon that dies in a phase; returns only if it does not."""
    doomed = [deadly(phase, moment) if phase.name == name else phase for phase in phases.PHASES[job]]
    phases.PHASES[job] = tuple(doomed)
    sys.argv = ["daemon", "run"]
    apply_tuning(find_home())
    return main()


if __name__ == "__main__":
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            os._exit(run_doomed(*line.split()))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
