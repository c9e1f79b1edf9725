"""A test machine: the real Claude Code, an empty home, a project, the installed plugin, a fake API."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client.fake_api import FakeApi
from tests.support.terminal import COLUMNS_WANTED, Terminal

CHECKOUT = Path(__file__).parents[2]

Row = dict[str, Any]

HOOK_TROUBLE = {"hook_non_blocking_error", "hook_blocking_error", "hook_cancelled"}
"""Attachments by which the client writes down that a hook failed."""


@dataclass
class Session:
    """A running or finished `claude -p` that is spoken to in stream-json, turn by turn."""

    client: subprocess.Popen[str]
    errors: Path
    events: list[Row] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The session's present id; /clear changes it."""
        return str(next(event["session_id"] for event in reversed(self.events) if "session_id" in event))

    @property
    def stderr(self) -> str:
        """What the person saw on the error stream."""
        return self.errors.read_text()

    def say(self, prompt: str) -> Row:
        """Type one prompt and wait for the result of its turn."""
        assert self.client.stdin
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self.client.stdin.write(json.dumps(message) + "\n")
        self.client.stdin.flush()
        return self._read_until(lambda event: event["type"] == "result")

    def end(self) -> None:
        """Close the input, as a person leaves, and read what is still to come."""
        assert self.client.stdin
        self.client.stdin.close()
        self._read_until(lambda event: False)
        self.client.wait()

    def kill(self) -> None:
        """End the client without a word."""
        self.client.kill()
        self.client.wait()

    def _read_until(self, found: Callable[[Row], bool]) -> Row:
        assert self.client.stdout
        for line in self.client.stdout:
            self.events.append(json.loads(line))
            if found(self.events[-1]):
                break
        return self.events[-1] if self.events else {}


