"""A daemon that is killed -9 in a phase of its maintenance: ``dying.py JOB PHASE before|after``.

``before`` is before the phase's first step, ``after`` when that is done and its place is not saved.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace

from daemon import phases
from daemon.__main__ import main
from daemon.core import Core
from daemon.phases import Phase, Step
from subconscious.store.maintenance import Run


def deadly(phase: Phase, when: str) -> Phase:
    """The same phase, in which the process ends."""

    async def work(core: Core, run: Run) -> Step:
        if when == "after":
            await phase.work(core, run)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it is dead")

    return replace(phase, work=work)


if __name__ == "__main__":
    job, name, moment = sys.argv[1:4]
    doomed = [deadly(phase, moment) if phase.name == name else phase for phase in phases.PHASES[job]]
    phases.PHASES[job] = tuple(doomed)
    sys.argv = ["daemon", "run"]
    sys.exit(main())
