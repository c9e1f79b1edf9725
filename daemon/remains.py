"""What lies in the state folder beside the database and may repeat its words: copies, entries, logs, rendered files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from subconscious.home import Home
from subconscious.store.backups import folder_of, keep_copy, require_sound
from subconscious.store.prose import altered

from .entry import NAME_SUFFIX, BrokenEntryError, parse_entry

Change = Callable[[str], str]


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
    """Files that hold text: logs, entries that were given up, what was rendered for people."""
    places = (
        (home.log, "*"),
        (home.buried, f"*{NAME_SUFFIX}"),
        (home.root / "rendered", "**/*"),
        (home.root / "broken", "rendered-*/**/*"),
    )
    for folder, pattern in places:
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file() and not path.is_symlink())


def read(path: Path) -> str:
    """A file's text, whatever bytes it holds."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def after(path: Path, change: Change) -> str:
    """A file's text after a change; of an entry, the payload stays the JSON that it is."""
    text = read(path)
    if path.suffix != NAME_SUFFIX:
        return change(text)
    header, line_end, body = text.partition("\n")
    return header + line_end + altered(body, change)


def rewrite(home: Home, change: Change) -> int:
    """Change every text; return how many files became different."""
    return sum(rewrite_one(path, change) for path in texts(home))


def _overwrite(path: Path, content: bytes) -> None:
    """Write in place: a log that is open for appending goes on in the same file.

    What is there is cut off only behind the new content, and overwritten only once there is room for that: on a full
    disk the words stay as they are.
    """
    with path.open("r+b") as file:
        before = file.seek(0, 2)
        try:
            file.write(bytes(max(0, len(content) - before)))
            file.flush()
        except OSError:
            file.truncate(before)
            raise
        file.seek(0)
        file.write(content)
        file.truncate()


def rewrite_one(path: Path, change: Change) -> bool:
    """Change one text; return whether it became different."""
    with suppress(FileNotFoundError):  # the log was rotated
        if (text := after(path, change)) != read(path):
            _overwrite(path, text.encode("utf-8", "surrogateescape"))
            return True
    return False


def drop_entries(
    home: Home, sessions: Iterable[str], wordings: Iterable[str], *, everything: bool = False
) -> list[str]:
    """Delete entries, waiting or given up, that these sessions handed over or that hold these words; their names."""
    known, traces = frozenset(sessions), [trace for wording in wordings for trace in _spelled(wording)]
    dropped = []
    drafts = home.spool.glob(".*.tmp") if everything else ()  # what hooks that were killed left half-written
    for path in [*home.spool.glob(f"*{NAME_SUFFIX}"), *home.buried.glob(f"*{NAME_SUFFIX}"), *drafts]:
        with suppress(FileNotFoundError):
            raw = path.read_bytes()
            if everything or _session(path.name, raw) in known or any(trace in raw for trace in traces):
                path.unlink()
                dropped.append(path.name)
    return dropped


def _session(name: str, raw: bytes) -> str:
    try:
        return parse_entry(name, raw).payload.session_id
    except BrokenEntryError:
        return ""


def _spelled(wording: str) -> Iterator[bytes]:
    """How JSON may write a text."""
    for ascii_only in (True, False):
        yield json.dumps(wording, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogatepass")
