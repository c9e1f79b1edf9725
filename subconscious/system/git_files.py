"""Reads a repository's files without Git: its location, HEAD, refs, remote, log and index.

Git itself would run programs that a repository's configuration names. The files are untrusted: all reads are bounded,
and names that Git would not accept are ignored. Unsupported formats (reftable, a split index) count as empty.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from subconscious.system.safe_files import read_end, read_regular

LARGEST_TEXT = 1 << 20
LARGEST_REFS = 16 << 20
LARGEST_INDEX = 64 << 20
LOG_END = 4096
"""The maximum number of bytes that are read at the end of a reflog."""
MOST_LINKS = 5
"""The maximum number of symbolic refs that are followed in a chain; Git has the same limit."""

COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LOGGED = re.compile(r"> (\d{9,11}) [+-]\d{4}\tcommit[^:\n]*: (.+)")
_MOVED = re.compile(r"> (\d{9,11}) [+-]\d{4}\t([^:\n]*)")
_RENAMED = re.compile(r"\tBranch: renamed refs/heads/([^\s:]+) to refs/heads/([^\s:]+)$", re.MULTILINE)
_NO_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$")
_SECTION = re.compile(r"\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]")


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout's folder, its own Git folder, and the Git folder that all checkouts of the repository share."""

    worktree: Path
    git_dir: Path
    common: Path

    @property
    def root(self) -> Path:
        """The main checkout; for a bare repository the Git folder itself."""
        return self.common.parent if self.common.name == ".git" else self.common

    def head(self) -> tuple[str, str]:
        """Return the branch and the commit that are checked out; "" for each that does not exist."""
        return self._head_of(self.git_dir)

    def main_commit(self) -> str:
        """Return the commit that is checked out in the main checkout; "" if there is none."""
        return self._head_of(self.common)[1]

    def _head_of(self, git_dir: Path) -> tuple[str, str]:
        text = file_text(git_dir / "HEAD").strip()
        if not text.startswith("ref:"):
            return "", _commit(text)
        ref = text.removeprefix("ref:").strip()
        if not is_ref(ref) or self._has_reftable():
            return "", ""
        return ref.removeprefix("refs/heads/"), self.resolve(ref)

    def _has_reftable(self) -> bool:
        return (self.common / "reftable").is_dir()

    def resolve(self, ref: str) -> str:
        """Return the commit that a full ref name points to; "" if there is none."""
        for _ in range(MOST_LINKS):
            if not is_ref(ref):
                return ""
            text = file_text(self.common / ref).strip()
            if not text.startswith("ref:"):
                return _commit(text) if text else self._packed(ref)
            ref = text.removeprefix("ref:").strip()
        return ""

    def _packed(self, ref: str) -> str:
        for line in file_text(self.common / "packed-refs", LARGEST_REFS).splitlines():
            commit, _, name = line.partition(" ")
            if name == ref:
                return _commit(commit)
        return ""

    def branch_start(self, branch: str) -> str | None:
        """Return the commit that a branch was created from, "" for the first branch, None if no reflog shows it.

        A reflog that begins with a clone, a fetch, or a checkout of a remote branch does not show it: its first commit
        may be the branch's own work.
        """
        ref = f"refs/heads/{branch}"
        first = file_text(self.common / "logs" / ref).partition("\n")[0] if is_ref(ref) else ""
        ids, _, action = first.partition("\t")
        if action.startswith("commit (initial)"):
            return ""
        made = re.fullmatch(r"branch: Created from (.+)", action)
        if made is None or _is_remote_twin(made[1], branch):
            return None
        return ids.split(" ")[1]

    def moves(self, branch: str) -> list[tuple[float, str]]:
        """Return the time and the action (such as "commit" or "merge x") of the latest changes of a branch's head."""
        ref = f"refs/heads/{branch}"
        found = _MOVED.finditer(_end(self.common / "logs" / ref)) if is_ref(ref) else ()
        return [(float(one[1]), one[2]) for one in found]

    def former_names(self, branch: str) -> frozenset[str]:
        """Return a branch's former names according to its reflog, except names that a branch has now."""
        ref = f"refs/heads/{branch}"
        found = _RENAMED.findall(_end(self.common / "logs" / ref)) if is_ref(ref) else []
        return frozenset(old for old, _ in found if old != branch and not self.resolve(f"refs/heads/{old}"))

    def default_branch(self) -> str:
        """Return the default branch of the remote; "" if unknown."""
        target = file_text(self.common / "refs/remotes/origin/HEAD").strip().removeprefix("ref:").strip()
        return target.removeprefix("refs/remotes/origin/") if is_ref(target) else ""

    def latest_commits(self, most: int) -> list[tuple[float, str]]:
        """Return the time and the subject of the latest commits that were made in this checkout, oldest first."""
        found = _LOGGED.finditer(_end(self.git_dir / "logs" / "HEAD"))
        return [(float(one[1]), one[2]) for one in found][-most:]

    def config(self, section: str, key: str) -> list[str]:
        """Return the values of a key in the repository's own config files; included files are not read."""
        texts = (file_text(self.common / "config"), file_text(self.git_dir / "config.worktree"))
        lines = (line for text in texts for line in _config_lines(text))
        return [value for name_of_section, name, value in lines if (name_of_section, name) == (section, key)]

    @property
    def is_sha256(self) -> bool:
        """Whether object ids are SHA-256."""
        return [value.lower() for value in self.config("extensions", "objectformat")][-1:] == ["sha256"]

    def tracked(self, most: int) -> list[str]:
        """Return up to ``most`` paths of the files in Git's index; an empty list if the index can't be read."""
        try:
            raw = read_regular(self.git_dir / "index", LARGEST_INDEX)
            return list(dict.fromkeys(_index_paths(raw, 32 if self.is_sha256 else 20, most)))
        except (OSError, ValueError, IndexError):
            return []


