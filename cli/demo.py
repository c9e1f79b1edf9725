"""``subconscious demo``: replays a recorded session through the real hooks, into a daemon started for the demo.

State, project and transcript are in a temporary folder, so the user's own data is not touched.
"""

from __future__ import annotations

import json
import os
import re
import shlex
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

from subconscious.domain.errors import DaemonError, SubconsciousError
from subconscious.settings.home import Home
from subconscious.wire import call, ensure_daemon

from . import screen
from .holder import await_end, kill
from .memories import source

RECORDED_FOLDER = "/home/dev"
"""The folder that the recording names; it is replaced by the temporary folder."""
DRAIN_SECONDS = 30.0
HOOK_SECONDS = 10.0
END_SECONDS = 10.0
SECRETS = ("AKIAIOSFODNN7EXAMPLE", "on holiday")
"""Texts in the recorded session that must not be stored: a key, and a passage marked as private."""
NEXT_SESSION = "00000000-0000-4000-8000-000000000002"

OUTCOMES = (
    ("captured", "Stored without asking"),
    ("review", "Waits for your review"),
    ("discarded", "Discarded"),
)

INTRODUCTION = "A recorded session, played through the real hooks in a temporary folder. Your own data is not touched."
INSTALL = """
To get this in your own sessions:
  claude plugin marketplace add {source}
  claude plugin install subconscious@subconscious"""


@dataclass(frozen=True, slots=True)
class Stage:
    """The temporary folder of the demo."""

    folder: Path

    @property
    def home(self) -> Home:
        """The state folder of the demo's daemon."""
        return Home(self.folder / "state")

    @property
    def project(self) -> Path:
        """The folder in which the recorded session worked."""
        return self.folder / "payments"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the hooks, without SUBCONSCIOUS_OFF, which would switch them off."""
        kept = {name: value for name, value in os.environ.items() if name != "SUBCONSCIOUS_OFF"}
        # This Python is last in PATH: the hooks use it only if there is no other.
        path = os.pathsep.join((kept.get("PATH", os.defpath), str(Path(sys.executable).parent)))
        return kept | {
            "PATH": path,
            "SUBCONSCIOUS_HOME": str(self.home.root),
            "CLAUDE_PLUGIN_ROOT": str(plugin_root()),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }


def demo(_: Namespace) -> None:
    """Replay the recorded session and print the captures that result."""
    with _stage() as stage:
        print(screen.wrapped(INTRODUCTION))
        payloads = _record(stage)
        _begin(stage, payloads[0])
        ensure_daemon(stage.home)
        for payload in payloads:
            run_hooks(stage, payload)
        call(stage.home, "drain", {"timeout": DRAIN_SECONDS}, DRAIN_SECONDS + 5)
        _print_session(payloads)
        _print_captures(stage)
        _print_secrets(stage)
        _print_next_session(stage, payloads[0])
    print(INSTALL.format(source=_source()))


def _print_session(payloads: list[dict[str, Any]]) -> None:
    screen.heading("What the user typed")
    for payload in payloads:
        if payload["hook_event_name"] == "UserPromptSubmit":
            print(screen.wrapped(screen.line(payload["prompt"]), 4, "  >"))


@contextmanager
def _stage() -> Iterator[Stage]:
    # Resolved, because the daemon identifies projects by their real paths.
    stage = Stage(Path(tempfile.mkdtemp(prefix="subconscious-demo-")).resolve())
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        for folder in (stage.home.root, stage.project):
            folder.mkdir(mode=0o700, parents=True)
        yield stage
    finally:
        signal.signal(signal.SIGTERM, before)
        interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would leave the folder behind
        _remove(stage)
        signal.signal(signal.SIGINT, interrupted)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _remove(stage: Stage) -> None:
    try:
        call(stage.home, "stop", timeout=5)
    except SubconsciousError:
        kill(stage.home)
    if not await_end(stage.home, END_SECONDS):
        kill(stage.home)
    shutil.rmtree(stage.folder, ignore_errors=True)


def _record(stage: Stage) -> list[dict[str, Any]]:
    """Write the transcript; return the payloads of the recorded events."""
    payloads = [json.loads(text) for text in _recorded("payloads.jsonl", stage).splitlines()]
    transcript = Path(payloads[0]["transcript_path"])
    transcript.parent.mkdir(mode=0o700, parents=True)
    transcript.write_text(_recorded("session.jsonl", stage), encoding="utf-8")
    return payloads


def _begin(stage: Stage, first: dict[str, Any]) -> None:
    """Report the session's start before the daemon runs: a running daemon trusts only hooks that a client started."""
    hook = str(plugin_root() / "hooks" / "run")
    _run_hook(stage, ["/bin/sh", hook, "drop", "SessionStart"], json.dumps(first).encode())


