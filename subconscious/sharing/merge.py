"""Shared memories as they are stored in Git, and the merge of two states.

An entry is one memory: its current versions, and the digests of replaced versions. A merge takes the union of both
states without the replaced versions. So the order of merges does not matter, and a version disappears only if somebody
who had seen it replaced it. Two independent edits are both kept, as a conflict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from subconscious.system.json_bounds import has_too_many_values
from subconscious.wire.files import Document

VERSION = 1
LARGEST_ENTRY = 1 << 20
MOST_VALUES = 100_000
MOST_VERSIONS = 50

_DIGEST = re.compile(r"[0-9a-f]{32}")


class EntryError(ValueError):
    """An entry that can't be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One shared memory. ``commit`` is the commit whose note contains it; "" if it is in ``git.OWN``, the other ref."""

    versions: Mapping[str, Document]
    replaced: frozenset[str] = frozenset()
    commit: str = ""

    def ranked(self) -> list[str]:
        """Return the digests of the versions, ordered by the time at which a person decided on them, latest first."""
        return sorted(self.versions, key=lambda digest: (_time_of(self.versions[digest]), digest), reverse=True)


State = Mapping[str, Entry]
"""Entries by the uid of their memory."""


def digest_of(version: Document) -> str:
    """Return the digest that identifies a version."""
    return hashlib.sha256(_dumped(version)).hexdigest()[:32]


def merge(one: State, other: State) -> dict[str, Entry]:
    """Return the union of both states."""
    both = {uid: merge_entries(one[uid], other[uid]) for uid in one.keys() & other.keys()}
    return {**one, **other, **both}


def merge_entries(one: Entry, other: Entry) -> Entry:
    """Return the union of both entries of a memory."""
    replaced = one.replaced | other.replaced
    versions = {key: value for key, value in {**one.versions, **other.versions}.items() if key not in replaced}
    # If the commits differ, the entry moves to the ref git.OWN for good: two clones must not move it back and forth.
    commit = one.commit if one.commit == other.commit else ""
    return Entry(versions, replaced, commit)


def dump(uid: str, entry: Entry) -> bytes:
    """Return an entry as one line of JSON."""
    versions = [entry.versions[key] for key in sorted(entry.versions)]
    return _dumped({"subconscious": VERSION, "uid": uid, "versions": versions, "replaced": sorted(entry.replaced)})


def parse(raw: bytes, commit: str = "", name: str = "") -> tuple[str, Entry]:
    """Return the uid and the entry of the memory in ``raw``; ``name`` is the uid that it must have, "" to allow any.

    The content of versions is not checked: later formats must survive a merge by this program.

    Raises EntryError if ``raw`` can't be used.
    """
    document = _loaded(raw)
    uid, versions, replaced = document.get("uid"), document.get("versions"), document.get("replaced")
    if document.get("subconscious") != VERSION:
        raise EntryError(f"its format is {str(document.get('subconscious'))[:20]}, not {VERSION}")
    if not _is_digest(uid) or not isinstance(replaced, list) or not all(map(_is_digest, replaced)):
        raise EntryError("its uid, or a digest of a replaced version, is invalid")
    if name not in ("", uid):
        raise EntryError("its uid does not match its file name")
    if not isinstance(versions, list) or not all(isinstance(one, dict) for one in versions):
        raise EntryError("it has no versions")
    if len(versions) > MOST_VERSIONS:
        raise EntryError(f"it has more than {MOST_VERSIONS} versions")
    found = {digest_of(one): one for one in versions}
    gone = frozenset(replaced)
    return str(uid), Entry({key: value for key, value in found.items() if key not in gone}, gone, commit)


def _loaded(raw: bytes) -> Document:
    if len(raw) > LARGEST_ENTRY or has_too_many_values(raw, MOST_VALUES):
        raise EntryError("it is too large")
    try:
        document = json.loads(raw.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise EntryError("it is not JSON") from error
    if not isinstance(document, dict):
        raise EntryError("it is not a JSON object")
    return document


def _no_number(text: str) -> None:
    raise ValueError(text)


def _dumped(values: Document) -> bytes:
    try:
        # Escaped to ASCII and sorted: the same bytes after any round trip through JSON.
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise EntryError("it can't be written as JSON") from error


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _time_of(version: Document) -> float:
    at = version.get("at")
    return float(at) if isinstance(at, (int, float)) and abs(at) < 1e12 else 0.0
