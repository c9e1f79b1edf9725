"""Time the hooks, called as hooks.json calls them, against the bare start of the same Python.

    python -m bench.hooks [--runs 100] [--memories 10000] [--clients]

All commands take turns, so that a busy machine slows them equally. With ``--memories``, a daemon with that many
memories runs. With ``--clients``, the hooks of the other coding agents, called as `subconscious install` writes them.
Prints milliseconds and the ratio of medians to `python3 -I -S -c pass`; "drain" is a hook that does nothing but read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.fill import fill
from subconscious import wire
from subconscious.clients.entries import PLACES
from subconscious.clients.installing import launcher_of, write_launcher
from subconscious.embeddings.embedder import model_of
from subconscious.settings.home import Home

ROOT = Path(__file__).resolve().parents[1]
PYTHON = os.path.realpath(sys.executable)
BASELINE = "python -c pass"
DRAIN = "drain"
WARM_UP = 3


@dataclass(frozen=True)
class Stage:
    """Where hooks are called: a plugin, a state folder, the project that the session is in."""

    plugin: Path
    home: Path
    project: Path
    clients: bool = False

    def commands(self) -> dict[str, list[str]]:
        """Return the timed functions by name."""
        compared = {
            BASELINE: [PYTHON, "-I", "-S", "-c", "pass"],
            DRAIN: ["/bin/sh", "-c", "exec cat >/dev/null", DRAIN],
        }
        if self.clients:
            return compared | self.commands_of_clients()
        calls = [
            ("drop", "Stop"),
            ("ask", "PostToolUse"),
            ("ask", "PostToolUseFailure"),
            ("ask", "UserPromptSubmit"),
            ("ask", "SessionStart"),
            ("wake", "SessionStart"),
        ]
        run = ["/bin/sh", str(self.plugin / "hooks" / "run")]
        hooks = {f"{script} {event}": [*run, script, event] for script, event in calls}
        return compared | hooks

    def commands_of_clients(self) -> dict[str, list[str]]:
        """Return the hooks of the other coding agents, run by the launcher as their entries say."""
        launcher = ["/bin/sh", str(launcher_of(self.home))]
        return {
            f"{client} {hook.run} {hook.event}": [*launcher, client, hook.run, hook.ours]
            for client, place in PLACES.items()
            for hook in place.hooks
            if hook.ours in ("UserPromptSubmit", "PostToolUse", "Stop")
        }

    def time(self, command: list[str], payload: bytes) -> float:
        """Run a command; return milliseconds."""
        environ = {"PATH": os.environ["PATH"], "SUBCONSCIOUS_HOME": str(self.home)}
        begun = time.perf_counter()
        subprocess.run(
            command,
            input=payload,
            env=environ | {"CLAUDE_PROJECT_DIR": str(self.project)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return (time.perf_counter() - begun) * 1000


@contextmanager
def without_daemon(folder: Path, clients: bool) -> Iterator[Stage]:
    """A copy of the hooks whose wake.py starts nothing: the processes that it starts would be measured too."""
    shutil.copytree(ROOT / "hooks", folder / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "hooks" / "environment.py").write_text("def bring_up(home, quiet):\n    return ''\n")
    link_python(folder / "home", folder)
    yield Stage(folder, folder / "home", folder, clients)


@contextmanager
def with_daemon(folder: Path, count: int, clients: bool) -> Iterator[Stage]:
    """A real, warm daemon with ``count`` memories."""
    home = Home(folder / "home")
    model = model_of("local")
    assert model is not None
    filled = fill(home, count, synthetic=True, model=model.name, dim=model.dim)
    link_python(home.root, ROOT)
    wire.ensure_daemon(home)
    try:
        wire.call(home, "drain", {"timeout": 600}, 610)
        yield Stage(ROOT, home.root, next(iter(filled.folders.values())), clients)
    finally:
        wire.call(home, "stop")
        wire.await_absence(home, 30)


def link_python(home: Path, plugin: Path) -> None:
    """Let ``hooks/run`` find the very Python that the baseline is run with, and the launcher the hooks."""
    current = home / "env" / "current"
    for link, target in (("bin/python", PYTHON), ("lib/python3.x/site-packages/subconscious", plugin)):
        (current / link).parent.mkdir(parents=True)
        (current / link).symlink_to(target)
    write_launcher(home)


def payload(number: int, rng: random.Random, command: list[str], folder: Path) -> bytes:
    """Build a payload; no two prompts are the same, and every start is that of a new session."""
    event = command[-1]
    words = " ".join(
        rng.choice("retry queue invoice cache index upload token billing import".split()) for _ in range(6)
    )
    session = f"bench-{number}" if event == "SessionStart" else "bench"
    said = {"session_id": session, "transcript_path": "/nowhere", "cwd": "/", "prompt": words, "source": "startup"}
    tool = "read_file" if "gemini" in command or "cursor" in command else "Read"
    met = {
        "tool_name": tool,
        "tool_input": {"file_path": f"{folder}/src/queue-{number}.py"},
        "error": f"ECONNREFUSED {number}: {words}",
    }
    return json.dumps({**said, **(met if event.startswith("PostToolUse") else {}), "hook_event_name": event}).encode()


def measure(stage: Stage, runs: int) -> dict[str, list[float]]:
    """Time every command ``runs`` times, in turns."""
    rng = random.Random(7)
    taken: dict[str, list[float]] = {name: [] for name in stage.commands()}
    for number in range(-WARM_UP, runs):
        for name, command in stage.commands().items():
            milliseconds = stage.time(command, payload(number, rng, command, stage.project))
            if number >= 0:
                taken[name].append(milliseconds)
    return taken


def show(taken: dict[str, list[float]]) -> None:
    """Print one row per command."""
    base = statistics.median(taken[BASELINE])
    print(f"{'':30} {'median':>8} {'p95':>8} {'ratio':>7}")
    for name, values in taken.items():
        median, slow = statistics.median(values), statistics.quantiles(values, n=20)[18]
        print(f"{name:30} {median:8.1f} {slow:8.1f} {median / base:7.2f}")


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--memories", type=int, default=0)
    parser.add_argument("--clients", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hooks-") as name:
        folder, clients = Path(name), chosen.clients
        machine = with_daemon(folder, chosen.memories, clients) if chosen.memories else without_daemon(folder, clients)
        with machine as stage:
            show(measure(stage, chosen.runs))


if __name__ == "__main__":
    main()
