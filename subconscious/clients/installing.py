"""Connects and disconnects other coding agents: changes their settings files, and writes the launcher of our hooks."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from subconscious.clients.entries import OURS, PLACES
from subconscious.domain.errors import RequestError
from subconscious.system.safe_files import read_utf8, replace_file

LARGEST = 1 << 20
"""The largest settings file that is read, in bytes."""

LAUNCHER = """#!/bin/sh
# Runs a hook (hook CLIENT ask|drop|wake EVENT) or the MCP server (hook CLIENT mcp) of Subconscious for a coding agent.
# Exits 0 without output if it can't.
{home}
for hooks in "$SUBCONSCIOUS_HOME"/env/current/lib/python3.*/site-packages/subconscious/hooks; do
    [ -O "$hooks/run" ] || continue
    [ "$2" = mcp ] && exec /bin/sh "$hooks/mcp"
    exec /bin/sh "$hooks/run" "$2" "$3" "$1"
done
exec cat >/dev/null
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A settings file with its text before and after the change; "" means that the file does not exist."""

    path: Path
    before: str
    after: str


def changes(client: str, state: Path, *, remove: bool = False) -> list[Change]:
    """Return the changes that add our entries to a client's settings, or remove them. Raises RequestError."""
    place = PLACES[client]
    found = []
    for name, edit in place.files.items():
        path = folder_of(client) / name
        before = _text_of(path)
        if before or not remove:
            found.append(Change(path, before, edit(before, state, () if remove else place.hooks, str(path))))
    return [one for one in found if one.before != one.after]


def folder_of(client: str) -> Path:
    """Return the folder with a client's settings."""
    place = PLACES[client]
    chosen = os.environ.get(place.variable, "") if place.variable else ""
    return Path(chosen) if chosen.startswith("/") else Path.home() / place.folder


def is_installed(client: str) -> bool:
    """Whether a client's settings have a hook of ours; an entry of our MCP server alone does not count."""
    return any(_has_entry(folder_of(client) / name) for name in PLACES[client].files)


def problem_of(client: str, state: Path) -> tuple[str, str]:
    """Return why a connected client does not run our hooks, and the remedy; two empty strings if it runs them."""
    repair = f"subconscious install {client}"
    if not os.access(launcher_of(state), os.X_OK):
        return "the launcher of its hooks is missing", repair
    if changes(client, state):
        return "entries for Subconscious in its settings are missing or outdated", repair
    folder = folder_of(client)
    return PLACES[client].why_skipped({name: _text_of(folder / name) for name in PLACES[client].files})


def launcher_of(state: Path) -> Path:
    """Return the path of the launcher, the program that our entries in settings files run."""
    return state / "bin" / "hook"


def _has_entry(path: Path) -> bool:
    try:
        return bool(OURS.search(_text_of(path)))
    except RequestError:
        return False


def write(change: Change) -> None:
    """Write a changed settings file, or the file that its link leads to; delete the file if no text is left."""
    path = Path(os.path.realpath(change.path))
    if not change.after:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    replace_file(path, change.after.encode())
    path.chmod(mode)


def write_launcher(state: Path) -> Path:
    """Write the launcher that our entries run, and return its path. The launcher finds the hooks after any update."""
    launcher = launcher_of(state)
    launcher.parent.mkdir(mode=0o700, exist_ok=True)
    default = f'[ "$SUBCONSCIOUS_HOME" ] || SUBCONSCIOUS_HOME={shlex.quote(str(state))}\nexport SUBCONSCIOUS_HOME'
    replace_file(launcher, LAUNCHER.format(home=default).encode())
    launcher.chmod(0o700)
    return launcher


def _text_of(path: Path) -> str:
    try:
        return read_utf8(os.path.realpath(path), LARGEST)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{path} can't be read: {error}", f"check the permissions and the content of {path}"
        ) from error
