"""Finds the project of a folder: its repository (shared by worktrees and sub-folders), or the folder itself.

Git's files are read directly; only reading the history starts a `git` process, with a deadline.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from subconscious.system.git_command import ask_git
from subconscious.system.git_files import Repository, find_repository, is_commit_id
from subconscious.system.safe_files import read_regular


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a project.

    ``root`` is the repository's main folder, or the folder itself outside Git, where the other fields are empty.
    """

    root: str
    name: str
    remote: str = ""
    first_commit: str = ""
    git: bool = False


def identify(folder: str, seconds: float) -> Identity:
    """Return the project that ``folder`` belongs to; reading its Git history takes at most ``seconds``."""
    path = Path(os.path.realpath(folder))
    repository = find_repository(path)
    if repository is None:
        return Identity(root=str(path), name=path.name or "/")
    root = repository.root
    return Identity(
        root=str(root),
        name=root.name.removesuffix(".git") or "/",
        remote=_plain_remote("".join(repository.config("remote.origin", "url")[:1])),
        first_commit=_first_commit(repository, seconds),
        git=True,
    )


COMMITS = 5
"""How many of the latest commits are read."""
LONGEST_REMOTE = 500

WORKTREES = ("/.claude/worktrees/", "/.worktrees/")
"""Folders for temporary checkouts, inside the repository they belong to."""


def root_of(folder: str) -> str:
    """Return the root of the project of ``folder``, which may no longer exist, as is common for old sessions.

    A missing folder within an existing repository belongs to it, unless that repository is the home folder.
    """
    path = Path(os.path.realpath(folder))
    repository = find_repository(path)
    if repository is not None and (path.is_dir() or repository.root != Path.home()):
        return str(repository.root)
    return str(path) if path.is_dir() else _main_checkout(str(path))


def _main_checkout(folder: str) -> str:
    """Return the main checkout of a worktree that no longer exists, derived from the worktree's path."""
    return next((folder.partition(mark)[0] for mark in WORKTREES if folder.partition(mark)[0] != folder), folder)


def locate(file: str, folder: str) -> tuple[str, str]:
    """Return the checkout that contains a file, and the file's path there; "", "" for a file of another project.

    A worktree counts as part of its repository, wherever it is.
    """
    path, folder_path = Path(os.path.realpath(file)), Path(os.path.realpath(folder))
    own, other = find_repository(path.parent), find_repository(folder_path)
    if own is not None:
        same = other is not None and own.common == other.common
        return (str(own.worktree), str(path.relative_to(own.worktree))) if same else ("", "")
    return (str(folder_path), str(path.relative_to(folder_path))) if path.is_relative_to(folder_path) else ("", "")


def path_as_given(file: str, root: str) -> str:
    """Return the path of a file in the checkout at ``root`` as it was given, with links in it; "" if it has none."""
    path, resolved = Path(os.path.normpath(file)), os.path.realpath(file)
    if resolved == str(path):
        return ""
    above = next((one for one in path.parents if os.path.realpath(one) == root), None)
    given = str(path.relative_to(above)) if above is not None else ""
    return "" if resolved == str(Path(root, given)) else given


def head(folder: str) -> tuple[str, str]:
    """Return the branch and commit checked out in ``folder`` ("", "" outside Git); no process is started."""
    repository = _repository_at(folder)
    return repository.head() if repository else ("", "")


def latest_commits(folder: str) -> list[tuple[float, str]]:
    """Return time and subject of the latest commits in ``folder``, from the log of its HEAD; no process is started."""
    repository = _repository_at(folder)
    return repository.latest_commits(COMMITS) if repository else []


def _repository_at(folder: str) -> Repository | None:
    return find_repository(Path(os.path.realpath(folder)))


def _plain_remote(url: str) -> str:
    """Normalise ``git@host:a/b.git`` and ``https://user:secret@host/a/b`` to the same text, without secrets."""
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


