"""A machine with the real Claude Code, Codex CLI and Gemini CLI, all of which use one state folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import pytest

from tests.agents.apis import CodexApi, GeminiApi
from tests.client.conftest import claude, installed, make_machine, snapshots
from tests.client.fake_api import FakeApi
from tests.client.machine import CHECKOUT, Machine
from tests.client.snapshots import Snapshots
from tests.support.daemons import eventually
from tests.support.terminal import Terminal

__all__ = ["claude", "installed", "make_machine", "snapshots"]

AGENTS = ("claude", "codex", "gemini")

LONGEST = 150
"""Seconds that a session may take at most. One takes 3 on an idle machine, and 60 where ten others run."""


@cache
def find(name: str) -> str:
    """Find a client that starts here; without one the tests that need it are skipped."""
    variable = f"SUBCONSCIOUS_TEST_{name.upper()}"
    found = os.environ.get(variable) or shutil.which(name)
    if not found:
        pytest.skip(f"no {name}: put it on PATH or name it in {variable}")
    with tempfile.TemporaryDirectory() as home:  # it may write to its home
        once = {"PATH": os.environ["PATH"], "HOME": home, "GEMINI_CLI_NO_RELAUNCH": "true"}
        tried = subprocess.run([found, "--version"], env=once, capture_output=True)
    if tried.returncode:
        pytest.skip(f"{name} does not start here: {tried.stderr.decode(errors='replace').strip()[-200:]}")
    return found


@dataclass
class Agents:
    """The machine, its model APIs, and sessions of one prompt in each client."""

    machine: Machine
    codex: str
    gemini: str
    codex_api: CodexApi
    gemini_api: GeminiApi
    relaunches: bool = False
    """Whether Gemini starts itself again with more memory, as it does for a person: 1.3 s more of processor time."""

    def furnish(self) -> None:
        """Write what a person has set up in the clients before."""
        codex, gemini = self.machine.home / ".codex", self.machine.home / ".gemini"
        codex.mkdir()
        gemini.mkdir()
        (codex / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{self.codex_api.url}/v1"\nwire_api = "responses"\nenv_key = "DUMMY_KEY"\n\n'
            f'[projects."{self.machine.project}"]\ntrust_level = "trusted"\n'
        )
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
        }
        settings |= {"general": {"disableAutoUpdate": True, "disableUpdateNag": True}}
        (gemini / "settings.json").write_text(json.dumps(settings, indent=2) + "\n")

    def name_api(self) -> None:
        """Write the address of this test's API into Codex's settings; the others have it in their environment."""
        config = self.machine.home / ".codex" / "config.toml"
        address = re.compile(r'(?<=^base_url = ")[^"]*(?=/v1"$)', re.MULTILINE)
        text, count = address.subn(self.codex_api.url, config.read_text())
        assert count == 1, text
        config.write_text(text)

    @property
    def environ(self) -> dict[str, str]:
        """What the clients get."""
        of_gemini = {"GEMINI_API_KEY": "dummy-key", "GOOGLE_GEMINI_BASE_URL": self.gemini_api.url}
        if not self.relaunches:
            of_gemini["GEMINI_CLI_NO_RELAUNCH"] = "true"
        of_claude = {"BASH_DEFAULT_TIMEOUT_MS": "600000"}
        # Codex looks for plugins on GitHub; tests reach no network.
        other = {"DUMMY_KEY": "dummy-key", "TERM": "xterm-256color", "GIT_ALLOW_PROTOCOL": "file"}
        return {**self.machine.environ, **of_claude, **of_gemini, **other}

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command of ours as a person."""
        found, shown = self._tried(*words)
        assert found == code, shown
        return shown

    def start(self) -> None:
        """Start the daemon. On a busy machine that takes longer than a command waits for it."""
        assert eventually(lambda: self._tried("status")[0] == 0, 90)

    def _tried(self, *words: str) -> tuple[int, str]:
        environ = self.machine.environ | {"PYTHONPATH": str(CHECKOUT)}
        with Terminal([sys.executable, "-m", "cli", *words], environ, self.machine.project) as shown:
            return shown.end(60), shown.shown

    def say(self, agent: str, prompt: str, seconds: int = LONGEST) -> str:
        """Hold a session of one prompt, as a person at a terminal; what was shown."""
        with Terminal(self.command(agent, prompt), self.environ, self.machine.project) as shown:
            shown.end(seconds)
            return shown.shown

    def command(self, agent: str, prompt: str) -> list[str]:
        """The command that holds a session of one prompt."""
        return {
            "claude": [self.machine.claude, "-p", prompt, "--allowedTools", "Bash"],
            "codex": [self.codex, "exec", *self.trusting, prompt],
            "gemini": [self.gemini, "--skip-trust", "-y", "-m", "gemini-2.5-pro", "-p", prompt],
        }[agent]

    @property
    def trusting(self) -> list[str]:
        """Options of Codex for a session without questions."""
        return ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]

    def given(self, agent: str) -> str:
        """All that an agent's model was given."""
        if agent == "claude":
            return "\n".join(request.given for request in self.machine.api.requests)
        return self.codex_api.given if agent == "codex" else self.gemini_api.given


@pytest.fixture
def agents(snapshots: Snapshots) -> Iterator[Agents]:
    """The three clients on one machine, connected."""
    with connected(snapshots, "agents") as agents:
        yield agents


@pytest.fixture(scope="module")
def shared_agents(snapshots: Snapshots) -> Iterator[Agents]:
    """The same for all tests of a module that leave nothing in the store, or look at their own words only."""
    with connected(snapshots, "shared agents") as agents:
        yield agents


@contextmanager
def connected(snapshots: Snapshots, name: str) -> Iterator[Agents]:
    """Start a daemon on a machine on which Codex and Gemini were connected; that takes four processes of ours."""
    codex, gemini = find("codex"), find("gemini")
    with FakeApi() as api, CodexApi() as of_codex, GeminiApi() as of_gemini:

        def connect(machine: Machine) -> None:
            new = Agents(machine, codex, gemini, of_codex, of_gemini)
            new.furnish()
            new.start()
            for name in ("codex", "gemini"):
                assert "from its next session on" in new.run("install", name, "--yes")

        with snapshots.restored(name, connect, api) as machine:
            found = Agents(machine, codex, gemini, of_codex, of_gemini)
            found.name_api()
            machine.start_daemon()
            yield found
            for pid, command in machine.processes().items():
                if "codex app-server" in command:
                    os.kill(pid, signal.SIGKILL)
