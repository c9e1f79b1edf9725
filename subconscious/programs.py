"""Finds programs where only this user and root can have put them, regardless of a session's PATH.

The daemon serves every project, and is started by whichever session comes first: a `git` in that session's PATH, which
a project's tooling may have set, must not run for the others. ``hooks/programs.py`` has the same rules for the hooks,
which can't import this; a test holds both to the same answers.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from subconscious.ownership import is_roots, is_trusted

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
    return os.pathsep.join(safe_folders(os.environ.get("PATH", "")))


@lru_cache(maxsize=4)
def safe_folders(path: str) -> tuple[str, ...]:
    """The folders of PLACES that can be trusted, then those of a PATH that only root can have put anything into.

    Of this user's own folders a PATH may name any, one that was unpacked from somewhere too.
    """
    known = [str(folder) for folder in _known_folders(_home()) if is_trusted(folder)]
    named = [folder for folder in path.split(os.pathsep) if os.geteuid() != 0 and is_roots(Path(folder))]
    return tuple(dict.fromkeys(known + named))


def _home() -> str:
    """The home folder as the system knows it: HOME may name any."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.environ.get("HOME", "/")


def _known_folders(home: str) -> Iterator[Path]:
    for place in PLACES:
        base, pattern = (Path(home), place[2:]) if place.startswith("~/") else (Path("/"), place[1:])
        # Of several versions the one that was installed last: their names don't sort as text.
        yield from sorted(base.glob(pattern), key=_changed, reverse=True) if "*" in place else [base / pattern]


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
    found = (Path(folder, name) for folder in safe_folders(os.environ.get("PATH", "")))
    return next((str(path) for path in found if _is_program(path)), "")


def _is_program(path: Path) -> bool:
    runs = path.is_absolute() and path.is_file() and os.access(path, os.X_OK)
    return runs and is_trusted(path) and is_trusted(path.parent)  # a link lies elsewhere than what it leads to
