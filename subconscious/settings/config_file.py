"""Reads config.toml, and writes single settings into it; the rest of the file stays unchanged."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from subconscious.domain.errors import SettingsError
from subconscious.system.safe_files import is_missing, read_regular, replace_file

LONGEST_CONFIG = 1 << 20
"""The largest config.toml that is read, in bytes: a file with every setting has some 10 KB."""

_TABLE = re.compile(r"^\s*\[", re.MULTILINE)


Value = str | bool


def write_settings(config: Path, values: Mapping[str, Value]) -> None:
    """Write settings with text or true/false as values into the file, each on its own line; the file gets mode 0600.

    Raises SettingsError if the file can't be read, or if the values can't be written without changing other settings.
    """
    before = "" if is_missing(config) else _text(config)
    after = before
    for name, value in values.items():
        after = _with(after, name, value)
    if _parsed(config, after) != _parsed(config, before) | dict(values):
        raise SettingsError(
            f"{config} can't be changed safely",
            f"edit the file and set: {', '.join(map(_line, values, values.values()))}",
        )
    # A link to a file elsewhere remains a link.
    replace_file(config.resolve(), after.encode("utf-8"))


def read_config(config: Path) -> dict[str, Any]:
    """Return the values in the file. Raises SettingsError if it can't be read."""
    return _parsed(config, _text(config))


def require_written(home: Path) -> None:
    """Raise SettingsError for an empty config.toml.

    A crash during writing can leave the file empty, and the defaults would turn on what the user had turned off.
    """
    config = home / "config.toml"
    if config.exists() and config.stat().st_size == 0:
        raise SettingsError(
            f"{config} is empty: its settings may have been lost",
            f"restore the file from a copy, or delete it to use the defaults: rm {config}",
        )


def is_open(config: Path) -> bool:
    """Whether other users may read or write a file."""
    return bool(stat.S_IMODE(config.stat().st_mode) & 0o077)


def _text(config: Path) -> str:
    try:
        return read_regular(config, LONGEST_CONFIG).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(config, error) from error


def _parsed(config: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(config, error) from error


def _with(text: str, name: str, value: Value) -> str:
    """Return ``text`` with one setting changed in its line, or added before the first table."""
    found = _TABLE.search(text)
    end = found.start() if found else len(text)
    top, rest = text[:end], text[end:]
    line = _line(name, value)
    changed, times = re.subn(rf"^[ \t]*{name}[ \t]*=.*$", lambda _: line, top, count=1, flags=re.MULTILINE)
    if times:
        return changed + rest
    return f"{top}{'' if not top or top.endswith(chr(10)) else chr(10)}{line}\n{rest}"


def _line(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return f"{name} = {'true' if value else 'false'}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name} = "{escaped}"'


def _unreadable(config: Path, error: Exception) -> SettingsError:
    return SettingsError(f"{config} can't be read: {error}", f"repair or remove {config}")
