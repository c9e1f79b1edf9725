"""What the tests of the real client find when a machine is restored."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

from tests.client.snapshots import restore


def tree(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name, mode = str(path.relative_to(folder)), stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = path.readlink()
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else "folder")
    return found


def make(folder: Path) -> Path:
    (folder / "state" / "run").mkdir(parents=True, mode=0o700)
    (folder / "transcript").write_text("said\n")
    (folder / "state" / "memory.db").write_bytes(b"pages")
    (folder / "state" / "memory.db").chmod(0o600)
    (folder / "env").symlink_to("elsewhere")
    return folder


def test_a_machine_is_as_it_was(tmp_path: Path) -> None:
    place, copy = make(tmp_path / "m"), tmp_path / "copy"
    shutil.copytree(place, copy, symlinks=True)
    before = tree(place)
    (place / "state" / "memory.db").write_bytes(b"other pages, and more")
    (place / "state" / "memory.db").chmod(0o644)
    (place / "state" / "memory.db-wal").touch()
    (place / "state" / "run").rmdir()
    (place / "state" / "run").write_text("a file in place of a folder")
    (place / "transcript").unlink()
    (place / "transcript").mkdir()
    (place / "env").unlink()
    (place / "bin").mkdir()
    restore(copy, place)
    assert tree(place) == before


def test_a_transcript_that_was_appended_to_is_still_the_same_file(tmp_path: Path) -> None:
    place, copy = make(tmp_path / "m"), tmp_path / "copy"
    shutil.copytree(place, copy, symlinks=True)
    before = (place / "transcript").stat()
    with (place / "transcript").open("a") as file:
        file.write("said later\n")
    restore(copy, place)
    after = (place / "transcript").stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
