"""Finds the folders of Claude Code's own notes in the way that Claude Code (the client) does: from its settings."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

from subconscious.system.json_bounds import has_too_many_values
from subconscious.system.safe_files import read_regular

INDEX = "MEMORY.md"
"""The name of the file that lists the notes; the client loads this file at the start of every session."""

MOST_SETTINGS = 1 << 20
LONGEST_SLUG = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def config_folder(config_dir: str, transcript: str) -> Path:
    """Return Claude Code's folder: ``config_dir`` if absolute, else the one above the transcript, else ~/.claude."""
    if config_dir.startswith("/"):
        return Path(config_dir)
    above = Path(transcript).parents
    if transcript.startswith("/") and len(above) > 2 and above[1].name == "projects":
        return above[2]
    return Path.home() / ".claude"


def notes_folder(config: Path, root: str) -> Path:
    """Return the folder with Claude Code's notes on the project at ``root``, shared by its worktrees and sub-folders.

    Only the user's own settings can move this folder. The client also uses a repository's settings if the user
    trusts the repository; they are ignored here, because it is not known whether the user does.
    """
    moved = _moved_to(user_settings(config).get("autoMemoryDirectory"))
    return moved or config / "projects" / slug(root) / "memory"


def is_loaded(config: Path, folder: str) -> bool:
    """Return whether sessions in ``folder`` load the index of the notes, according to settings files.

    Environment variables of the session are not known here.
    """
    local = Path(folder) / ".claude" / "settings.local.json"
    return all(one.get("autoMemoryEnabled") is not False for one in (user_settings(config), _settings(local)))


def user_settings(config: Path) -> dict[str, Any]:
    """Return the user's settings of the client; empty if they can't be read."""
    return _settings(config / "settings.json")


def _settings(file: Path) -> dict[str, Any]:
    try:
        raw = read_regular(file, MOST_SETTINGS)
        found = {} if has_too_many_values(raw) else json.loads(raw)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moved_to(chosen: object) -> Path | None:
    """Return the folder that a setting names, if the client accepts it: an absolute path, or a path with ``~``."""
    if not isinstance(chosen, str) or "\0" in chosen:
        return None
    path = Path.home() / chosen[2:] if chosen.startswith("~/") else Path(chosen)
    return path if path.is_absolute() and len(str(path)) > 2 and not chosen.startswith("//") else None


def slug(path: str) -> str:
    """Return the folder name that the client derives from a path."""
    named = unicodedata.normalize("NFC", re.sub(r"[^a-zA-Z0-9]", "-", path))
    return named if len(named) <= LONGEST_SLUG else f"{named[:LONGEST_SLUG]}-{_short_hash(path)}"


def _short_hash(text: str) -> str:
    """Return the client's hash of a long path, in base 36: a 32-bit hash that multiplies by 31 for each UTF-16 unit."""
    units = text.encode("utf-16-le", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    number = abs(value - (1 << 32) if value >= 1 << 31 else value)
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