def _is_remote_twin(source: str, branch: str) -> bool:
    """Whether a branch was made from the remote branch of the same name (``origin/feature``, short or full)."""
    return source.removeprefix("refs/").removeprefix("remotes/").partition("/")[2] == branch


def find_repository(start: Path) -> Repository | None:
    """Return the repository that contains a folder, found as Git finds it; None if there is none.

    A repository of another user in a parent folder is ignored: Git does not trust it either, and it would make
    everything below it one project. If that user also owns the folder itself, the repository is used.
    """
    for folder in (start, *start.parents):
        git_link = folder / ".git"
        if git_link.is_file():
            return _linked(git_link) if _is_expected(git_link, start) else None
        if git_link.is_dir() and (git_link / "HEAD").is_file() and _is_expected(git_link, start):
            return Repository(folder, git_link, git_link)
    return None


def _is_expected(git_link: Path, start: Path) -> bool:
    try:
        owners = {0, os.geteuid(), _owner(start)}
        return git_link.stat().st_uid in owners
    except OSError:
        return False


def _owner(folder: Path) -> int:
    """Return the user id of a folder's owner; this user's id if the folder no longer exists."""
    try:
        return folder.stat().st_uid
    except OSError:
        return os.geteuid()


def _linked(git_link: Path) -> Repository | None:
    """Follow the `gitdir:` file of a worktree or submodule, if the repository there refers back to it.

    Otherwise a folder that was unpacked from an archive could name any repository, and count as part of that project.
    """
    text = file_text(git_link).strip()
    if not text.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.realpath(git_link.parent / text.removeprefix("gitdir:").strip()))
    if not git_dir.is_dir():
        return None
    shared = file_text(git_dir / "commondir").strip()
    common = Path(os.path.realpath(git_dir / shared)) if shared else git_dir
    found = Repository(git_link.parent, git_dir, common)
    is_registered = _is_worktree_of(found, git_link) if shared else _is_work_tree_of(found, git_link)
    return found if is_registered and common.is_dir() else None


