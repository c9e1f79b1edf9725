"""Where Claude Code keeps the notes that it writes for itself: found as the client finds it, from its settings."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

from subconscious.json_bounds import has_too_many_values
from subconscious.safe_files import read_regular

INDEX = "MEMORY.md"
"""The list of notes that the client loads at every start."""

MOST_SETTINGS = 1 << 20
LONGEST_SLUG = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def config_folder(config_dir: str, transcript: str) -> Path:
    """Return the client's folder: the one it was told to use, else the one its transcript lies in, else the usual."""
    if config_dir.startswith("/"):
        return Path(config_dir)
    above = Path(transcript).parents
    if transcript.startswith("/") and len(above) > 2 and above[1].name == "projects":
        return above[2]
    return Path.home() / ".claude"


def notes_folder(config: Path, root: str) -> Path:
    """Return the folder of the notes on the project at ``root``, which worktrees and sub-folders share.

    Of the settings that can move it only the user's own count: the client ignores those of a repository unless the
    user trusts it, which nobody else can know.
    """
    moved = _moved_to(user_settings(config).get("autoMemoryDirectory"))
    return moved or config / "projects" / slug(root) / "memory"


def is_loaded(config: Path, folder: str) -> bool:
    """Whether sessions in ``folder`` load the index of the notes, as far as settings say.

    What a session's environment says of it is not known here.
    """
    local = Path(folder) / ".claude" / "settings.local.json"
    return all(one.get("autoMemoryEnabled") is not False for one in (user_settings(config), _settings(local)))


def user_settings(config: Path) -> dict[str, Any]:
    """Return the user's settings of the client; nothing where they can't be read."""
    return _settings(config / "settings.json")


def _settings(file: Path) -> dict[str, Any]:
    try:
        raw = read_regular(file, MOST_SETTINGS)
        found = {} if has_too_many_values(raw) else json.loads(raw)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moved_to(chosen: object) -> Path | None:
    """The folder that a setting names, if the client would take it: an absolute path, or one in the home folder."""
    if not isinstance(chosen, str) or "\0" in chosen:
        return None
    path = Path.home() / chosen[2:] if chosen.startswith("~/") else Path(chosen)
    return path if path.is_absolute() and len(str(path)) > 2 and not chosen.startswith("//") else None


def slug(path: str) -> str:
    """Return a folder's path as the client names folders after it."""
    named = unicodedata.normalize("NFC", re.sub(r"[^a-zA-Z0-9]", "-", path))
    return named if len(named) <= LONGEST_SLUG else f"{named[:LONGEST_SLUG]}-{_short_hash(path)}"


def _short_hash(text: str) -> str:
    """The client's hash of a long path: 31 times the sum so far plus each UTF-16 unit, in 32 bits, to base 36."""
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
