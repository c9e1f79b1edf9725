"""Finds folders of programs that only this user and root can have filled, for what is made from a hook.

The rules of ``subconscious/programs.py`` and ``subconscious/ownership.py`` once more: hooks can't import the library,
and run on older Pythons. A test holds both to the same answers.
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
"""Where programs are installed by systems, package managers and version managers."""


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


MACOS_ADMIN = 80
"""The group that Homebrew's folders belong to. Its members may use `sudo`, so they are root already."""


def is_ours(path: Path) -> bool:
    """Whether this user owns a file or folder (not what links to it) and nobody else can write to it."""
    return _is_held_by(path, {os.geteuid()})


def is_trusted(path: Path) -> bool:
    """Whether only this user and root can change a file or folder, or put another one in its place."""
    return _is_held_throughout(path, {0, os.geteuid()})


def is_roots(path: Path) -> bool:
    """Whether only root can change a file or folder, or put another one in its place."""
    return path.is_absolute() and _is_held_throughout(path, {0})


def _is_held_throughout(path: Path, holders: set[int]) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        return False
    return _is_held_by(real, holders) and all(_is_held_by(parent, holders, sticky=True) for parent in real.parents)


def _is_held_by(path: Path, holders: set[int], *, sticky: bool = False) -> bool:
    """``sticky``: a folder such as /tmp will do, in which nobody can replace what another user owns."""
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
    """Whether a group has no members but root and this user.

    Many systems give each user a group of that name and a umask of 002, so group-writable folders are common.
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
        return True  # without asking a directory service for all its users
    return all(user.pw_uid in (0, me.pw_uid) for user in pwd.getpwall() if user.pw_gid == group)
