"""Backup copies of the database: create, verify, rotate.

The copies are in ``backups/`` beside the database, readable by their owner only, and named by time and schema. A purge
replaces all of them.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time
from urllib.parse import quote

from subconscious.domain.errors import StoreError, UnsoundStoreError
from subconscious.system.safe_files import open_regular, read_regular, replace_file

NAME = re.compile(r"\w+-(\d{8}-\d{6})-schema(\d{4})\.db")
STAMP = "%Y%m%d-%H%M%S"
SKEW = 60.0
"""How many seconds a copy's time may lie in the future: small corrections of the clock are normal."""
SPARE = 200 * 2**20
"""Bytes of disk space that daily copies leave free for other programs."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the database, made at ``at``."""

    path: Path
    at: float
    schema: int


def folder_of(database: Path) -> Path:
    """Return the folder of a database's copies."""
    return database.parent / "backups"


def listing(database: Path) -> list[Copy]:
    """Return the copies, latest first, without the temporary files of unfinished copies.

    A copy with a time in the future was made while the clock was wrong, so its age is unknown. It is sorted as the
    oldest copy: otherwise it would count as the latest one and no new copy would be made.
    """
    found = [(path, NAME.fullmatch(path.name)) for path in folder_of(database).glob(f"{database.stem}-*.db")]
    copies = [Copy(path, _read(match[1]), int(match[2])) for path, match in found if match]
    now = time()
    return sorted(copies, key=lambda copy: (copy.at > now + SKEW, -copy.at, copy.path.name))


def all_copies(database: Path) -> list[Path]:
    """Return every copy that can be restored, including copies that older versions stored beside the database."""
    return [*(copy.path for copy in listing(database)), *older_copies(database)]


def older_copies(database: Path) -> list[Path]:
    """Return the copies that older versions stored beside the database."""
    older = re.compile(rf"{database.stem}-schema\d{{4}}-\d{{10}}\.db")
    return [path for path in database.parent.glob(f"{database.stem}-schema*.db") if older.fullmatch(path.name)]


def _read(stamp: str) -> float:
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC).timestamp()


Verify = Callable[[Path], Sequence[str]]
"""A function that returns the problems found in a database file."""


def create_copy(database: Path, schema: int, spare: int = 0, verify: Verify | None = None) -> Path:
    """Create a verified copy of a database with SQLite's backup API, which includes the WAL; return its path.

    Raises StoreError if less than ``spare`` bytes would stay free, if the copy is damaged, or if ``verify`` finds a
    problem in it. An error leaves older copies in place, except those that were removed to make room.
    """
    folder = folder_of(database)
    folder.mkdir(mode=0o700, exist_ok=True)
    _make_room(database, database.stat().st_size + spare)
    name = f"{database.stem}-{datetime.fromtimestamp(time(), UTC):{STAMP}}-schema{schema:04d}.db"
    draft = folder / f".{name}.tmp"
    copy_database(database, draft)
    if verify is not None:
        _require_no_problem(database, draft, verify)
    made = draft.replace(folder / name)
    if verify is not None:
        _write_checksums(database, checksums(database) | {made.name: checksum(made)})
    return made


def _require_no_problem(database: Path, draft: Path, verify: Verify) -> None:
    """If ``verify`` finds a problem in a new copy, delete its temporary file and raise UnsoundStoreError."""
    if found := verify(draft):
        draft.unlink()
        raise UnsoundStoreError(
            f"no new copy of {database} was made, older copies were kept; problems: {'; '.join(found)}",
            found,
            "run `subconscious doctor`",
        )


CHECKSUMS = "backups.sha256"
"""The name of the file with the checksums of verified copies, in the format of `sha256sum -c`."""
LARGEST_CHECKSUMS = 1 << 20
LINE = re.compile(r"([0-9a-f]{64})  backups/(\S+)")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(database: Path) -> dict[str, str]:
    """Return the checksums of verified copies, by file name. Copies by older versions have no checksum."""
    try:
        text = read_regular(database.with_name(CHECKSUMS), LARGEST_CHECKSUMS).decode("ascii", "replace")
    except OSError:
        return {}
    return {match[2]: match[1] for match in map(LINE.fullmatch, text.splitlines()) if match}


