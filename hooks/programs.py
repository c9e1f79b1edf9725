"""Finds program folders to which only this user and root may write, for processes that a hook starts.

The same rules as in ``subconscious/system/programs.py`` and ``ownership.py``: hooks can't import the library, and they
run on older Pythons. A test compares the results of both.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

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
"""Folders in which systems, package managers and version managers install programs."""


def safe_path() -> str:
    """Return a PATH of existing folders that only this user and root can change."""
    return os.pathsep.join(safe_folders(os.environ.get("PATH", "")))


@lru_cache(maxsize=4)
def safe_folders(path: str) -> tuple[str, ...]:
    """Return the trusted folders of PLACES, then those folders of ``path`` that only root can have written.

    This user's own folders on the PATH are left out, since any of them may have been unpacked from a download. For root
    the whole PATH is left out.
    """
    known = [str(folder) for folder in _known_folders(_home()) if is_trusted(folder)]
    named = [folder for folder in path.split(os.pathsep) if os.geteuid() != 0 and is_roots(Path(folder))]
    return tuple(dict.fromkeys(known + named))


def _home() -> str:
    """Return the home folder from the user database, because HOME may point anywhere."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.environ.get("HOME", "/")


def _known_folders(home: str) -> Iterator[Path]:
    for place in PLACES:
        base, pattern = (Path(home), place[2:]) if place.startswith("~/") else (Path("/"), place[1:])
        # The last installed version comes first: version names don't sort as text.
        yield from sorted(base.glob(pattern), key=_changed, reverse=True) if "*" in place else [base / pattern]


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


MACOS_ADMIN = 80
"""The group of Homebrew's folders. Its members may use `sudo`, so they are root already."""


def is_trusted(path: Path) -> bool:
    """Whether only this user and root can change or replace a file or folder."""
    return _is_held_throughout(path, {0, os.geteuid()})


def is_roots(path: Path) -> bool:
    """Whether only root can change or replace a file or folder."""
    return path.is_absolute() and _is_held_throughout(path, {0})


def _is_held_throughout(path: Path, holders: set[int]) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        return False
    return _is_held_by(real, holders) and all(_is_held_by(parent, holders, sticky=True) for parent in real.parents)


def _is_held_by(path: Path, holders: set[int], *, sticky: bool = False) -> bool:
    """Whether only ``holders`` can change a file or folder.

    ``sticky``: also accept a folder such as /tmp, where users can't replace each other's files.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_uid not in holders:
        return False
    if sticky and status.st_mode & stat.S_ISVTX:
        return True
    if status.st_mode & stat.S_IWOTH:
        return False
    return not status.st_mode & stat.S_IWGRP or _is_private_group(status.st_gid)


@lru_cache(maxsize=64)
def _is_private_group(group: int) -> bool:
    """Whether a group has no members except root and this user.

    Many systems give each user a group of the same name and a umask of 002, so group-writable folders are common.
    """
    if group == 0 or (group == MACOS_ADMIN and sys.platform == "darwin"):
        return True
    try:
        named = grp.getgrgid(group)
        me = pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    if set(named.gr_mem) - {me.pw_name, "root"}:
        return False
    if group == me.pw_gid and named.gr_name == me.pw_name:
        return True  # avoids asking a directory service for all its users
    return all(user.pw_uid in (0, me.pw_uid) for user in pwd.getpwall() if user.pw_gid == group)
