"""What a folder is: a repository (worktrees and sub-folders share it) or the folder itself.

Read from the file system, as Git lays it out; only what takes the history starts a `git` process, with a deadline.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subconscious.git_command import ask_git
from subconscious.git_files import Repository, find_repository, is_commit_id
from subconscious.safe_files import read_regular


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
    repository = find_repository(place)
    if repository is None:
        return Identity(root=str(place), name=place.name or "/")
    root = repository.root
    return Identity(
        root=str(root),
        name=root.name.removesuffix(".git") or "/",
        remote=_plain_remote("".join(repository.config("remote.origin", "url")[:1])),
        first_commit=_first_commit(repository, seconds),
        git=True,
    )


COMMITS = 5
"""How many of the latest commits are looked at."""
LONGEST_REMOTE = 500

WORKTREES = ("/.claude/worktrees/", "/.worktrees/")
"""Where checkouts for a task lie, within the repository they belong to."""


def root_of(folder: str) -> str:
    """Say where the project of ``folder`` lies, also when the folder is gone: an old session's often is.

    A gone folder within a repository that is still there was a part of it, unless that repository is the home folder.
    """
    place = Path(os.path.realpath(folder))
    repository = find_repository(place)
    if repository is not None and (place.is_dir() or repository.root != Path.home()):
        return str(repository.root)
    return str(place) if place.is_dir() else _main_checkout(str(place))


def _main_checkout(folder: str) -> str:
    """Where the repository of a worktree lay that is gone with it."""
    return next((folder.partition(mark)[0] for mark in WORKTREES if folder.partition(mark)[0] != folder), folder)


def within(file: str, folder: str) -> tuple[str, str]:
    """The checkout that a file lies in and its path there, by the project that ``folder`` is of; "", "" elsewhere.

    A worktree counts as its repository does, wherever it lies.
    """
    place, base = Path(os.path.realpath(file)), Path(os.path.realpath(folder))
    own, other = find_repository(place.parent), find_repository(base)
    if own is not None:
        same = other is not None and own.common == other.common
        return (str(own.worktree), str(place.relative_to(own.worktree))) if same else ("", "")
    return (str(base), str(place.relative_to(base))) if place.is_relative_to(base) else ("", "")


def head(folder: str) -> tuple[str, str]:
    """Branch and commit checked out in ``folder`` ("", "" outside of Git); no process is started."""
    repository = _repository_at(folder)
    return repository.head() if repository else ("", "")


def latest_commits(folder: str) -> list[tuple[float, str]]:
    """What was committed in ``folder`` lately, and when, as the log of its HEAD has it; no process is started."""
    repository = _repository_at(folder)
    return repository.latest_commits(COMMITS) if repository else []


def _repository_at(folder: str) -> Repository | None:
    return find_repository(Path(os.path.realpath(folder)))


def _plain_remote(url: str) -> str:
    """``git@host:a/b.git`` and ``https://user:secret@host/a/b`` are one place, and no secret is kept."""
    if len(url) > LONGEST_REMOTE or not url.isprintable():
        return ""
    bare = url.partition("://")[2] or url
    bare = bare.rpartition("@")[2]
    return bare.replace(":", "/", 1).removesuffix("/").removesuffix(".git").lower()


def _first_commit(repository: Repository, seconds: float) -> str:
    commit = repository.main_commit()
    lines = ask_git(repository, seconds, "rev-list", "--max-parents=0", commit, "--").split() if commit else []
    return lines[-1] if lines else ""


TRUNKS = ("main", "master", "trunk", "develop")
"""Branches that other branches are merged into."""


def is_over(folder: str, branch: str, seconds: float) -> bool:
    """Whether the work on a branch is merged, or the branch is gone; ``seconds`` is what asking Git may take.

    A trunk is never over, nor is a branch that has nothing of its own yet, nor one of which nothing can be told.
    """
    repository = _repository_at(folder) if folder and branch not in ("", "HEAD", *TRUNKS) else None
    if repository is None:
        return False
    places = ("refs/heads/", "refs/remotes/origin/")
    tip = next(filter(None, (repository.resolve(f"{place}{branch}") for place in places)), "")
    trunks = {repository.resolve(f"{place}{trunk}") for place in places for trunk in TRUNKS} - {""}
    if not tip or not trunks:
        return not tip and bool(trunks)
    if tip == repository.born_at(branch):
        return False
    return tip in trunks or any(_leads_to(repository, tip, trunk, seconds) for trunk in sorted(trunks))