def _write_checksums(database: Path, known: Mapping[str, str]) -> None:
    """Rewrite the checksum file, without copies that no longer exist."""
    folder = folder_of(database)
    kept = {name: digest for name, digest in sorted(known.items()) if (folder / name).exists()}
    lines = "".join(f"{digest}  backups/{name}\n" for name, digest in kept.items())
    replace_file(database.with_name(CHECKSUMS), lines.encode("ascii", "replace"))


def altered_copies(database: Path) -> list[Path]:
    """Return the verified copies whose content has changed since they were written."""
    known = checksums(database)
    return [one.path for one in listing(database) if known.get(one.path.name) not in (None, checksum(one.path))]


def comparison_copy(database: Path) -> Copy | None:
    """Return the copy to compare the database with: the latest verified copy with unchanged content.

    Copies by older versions have no checksum. The latest of these copies is used if no verified copy is unchanged.
    """
    known, copies = checksums(database), listing(database)
    sound = (one for one in copies if one.path.name in known and known[one.path.name] == checksum(one.path))
    return next(sound, None) or next((one for one in copies if one.path.name not in known), None)


def _make_room(database: Path, needed: int) -> None:
    """Remove the oldest copies until ``needed`` bytes are free; the latest copy is always kept.

    Raises StoreError if too little space remains, or if the database is damaged: then the old copies are needed.
    """
    for draft in folder_of(database).glob(".*.tmp*"):
        draft.unlink(missing_ok=True)
    copies, sound = listing(database), False
    while shutil.disk_usage(database.parent).free < needed and len(copies) > 1:
        if not sound:
            require_sound(database)
            sound = True
        copies.pop().path.unlink(missing_ok=True)
    free = shutil.disk_usage(database.parent).free
    if free < needed:
        raise StoreError(f"no disk space for a copy of {database}: {free // 2**20} MB are free", "free disk space")


def require_sound(database: Path) -> None:
    """Raise StoreError if SQLite's quick check finds damage in the database."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise StoreError(f"no sound copy of {database} could be made: {verdict}", "run `subconscious doctor`")


def copy_database(database: Path, copy: Path) -> None:
    """Copy a database and check the copy. If the copy is damaged, it is deleted, and StoreError is raised."""
    copy.unlink(missing_ok=True)
    copy.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            verdict = str(target.execute("PRAGMA quick_check").fetchone()[0])
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        copy.unlink()
        raise StoreError(f"no sound copy of {database} could be made: {verdict}", "run `subconscious doctor`")


def rotate(database: Path, daily: int, weekly: int) -> list[Path]:
    """Delete old copies; return their paths.

    For each of the last ``daily`` days and ``weekly`` weeks that have copies, the latest copy per schema version is
    kept. The copy with the newest event is kept, too: if a later copy lacks this event, an older or an empty database
    must have replaced the one that was copied.
    """
    copies = listing(database)
    kept = {*copies[:1], *_latest(copies, "%Y%m%d", daily), *_latest(copies, "%G-%V", weekly)}
    spent = [copy for copy in copies if copy not in kept]
    longest = _longest_history(copies) if spent else None  # opens every copy
    gone = [copy.path for copy in spent if copy != longest]
    for path in gone:
        path.unlink(missing_ok=True)
    if gone:
        _write_checksums(database, checksums(database))
    return gone


def _longest_history(copies: Sequence[Copy]) -> Copy:
    """Return the copy that contains the newest event; of several, the latest copy."""
    return max(copies, key=lambda copy: (_head(copy.path), copy.at))


def _head(copy: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(copy))}?mode=ro&immutable=1", uri=True)) as connection:
            return int(connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])
    except sqlite3.Error:
        return 0


def _latest(copies: Sequence[Copy], span: str, number: int) -> list[Copy]:
    """Return the latest copy per period and schema version, for the last ``number`` periods that have copies.

    ``span`` is the strftime format that identifies a period, such as a day or a week.
    """
    spans: dict[str, dict[int, Copy]] = {}
    for copy in copies:
        spans.setdefault(datetime.fromtimestamp(copy.at, UTC).strftime(span), {}).setdefault(copy.schema, copy)
    return [copy for of_span in list(spans.values())[:number] for copy in of_span.values()]
