"""Measure a newcomer's path from the clone to a decision that is given to a second session.

    python -m bench.first_minute --claude PATH

Runs the README's commands with the real Claude Code against a fake API on loopback, in a temporary folder: clone, add
the marketplace, install the plugin, one session with a decision, a second session. Nothing is prepared, so the packages
come from the index that pip is configured for, or from its cache. Prints the seconds of each step and the sizes on the
disk; then the start of `subconscious status` beside that of a bare Python, and what a new version of the code takes.
Starts are measured in processor time, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.client.fake_api import FakeApi
from tests.client.machine import CHECKOUT, Machine, wait_for

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."
ASKED = "Where do we go on?"
INSTALLING = ("PIP_", "SSL_", "UV_")
MAKING_SECONDS = 600.0
STARTS = 25


def timed(what: str, step: Callable[[], object]) -> None:
    """Take a step and print its seconds."""
    begun = time.perf_counter()
    step()
    print(f"{time.perf_counter() - begun:8.1f} s  {what}", flush=True)


def megabytes(folder: Path) -> float:
    """The disk space of a folder; hard-linked files count once."""
    done = subprocess.run(["du", "-sk", str(folder)], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0]) / 1024


def packages() -> dict[str, str]:
    """Where packages come from; the client hands it to the hooks as it does in a person's shell."""
    return {name: value for name, value in os.environ.items() if name.startswith(INSTALLING)}


def clone(machine: Machine) -> None:
    """Clone the committed state."""
    subprocess.run(["git", "clone", "-q", str(CHECKOUT), str(machine.plugin)], check=True)


def first_session(machine: Machine) -> None:
    """Say a decision, and wait until it is kept: the environment is made meanwhile."""
    machine.talk(DECISION, environ=packages())
    wait_for(machine.daemon_answers, lambda: "no environment was made", MAKING_SECONDS)
    machine.drain()


def second_session(machine: Machine) -> None:
    """Begin anew, and see what the session is given."""
    machine.talk(ASKED, environ=packages())
    assert "integer cents" in machine.api.asked(ASKED)[0].given, "the second session was not given the decision"


def processor_milliseconds(machine: Machine, command: Sequence[str]) -> float:
    """Run a command as a person does in a terminal; return the processor time of it and its children."""
    started = subprocess.Popen(command, env=machine.environ, cwd=machine.project, stdout=subprocess.DEVNULL)
    _, code, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(code)
    assert started.returncode == 0, command
    return (used.ru_utime + used.ru_stime) * 1000


def new_version(machine: Machine) -> None:
    """Run a version of the code that has the same packages."""
    with (machine.plugin / "cli" / "__init__.py").open("a") as code:
        code.write("# another version\n")
    command = [str(machine.plugin / "bin" / "subconscious"), "--version"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, env=machine.environ | packages(), check=True, **quiet)  # type: ignore[call-overload]


def show_starts(machine: Machine) -> None:
    """Print the processor time of a plain terminal command, and its ratio to that of a bare Python."""
    python = str(machine.state / "env" / "current" / "bin" / "python")
    status, bare = [str(machine.state / "bin" / "subconscious"), "status"], [python, "-I", "-S", "-c", ""]
    # Alternately, so that a busy moment of the machine counts for both.
    taken = [(processor_milliseconds(machine, status), processor_milliseconds(machine, bare)) for _ in range(STARTS)]
    ours, least = (statistics.median(column) for column in zip(*taken, strict=True))
    print(f"{ours:8.0f} ms of processor time: subconscious status (median of {STARTS})")
    print(f"{least:8.0f} ms of processor time: a bare Python, so {ours / least:.1f} times as much")


def walk(machine: Machine) -> None:
    """Take the newcomer's steps, print times and sizes."""
    timed("git clone", lambda: clone(machine))
    timed("claude plugin marketplace add, claude plugin install", machine.install)
    timed("first session, until its decision is kept (the environment is made)", lambda: first_session(machine))
    timed("second session, which is given it", lambda: second_session(machine))
    folders = {"clone": machine.plugin, "the client's copy": machine.config, "state": machine.state}
    for what, folder in (folders | {"of that the environment": machine.state / "env"}).items():
        print(f"{megabytes(folder):8.1f} MB {what}")
    show_starts(machine)
    before = megabytes(machine.state)
    timed("a new version of the code, until its first answer", lambda: new_version(machine))
    print(f"{megabytes(machine.state) - before:8.1f} MB more for it")


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claude", default=os.environ.get("SUBCONSCIOUS_TEST_CLAUDE") or shutil.which("claude"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-minute-") as name, FakeApi() as api:
        machine = Machine(Path(name), options.claude, Path(name) / "subconscious", api)
        machine.furnish()
        try:
            walk(machine)
        finally:
            machine.stop_daemon()


if __name__ == "__main__":
    main()