def _recorded(name: str, stage: Stage) -> str:
    text = (resources.files("subconscious") / "demo" / name).read_text(encoding="utf-8")
    # The text is JSON, so the path is escaped as JSON.
    return text.replace(RECORDED_FOLDER, json.dumps(str(stage.folder))[1:-1])


def run_hooks(stage: Stage, payload: dict[str, Any]) -> list[str]:
    """Run the hooks of an event as the client does; return their output."""
    content = json.dumps(payload).encode()
    return [_run_hook(stage, command, content) for command in hook_commands(payload)]


def hook_commands(payload: dict[str, Any]) -> list[list[str]]:
    """Return the commands that hooks.json lists for an event."""
    root = plugin_root()
    table = json.loads((root / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    subject = str(payload.get("tool_name") or payload.get("source") or payload.get("trigger") or "")
    return [
        [part.replace("${CLAUDE_PLUGIN_ROOT}", str(root)) for part in (hook["command"], *hook.get("args", ()))]
        for row in table.get(payload["hook_event_name"], ())
        if re.fullmatch(row.get("matcher") or ".*", subject)
        for hook in row["hooks"]
    ]


def plugin_root() -> Path:
    """Return the folder with ``hooks/``: the plugin's, or the one in which this package is installed."""
    chosen = os.environ.get("SUBCONSCIOUS_PLUGIN_ROOT", "")
    if chosen and Path(chosen, "hooks", "hooks.json").exists():
        return Path(chosen)
    return Path(__file__).resolve().parents[1]


def _run_hook(stage: Stage, command: Sequence[str], content: bytes) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own hooks
            command,
            input=content,
            capture_output=True,
            cwd=stage.project,
            env=stage.environment,
            timeout=HOOK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DaemonError(f"a hook failed: {error}", "run `subconscious doctor`") from error
    return done.stdout.decode("utf-8", "replace")


def _print_captures(stage: Stage) -> None:
    captures = call(stage.home, "captures", {"cwd": str(stage.project), "limit": 500})["captures"]
    for status, title in OUTCOMES:
        found = [capture for capture in captures if capture["status"] == status]
        screen.heading(f"{title}: {len(found)}")
        for capture in found:
            print(screen.wrapped(screen.statement(capture), 6, f"{capture['id']:>4}"))
            details = f"{capture['kind']}, {source(capture)}; {screen.line(capture['reason'])}"
            print(screen.paint(screen.wrapped(details, 6), "dim"))


def _print_secrets(stage: Stage) -> None:
    """Print whether any file of the state folder contains one of the secrets."""
    stored = b"".join(file.read_bytes() for file in stage.home.root.rglob("*") if file.is_file())
    found = [secret for secret in SECRETS if secret.encode() in stored]
    screen.heading("Secrets")
    result = (
        f"error: these secrets were stored: {found}" if found else "the key and the <private> words were not stored"
    )
    print(f"  {result}")


def _print_next_session(stage: Stage, first: dict[str, Any]) -> None:
    """Start another session in the same project and print the context that the model would get."""
    transcript = Path(first["transcript_path"]).with_name(f"{NEXT_SESSION}.jsonl")
    payload = first | {"session_id": NEXT_SESSION, "transcript_path": str(transcript)}
    screen.heading("The next session in this project starts with this text")
    given = "\n".join(filter(None, map(_context, run_hooks(stage, payload))))
    print(screen.clean(given) or "(nothing)")


def _source() -> str:
    """Return the folder to install the plugin from, or a placeholder if plugin_root() has no marketplace.json."""
    root = plugin_root()
    beside = (root / ".claude-plugin" / "marketplace.json").exists()
    return shlex.quote(str(root)) if beside else "FOLDER_OR_URL_YOU_CLONED_FROM"


def _context(printed: str) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])
    return ""
