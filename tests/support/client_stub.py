"""A client, for tests without the real one: hands a prompt to the hook that asks, through streams whose other ends it
holds. The daemon knows it by its name.

    claude client_stub.py PAYLOAD    (where ``claude`` is a link to a Python)
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support import terminal

HOOKS = terminal.ROOT / "hooks" / "run"


def submit(payload: bytes, environment: Mapping[str, str], folder: Path) -> tuple[str, str]:
    """Type a prompt in a client of a person's: what the model and what the person is told.

    Of a prompt that the hook blocks, the model hears nothing, and the person is shown the reason.
    """
    claude = folder / "claude"
    claude.unlink(missing_ok=True)
    claude.symlink_to(Path(sys.executable).resolve())
    file = folder / "payload.json"
    file.write_bytes(payload)
    stub = f"import sys; sys.path.insert(0, {str(terminal.ROOT)!r}); from tests.support.client_stub import main; main()"
    command = [str(claude), "-S", "-c", stub, str(file)]
    with terminal.Terminal(command, environment, folder) as screen:
        assert screen.end() == 0, screen.shown
        said = json.loads(screen.shown) if screen.shown.strip() else {}
    shown = said.get("reason", "") if said.get("decision") == "block" else said.get("systemMessage", "")
    return said.get("hookSpecificOutput", {}).get("additionalContext", ""), shown


def main() -> None:
    """Run the hook as the client does, and print what it printed."""
    pairs = [socket.socketpair() for _ in range(3)]
    streams = dict(zip(("stdin", "stdout", "stderr"), (theirs.fileno() for _, theirs in pairs), strict=True))
    command = ["/bin/sh", str(HOOKS), "ask", "UserPromptSubmit"]
    with subprocess.Popen(command, env=os.environ | {"CLAUDECODE": "1"}, **streams) as hook:  # type: ignore[call-overload]
        for _, theirs in pairs:
            theirs.close()
        (to_hook, _), (from_hook, _), _ = pairs
        to_hook.sendall(Path(sys.argv[1]).read_bytes())
        to_hook.shutdown(socket.SHUT_WR)
        with from_hook.makefile("rb") as stream:
            sys.stdout.buffer.write(stream.read())
        hook.wait()
