"""``subconscious demo``: a recorded session goes through the real hooks into a daemon of its own.

Nothing of the person's is touched: state, project and transcript lie in a folder that goes at the end.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import Any

from subconscious.client import await_absence, call, ensure_daemon
from subconscious.errors import DaemonError, SubconsciousError
from subconscious.home import Home

from . import screen
from .holder import kill
from .review import card

RECORDED_PROJECT = "/home/dev/payments"
"""Where the session was recorded; its paths are rewritten to the stage's."""
DRAIN_SECONDS = 30.0
HOOK_SECONDS = 10.0
NEXT_SESSION = "00000000-0000-4000-8000-000000000002"

OUTCOMES = (
    ("captured", "Remembered at once"),
    ("review", "Waits for a person's word"),
    ("discarded", "Discarded"),
)

INSTALL = """\
To have this in your own sessions (SOURCE is the folder or the URL you cloned from):
  claude plugin marketplace add SOURCE && claude plugin install subconscious@subconscious"""


@dataclass(frozen=True, slots=True)
class Stage:
    """The folder the demonstration plays in."""

    folder: Path

    @property
    def home(self) -> Home:
        """The state folder of its daemon."""
        return Home(self.folder / "state")

    @property
    def project(self) -> Path:
        """Where the session claims to have worked."""
        return self.folder / "payments"

    @property
    def transcript(self) -> Path:
        """The session's transcript, as the client would have written it."""
        return self.folder / "claude" / "projects" / "-payments" / "session.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        """What the hooks see; a person's own pause must not silence the demonstration."""
        kept = {name: value for name, value in os.environ.items() if name != "SUBCONSCIOUS_OFF"}
        # At its end, so that the hooks take the Python they would take, and this one where there is none.
        path = os.pathsep.join((kept.get("PATH", os.defpath), str(Path(sys.executable).parent)))
        return kept | {
            "PATH": path,
            "SUBCONSCIOUS_HOME": str(self.home.root),
            "CLAUDE_PLUGIN_ROOT": str(plugin_root()),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }


def demo(_: Namespace) -> None:
    """Play the recorded session and print what becomes of it."""
    with _stage() as stage:
        print("Starting a daemon of its own in a temporary folder; yours is not touched.")
        ensure_daemon(stage.home)
        events = _play(stage)
        print(f"{len(events)} events of a recorded session went through the hooks:")
        print(screen.wrapped(screen.listed(list(dict.fromkeys(events))), 2))
        call(stage.home, "drain", {"timeout": DRAIN_SECONDS}, DRAIN_SECONDS + 5)
        _tell_captures(stage)
        _tell_next_session(stage)
    print(f"\n{INSTALL}")


@contextmanager
def _stage() -> Iterator[Stage]:
    # Resolved, because the daemon knows projects by their real paths.
    stage = Stage(Path(tempfile.mkdtemp(prefix="subconscious-demo-")).resolve())
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        for folder in (stage.home.root, stage.project, stage.transcript.parent):
            folder.mkdir(mode=0o700, parents=True)
        yield stage
    finally:
        signal.signal(signal.SIGTERM, before)
        _clear(stage)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _clear(stage: Stage) -> None:
    try:
        call(stage.home, "stop", timeout=5)
        await_absence(stage.home, 10)
    except SubconsciousError:
        kill(stage.home)
    shutil.rmtree(stage.folder, ignore_errors=True)


def _play(stage: Stage) -> list[str]:
    """Write the transcript and run the hooks of every recorded event; return the events' names."""
    stage.transcript.write_text(_recorded("session.jsonl", stage), encoding="utf-8")
    recorded = [json.loads(text) for text in _recorded("payloads.jsonl", stage).splitlines()]
    for each in recorded:
        run_hooks(stage, each["event"], each["payload"] | {"transcript_path": str(stage.transcript)})
    return [each["event"] for each in recorded]


def _recorded(name: str, stage: Stage) -> str:
    text = (resources.files("subconscious") / "demo" / name).read_text(encoding="utf-8")
    # Within JSON, so the path is written the way JSON writes it.
    return text.replace(RECORDED_PROJECT, json.dumps(str(stage.project))[1:-1])


def run_hooks(stage: Stage, event: str, payload: dict[str, Any]) -> list[str]:
    """Run what hooks.json wires to an event, as the client does; return what the hooks printed."""
    told = json.dumps(payload).encode()
    return [_run_hook(stage, command, told) for command in wired(event, payload)]


def wired(event: str, payload: dict[str, Any]) -> list[list[str]]:
    """The commands that hooks.json gives for an event."""
    root = plugin_root()
    table = json.loads((root / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    subject = str(payload.get("tool_name") or payload.get("source") or payload.get("trigger") or "")
    return [
        [
            part.replace("${CLAUDE_PLUGIN_ROOT}", str(root))
            for part in (hook["command"], *hook.get("args", ()))
        ]
        for row in table.get(event, ())
        if re.fullmatch(row.get("matcher") or ".*", subject)
        for hook in row["hooks"]
    ]


def plugin_root() -> Path:
    """The folder that holds ``hooks/``: the plugin's, or the one this package is installed in."""
    chosen = os.environ.get("SUBCONSCIOUS_PLUGIN_ROOT", "")
    if chosen and Path(chosen, "hooks", "hooks.json").exists():
        return Path(chosen)
    return Path(__file__).resolve().parents[1]


def _run_hook(stage: Stage, command: Sequence[str], told: bytes) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own hooks
            command,
            input=told,
            capture_output=True,
            cwd=stage.project,
            env=stage.environment,
            timeout=HOOK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DaemonError(f"a hook failed: {error}", "run `subconscious doctor`") from error
    return done.stdout.decode("utf-8", "replace")


def _tell_captures(stage: Stage) -> None:
    captures = call(stage.home, "captures", {"cwd": str(stage.project), "limit": 500})["captures"]
    for status, title in OUTCOMES:
        found = [capture for capture in captures if capture["status"] == status]
        screen.heading(f"{title}: {len(found)}")
        for capture in found:
            card(capture)


def _tell_next_session(stage: Stage) -> None:
    """Start another session in the same project and print what the model would read."""
    payload = {
        "session_id": NEXT_SESSION,
        "transcript_path": str(stage.transcript.with_name(f"{NEXT_SESSION}.jsonl")),
        "cwd": str(stage.project),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    screen.heading("The next session in this project is given, word for word")
    given = "\n".join(filter(None, map(_context, run_hooks(stage, "SessionStart", payload))))
    print(screen.clean(given) or "(nothing)")


def _context(printed: str) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])
    return ""
