"""Measure what the plugin adds to a session of the real Claude Code, beside hooks that only read their input.

    python -m bench.client_turns --claude PATH --home FOLDER [--turns 10] [--rounds 3]

Three machines take turns, against a fake API on loopback: without a plugin, with one of the same hooks that only drain
their standard input, and with Subconscious. A turn is a prompt, a Read and an Edit; a start is the time from the
client's own start to the answer to a first prompt without tools. FOLDER keeps the daemon's environment between runs.
Prints medians, what each plugin adds to the client without one, and the ratio of ours to that of the drain, for turns,
and of the whole start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client.fake_api import FakeApi, says, uses
from tests.client.machine import CHECKOUT, Machine

NONE, DRAIN, OURS = "no plugin", "drained", "subconscious"
DRAINING = {"type": "command", "command": "/bin/sh", "args": ["-c", "cat >/dev/null"], "timeout": 5}
HOOK_FILES = ("hooks.json", "failures.json")


@dataclass(slots=True)
class Taken:
    """Milliseconds of the starts and turns on one machine."""

    starts: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)


def draining_plugin(folder: Path) -> Path:
    """Make a plugin whose hooks are called when ours are, and only read what they are given."""
    plugin = folder / "drain"
    for name in ("plugin.json", "marketplace.json"):
        said = json.loads((CHECKOUT / ".claude-plugin" / name).read_text())
        said.pop("mcpServers", None)
        _write(plugin / ".claude-plugin" / name, said)
    for name in HOOK_FILES:
        said = json.loads((CHECKOUT / "hooks" / name).read_text())
        for groups in said["hooks"].values():
            for group in groups:
                group["hooks"] = [DRAINING for _ in group["hooks"]]
        _write(plugin / "hooks" / name, said)
    return plugin


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@contextmanager
def furnished(claude: str, root: Path, plugin: Path | None, home: Path) -> Iterator[Machine]:
    """A separate machine, with a plugin or without."""
    with FakeApi() as api:
        machine = Machine(root, claude, plugin or CHECKOUT, api)
        machine.furnish()
        if plugin is not None:
            machine.install()
            (machine.state / "env").symlink_to(home / "env")
        try:
            yield machine
        finally:
            machine.stop_daemon()


def script(machine: Machine, turns: int) -> None:
    """Have the model read and edit a separate file in each turn."""
    machine.api.when("hello", says("Hello."))
    for number in range(turns):
        path = str(machine.project / f"part_{number}.py")
        edit = uses("Edit", file_path=path, old_string="value = 1", new_string="value = 2")
        machine.api.when(f"step {number}.", uses("Read", file_path=path), edit, says("Done."))


def hold(machine: Machine, turns: int, taken: Taken) -> None:
    """Run one session and time it."""
    for number in range(turns):
        (machine.project / f"part_{number}.py").write_text("value = 1\n")
    begun = time.perf_counter()
    with machine.session() as session:
        session.say("hello")
        taken.starts.append((time.perf_counter() - begun) * 1000)
        for number in range(turns):
            begun = time.perf_counter()
            session.say(f"Do step {number}.")
            taken.turns.append((time.perf_counter() - begun) * 1000)
        session.end()
        machine.assert_untroubled(session)
    edited = [(machine.project / f"part_{number}.py").read_text() for number in range(turns)]
    assert set(edited) == {"value = 2\n"}, "a turn did not edit its file"


def show(taken: dict[str, Taken]) -> None:
    """Print one row for each machine, and the ratios."""
    turns = {name: statistics.median(one.turns) for name, one in taken.items()}
    starts = {name: statistics.median(one.starts) for name, one in taken.items()}
    print(f"{'':14} {'turn':>8} {'added':>8} {'start':>8} {'added':>8}  ms")
    for name in taken:
        added = turns[name] - turns[NONE], starts[name] - starts[NONE]
        print(f"{name:14} {turns[name]:8.0f} {added[0]:8.0f} {starts[name]:8.0f} {added[1]:8.0f}")
    print(f"turns: {(turns[OURS] - turns[NONE]) / (turns[DRAIN] - turns[NONE]):.2f} times what the drain adds")
    print(f"start: {starts[OURS] / starts[DRAIN]:.2f} times that with the drain")


def make_environment(home: Path) -> None:
    """Make the daemon's environment, where there is none yet."""
    command = [str(CHECKOUT / "bin" / "subconscious"), "--help"]
    subprocess.run(command, env=os.environ | {"SUBCONSCIOUS_HOME": str(home)}, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claude", default=os.environ.get("SUBCONSCIOUS_TEST_CLAUDE") or shutil.which("claude"))
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    home = options.home.resolve()
    make_environment(home)
    with tempfile.TemporaryDirectory(prefix="turns-") as name, ExitStack() as stack:
        root = Path(name)
        plugins = {NONE: None, DRAIN: draining_plugin(root), OURS: CHECKOUT}
        machines = {
            kind: stack.enter_context(furnished(options.claude, root / f"m{at}", plugin, home))
            for at, (kind, plugin) in enumerate(plugins.items())
        }
        for machine in machines.values():
            script(machine, options.turns)
            hold(machine, 1, Taken())  # the first session starts the daemon, and the client makes its folders
        taken = {kind: Taken() for kind in machines}
        for _ in range(options.rounds):
            for kind, machine in machines.items():
                hold(machine, options.turns, taken[kind])
        show(taken)


if __name__ == "__main__":
    main()
