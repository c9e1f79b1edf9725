"""Shared memories as files in ``.subconscious/`` of a checkout, where pull requests and CI see them.

Anybody who can open a pull request can write these files. So a memory that only the files contain has no author and
waits for review. It is not written to the refs, where it would look like a statement of the person who ran the sync.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.files.folder import Folder, open_folder
from subconscious.sharing.git import MOST_BYTES, MOST_ENTRIES, ReadEntries
from subconscious.sharing.merge import Entry, EntryError, State, dump, parse
from subconscious.system.safe_files import is_missing

FOLDER = ".subconscious"
_NAME = re.compile(r"(?P<uid>[0-9a-f]{32})\.json")


def read(worktree: Path) -> ReadEntries:
    """Return the memories in the files of a checkout, and the problems of files that can't be read."""
    found = ReadEntries()
    if is_missing(worktree / FOLDER):
        return found
    with open_folder(worktree / FOLDER) as folder:
        names = [name for name in folder.names() if _NAME.fullmatch(name)]
        if len(names) > MOST_ENTRIES:
            raise RequestError(f"{worktree / FOLDER} contains more than {MOST_ENTRIES} memories", "remove some files")
        total = 0
        for name in names:
            total += _read_one(folder, name, found)
            if total > MOST_BYTES:
                raise RequestError(
                    f"the memories in {worktree / FOLDER} are larger than {MOST_BYTES >> 20} MiB in total",
                    "remove some files",
                )
    return found


def _read_one(folder: Folder, name: str, found: ReadEntries) -> int:
    """Add the memory of one file to ``found``; return the file's size."""
    try:
        raw = folder.read(name) or b""
        uid, entry = parse(raw, name=name.removesuffix(".json"))
    except (EntryError, RequestError) as error:
        found.problems.append(f"{FOLDER}/{name}: {error}")
        return 0
    found.state[uid] = entry
    return len(raw)


def added(state: State, files: State) -> dict[str, Entry]:
    """Return the entries of the refs (``state``), together with the versions that only ``files`` contains.

    Replacements that the files claim are ignored: a pull request could use them to hide a teammate's memory.
    """
    empty = Entry({})
    return {
        uid: Entry(
            {
                **{
                    digest: version
                    for digest, version in files.get(uid, empty).versions.items()
                    if digest not in state.get(uid, empty).replaced
                },
                **state.get(uid, empty).versions,
            },
            state.get(uid, empty).replaced,
            state.get(uid, empty).commit,
        )
        for uid in {**state, **files}
    }


def write(worktree: Path, state: State, files: State) -> int:
    """Update the files of a checkout from the refs (``state``); return how many files were written or removed.

    ``files`` are the memories that the files contain now; a memory that only the files contain is left as it is.
    """
    changed = 0
    # Memories that only the files contain stay unchanged; for others, the refs determine what was replaced.
    merged = {**files, **{uid: entry for uid, entry in added(state, files).items() if uid in state}}
    if not any(entry.versions for entry in merged.values()) and not files:
        return 0
    with open_folder(worktree / FOLDER) as folder:
        for uid, entry in sorted(merged.items()):
            name, before = f"{uid}.json", folder.read(f"{uid}.json")
            if not entry.versions:
                changed += before is not None
                folder.remove(name)
            elif before != (content := _content(uid, entry)):
                folder.write(name, content)
                changed += 1
    return changed


def _content(uid: str, entry: Entry) -> bytes:
    """Return an entry as JSON with a line for each value, so that a pull request shows what changed."""
    return json.dumps(json.loads(dump(uid, entry)), indent=2, sort_keys=True).encode() + b"\n"