def is_finished(folder: str, branch: str, seconds: float) -> bool:
    """Return whether a branch is merged or deleted; each Git command takes at most ``seconds``.

    False for a trunk, for a branch without commits of its own, and if nothing is known about the branch.
    """
    repository = _repository_at(folder) if folder and branch not in ("", "HEAD", *TRUNKS) else None
    if repository is None:
        return False
    prefixes = ("refs/heads/", "refs/remotes/origin/")
    tip = next(filter(None, (repository.resolve(f"{prefix}{branch}") for prefix in prefixes)), "")
    trunks = {repository.resolve(f"{prefix}{trunk}") for prefix in prefixes for trunk in TRUNKS} - {""}
    if not tip or not trunks:
        return not tip and bool(trunks)
    if tip == repository.branch_start(branch):
        return False
    return tip in trunks or any(_is_ancestor(repository, tip, trunk, seconds) for trunk in sorted(trunks))


_OWN_MOVES = ("branch", "commit", "commit (amend)", "commit (initial)")
"""Actions of a reflog that bring no work of other branches."""


def is_created_from(folder: str, branch: str, source: str, since: float) -> bool:
    """Return whether a branch was created from the head of ``source``, without work of other branches in between.

    That is: since the time ``since``, nothing was merged or pulled into ``source``, and nothing at all into the branch.
    No process is started.
    """
    repository = _repository_at(folder) if folder else None
    tip = repository.resolve(f"refs/heads/{source}") if repository else ""
    if repository is None or not tip or repository.branch_start(branch) != tip:
        return False
    moves = [*repository.moves(branch), *((at, action) for at, action in repository.moves(source) if at > since)]
    return all(action in _OWN_MOVES for _, action in moves)


def _is_ancestor(repository: Repository, commit: str, later: str, seconds: float) -> bool:
    return ask_git(repository, seconds, "merge-base", commit, later).strip() == commit


def has_commit(root: str, commit: str) -> bool:
    """Whether the repository at ``root`` still has a commit, even if no branch contains it."""
    repository = _repository_at(root)
    if repository is None or not is_commit_id(commit):
        return False
    return ask_git(repository, LOOK_SECONDS, "cat-file", "-t", commit).strip() == "commit"


DAY = 86_400
EARLIEST = 200_000_000
"""The earliest timestamp (in 1976) that Git reads correctly."""
LARGEST_FILE = 4 << 20
MOST_PATHS = 200_000
MOST_COMPARED, MOST_MESSAGES = 50, 1000
"""The most branches that are compared with a checkout file by file, and the most commit messages that are read."""
LONGEST_SUBJECT = 1000
"""The most characters of a commit's subject that are examined."""
LOOK_SECONDS = 5.0
"""Time limit of one Git command in the background."""


