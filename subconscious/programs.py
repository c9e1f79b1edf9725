"""Finds programs where only this user and root can have put them, whatever PATH a session has.

The daemon serves every project, and is started by whichever session comes first: a `git` in that session's PATH, which
a project's tooling may have set, must not run for the others. The same places stand in ``hooks/environment.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from subconscious.ownership import is_trusted

PLACES = (
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/opt/local/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
    "~/.nix-profile/bin",
    "~/.local/bin",
    "~/bin",
    "~/.claude/local",
    "~/.volta/bin",
    "~/.nvm/versions/node/*/bin",
    "~/.local/share/fnm/aliases/default/bin",
    "~/.local/share/mise/shims",
    "~/.asdf/shims",
    "~/.pyenv/shims",
    "~/.npm-global/bin",
    "~/.bun/bin",
    "~/.cargo/bin",
    "~/miniconda3/bin",
    "~/miniforge3/bin",
    "~/anaconda3/bin",
    "/opt/conda/bin",
)
"""Where programs are installed by systems, package managers and version managers."""

CHOSEN: dict[str, str] = {}
"""Programs that a person has named in a setting and accepted, by their usual name."""


def choose_program(name: str, path: str) -> None:
    """Use this file for a program from now on; "" for the one that is found."""
    if CHOSEN.get(name, "") != path:
        CHOSEN[name] = path
        find_program.cache_clear()


def safe_path() -> str:
    """A PATH of folders that exist and that nobody else can change."""
    return os.pathsep.join(safe_folders(os.path.expanduser("~")))  # noqa: PTH111 - Path.expanduser raises without a home


@lru_cache(maxsize=4)
def safe_folders(home: str) -> tuple[str, ...]:
    """The folders of PLACES, for a home folder, that exist and that nobody else can change."""
    return tuple(str(folder) for folder in _folders(home) if is_trusted(folder))


def _folders(home: str) -> Iterator[Path]:
    for place in PLACES:
        if not place.startswith("~/"):
            yield Path(place)
        elif "*" in place:
            # The newest version last installed: versions don't sort as text.
            yield from sorted(Path(home).glob(place[2:]), key=_changed, reverse=True)
        else:
            yield Path(home, place[2:])


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


@lru_cache(maxsize=32)
def find_program(name: str) -> str:
    """The full path of a program; "" if it is nowhere that can be trusted."""
    chosen = CHOSEN.get(name, "")
    if chosen:
        return chosen if _is_program(Path(chosen)) else ""
    home = os.path.expanduser("~")  # noqa: PTH111
    found = (Path(folder, name) for folder in safe_folders(home))
    return next((str(path) for path in found if _is_program(path)), "")


def _is_program(path: Path) -> bool:
    return path.is_absolute() and path.is_file() and os.access(path, os.X_OK) and is_trusted(path)
