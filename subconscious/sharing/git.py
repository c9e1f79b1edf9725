"""Reads and writes shared memories in the refs of a repository. Git does not load the repository's configuration.

Git runs in an empty temporary repository that uses the objects of the user's repository
(`subconscious.system.git_command`). Refs are read and written as files. Only fetch and push reach the network; they
load the user's own configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.sharing.git_process import GitError, GitProcess
from subconscious.sharing.merge import LARGEST_ENTRY, Entry, EntryError, State, dump, merge_entries, parse
from subconscious.system.git_command import empty_repository, may_run_on
from subconscious.system.git_files import Repository, file_text, find_repository, is_commit_id
from subconscious.system.ownership import is_ours
from subconscious.system.programs import find_program

NOTES = "refs/notes/subconscious"
"""The ref of Git notes, attached to the commits that memories came from; each line of a note is one entry."""
OWN = "refs/subconscious/memories"
"""The ref of the memories without a commit: a tree with one file for each memory."""
REFS = (NOTES, OWN)
FETCHED = {NOTES: "refs/fetched/notes", OWN: "refs/fetched/own"}

MOST_ENTRIES = 20_000
MOST_BYTES = 48 << 20
LARGEST_NOTE = 8 * LARGEST_ENTRY
MOST_COMMITS = 5_000
"""If there are this many commits or more, no authors are returned, and therefore no author is trusted."""
MOST_BRANCHES = 10_000
PLACES = ("heads", "remotes", "tags")
"""Folders of refs; a commit that none of their refs contains counts as dropped."""

_OWN_NAME = re.compile(r"[0-9a-f]{32}\.json")
_LISTED = re.compile(r"(100644|100755) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)", re.DOTALL)
_RAW = re.compile(r":\d{6} \d{6} [0-9a-f]{40,64} ([0-9a-f]{40,64}) [AM]\t")
_URL_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")


@dataclass(frozen=True, slots=True)
class Author:
    """A version's author according to Git.

    ``email`` is not verified. ``key`` is the fingerprint of the key of a valid signature, "" if there is none.
    """

    email: str = ""
    key: str = ""


@dataclass(slots=True)
class ReadEntries:
    """The entries in the refs, and the problems of entries that can't be read."""

    state: dict[str, Entry] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@contextmanager
def open_refs(folder: str) -> Iterator[Refs]:
    """Open the refs of the repository that contains a folder. Raises RequestError if Git must not run there."""
    repository = find_repository(Path(os.path.realpath(folder)))
    if repository is None:
        raise RequestError("there is no Git repository here", "run the command inside your repository")
    if not may_run_on(repository):
        raise RequestError(
            "this repository belongs to another user, or other users can write to it", "use a clone of your own"
        )
    if (repository.common / "reftable").is_dir():
        raise RequestError(
            "this repository keeps its refs as reftables, which are not supported",
            "use a clone made with `git clone --ref-format=files`",
        )
    program = find_program("git")
    if not program:
        raise RequestError("no git was found in a folder that only you or root can write to", "install git")
    with empty_repository(repository) as place:
        yield Refs(GitProcess(repository, program, place))


