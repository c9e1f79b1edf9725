"""Writes single settings into config.toml, and leaves everything else in it as a person wrote it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from subconscious.errors import SettingsError
from subconscious.safe_files import is_missing, read_regular, replace_file
from subconscious.settings import LONGEST_CONFIG

_TABLE = re.compile(r"^\s*\[", re.MULTILINE)


def write_settings(config: Path, values: Mapping[str, str]) -> None:
    """Set plain text settings, each in its line; the file gets mode 0600.

    Raises SettingsError where the file can't be read, or can't be changed without touching anything else.
    """
    before = _read(config)
    after = before
    for name, value in values.items():
        after = _with(after, name, value)
    if _parsed(config, after) != _parsed(config, before) | dict(values):
        raise SettingsError(
            f"{config} can't be changed safely",
            f"set it there yourself: {', '.join(map(_line, values, values.values()))}",
        )
    # A link to a file elsewhere stays a link.
    replace_file(config.resolve(), after.encode("utf-8"))


def _read(config: Path) -> str:
    if is_missing(config):
        return ""
    try:
        return read_regular(config, LONGEST_CONFIG).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{config} can't be read: {error}", f"mend or remove {config}") from error


def _parsed(config: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{config} can't be read: {error}", f"mend or remove {config}") from error


def _with(text: str, name: str, value: str) -> str:
    """The text with one setting in the place where it stands, or else in front of the first table."""
    found = _TABLE.search(text)
    end = found.start() if found else len(text)
    top, rest = text[:end], text[end:]
    line = _line(name, value)
    changed, times = re.subn(rf"^[ \t]*{name}[ \t]*=.*$", lambda _: line, top, count=1, flags=re.MULTILINE)
    if times:
        return changed + rest
    return f"{top}{'' if not top or top.endswith(chr(10)) else chr(10)}{line}\n{rest}"


def _line(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name} = "{escaped}"'
