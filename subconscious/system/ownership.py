"""Checks who can change a file, to decide whether a program or a repository can be trusted.

This module imports neither the Git modules nor pydantic, because every command imports it at its start.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
import sys
from functools import lru_cache
from pathlib import Path

MACOS_ADMIN = 80
"""The id of macOS's group "admin", which owns Homebrew's folders. Its members may use `sudo`: they can act as root."""


def is_ours(path: Path) -> bool:
    """Whether this user owns a file or folder (links are followed) and no other user can write to it."""
    return _is_owned_by(path, {os.geteuid()})


def is_trusted(path: Path) -> bool:
    """Whether only this user and root can change or replace a file or folder."""
    return _is_owned_with_parents(path, {0, os.geteuid()})


def is_roots(path: Path) -> bool:
    """Whether only root can change or replace a file or folder."""
    return path.is_absolute() and _is_owned_with_parents(path, {0})


def _is_owned_with_parents(path: Path, owners: set[int]) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        return False
    return _is_owned_by(real, owners) and all(_is_owned_by(parent, owners, sticky=True) for parent in real.parents)


def _is_owned_by(path: Path, owners: set[int], *, sticky: bool = False) -> bool:
    """Whether one of the users ``owners`` owns a path, and nobody else can write to it.

    With ``sticky``, others may also write to a folder such as /tmp, where they can't replace this user's files.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_uid not in owners:
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
        return True  # avoids listing all users of a directory service
    return all(user.pw_uid in (0, me.pw_uid) for user in pwd.getpwall() if user.pw_gid == group)