@dataclass(frozen=True)
class Machine:
    """Where a test's client, plugin and daemon live; nothing of it lies outside ``root``."""

    root: Path
    claude: str
    plugin: Path
    api: FakeApi

    @property
    def home(self) -> Path:
        """The person's home."""
        return self.root / "home"

    @property
    def config(self) -> Path:
        """The client's own folder."""
        return self.home / ".claude"

    @property
    def state(self) -> Path:
        """The plugin's state folder."""
        return self.root / "state"

    @property
    def project(self) -> Path:
        """The git repository that sessions begin in unless told otherwise."""
        return self.root / "payments"

    @property
    def environ(self) -> dict[str, str]:
        """What the client gets: nothing of the outer session, which may itself be a Claude Code."""
        return {
            "ANTHROPIC_API_KEY": "dummy-key",
            "ANTHROPIC_BASE_URL": self.api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "SUBCONSCIOUS_HOME": str(self.state),
            "TMPDIR": str(self.root / "tmp"),
        }

    def furnish(self) -> None:
        """Make the folders and the project."""
        for folder in (self.config, self.state, self.root / "tmp"):
            folder.mkdir(parents=True, mode=0o700)
        self.make_project(self.project)

    def install(self) -> None:
        """Install the plugin from its marketplace, as a person would."""
        self.run("plugin", "marketplace", "add", str(self.plugin))
        self.run("plugin", "install", "subconscious@subconscious")

    def make_project(self, folder: Path) -> Path:
        """Make a git repository with one commit."""
        folder.mkdir(parents=True)
        (folder / "ledger.py").write_text("def total(cents):\n    return sum(cents)\n")
        author = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com")
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*author, "commit", "-qm", "Begin"]):
            subprocess.run(["git", *command], cwd=folder, env=self.environ, check=True)
        return folder

    def run(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of the client that is no session."""
        return subprocess.run(
            [self.claude, *args],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=check,
        )

    @contextmanager
    def session(
        self,
        *,
        cwd: Path | None = None,
        resume: str = "",
        fork: bool = False,
        tools: str = "Read Edit Write",
        environ: Mapping[str, str] | None = None,
        wrapper: Sequence[str] = (),
    ) -> Iterator[Session]:
        """Start the client in a session; whatever the block left running is killed."""
        command = [*wrapper, self.claude, "-p", "--verbose", "--allowedTools", tools]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        command += ["--resume", resume] if resume else []
        command += ["--fork-session"] if fork else []
        errors = self.root / "tmp" / f"stderr-{time.time_ns()}"
        with errors.open("w") as stderr:
            client = subprocess.Popen(
                command,
                cwd=cwd or self.project,
                env={**self.environ, **(environ or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        with client:
            try:
                yield Session(client, errors)
            finally:
                client.kill()

    @contextmanager
    def screen(self) -> Iterator[Terminal]:
        """Start the client on a terminal, as a person does, in a folder that the person trusts."""
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [self.environ["ANTHROPIC_API_KEY"]], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        file = self.config / ".claude.json"
        file.write_text(json.dumps(json.loads(file.read_text() if file.exists() else "{}") | known))
        with Terminal([self.claude], {**self.environ, "TERM": "xterm", COLUMNS_WANTED: "160"}, self.project) as screen:
            screen.await_text("\u276f")
            yield screen

    def talk(self, *prompts: str, **options: Any) -> Session:
        """Hold a whole session, which must end well and show no trouble with hooks."""
        with self.session(**options) as session:
            for prompt in prompts:
                session.say(prompt)
            session.end()
            self.assert_untroubled(session)
        return session

    def assert_untroubled(self, session: Session) -> None:
        """Assert that the client ended well and neither showed nor wrote down a hook's failure."""
        assert session.client.returncode == 0, session.stderr
        assert "hook" not in session.stderr.lower()
        shown = [event for event in session.events if event.get("subtype") == "hook_response"]
        troubled = [event for event in shown if event["outcome"] != "success" or event["stderr"]]
        assert troubled == [], troubled
        assert [event["plugin_errors"] for event in session.events if event.get("plugin_errors")] == []
        assert [line for line in self.transcript_lines() if _is_trouble(line)] == []

    def transcript_lines(self) -> list[Row]:
        """Every line of every transcript on this machine."""
        files = sorted((self.config / "projects").rglob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def request(self, cmd: str, **args: object) -> Any:
        """Ask the daemon, as docs/protocol.md says."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(self.state / "run" / "daemon.sock"))
            connection.sendall(json.dumps({"cmd": cmd, "args": args}).encode() + b"\n")
            with connection.makefile("rb") as stream:
                length = stream.readline()
                answer = stream.read(int(length or 0))
        if not length or len(answer) < int(length):
            raise ConnectionError("the daemon left before it had answered")
        reply = json.loads(answer)
        assert reply["ok"], reply
        return reply["result"]

    def drain(self) -> None:
        """Wait until the daemon is there and has worked off everything it was handed."""
        wait_for(self.daemon_answers, self.last_words)
        assert self.request("drain", timeout=60)["drained"]

    def daemon_answers(self) -> bool:
        """Whether a daemon listens."""
        try:
            self.request("status", cwd=str(self.project))
        except OSError:
            return False
        return True

    def last_words(self) -> str:
        """The end of the daemon's log, to say why it isn't there."""
        log = self.state / "log" / "daemon.log"
        return log.read_text()[-2000:] if log.exists() else "no daemon was ever started"

    @property
    def daemon_pid(self) -> int:
        """The process that holds the socket."""
        return int(json.loads((self.state / "run" / "daemon.json").read_text())["pid"])

    def start_daemon(self) -> None:
        """Start the daemon as a hook does, outside of every session, and wait until it has loaded its model.

        While it loads, a hook's answer may come too late on a busy machine.
        """
        python = self.state / "env" / "current" / "bin" / "python"
        command = ["setsid", "--fork", str(python), "-I", "-m", "subconscious.daemon", "run"]
        environ = {name: self.environ[name] for name in ("HOME", "LANG", "PATH", "SUBCONSCIOUS_HOME", "TMPDIR")}
        with (self.state / "log" / "daemon.log").open("a") as log:
            subprocess.run(
                command,
                cwd=self.state / "run",
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                check=True,
            )
        wait_for(self.daemon_answers, self.last_words)
        wait_for(lambda: self.request("status")["embedder"]["state"] != "loading", self.last_words)

    def signal_daemon(self, number: signal.Signals) -> None:
        """Send the daemon a signal; after SIGKILL, wait until it is gone."""
        pid = self.daemon_pid
        os.kill(pid, number)
        if number == signal.SIGKILL:
            wait_for(lambda: pid not in self.processes(), self.last_words)

    def stop_daemon(self) -> None:
        """Let the daemon end in peace, wedged or not, if there is one; then nothing may be left."""
        self.signal_all(signal.SIGCONT)
        wait_for(self._is_gone, lambda: f"still alive: {self.processes()}")

    def _is_gone(self) -> bool:
        """Whether nothing is left. A daemon that a hook was just starting takes the place of the stopped one."""
        with suppress(OSError):
            self.request("stop")
        return not self.processes()

    def signal_all(self, number: signal.Signals) -> None:
        """Send a signal to whatever lives of this machine."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def break_environment(self) -> None:
        """Let the daemon's environment look whole and its Python fail: no daemon can start."""
        shared = self.state / "env"
        name = (shared / "current").readlink().name
        shared.rename(self.state / "env-shared")
        (shared / name / "bin").mkdir(parents=True)
        (shared / name / ".complete").touch()
        (shared / name / "bin" / "python").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
        (shared / name / "bin" / "python").chmod(0o700)
        (shared / "current").symlink_to(name)

    def mend_environment(self) -> None:
        """Undo break_environment."""
        shutil.rmtree(self.state / "env")
        (self.state / "env-shared").rename(self.state / "env")

    def processes(self) -> dict[int, str]:
        """What lives of this machine, found by its root in the environment: pid and command line."""
        return {pid: _command(pid) for pid in _pids() if str(self.root) in _environ(pid)}

    def spool(self) -> list[str]:
        """The events that wait in the spool, oldest first."""
        entries = sorted((self.state / "spool").glob("*.entry"))
        return [entry.read_text(errors="replace").split("\t")[1] for entry in entries]

    def rows(self, table: str) -> list[Row]:
        """A table of the database, read only."""
        database = self.state / "memory.db"
        if not database.exists():
            return []
        connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]
        finally:
            connection.close()

    def remembered(self, words: str) -> list[Row]:
        """The memories in force whose content holds ``words``; what is unconfirmed is archived."""
        return [row for row in self.rows("memories") if words in row["content"] and row["archived_at"] is None]


def wait_for(condition: Callable[[], object], otherwise: Callable[[], str], seconds: float = 60) -> None:
    """Poll until ``condition`` holds; fail with what ``otherwise`` says when it doesn't in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.05)


def _is_trouble(line: Row) -> bool:
    if line.get("attachment", {}).get("type") in HOOK_TROUBLE or line.get("hookErrors"):
        return True
    # A PreCompact hook that fails is written down as output of the /compact command.
    content = line.get("message", {}).get("content")
    return isinstance(content, str) and content.startswith("<local-command-stdout>") and "failed:" in content


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if int(path.name) != os.getpid()]


def _environ(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return ""


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
