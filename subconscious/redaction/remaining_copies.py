"""Changes files that may repeat texts of the database: its copies, spool entries, logs, rendered files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from subconscious.context.entry import FORMAT, MAX_BYTES, NAME_SUFFIX, BrokenEntryError, parse_entry
from subconscious.settings.home import Home
from subconscious.store.backups import create_copy, folder_of, require_sound
from subconscious.store.text_columns import change_text
from subconscious.system.safe_files import (
    NotRegularError,
    TooLargeError,
    open_regular,
    overwrite,
    read_regular,
    require_regular,
)

log = logging.getLogger("subconscious.redaction")

Change = Callable[[str], str]

HEADER_FIELDS = 7
NAMED_FIELDS = frozenset({3, 4, 6})
"""Fields of a spool entry's header that may contain a secret: the project's folder, the client's folder, the options."""

PART_LETTERS = 1 << 15
PART_BYTES = 1 << 20
"""The number of bytes that are read at a time from a file that is too large to be parsed."""


def renew_copies(home: Home, schema: int) -> int:
    """Replace old copies of the database, which may contain deleted data, with a new one; return how many."""
    name = home.database.stem
    # Copies in the database's own folder: made by older versions, or left there by a restore.
    beside = [*home.root.glob(f"{name}-schema*.db*"), *home.root.glob(f".{home.database.name}.restoring*")]
    # Check this first: if the database is damaged, it can't be copied, and the old copies must stay.
    require_sound(home.database)
    stale = [*beside, *(home.root / "broken").glob(f"{home.database.name}*"), *folder_of(home.database).glob("*")]
    for copy in stale:
        copy.unlink(missing_ok=True)
    if stale:
        create_copy(home.database, schema)
    return len(stale)


def text_files(home: Home) -> Iterator[Path]:
    """Yield files with text: logs, failed spool entries, rendered files.

    Files larger than the limit for spool entries are skipped, and named in the log.
    """
    places = (
        (home.log, "*"),
        (home.buried, f"*{NAME_SUFFIX}"),
        (home.root / "rendered", "**/*"),
        (home.root / "broken", "rendered-*/**/*"),
    )
    for folder, pattern in places:
        for path in sorted(folder.glob(pattern)):
            with suppress(OSError):  # deleted meanwhile, or not a file
                if require_regular(path, follow=False).st_size <= MAX_BYTES:
                    yield path
                else:
                    log.warning("%s is too large to be scanned for secrets; delete it unless you need it", path)


def read(path: Path) -> str:
    """Return a file's text, with invalid bytes preserved.

    Raises OSError if ``path`` is not a regular file, or is larger than the limit for spool entries.
    """
    return read_regular(path, MAX_BYTES, follow=False).decode("utf-8", "surrogateescape")


def changed_text(path: Path, change: Change) -> str:
    """Return a file's text after a change; a spool entry keeps the structure of its header and its JSON."""
    text = read(path)
    header, line_end, body = text.partition("\n")
    if path.suffix != NAME_SUFFIX or not line_end or not header.startswith(f"{FORMAT} "):
        return change(text)
    return _changed_header(header, change) + line_end + change_text(body, change)


def _changed_header(header: str, change: Change) -> str:
    """Return a spool entry's header with the change applied to its fields for folders and options."""
    fields = header.split("\t")
    if len(fields) != HEADER_FIELDS:
        return change(header)
    return "\t".join(change(field) if number in NAMED_FIELDS else field for number, field in enumerate(fields))


def rewrite(home: Home, change: Change) -> int:
    """Apply a change to all files with text (`text_files`); return how many changed."""
    return sum(rewrite_one(path, change) for path in text_files(home))


def rewrite_one(path: Path, change: Change) -> bool:
    """Apply a change to one file; return whether it changed."""
    with suppress(FileNotFoundError):  # the log was rotated
        if (text := changed_text(path, change)) != read(path):
            overwrite(path, text.encode("utf-8", "surrogateescape"))
            return True
    return False


def in_parts(change: Change) -> Change:
    """Return a function that applies a change to long texts in parts, so that no pattern blocks the process for long."""

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
    """Delete waiting and failed spool entries that are of ``sessions`` or contain one of ``wordings``; return their names.

    With ``everything``, all entries and the files that killed hooks left incomplete are deleted.
    """
    known, traces = frozenset(sessions), [trace for wording in wordings for trace in _json_forms(wording)]
    dropped = []
    drafts = home.spool.glob(".*.tmp") if everything else ()  # files that killed hooks left incomplete
    for path in [*home.spool.glob(f"*{NAME_SUFFIX}"), *home.buried.glob(f"*{NAME_SUFFIX}"), *drafts]:
        with suppress(FileNotFoundError, NotRegularError):
            if everything or _matches(path, known, traces):
                path.unlink()
                dropped.append(path.name)
    return dropped


def _matches(path: Path, sessions: Collection[str], traces: Sequence[bytes]) -> bool:
    """Whether an entry belongs to one of these sessions or contains one of these byte strings."""
    try:
        raw = read_regular(path, MAX_BYTES, follow=False)
    except TooLargeError:
        return _contains_any(path, [*traces, *(json.dumps(session).encode() for session in sessions)])
    return _session(path.name, raw) in sessions or any(trace in raw for trace in traces)


def _contains_any(path: Path, traces: Sequence[bytes]) -> bool:
    """Whether a file contains one of these byte strings; it is read in parts."""
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


def _json_forms(wording: str) -> Iterator[bytes]:
    """Yield the ways in which JSON may encode a text."""
    for ascii_only in (True, False):
        yield json.dumps(wording, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogatepass")
