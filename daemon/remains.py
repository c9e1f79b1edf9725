"""What lies in the state folder beside the database and may repeat its words: copies, entries, logs, rendered files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from subconscious.home import Home
from subconscious.safe_files import (
    NotRegularError,
    TooLargeError,
    open_regular,
    overwrite,
    read_regular,
    require_regular,
)
from subconscious.store.backups import folder_of, keep_copy, require_sound
from subconscious.store.prose import altered

from .entry import FORMAT, MAX_BYTES, NAME_SUFFIX, BrokenEntryError, parse_entry

log = logging.getLogger("subconscious.daemon")

Change = Callable[[str], str]

HEADER_FIELDS = 7
NAMED_FIELDS = frozenset({3, 4, 6})
"""Fields of an entry's header that may hold a secret: the project's folder, the client's folder, the options."""

PART_LETTERS = 1 << 15
PART_BYTES = 1 << 20
"""Bytes of a file that is too large to be parsed that are looked at together."""


def renew_copies(home: Home, schema: int) -> int:
    """Put one fresh copy in place of those that older programs kept, which know what is gone now; return how many."""
    name = home.database.stem
    # Kept beside the database by older versions, left half done or replaced by a restore, kept where copies are.
    beside = [*home.root.glob(f"{name}-schema*.db*"), *home.root.glob(f".{home.database.name}.restoring*")]
    # Before the first one goes: of a damaged database no copy can be made, and the old ones are all there is.
    require_sound(home.database)
    stale = [*beside, *(home.root / "broken").glob(f"{home.database.name}*"), *folder_of(home.database).glob("*")]
    for copy in stale:
        copy.unlink(missing_ok=True)
    if stale:
        keep_copy(home.database, schema)
    return len(stale)


def texts(home: Home) -> Iterator[Path]:
    """Files that hold text: logs, entries that were given up, what was rendered for people.

    What is larger than an entry may be was set aside without being read, and is not read here either.
    """
    places = (
        (home.log, "*"),
        (home.buried, f"*{NAME_SUFFIX}"),
        (home.root / "rendered", "**/*"),
        (home.root / "broken", "rendered-*/**/*"),
    )
    for folder, pattern in places:
        for path in sorted(folder.glob(pattern)):
            with suppress(OSError):  # gone meanwhile, or no file
                if require_regular(path, follow=False).st_size <= MAX_BYTES:
                    yield path
                else:
                    log.warning("%s is too large to be looked through; delete it unless it is needed", path)


def read(path: Path) -> str:
    """A file's text, whatever bytes it holds; raises OSError where it is no file, or larger than an entry may be."""
    return read_regular(path, MAX_BYTES, follow=False).decode("utf-8", "surrogateescape")


def after(path: Path, change: Change) -> str:
    """A file's text after a change; an entry stays one, with its header and its JSON."""
    text = read(path)
    header, line_end, body = text.partition("\n")
    if path.suffix != NAME_SUFFIX or not line_end or not header.startswith(f"{FORMAT} "):
        return change(text)
    return _header_after(header, change) + line_end + altered(body, change)


def _header_after(header: str, change: Change) -> str:
    """An entry's header after a change of the fields that hold what people named: folders and options."""
    fields = header.split("\t")
    if len(fields) != HEADER_FIELDS:
        return change(header)
    return "\t".join(change(field) if number in NAMED_FIELDS else field for number, field in enumerate(fields))


def rewrite(home: Home, change: Change) -> int:
    """Change every text; return how many files became different."""
    return sum(rewrite_one(path, change) for path in texts(home))


def rewrite_one(path: Path, change: Change) -> bool:
    """Change one text; return whether it became different."""
    with suppress(FileNotFoundError):  # the log was rotated
        if (text := after(path, change)) != read(path):
            overwrite(path, text.encode("utf-8", "surrogateescape"))
            return True
    return False


def in_parts(change: Change) -> Change:
    """The same change for long texts: part by part, so that no one call of a pattern holds everybody up.

    Each place is looked at twice, with the parts' ends elsewhere: what one end cuts in two is whole in the other look.
    """

    def changed(text: str) -> str:
        if len(text) <= PART_LETTERS:
            return change(text)
        for first in (PART_LETTERS, PART_LETTERS // 2):
            starts = [0, *range(first, len(text), PART_LETTERS)]
            text = "".join(change(text[start:end]) for start, end in pairwise([*starts, len(text)]))
        return text

    return changed


def drop_entries(
    home: Home, sessions: Iterable[str], wordings: Iterable[str], *, everything: bool = False
) -> list[str]:
    """Delete entries, waiting or given up, that these sessions handed over or that hold these words; their names."""
    known, traces = frozenset(sessions), [trace for wording in wordings for trace in _spelled(wording)]
    dropped = []
    drafts = home.spool.glob(".*.tmp") if everything else ()  # what hooks that were killed left half-written
    for path in [*home.spool.glob(f"*{NAME_SUFFIX}"), *home.buried.glob(f"*{NAME_SUFFIX}"), *drafts]:
        with suppress(FileNotFoundError, NotRegularError):
            if everything or _tells_of(path, known, traces):
                path.unlink()
                dropped.append(path.name)
    return dropped


def _tells_of(path: Path, sessions: Collection[str], traces: Sequence[bytes]) -> bool:
    """Whether an entry is of one of these sessions or holds one of these traces."""
    try:
        raw = read_regular(path, MAX_BYTES, follow=False)
    except TooLargeError:
        return _holds(path, [*traces, *(json.dumps(session).encode() for session in sessions)])
    return _session(path.name, raw) in sessions or any(trace in raw for trace in traces)


def _holds(path: Path, traces: Sequence[bytes]) -> bool:
    """Whether a file holds one of these byte strings, told part by part."""
    longest, window = max(map(len, traces), default=0), b""
    with open_regular(path, follow=False) as file:
        while part := file.read(PART_BYTES):
            window = window[-longest:] + part if longest else part
            if any(trace in window for trace in traces):
                return True
    return False


def _session(name: str, raw: bytes) -> str:
    try:
        return parse_entry(name, raw).payload.session_id
    except BrokenEntryError:
        return ""


def _spelled(wording: str) -> Iterator[bytes]:
    """How JSON may write a text."""
    for ascii_only in (True, False):
        yield json.dumps(wording, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogatepass")
