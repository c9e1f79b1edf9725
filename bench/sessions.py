"""Generated sessions: transcripts in the client's format, sent through the real hooks."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from subconscious import wire
from subconscious.settings.home import Home

ROOT = Path(__file__).resolve().parents[1]
OPTION = "CLAUDE_PLUGIN_OPTION_"
HOOK = ["/bin/sh", str(ROOT / "hooks" / "run")]
DETACHED = ["/bin/sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh"]
"""Runs a command with our input as a child of process 1. A shell starts ten times as fast as a Python."""


class Speaker:
    """One session: writes its transcript and runs the hooks that the client would."""

    def __init__(self, home: Path, project: Path, session_id: str | None = None) -> None:
        self.id = session_id or str(uuid4())
        self.project = project
        self.transcript = project / f"{self.id}.jsonl"
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        # A folder of the client's own that is not there: what the person who runs this has in theirs is left alone.
        client_folder = {"CLAUDE_CONFIG_DIR": str(home / "client")}
        self.environment = kept | client_folder | {"SUBCONSCIOUS_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project)}

    def introduce(self) -> None:
        """Send an event of this session through a stand-in for the client, so that the daemon knows the session.

        A session of which the daemon has only a transcript and entries of the spool could be anybody's.
        """
        introduce(self.payload("Stop"), self.environment)

    def say(self, text: str, role: str = "user", prompt_id: str = "") -> None:
        """Append one line to the transcript."""
        self._write(role, text, prompt_id)

    def run(self, command: str) -> None:
        """Have the assistant give a shell command."""
        self._write("assistant", [_use("Bash", {"command": command})])

    def tool(self, name: str, output: str) -> None:
        """Have the assistant use a tool, and the tool answer."""
        use = _use(name, {})
        self._write("assistant", [use])
        self._write("user", [{"type": "tool_result", "tool_use_id": use["id"], "content": output}])

    def call(self, name: str, given: Mapping[str, str], output: str = "", *, failed: bool = False) -> None:
        """Have the assistant use a tool with an input, and the tool answer."""
        use = _use(name, given)
        self._write("assistant", [use])
        answer = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": failed}
        self._write("user", [answer])

    def _write(self, role: str, content: object, prompt_id: str = "") -> None:
        line = {
            "parentUuid": None,
            "isSidechain": False,
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": str(uuid4()),
            "promptId": prompt_id or str(uuid4()),
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "userType": "external",
            "cwd": str(self.project),
            "sessionId": self.id,
            "version": "2.1.197",
            "gitBranch": "main",
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def payload(self, event: str, **own: object) -> bytes:
        """The client's payload for a hook."""
        common = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        return json.dumps(common | own).encode()

    def hook(self, script: str, event: str, **own: object) -> bytes:
        """Run one hook as hooks.json wires it; return what it printed."""
        return run_hook(script, event, self.payload(event, **own), self.environment)

    def ask(self, event: str, **own: object) -> bytes:
        """The output of the asking hook with a long deadline, for busy machines."""
        options = ";".join(
            f"{name.removeprefix(OPTION).lower()}={value}"
            for name, value in self.environment.items()
            if name.startswith(OPTION)
        )
        now = time.time_ns()
        config = self.environment["CLAUDE_CONFIG_DIR"]
        header = f"subconscious 1\t{event}\t{now}\t{self.project}\t{config}\t0.1.0\t{options}\n"
        entry = header.encode() + self.payload(event, **own)
        home = Home(Path(self.environment["SUBCONSCIOUS_HOME"]))
        name = f"{now:020d}-{os.getpid()}-{uuid4().hex[:8]}.entry"
        draft = home.spool / f".{name}.tmp"
        draft.write_bytes(entry)
        draft.rename(home.spool / name)
        return wire.exchange(home, b"ask %s %d\n" % (name.encode(), len(entry)) + entry, 20)


def introduce(payload: bytes, environment: Mapping[str, str]) -> None:
    """Run ``bench/stand_in.py`` under the client's name, outside of our process tree, which may have a Claude Code.

    One at a time: the daemon tells clients apart by their start times. Returns when its output is closed.
    """
    with tempfile.TemporaryDirectory() as folder:
        claude = Path(folder, "claude")
        claude.symlink_to(Path(sys.executable).resolve())
        at_work = os.open(environment["SUBCONSCIOUS_HOME"], os.O_RDONLY)
        try:
            fcntl.flock(at_work, fcntl.LOCK_EX)
            script, home = str(ROOT / "bench" / "stand_in.py"), environment["SUBCONSCIOUS_HOME"]
            subprocess.run(
                [*DETACHED, str(claude), "-I", "-S", script, home],
                input=payload,
                env=dict(environment),
                check=True,
                timeout=30,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        finally:
            os.close(at_work)


def _use(name: str, given: Mapping[str, str]) -> dict[str, object]:
    return {"type": "tool_use", "id": f"toolu_{uuid4().hex[:12]}", "name": name, "input": dict(given)}


def run_hook(script: str, event: str, payload: bytes, environment: Mapping[str, str]) -> bytes:
    """Run ``hooks/run SCRIPT EVENT`` with a payload on stdin; it always ends with 0."""
    done = subprocess.run(
        [*HOOK, script, event], input=payload, env=dict(environment), capture_output=True, check=True, timeout=30
    )
    return done.stdout