class Checkout:
    """A working copy at one moment: the content of its files, and the history of its branch.

    Some methods start `git`, and all may read files, so they are too slow for a hook.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self.root = root
        self._repository = repository
        self.commit = repository.head()[1] if repository else ""
        self._compared = 0
        self._paths: dict[str, list[str]] | None = None

    @classmethod
    def at(cls, folder: str) -> Checkout | None:
        """Return the checkout that contains ``folder``; outside Git, the folder itself; None if it no longer exists."""
        path = Path(os.path.realpath(folder))
        if not path.is_dir():
            return None
        repository = find_repository(path)
        return cls(repository.worktree if repository else path, repository)

    def find(self, named: str) -> str:
        """Return the path of a file within the checkout; "" if no file matches, or several do.

        ``named`` is the file's path or the end of its path.
        """
        bare = named.removeprefix(f"{self.root}/").removeprefix("./")
        if not bare.startswith("/") and (self.root / bare).is_file():
            return bare
        parts = bare.strip("/").split("/")
        found = [path for path in self._named(parts[-1]) if _ends_alike(path.split("/"), parts)]
        return found[0] if len(found) == 1 else ""

    def digest(self, path: str) -> str:
        """Return a hash of a file's content; "" if the file is missing or very large."""
        try:
            status = (self.root / path).stat()
            small = status.st_size <= LARGEST_FILE
            return _digest(self.root / path, status.st_mtime_ns, status.st_size) if small else ""
        except OSError:
            return ""

    def committed_at(self, path: str, since: float) -> float:
        """Return when a commit last changed a file; 0.0 if none did since the start of the day of ``since`` (UTC)."""
        if self._repository is None or not self.commit:
            return 0.0
        return _commits(self._repository, self.commit, int(since // DAY)).get(path, 0.0)

    def has_merged(self, branch: str, commit: str) -> bool | None:
        """Whether statements made on ``branch``, at ``commit``, apply to the current checkout; None if unknown.

        A branch without commits of its own does not count as merged, although the checkout's history contains all its
        commits: statements made on it are about future work. For a trunk and for a deleted branch it is enough that the
        history contains ``commit``.
        """
        own_commits = self._own_commits(branch, commit)
        if self._repository is None or not self.commit or not own_commits:
            return False
        if any(self._has_commit(one) for one in own_commits):
            return True
        if self._compared >= MOST_COMPARED:
            return None
        self._compared += 1
        return _squashed(self._repository, branch, own_commits, self.commit)

    def former_names(self, branch: str) -> frozenset[str]:
        """Return the names that a branch had before it was renamed, except names that a branch has now."""
        return self._repository.former_names(branch) if self._repository else frozenset()

    def _own_commits(self, branch: str, commit: str) -> tuple[str, ...]:
        """Return the commits of a branch that show, if the history contains one, that it was merged; its tip first."""
        if self._repository is None:
            return ()
        resolve = self._repository.resolve
        tip = resolve(f"refs/heads/{branch}") or resolve(f"refs/remotes/origin/{branch}")
        if not tip:
            return (commit,) if is_commit_id(commit) else ()
        is_trunk = branch in (*TRUNKS, self._repository.default_branch())
        start = "" if is_trunk else self._repository.branch_start(branch)
        # If the start is unknown, the commit may be the start of the branch, which proves nothing: only the tip counts.
        own = (tip,) if start is None else (tip, commit)
        return tuple(dict.fromkeys(one for one in own if one != start and is_commit_id(one)))

    def _has_commit(self, commit: str) -> bool:
        """Whether a commit is part of the history of the checkout."""
        return self._repository is not None and commit in _history(self._repository, self.commit)

    def _named(self, name: str) -> list[str]:
        if self._paths is None:
            self._paths = {}
            for path in self._repository.tracked(MOST_PATHS) if self._repository else []:
                self._paths.setdefault(path.rpartition("/")[2], []).append(path)
        return self._paths.get(name, [])


@lru_cache(maxsize=4)
def _history(repository: Repository, commit: str) -> frozenset[str]:
    """Return a commit and its ancestors, up to a limit. The result is cached: `git` runs once for each commit."""
    most = f"--max-count={MOST_PATHS}"
    return frozenset(ask_git(repository, LOOK_SECONDS, "rev-list", most, commit, "--").split())


@lru_cache(maxsize=500)
def _squashed(repository: Repository, branch: str, own_commits: tuple[str, ...], head_commit: str) -> bool | None:
    """Whether the history of ``head_commit`` has the changes of a branch in other commits; None if unknown.

    It does if a commit message names the branch or one of its commits, or if all files that the branch changed are the
    same here. It does not if one of these files was not changed here at all.
    """
    base = ask_git(repository, LOOK_SECONDS, "merge-base", own_commits[0], head_commit).strip()
    if not is_commit_id(base):
        return None
    if any(_reports_merge(message, branch, own_commits) for message in _messages(repository, base, head_commit)):
        return True
    theirs, ours = _changed(repository, base, own_commits[0]), _changed(repository, base, head_commit)
    if theirs and all(ours.get(path) == content for path, content in theirs.items()):
        return True
    return None if theirs.keys() <= ours.keys() else False


_MERGED = (
    r"(?:squash(?:ed)?(?:[- ](?:and[- ])?merged?)?|merged?):? (?:in )?(?:the )?(?:remote-tracking )?"
    r"(?:(?:branch(?:es)?|pull request|merge request|pr|mr)(?: [#!]?\d+)?(?: in [\w./-]{1,100})?:? )?(?:from )?"
    r"(?:'[^' ]{1,100}',? (?:and )?){0,9}"
)
"""The words before the branch's name in the subject of a merge commit by Git, a hosting service or a person."""
_AFTER = r"(?=\s*(?:\Z|[:;.(\[]|(?:into|to|onto|from|branch)\b)|(?<=['\"`]))"
"""What may follow the branch's name there: "Merge perf-work notes" does not name the branch `perf-work`."""
_BRANCH = re.compile(
    r"\b(?:branch(?:es)?|pull request|merge request|pr|mr)\b|(?<!\w)['\"`]"
    rf"|\b(?:in)?to (?:{'|'.join(TRUNKS)})(?: \(#\d+\))?\Z",
    re.IGNORECASE,
)
"""Words that show that a subject means a branch: "Merge search into the header" does not mean a branch `search`."""
_PULL_REQUEST = re.compile(r" \(#\d+\)\s*\Z")
_NO_MERGE = re.compile(
    r"\b(?:revert\w*|no|not|never|cannot|abandon\w*|unmerged|later|(?:do|does|is|was|ca|wo)n['\u2019]?t"
    r"|wip|(?:part|step|phase) \w+|\d+ ?(?:/|of) ?\d+)\b",
    re.IGNORECASE,
)
"""Words that show that a subject does not report a merge, or only a part of one."""


def _reports_merge(message: str, branch: str, commits: Sequence[str]) -> bool:
    """Whether a commit message says that a branch was merged: it has one of ``commits``, or the branch in its subject.

    The subject must have "Merge" or "Squash" directly before the branch's name, or be that of a pull request:
    "perf-work: use an index (#12)" or "Perf work (#12)". If the name is a plain word, such as "search", the subject
    must also show that it means a branch.
    """
    subject = message.lstrip().partition("\n")[0][:LONGEST_SUBJECT]
    if any(commit in message for commit in commits):
        return not subject.startswith("Revert")
    name = rf"(?:[\w.-]{{1,100}}/)?{re.escape(branch)}(?![\w-]|[./]\w)"
    if _NO_MERGE.search(re.sub(rf"(?<![\w./-]){name}", "", subject)):
        return False
    if re.match(rf"(?i:{_MERGED})['\"`]?{name}['\"`]?(?i:{_AFTER})", subject):
        return not branch.isalpha() or _BRANCH.search(subject) is not None
    if branch.isalpha() or not _PULL_REQUEST.search(subject):
        return False
    words, title = (re.findall(r"\w+", text.casefold()) for text in (branch, _PULL_REQUEST.sub("", subject)))
    return re.match(rf"{name}(?::|{_PULL_REQUEST.pattern})", subject) is not None or title in (words, words[1:])


@lru_cache(maxsize=4)
def _messages(repository: Repository, base: str, commit: str) -> tuple[str, ...]:
    """Return the messages of the latest commits between two commits."""
    most = f"--max-count={MOST_MESSAGES}"
    plain = ("--no-show-signature", "--no-color", "--format=%B%x00")
    output = ask_git(repository, LOOK_SECONDS, "log", most, *plain, f"{base}..{commit}", "--")
    return tuple(output.split("\0"))


@lru_cache(maxsize=20)
def _changed(repository: Repository, base: str, commit: str) -> dict[str, str]:
    """Return the content's id of each file that differs between two commits."""
    output = ask_git(repository, LOOK_SECONDS, "diff-tree", "-r", "-z", "--raw", "--no-renames", base, commit, "--")
    fields = output.split("\0")
    return {path: what.split(" ")[3] for what, path in zip(fields[::2], fields[1::2], strict=False)}


@lru_cache(maxsize=4)
def _commits(repository: Repository, commit: str, day: int) -> dict[str, float]:
    """Return when each file was last committed, in seconds since the epoch; files unchanged since ``day`` are left out.

    ``day`` is in days since the epoch. The result is cached: `git` runs once for all files.
    """
    since = f"--since=@{max(day * DAY, EARLIEST)}"
    # Finding renames would need the files' contents, which a partial clone may not have.
    plain = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-show-signature", "--no-color")
    output = ask_git(
        repository, LOOK_SECONDS, "log", *plain, since, "--format=%x00%ct", "--name-only", "-z", commit, "--"
    )
    found: dict[str, float] = {}
    at = 0.0
    for part in output.replace("\n", "\0").split("\0"):
        if re.fullmatch(r"\d{9,11}", part):
            at = float(part)
        elif part:
            found.setdefault(part, at)  # the latest come first
    return found


@lru_cache(maxsize=2000)
def _digest(file: Path, changed: int, size: int) -> str:
    """Return the hash of a file's content, cached by the file's modification time and size."""
    del changed, size
    return hashlib.sha256(read_regular(file, LARGEST_FILE)).hexdigest()


def _ends_alike(path: list[str], named: list[str]) -> bool:
    if len(named) <= len(path):
        return path[-len(named) :] == named
    return len(path) > 1 and named[-len(path) :] == path