class Refs:
    """Reads, writes, fetches and pushes the two refs of one repository."""

    def __init__(self, git: GitProcess) -> None:
        self.repository = git.repository
        self._git = git

    def hooks_path(self) -> str:
        """Return the folder of hooks that Git is configured to use; "" for the repository's own folder."""
        return self._git.hooks_path()

    def tips(self) -> dict[str, str]:
        """Return the commit that each existing local ref points to."""
        found = {ref: self.repository.resolve(ref) for ref in REFS}
        return {ref: commit for ref, commit in found.items() if commit}

    def read(self, tips: Mapping[str, str]) -> ReadEntries:
        """Read the memories in these commits."""
        found = ReadEntries()
        listed = {ref: self._listing(commit) for ref, commit in tips.items()}
        if sum(map(len, listed.values())) > MOST_ENTRIES:
            raise RequestError(
                f"Git contains more than {MOST_ENTRIES} files of shared memories (the limit)",
                f"to inspect them: git log {OWN}",
            )
        texts: dict[str, bytes] = {}
        total = 0
        for blob, text in self._blobs([blob for files in listed.values() for blob in files.values()]):
            texts[blob] = text
            total += len(text)
            if total > MOST_BYTES:
                raise RequestError(
                    f"the shared memories in Git are too large to be read (limit: {MOST_BYTES >> 20} MiB)",
                    f"to inspect them: git log --stat {OWN}",
                )
        for ref, files in listed.items():
            for name, blob in files.items():
                self._add(found, ref, name, texts.get(blob))
        return found

    def _add(self, found: ReadEntries, ref: str, name: str, text: bytes | None) -> None:
        commit = name.replace("/", "") if ref == NOTES else ""
        known = is_commit_id(commit) if ref == NOTES else _OWN_NAME.fullmatch(name) is not None
        if not known or text is None:
            found.problems.append(f"{ref}: {name[:100]} is {'too large' if known else 'not a memory'}")
            return
        for line in text.splitlines():
            try:
                uid, entry = parse(line, commit, name.removesuffix(".json") if ref == OWN else "")
                found.state[uid] = merge_entries(found.state[uid], entry) if uid in found.state else entry
            except EntryError as error:
                found.problems.append(f"{ref}: {name[:100]}: {error}")

    def _listing(self, commit: str) -> dict[str, str]:
        """Return the blob ids of a commit's regular files by file name, without links, submodules and the like."""
        said = self._git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).decode("utf-8", "replace")
        matches = (_LISTED.fullmatch(line) for line in said.split("\0"))
        return {found[4]: found[2] for found in matches if found}

    def _blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the content of blobs, without those that are too large."""
        wanted = sorted(set(ids))
        if not wanted:
            return
        said = self._git.run(
            "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=_lines(wanted)
        )
        found = (line.split() for line in said.decode().splitlines())
        sizes = {parts[0]: int(parts[2]) for parts in found if parts[1] == "blob" and int(parts[2]) <= LARGEST_NOTE}
        for batch in _portions(sizes):
            yield from _batch(self._git.run("cat-file", "--batch", stdin=_lines(batch)))

    def authors(self, commits: Collection[str], *, signatures: bool) -> dict[str, Author]:
        """Return the author of each version: the author of the first commit that contains it.

        Empty if there are ``MOST_COMMITS`` commits or more.
        """
        history = self._history(commits, signatures=signatures) if commits else []
        if len(history) >= MOST_COMMITS:
            return {}  # older versions would be attributed to the author who rewrote their file
        places: dict[str, int] = {}
        for place, (_, blobs) in enumerate(history):
            for blob in blobs:
                places.setdefault(blob, place)
        first: dict[str, int] = {}
        for blob, text in self._blobs(places):
            for digest in [digest for entry in _entries(text) for digest in entry.versions]:
                first[digest] = min(places[blob], first.get(digest, places[blob]))
        return {digest: history[place][0] for digest, place in first.items()}

    def _history(self, commits: Iterable[str], *, signatures: bool) -> list[tuple[Author, list[str]]]:
        """Return the author of each commit and the ids of the blobs that the commit added or changed, parents first."""
        mark = os.urandom(16).hex()  # unguessable, so that an e-mail address can't imitate the next field
        form = f"--format={mark}%ae{mark}{'%G?' if signatures else ''}{mark}{'%GF' if signatures else ''}{mark}"
        words = ("log", "--reverse", "--topo-order", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", form)
        # A signature is checked by the program that the user's own configuration names.
        said = self._git.run(*words, f"--max-count={MOST_COMMITS}", *commits, "--", as_user=signatures)
        parts = said.decode("utf-8", "replace").split(mark)[1:]
        fields = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=True)
        return [
            (Author(email.strip(), key if good in ("G", "U") else ""), _RAW.findall(changes))
            for email, good, key, changes in fields
        ]

    def dropped(self, commits: Iterable[str]) -> set[str]:
        """Return the commits in this repository that no branch or tag contains any more (rebased, squashed)."""
        present = self.present(commits)
        if not present:
            return set()
        ends = [f"^{commit}" for commit in _branches(self.repository)]
        said = self._git.run("rev-list", "--ignore-missing", "--stdin", stdin=_lines([*sorted(present), *ends]))
        return present & set(said.decode().split())

    def present(self, commits: Iterable[str]) -> set[str]:
        """Return which of these commits this repository has."""
        wanted = sorted({commit for commit in commits if is_commit_id(commit)})
        said = (
            self._git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=_lines(wanted))
            if wanted
            else b""
        )
        return {line.split()[0] for line in said.decode().splitlines() if line.endswith(" commit")}

    def commit(self, state: State, *parents: Mapping[str, str]) -> dict[str, str]:
        """Write a state as one commit for each ref; return the commit of each ref.

        Each of ``parents`` maps refs to commits; these become the parents of the ref's new commit. If a parent already
        contains the state and all other parents of its ref, that parent is returned instead of a new commit.
        """
        made = {}
        for ref in REFS:
            before = list(dict.fromkeys(tips[ref] for tips in parents if ref in tips))
            files = _files(state, ref)
            if files or before:
                made[ref] = self._committed(files, before)
        return made

    def _committed(self, files: Mapping[str, bytes], parents: Sequence[str]) -> str:
        tree = self._tree(files)
        for tip in parents:
            others = [one for one in parents if one != tip]
            ahead = self._git.run("rev-list", "--max-count=1", *others, f"^{tip}", "--") if others else b""
            if not ahead and self._git.run("rev-parse", "--verify", f"{tip}^{{tree}}").decode().strip() == tree:
                return tip
        follows = [part for tip in parents for part in ("-p", tip)]
        sign = ["-S"] if self._git.signs_commits() else []
        words = ("commit-tree", *follows, *sign, "-m", "Share memories", tree)
        return self._git.run(*words, as_user=True).decode().strip()

    def _tree(self, files: Mapping[str, bytes]) -> str:
        """Store files in Git, and return the id of the tree that contains them. One Git process stores all files."""
        parts = [b"commit refs/heads/draft\ncommitter draft <draft> 0 +0000\ndata 0\ndeleteall\n"]
        for name, content in files.items():
            parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content))
        # Write loose objects, because this Git runs without gc and would never merge the packs of many syncs.
        words = ("-c", "fastimport.unpackLimit=1000000", "fast-import", "--quiet", "--force")
        self._git.run(*words, stdin=b"".join(parts) + b"\n")
        return self._git.run("rev-parse", "--verify", "refs/heads/draft^{tree}").decode().strip()

    def store(self, tips: Mapping[str, str], before: Mapping[str, str]) -> None:
        """Point the local refs to the commits in ``tips``, if they still point to those in ``before``.

        Raises GitError if another process has locked or changed a ref meanwhile, RequestError if a folder of refs is a
        symbolic link.
        """
        for ref, commit in tips.items():
            if before.get(ref) != commit:
                self._store(ref, commit, before.get(ref, ""))

    def _store(self, ref: str, commit: str, before: str) -> None:
        path = self.repository.common / ref
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(exist_ok=True)
            if folder.is_symlink():
                raise RequestError(f"{folder} is a symbolic link", "replace it with a folder")
        lock = path.with_name(f"{path.name}.lock")
        try:
            # Git's own lock file, so that Git and this program never write the ref at the same time.
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileExistsError as error:
            raise GitError(
                f"{ref} is locked by another Git process", f"if no Git process is running, remove {lock}"
            ) from error
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{commit}\n")
            changed = self.repository.resolve(ref) != before
            if not changed:
                lock.replace(path)
        finally:
            lock.unlink(missing_ok=True)
        if changed:
            raise GitError(f"another process changed {ref} during the sync", "run subconscious sync again")

    def url(self, remote: str) -> str:
        """Return the address of a remote, "" if there is none. Raises RequestError if the address must not be used."""
        found = self.repository.config(f"remote.{remote}", "url")
        if not found:
            return ""
        url = found[-1]
        if url.startswith("-") or "::" in url or not url.isprintable():
            raise RequestError(f"the address of {remote} is not supported", "use ssh, https, git or a folder")
        path = url.removeprefix("file://")
        if _URL_SCHEME.match(path) or (":" in path.partition("/")[0]):
            return url
        place = Path(os.path.realpath(self.repository.worktree / path))
        theirs = place.exists() and not is_ours(place)  # the fetch reports a missing folder
        if theirs or place.is_relative_to(self.repository.worktree):
            raise RequestError(f"{place} belongs to another user, or is inside this project", "use another remote")
        return str(place)

    def fetch(self, url: str, local: Mapping[str, str]) -> dict[str, str]:
        """Fetch the refs of a remote; return their commits. The remote does not send the commits in ``local`` again."""
        for ref, commit in local.items():  # Git then asks only for the objects that are missing here
            self._git.run("update-ref", f"refs/have/{ref.replace('/', '-')}", commit)
        # With ``*``, because a ref that the remote lacks would be an error.
        specs = [f"+{ref}*:{FETCHED[ref]}*" for ref in REFS]
        if said := self._git.on_network("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", url, *specs):
            raise _failed("fetch", said)
        found = {ref: file_text(self._git.folder / FETCHED[ref]).strip() for ref in REFS}
        packed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/fetched").decode()
        names = {name: commit for commit, _, name in (line.partition(" ") for line in packed.splitlines())}
        return {ref: commit for ref in found if (commit := names.get(FETCHED[ref], ""))}

    def push(self, url: str, tips: Mapping[str, str]) -> bool:
        """Send the refs to a remote; return False if somebody else has changed them since they were fetched."""
        specs = [f"{commit}:{ref}" for ref, commit in tips.items()]
        said = self._git.on_network("push", "--quiet", "--no-verify", "--porcelain", url, *specs)
        if said and not any(sign in said for sign in ("[rejected]", "fetch first", "cannot lock ref")):
            raise _failed("push", said)
        return not said


def without_credentials(text: str) -> str:
    """Return a text without the user names and tokens in its URLs."""
    return re.sub(r"(?<=://)[^/\s@]{1,500}@", "", text)


def _failed(deed: str, said: str) -> GitError:
    why = without_credentials(" ".join(said.split()))[-400:]
    return GitError(f"git {deed} failed: {why}", "run subconscious sync again")


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode()


def _portions(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Divide blobs into portions of limited size, since Git's output is read into memory."""
    portion: list[str] = []
    total = 0
    for blob, size in sizes.items():
        if portion and total + size > MOST_BYTES // 2:
            yield portion
            portion, total = [], 0
        portion.append(blob)
        total += size
    if portion:
        yield portion


