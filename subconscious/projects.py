"""What a folder is: a repository (worktrees and sub-folders share it) or the folder itself (SPEC N12).

Read from the file system, as Git lays it out; only the first commit takes a `git` process, with a deadline.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subconscious.safe_files import read_beginning, read_end, read_regular


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


COMMITS, LINES_END = 5, 4096
"""How many of the latest commits are looked at, and the bytes of the log that they stand in."""

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
        if mark.is_dir() and (mark / "HEAD").is_file():
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


def within(file: str, folder: str) -> tuple[str, str]:
    """The checkout that a file lies in and its path there, by the project that ``folder`` is of; "", "" elsewhere.

    A worktree counts as its repository does, wherever it lies.
    """
    place, base = Path(os.path.realpath(file)), Path(os.path.realpath(folder))
    checkout = next((parent for parent in place.parents if (parent / ".git").exists()), None)
    if checkout is not None and git_folder(checkout) == git_folder(base):
        return str(checkout), str(place.relative_to(checkout))
    outside = checkout is not None or not place.is_relative_to(base)
    return ("", "") if outside else (str(base), str(place.relative_to(base)))


def head(folder: str) -> tuple[str, str]:
    """Branch and commit checked out in ``folder`` ("", "" outside of Git); no process is started."""
    for place in (Path(folder), *Path(folder).parents):
        mark = place / ".git"
        if mark.exists():
            own = mark if mark.is_dir() else Path(mark.parent, _text(mark).removeprefix("gitdir:").strip())
            return _head_of(own, git_folder(place) or own)
    return "", ""


def latest_commits(folder: str) -> list[tuple[float, str]]:
    """What was committed in ``folder`` lately, and when, as the log of its HEAD has it; no process is started."""
    for place in (Path(folder), *Path(folder).parents):
        mark = place / ".git"
        if mark.exists():
            own = mark if mark.is_dir() else Path(mark.parent, _text(mark).removeprefix("gitdir:").strip())
            found = re.finditer(r"> (\d{9,11}) [+-]\d{4}\tcommit[^:\n]*: (.+)", _end(own / "logs" / "HEAD"))
            return [(float(one[1]), one[2]) for one in found][-COMMITS:]
    return []


def _end(file: Path) -> str:
    """The last lines of a file that only grows."""
    try:
        return read_end(file, LINES_END).decode("utf-8", "replace")
    except OSError:
        return ""


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


def _git(common: Path, seconds: float, *words: str, root: Path | None = None) -> str:
    """What git says; "" if there is none, it fails, or it takes too long. ``root`` is a worktree to stand in."""
    place = ["-C", str(root)] if root else ["--git-dir", str(common)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; the folder is an argument of its own
            ["git", *place, *words],  # noqa: S607 - the person's own git
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
        return read_beginning(file, 1_000_000).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


DAY = 86_400
EARLIEST = 200_000_000
"""The first times of all, in 1976, git takes for something else."""
LARGEST_FILE = 4 << 20
MOST_PATHS = 200_000
LOOK_SECONDS = 5.0
"""Time that one question to git may take where nobody waits."""


class Checkout:
    """A working copy, as it is at one moment: what its files are like, and what its branch has (SPEC N8, N9).

    Everything here may start `git`, and is not for a hook that somebody waits for.
    """

    def __init__(self, root: Path, common: Path | None, commit: str) -> None:
        self.root = root
        self._common = common
        self._commit = commit
        self._paths: dict[str, list[str]] | None = None

    @classmethod
    def at(cls, folder: str) -> Checkout | None:
        """The checkout around ``folder``, or the folder itself; None where there is none any more."""
        place = Path(os.path.realpath(folder))
        if not place.is_dir():
            return None
        root = next((one for one in (place, *place.parents) if (one / ".git").exists()), place)
        commit = head(folder)[1]
        return cls(root, git_folder(place), commit if re.fullmatch(r"[0-9a-f]{40,64}", commit) else "")

    def find(self, named: str) -> str:
        """The one path, within the checkout, of a file that is named in whole or by its end; "" for none or several."""
        bare = named.removeprefix(f"{self.root}/").removeprefix("./")
        if not bare.startswith("/") and (self.root / bare).is_file():
            return bare
        parts = bare.strip("/").split("/")
        found = [path for path in self._named(parts[-1]) if _ends_alike(path.split("/"), parts)]
        return found[0] if len(found) == 1 else ""

    def digest(self, path: str) -> str:
        """What a file is like; "" for one that is gone or very large."""
        try:
            status = (self.root / path).stat()
            small = status.st_size <= LARGEST_FILE
            return _digest(self.root / path, status.st_mtime_ns, status.st_size) if small else ""
        except OSError:
            return ""

    def committed_at(self, path: str, since: float) -> float:
        """When a file was last changed by a commit after ``since``; 0.0 if by none."""
        if self._common is None or not self._commit:
            return 0.0
        return _commits(self._common, self._commit, int(since // DAY)).get(path, 0.0)

    def has_merged(self, branch: str, commit: str) -> bool:
        """Whether what was said on ``branch``, at ``commit``, holds for what is checked out.

        A branch that has nothing of its own yet is not merged, though all it has is here: what was said on it is about
        what will come. Of a branch that is gone its commit speaks.
        """
        if self._common is None or not self._commit:
            return False
        ref = f"refs/heads/{branch}"
        tip = _tip(self._common, ref) or _tip(self._common, f"refs/remotes/origin/{branch}")
        if not tip:
            return self._has(commit)
        born = _text(self._common / "logs" / ref).split(" ")[1:2]
        grown = {one for one in (commit, tip) if one and one not in born}
        return any(self._has(one) for one in (grown if born else {tip}))

    def _has(self, commit: str) -> bool:
        """Whether a commit is part of the history of what is checked out."""
        return self._common is not None and commit in _history(self._common, self._commit)

    def _named(self, name: str) -> list[str]:
        if self._paths is None:
            self._paths = {}
            listed = _git(self._common, LOOK_SECONDS, "ls-files", "-z", root=self.root) if self._common else ""
            for path in listed.split("\0")[:MOST_PATHS]:
                self._paths.setdefault(path.rpartition("/")[2], []).append(path)
        return self._paths.get(name, [])


@lru_cache(maxsize=4)
def _history(common: Path, commit: str) -> frozenset[str]:
    """The commits that lead to one, as far as anybody speaks of them: one process for all questions."""
    return frozenset(_git(common, LOOK_SECONDS, "rev-list", f"--max-count={MOST_PATHS}", commit).split())


@lru_cache(maxsize=4)
def _commits(common: Path, commit: str, day: int) -> dict[str, float]:
    """When each file was last changed that commits have changed since a day: one process for all files."""
    since = f"--since=@{max(day * DAY, EARLIEST)}"
    told = _git(common, LOOK_SECONDS, "log", since, "--format=%x00%ct", "--name-only", "-z", commit)
    found: dict[str, float] = {}
    at = 0.0
    for part in told.replace("\n", "\0").split("\0"):
        if re.fullmatch(r"\d{9,11}", part):
            at = float(part)
        elif part:
            found.setdefault(part, at)  # the latest come first
    return found


@lru_cache(maxsize=2000)
def _digest(file: Path, changed: int, size: int) -> str:
    """What a file is like that was changed then; read once."""
    del changed, size
    return hashlib.sha256(read_regular(file, LARGEST_FILE)).hexdigest()


def _tip(common: Path, ref: str) -> str:
    return _text(common / ref).strip() or _packed(common, ref)


def _ends_alike(path: list[str], named: list[str]) -> bool:
    if len(named) <= len(path):
        return path[-len(named) :] == named
    return len(path) > 1 and named[-len(path) :] == path
