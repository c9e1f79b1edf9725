"""Finds programs in folders that only this user and root can write to, regardless of a session's PATH.

The daemon serves every project and is started by the first session: a `git` in that session's PATH, which a project's
tooling may have set, must not run for other projects. ``hooks/programs.py`` has the same rules for the hooks, which
can't import this module; a test compares the results of both.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from subconscious.system.ownership import is_roots, is_trusted

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
    "~/.pyenv/versions/*/bin",
    "~/.local/share/mise/installs/python/*/bin",
    "~/.local/share/uv/python/*/bin",
    "~/.npm-global/bin",
    "~/.bun/bin",
    "~/.cargo/bin",
    "~/miniconda3/bin",
    "~/miniforge3/bin",
    "~/anaconda3/bin",
    "/opt/conda/bin",
    "/Library/Frameworks/Python.framework/Versions/*/bin",
)
"""Where systems, package managers and version managers install programs."""

CHOSEN: dict[str, str] = {}
"""Paths of programs that the user has set and accepted, by their usual name."""


def choose_program(name: str, path: str) -> None:
    """Use this path for a program from now on; with "", use the program that ``find_program`` finds."""
    if CHOSEN.get(name, "") != path:
        CHOSEN[name] = path
        find_program.cache_clear()


def safe_path() -> str:
    """Return a PATH of existing folders that no other user can change."""
    return os.pathsep.join(safe_folders(os.environ.get("PATH", "")))


@lru_cache(maxsize=4)
def safe_folders(path: str) -> tuple[str, ...]:
    """Return the trusted folders of PLACES, then the folders in ``path`` (a PATH) that only root can change.

    Folders of this user in a PATH are ignored: a session may have added any of them, such as an unpacked archive.
    """
    known = [str(folder) for folder in _known_folders(_home()) if is_trusted(folder)]
    named = [folder for folder in path.split(os.pathsep) if os.geteuid() != 0 and is_roots(Path(folder))]
    return tuple(dict.fromkeys(known + named))


def _home() -> str:
    """Return the home folder from the user database, because the variable HOME may have any value."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.environ.get("HOME", "/")


def _known_folders(home: str) -> Iterator[Path]:
    for name in PLACES:
        base, pattern = (Path(home), name[2:]) if name.startswith("~/") else (Path("/"), name[1:])
        # The last installed version comes first: version names don't sort as text.
        yield from sorted(base.glob(pattern), key=_changed, reverse=True) if "*" in name else [base / pattern]


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


@lru_cache(maxsize=32)
def find_program(name: str) -> str:
    """Return the full path of a program; "" if no trusted folder contains it."""
    chosen = CHOSEN.get(name, "")
    if chosen:
        return chosen if _is_program(Path(chosen)) else ""
    found = (Path(folder, name) for folder in safe_folders(os.environ.get("PATH", "")))
    return next((str(path) for path in found if _is_program(path)), "")


def _is_program(path: Path) -> bool:
    runs = path.is_absolute() and path.is_file() and os.access(path, os.X_OK)
    return runs and is_trusted(path) and is_trusted(path.parent)  # a link may be in another folder than its target
