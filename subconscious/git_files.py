"""Reads a repository's files without Git: where it is, its HEAD, refs, remote, log and index.

Git runs programs that a repository's configuration names. These files are untrusted data, so everything here
is bounded, and a name that Git would not accept is no name. What can't be read (reftable, a split index) has no answer.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from subconscious.safe_files import read_end, read_regular

LARGEST_TEXT = 1 << 20
LARGEST_REFS = 16 << 20
LARGEST_INDEX = 64 << 20
LOG_END = 4096
"""Bytes at the end of a reflog that are read."""
MOST_LINKS = 5
"""Symbolic refs that may lead to one another; Git allows as many."""

COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LOGGED = re.compile(r"> (\d{9,11}) [+-]\d{4}\tcommit[^:\n]*: (.+)")
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
        """Branch and commit that are checked out; "" for either that there is not."""
        return self._head_of(self.git_dir)

    def main_commit(self) -> str:
        """The commit that the main checkout has."""
        return self._head_of(self.common)[1]

    def _head_of(self, git_dir: Path) -> tuple[str, str]:
        text = text_of(git_dir / "HEAD").strip()
        if not text.startswith("ref:"):
            return "", _commit(text)
        ref = text.removeprefix("ref:").strip()
        if not is_ref(ref) or self._has_reftable():
            return "", ""
        return ref.removeprefix("refs/heads/"), self.resolve(ref)

    def _has_reftable(self) -> bool:
        return (self.common / "reftable").is_dir()

    def resolve(self, ref: str) -> str:
        """The commit that a full ref name leads to; "" for none."""
        for _ in range(MOST_LINKS):
            if not is_ref(ref):
                return ""
            text = text_of(self.common / ref).strip()
            if not text.startswith("ref:"):
                return _commit(text) if text else self._packed(ref)
            ref = text.removeprefix("ref:").strip()
        return ""

    def _packed(self, ref: str) -> str:
        for line in text_of(self.common / "packed-refs", LARGEST_REFS).splitlines():
            commit, _, name = line.partition(" ")
            if name == ref:
                return _commit(commit)
        return ""

    def born_at(self, branch: str) -> str | None:
        """The commit that a branch was made from here, "" for the first branch of all; None where its log can't tell.

        A clone, a fetch, and a checkout of a remote branch begin a log at a commit that may be the branch's own work.
        """
        ref = f"refs/heads/{branch}"
        first = text_of(self.common / "logs" / ref).partition("\n")[0] if is_ref(ref) else ""
        ids, _, action = first.partition("\t")
        if action.startswith("commit (initial)"):
            return ""
        made = re.fullmatch(r"branch: Created from (.+)", action)
        if made is None or _is_remote_twin(made[1], branch):
            return None
        return ids.split(" ")[1]

    def default_branch(self) -> str:
        """The branch that the remote calls its main one; "" where that is not known."""
        target = text_of(self.common / "refs/remotes/origin/HEAD").strip().removeprefix("ref:").strip()
        return target.removeprefix("refs/remotes/origin/") if is_ref(target) else ""

    def latest_commits(self, most: int) -> list[tuple[float, str]]:
        """Time and subject of the commits that were made last in this checkout."""
        found = _LOGGED.finditer(_end(self.git_dir / "logs" / "HEAD"))
        return [(float(one[1]), one[2]) for one in found][-most:]

    def config(self, section: str, key: str) -> list[str]:
        """The values of a key in the repository's own config files; included files are not read."""
        texts = (text_of(self.common / "config"), text_of(self.git_dir / "config.worktree"))
        lines = (line for text in texts for line in _config_lines(text))
        return [value for place, name, value in lines if (place, name) == (section, key)]

    @property
    def is_sha256(self) -> bool:
        """Whether object ids are of SHA-256."""
        return [value.lower() for value in self.config("extensions", "objectformat")][-1:] == ["sha256"]

    def tracked(self, most: int) -> list[str]:
        """Paths in the index; an empty list where it can't be read."""
        try:
            raw = read_regular(self.git_dir / "index", LARGEST_INDEX)
            return list(dict.fromkeys(_index_paths(raw, 32 if self.is_sha256 else 20, most)))
        except (OSError, ValueError, IndexError):
            return []