def _is_worktree_of(found: Repository, git_link: Path) -> bool:
    """Whether a linked worktree is registered in its repository and names this folder."""
    named = file_text(found.git_dir / "gitdir").strip()
    return (
        found.git_dir.parent == found.common / "worktrees"
        and bool(named)
        and os.path.realpath(found.git_dir / named) == os.path.realpath(git_link)
    )


def _is_work_tree_of(found: Repository, git_link: Path) -> bool:
    """Whether a submodule's Git folder names this folder as its checkout.

    A Git folder of `git init --separate-git-dir` names no checkout: it is accepted unless it is bare or named `.git`.
    """
    named = found.config("core", "worktree")
    if named:
        return os.path.realpath(found.git_dir / named[-1]) == os.path.realpath(git_link.parent)
    return found.git_dir.name != ".git" and found.config("core", "bare")[-1:] != ["true"]


def is_ref(name: str) -> bool:
    """Whether Git would accept a full ref name; other names are neither looked up nor shown."""
    return name.startswith("refs/") and len(name) <= 250 and name.isprintable() and not _NO_REF.search(name)


def is_commit_id(text: str) -> bool:
    """Whether a text is a complete object id."""
    return COMMIT_ID.fullmatch(text) is not None


def _commit(text: str) -> str:
    return text if is_commit_id(text) else ""


def _config_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the section (`remote.origin`), key and value of each line, by a simplified form of Git's syntax."""
    section = ""
    for line in text.splitlines():
        bare = line.strip()
        opened = _SECTION.match(bare)
        if opened:
            section = opened[1].lower() + (f".{opened[2]}" if opened[2] is not None else "")
            bare = bare[opened.end() :].strip()
        key, equals, value = bare.partition("=")
        if equals and not bare.startswith(("#", ";")):
            yield section, key.strip().lower(), value.strip().strip('"')


def _index_paths(raw: bytes, id_size: int, most: int) -> Iterator[str]:
    """Yield the paths in an index of version 2 to 4. Raises ValueError or IndexError for other or split indexes."""
    version, count = int.from_bytes(raw[4:8], "big"), int.from_bytes(raw[8:12], "big")
    if raw[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not a supported index")
    at, path, found = 12, b"", []
    for _ in range(min(count, most)):
        flags_at = at + 40 + id_size
        extended = bool(raw[flags_at] & 0x40) and version > 2
        is_folder = stat.S_ISDIR(int.from_bytes(raw[at + 24 : at + 28], "big"))
        at_path = flags_at + (4 if extended else 2)
        if version == 4:
            dropped, at_path = _offset(raw, at_path)
            path = path[: len(path) - dropped]
        else:
            path = b""
        end = raw.index(b"\0", at_path)
        path += raw[at_path:end]
        if not is_folder:  # folders in a sparse index are not checked out
            found.append(os.fsdecode(path))
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    if count <= most and b"link" in _extensions(raw, at, len(raw) - id_size):
        raise ValueError("a split index is not supported")
    yield from found


def _offset(raw: bytes, at: int) -> tuple[int, int]:
    """Decode the number at ``at`` (encoded as in pack files), and return it with the index after it.

    The number says how many bytes of the previous path to drop.
    """
    value = raw[at] & 0x7F
    while raw[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | (raw[at] & 0x7F)
    return value, at + 1


def _extensions(raw: bytes, at: int, end: int) -> list[bytes]:
    names = []
    while at + 8 <= end:
        names.append(raw[at : at + 4])
        at += 8 + int.from_bytes(raw[at + 4 : at + 8], "big")
    return names


def file_text(file: Path, most: int = LARGEST_TEXT) -> str:
    """Return the text of a regular file; "" for anything else, and for files of more than ``most`` bytes."""
    try:
        return read_regular(file, most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _end(file: Path) -> str:
    """Return the last ``LOG_END`` bytes of a file as text; "" if it can't be read."""
    try:
        return read_end(file, LOG_END).decode("utf-8", "replace")
    except OSError:
        return ""
