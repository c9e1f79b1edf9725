"""What a folder is: a repository (worktrees and sub-folders share it) or the folder itself (SPEC N12).

Read from the file system, as Git lays it out; only the first commit takes a `git` process, with a deadline.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Identity:
    """``root`` is the repository's main folder, or the folder; the rest is empty outside of Git."""

    root: str
    name: str
    remote: str = ""
    first_commit: str = ""
    git: bool = False


def identify(folder: str, seconds: float) -> Identity:
    """Say which project ``folder`` belongs to; ``seconds`` is what the look at its history may take."""
    place = Path(os.path.realpath(folder))
    common = git_folder(place)
    if common is None:
        return Identity(root=str(place), name=place.name or "/")
    root = common.parent if common.name == ".git" else common
    return Identity(
        root=str(root),
        name=root.name.removesuffix(".git") or "/",
        remote=_remote(common),
        first_commit=_first_commit(common, seconds),
        git=True,
    )


WORKTREES = ("/.claude/worktrees/", "/.worktrees/")
"""Where checkouts for a task lie, within the repository they belong to."""


def root_of(folder: str) -> str:
    """Say where the project of ``folder`` lies, also when the folder is gone: an old session's often is.

    A gone folder within a repository that is still there was a part of it, unless that repository is the home folder.
    """
    place = Path(os.path.realpath(folder))
    common = git_folder(place)
    if common is not None and (place.is_dir() or common.parent != Path.home()):
        return str(common.parent if common.name == ".git" else common)
    return str(place) if place.is_dir() else _main_checkout(str(place))


def _main_checkout(folder: str) -> str:
    """Where the repository of a worktree lay that is gone with it."""
    return next((folder.partition(mark)[0] for mark in WORKTREES if folder.partition(mark)[0] != folder), folder)


def git_folder(place: Path) -> Path | None:
    """The common Git folder of the repository around ``place``: the same for all its worktrees."""
    for folder in (place, *place.parents):
        mark = folder / ".git"
        if mark.is_dir() and (mark / "HEAD").exists():
            return mark
        if mark.is_file():
            return _linked(mark)
    return None


def _linked(mark: Path) -> Path | None:
    """Follow the `gitdir:` file of a worktree or submodule."""
    text = _text(mark).strip()
    if not text.startswith("gitdir:"):
        return None
    target = Path(os.path.realpath(mark.parent / text.removeprefix("gitdir:").strip()))
    common = _text(target / "commondir").strip()
    found = Path(os.path.realpath(target / common)) if common else target
    return found if found.is_dir() else None


def head(folder: str) -> tuple[str, str]:
    """Branch and commit checked out in ``folder`` ("", "" outside of Git); no process is started."""
    for place in (Path(folder), *Path(folder).parents):
        mark = place / ".git"
        if mark.exists():
            own = mark if mark.is_dir() else Path(mark.parent, _text(mark).removeprefix("gitdir:").strip())
            return _head_of(own, git_folder(place) or own)
    return "", ""


def _head_of(own: Path, common: Path) -> tuple[str, str]:
    text = _text(own / "HEAD").strip()
    if not text.startswith("ref: "):
        return "", text
    ref = text.removeprefix("ref: ")
    commit = _text(common / ref).strip() or _packed(common, ref)
    return ref.removeprefix("refs/heads/"), commit


def _packed(common: Path, ref: str) -> str:
    for line in _text(common / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _remote(common: Path) -> str:
    """The URL of `origin`, without what differs between two clones of one repository: scheme, user, ending."""
    section = ""
    for line in _text(common / "config").splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section == '[remote "origin"]' and text.replace(" ", "").startswith("url="):
            return _plain_remote(text.partition("=")[2].strip())
    return ""


def _plain_remote(url: str) -> str:
    """``git@host:a/b.git`` and ``https://user:secret@host/a/b`` are one place, and no secret is kept."""
    bare = url.partition("://")[2] or url
    bare = bare.rpartition("@")[2]
    return bare.replace(":", "/", 1).removesuffix("/").removesuffix(".git").lower()


def _first_commit(common: Path, seconds: float) -> str:
    lines = _git(common, seconds, "rev-list", "--max-parents=0", "HEAD").split()
    return lines[-1] if lines else ""


def holds_commit(root: str, commit: str) -> bool:
    """Whether the repository at ``root`` still has a commit, on any branch or none."""
    common = git_folder(Path(root))
    return common is not None and _git(common, 5.0, "cat-file", "-t", commit).strip() == "commit"


def _git(common: Path, seconds: float, *words: str) -> str:
    """What git says; "" if there is none, it fails, or it takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; the folder is an argument of its own
            ["git", "--git-dir", str(common), *words],  # noqa: S607 - the person's own git
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")[:1_000_000]
    except OSError:
        return ""