def _is_remote_twin(source: str, branch: str) -> bool:
    """Whether a branch was made from the remote branch of the same name: ``origin/feature``, in full or not."""
    return source.removeprefix("refs/").removeprefix("remotes/").partition("/")[2] == branch


def find_repository(place: Path) -> Repository | None:
    """The repository around a folder, as Git looks for it; None outside of one.

    One that another user put into a parent folder is none: Git does not trust it either, and it would make one project
    of all that lies below it. Where the folder itself is that user's, so is the repository.
    """
    for folder in (place, *place.parents):
        mark = folder / ".git"
        if mark.is_file():
            return _linked(mark) if _is_expected(mark, place) else None
        if mark.is_dir() and (mark / "HEAD").is_file() and _is_expected(mark, place):
            return Repository(folder, mark, mark)
    return None


def _is_expected(mark: Path, place: Path) -> bool:
    try:
        owners = {0, os.geteuid(), _owner(place)}
        return mark.stat().st_uid in owners
    except OSError:
        return False


def _owner(place: Path) -> int:
    """Who owns a folder; this user for one that is gone."""
    try:
        return place.stat().st_uid
    except OSError:
        return os.geteuid()


def _linked(mark: Path) -> Repository | None:
    """Follow the `gitdir:` file of a worktree or submodule, if the repository there knows of it.

    Else a folder that was unpacked somewhere could name any repository, and be taken for a part of that project.
    """
    text = text_of(mark).strip()
    if not text.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.realpath(mark.parent / text.removeprefix("gitdir:").strip()))
    if not git_dir.is_dir():
        return None
    shared = text_of(git_dir / "commondir").strip()
    common = Path(os.path.realpath(git_dir / shared)) if shared else git_dir
    found = Repository(mark.parent, git_dir, common)
    known = _is_worktree_of(found, mark) if shared else _is_work_tree_of(found, mark)
    return found if known and common.is_dir() else None


def _is_worktree_of(found: Repository, mark: Path) -> bool:
    """Whether a linked worktree lies in its repository's list and names this folder."""
    named = text_of(found.git_dir / "gitdir").strip()
    return (
        found.git_dir.parent == found.common / "worktrees"
        and bool(named)
        and os.path.realpath(found.git_dir / named) == os.path.realpath(mark)
    )


def _is_work_tree_of(found: Repository, mark: Path) -> bool:
    """Whether a submodule's Git folder names this folder as its checkout.

    `git init --separate-git-dir` leaves no such trace; a folder named `.git`, or a bare one, it did not make.
    """
    named = found.config("core", "worktree")
    if named:
        return os.path.realpath(found.git_dir / named[-1]) == os.path.realpath(mark.parent)
    return found.git_dir.name != ".git" and found.config("core", "bare")[-1:] != ["true"]


def is_ref(name: str) -> bool:
    """Whether Git would accept a full ref name; no other is looked up, or shown to anybody."""
    return name.startswith("refs/") and len(name) <= 250 and name.isprintable() and not _NO_REF.search(name)


def is_commit_id(text: str) -> bool:
    """Whether a text is a whole object id."""
    return COMMIT_ID.fullmatch(text) is not None


def _commit(text: str) -> str:
    return text if is_commit_id(text) else ""


def _config_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Section (`remote.origin`), key and value of each line, in a plain reading of Git's syntax."""
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
    """Read an index of version 2 to 4. Raises ValueError or IndexError for any other, and for a split one."""
    version, count = int.from_bytes(raw[4:8], "big"), int.from_bytes(raw[8:12], "big")
    if raw[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index that can be read")
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
        if not is_folder:  # of a sparse index, whose folders stand for files that are not checked out
            found.append(os.fsdecode(path))
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    if count <= most and b"link" in _extensions(raw, at, len(raw) - id_size):
        raise ValueError("a split index has its paths elsewhere")
    yield from found


def _offset(raw: bytes, at: int) -> tuple[int, int]:
    """Decode the number of bytes to drop from the path before, as packs encode offsets; and where it ends."""
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


def text_of(file: Path, most: int = LARGEST_TEXT) -> str:
    """The text of a regular file; "" for any other, and for one of more than ``most`` bytes."""
    try:
        return read_regular(file, most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _end(file: Path) -> str:
    """The last lines of a file that only grows."""
    try:
        return read_end(file, LOG_END).decode("utf-8", "replace")
    except OSError:
        return ""