def _batch(said: bytes) -> Iterator[tuple[str, bytes]]:
    """Parse the output of ``cat-file --batch``."""
    at = 0
    while at < len(said):
        end = said.index(b"\n", at)
        name, _, size = said[at:end].decode().split()
        yield name, said[end + 1 : end + 1 + int(size)]
        at = end + int(size) + 2


def _entries(text: bytes) -> Iterator[Entry]:
    for line in text.splitlines():
        try:
            yield parse(line)[1]
        except EntryError:
            continue


def _files(state: State, ref: str) -> dict[str, bytes]:
    """Return the files, by name, that store the entries of ``state`` in a ref."""
    if ref == OWN:
        return {f"{uid}.json": dump(uid, entry) + b"\n" for uid, entry in sorted(state.items()) if not entry.commit}
    files: dict[str, bytes] = {}
    for uid, entry in sorted(state.items()):
        if entry.commit:
            files[entry.commit] = files.get(entry.commit, b"") + dump(uid, entry) + b"\n"
    return files


def _branches(repository: Repository) -> set[str]:
    """Return the ids that branches, remote branches, tags and the HEADs of checkouts point to.

    They are ids of commits, or of the tag objects of annotated tags.
    """
    heads = [repository.common / "HEAD", *sorted((repository.common / "worktrees").glob("*/HEAD"))]
    packed = (line.partition(" ") for line in file_text(repository.common / "packed-refs", MOST_BYTES).splitlines())
    found = {name: commit for commit, _, name in packed if name.startswith(tuple(f"refs/{one}/" for one in PLACES))}
    for place in PLACES:
        for folder, _, names in os.walk(repository.common / "refs" / place):
            # A ref's own file is newer than its line in packed-refs.
            paths = [Path(folder, name) for name in names[:MOST_BRANCHES]]
            found |= {path.relative_to(repository.common).as_posix(): file_text(path).strip() for path in paths}
    found |= {str(path): file_text(path).strip() for path in heads}
    return {one for one in found.values() if is_commit_id(one)}