def _leads_to(repository: Repository, commit: str, later: str, seconds: float) -> bool:
    return ask_git(repository, seconds, "merge-base", commit, later).strip() == commit


def holds_commit(root: str, commit: str) -> bool:
    """Whether the repository at ``root`` still has a commit, on any branch or none."""
    repository = _repository_at(root)
    if repository is None or not is_commit_id(commit):
        return False
    return ask_git(repository, LOOK_SECONDS, "cat-file", "-t", commit).strip() == "commit"


DAY = 86_400
EARLIEST = 200_000_000
"""The first times of all, in 1976, git takes for something else."""
LARGEST_FILE = 4 << 20
MOST_PATHS = 200_000
LOOK_SECONDS = 5.0
"""Time that one question to git may take where nobody waits."""


class Checkout:
    """A working copy, as it is at one moment: what its files are like, and what its branch has.

    Everything here may start `git`, and is not for a hook that somebody waits for.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self.root = root
        self._repository = repository
        self._commit = repository.head()[1] if repository else ""
        self._paths: dict[str, list[str]] | None = None

    @classmethod
    def at(cls, folder: str) -> Checkout | None:
        """The checkout around ``folder``, or the folder itself; None where there is none any more."""
        place = Path(os.path.realpath(folder))
        if not place.is_dir():
            return None
        repository = find_repository(place)
        return cls(repository.worktree if repository else place, repository)

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
        if self._repository is None or not self._commit:
            return 0.0
        return _commits(self._repository, self._commit, int(since // DAY)).get(path, 0.0)

    def has_merged(self, branch: str, commit: str) -> bool:
        """Whether what was said on ``branch``, at ``commit``, holds for what is checked out.

        A branch that has nothing of its own yet is not merged, though all it has is here: what was said on it is about
        what will come. A trunk is where others begin, so its commits speak; so does that of a branch that is gone.
        """
        repository = self._repository
        if repository is None or not self._commit:
            return False
        tip = repository.resolve(f"refs/heads/{branch}") or repository.resolve(f"refs/remotes/origin/{branch}")
        if not tip:
            return self._has(commit)
        is_trunk = branch in (*TRUNKS, repository.default_branch())
        born = "" if is_trunk else repository.born_at(branch)
        # Without a birth the commit may be where the branch began, which says nothing: only the tip counts.
        grown = {tip} if born is None else {commit, tip} - {"", born}
        return any(self._has(one) for one in grown)

    def _has(self, commit: str) -> bool:
        """Whether a commit is part of the history of what is checked out."""
        return self._repository is not None and commit in _history(self._repository, self._commit)

    def _named(self, name: str) -> list[str]:
        if self._paths is None:
            self._paths = {}
            for path in self._repository.tracked(MOST_PATHS) if self._repository else []:
                self._paths.setdefault(path.rpartition("/")[2], []).append(path)
        return self._paths.get(name, [])


@lru_cache(maxsize=4)
def _history(repository: Repository, commit: str) -> frozenset[str]:
    """The commits that lead to one, as far as anybody speaks of them: one process for all questions."""
    most = f"--max-count={MOST_PATHS}"
    return frozenset(ask_git(repository, LOOK_SECONDS, "rev-list", most, commit, "--").split())


@lru_cache(maxsize=4)
def _commits(repository: Repository, commit: str, day: int) -> dict[str, float]:
    """When each file was last changed that commits have changed since a day: one process for all files."""
    since = f"--since=@{max(day * DAY, EARLIEST)}"
    # Finding renames would need the files' contents, which a partial clone may not have.
    plain = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-show-signature", "--no-color")
    told = ask_git(
        repository, LOOK_SECONDS, "log", *plain, since, "--format=%x00%ct", "--name-only", "-z", commit, "--"
    )
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


def _ends_alike(path: list[str], named: list[str]) -> bool:
    if len(named) <= len(path):
        return path[-len(named) :] == named
    return len(path) > 1 and named[-len(path) :] == path
