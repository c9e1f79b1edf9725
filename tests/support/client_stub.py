"""A client, for tests without the real one. The daemon knows it by its name."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support import terminal

HOOKS = terminal.ROOT / "hooks" / "run"
SCRIPT = terminal.ROOT / "tests" / "support" / "client_hook.py"


def submit(payload: bytes, environment: Mapping[str, str], folder: Path) -> tuple[str, str]:
    """Type a prompt in a client of a person's: what the model and what the person is told.

    Of a prompt that the hook blocks, the model hears nothing, and the person is shown the reason.
    """
    claude = folder / "claude"
    claude.unlink(missing_ok=True)
    claude.symlink_to(Path(sys.executable).resolve())
    file = folder / "payload.json"
    file.write_bytes(payload)
    command = [str(claude), "-I", "-S", str(SCRIPT), str(HOOKS), str(file)]
    with terminal.Terminal(command, environment, folder) as screen:
        assert screen.end() == 0, screen.shown
        said = json.loads(screen.shown) if screen.shown.strip() else {}
    shown = said.get("reason", "") if said.get("decision") == "block" else said.get("systemMessage", "")
    return said.get("hookSpecificOutput", {}).get("additionalContext", ""), shown
