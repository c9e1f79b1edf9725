from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from subconscious.system.safe_files import (
    NotRegularError,
    TooLargeError,
    UnreadableTextError,
    append_regular,
    is_missing,
    open_regular,
    read_beginning,
    read_end,
    read_regular,
    read_utf8,
    replace_file,
)


def make_fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path


def make_socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path may have some 100 bytes, and pytest's folders are deep
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)
    return path


def make_link(target: str) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.symlink_to(target)
        return path

    return make


def make_link_to_fifo(path: Path) -> Path:
    path.symlink_to(make_fifo(path.with_name("pipe")))
    return path


NOT_REGULAR: dict[str, Callable[[Path], Path]] = {
    "a FIFO": make_fifo,
    "a folder": make_folder,
    "a socket": make_socket,
    "a link to a device": make_link("/dev/zero"),
    "a link to a FIFO": make_link_to_fifo,
    "a link to nothing": make_link("nowhere"),
    "a link to itself": make_link("it"),
    "a link to the kernel's memory file": make_link("/proc/self/mem"),
    "a device": lambda _: Path("/dev/zero"),
    "a terminal's device": lambda _: Path("/dev/tty"),
    "a path with a NUL": lambda _: Path("a\0b"),
    "a path that is too long": lambda _: Path("x" * 5000),
}


@pytest.mark.parametrize("kind", NOT_REGULAR)
@pytest.mark.parametrize("follow", [True, False])
def test_non_regular_files_are_rejected_at_once(tmp_path: Path, kind: str, follow: bool) -> None:
    path = NOT_REGULAR[kind](tmp_path / "it")
    with pytest.raises(NotRegularError):
        read_regular(path, 100, follow=follow)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "gone", 100)
    assert is_missing(tmp_path / "gone")
    (tmp_path / "link").symlink_to("nowhere")
    assert not is_missing(tmp_path / "link")


def test_reads_a_file_and_its_ends(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")
    assert read_regular(file, 10) == b"0123456789"
    assert (read_beginning(file, 3), read_end(file, 3)) == (b"012", b"789")
    assert read_end(file, 100) == b"0123456789"
    with pytest.raises(TooLargeError):
        read_regular(file, 9)


def test_the_last_link_is_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"words")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 10) == b"words"
    with pytest.raises(NotRegularError):
        read_regular(tmp_path / "link", 10, follow=False)


def test_a_link_in_a_parent_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"words")
    (tmp_path / "link").symlink_to("folder")
    assert read_regular(tmp_path / "link" / "file", 10, follow=False) == b"words"


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Path]:
    """A file to which somebody appends faster than anybody reads."""
    path, stop = tmp_path / "growing", threading.Event()
    path.write_bytes(b"x" * 1000)

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set() and file.tell() < 1 << 27:
                file.write(b"x" * 100_000)

    writer = threading.Thread(target=grow)
    writer.start()
    yield path
    stop.set()
    writer.join()


def test_a_file_that_grows_ends_where_it_ended_when_it_was_opened(growing: Path) -> None:
    with open_regular(growing) as file:
        size = os.fstat(file.fileno()).st_size
        assert len(file.read()) <= size
    with open_regular(growing) as file:
        assert sum(len(line) for line in file) <= os.fstat(file.fileno()).st_size


def test_lines_and_positions_are_those_of_any_file(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"".join(b"line %d\n" % number for number in range(50_000)))
    with open_regular(file) as ours, file.open("rb") as plain:
        for position in (0, 7, 100_000, 10**7):
            assert ours.seek(position) == plain.seek(position)
            assert ours.readline() == plain.readline()
            assert ours.tell() == plain.tell()
        ours.seek(3)
        plain.seek(3)
        assert ours.read() == plain.read()


def count_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_file_that_was_swapped_for_a_fifo_is_refused_and_leaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, real = tmp_path / "file", os.open
    file.write_bytes(b"words")

    def swap(path: str, flags: int, mode: int = 0o777) -> int:
        file.unlink()
        os.mkfifo(file)
        return real(path, flags, mode)

    before = count_descriptors()
    monkeypatch.setattr("subconscious.system.safe_files.os.open", swap)
    with pytest.raises(NotRegularError):
        read_regular(file, 100)
    assert count_descriptors() == before


def test_appends_to_regular_files_alone(tmp_path: Path) -> None:
    os.close(append_regular(tmp_path / "log"))
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to("log")
    for path in (make_fifo(tmp_path / "pipe"), tmp_path / "link", tmp_path):
        with pytest.raises(NotRegularError):
            append_regular(path)


def test_a_file_is_replaced_without_opening_it(tmp_path: Path) -> None:
    path = make_fifo(tmp_path / "note")
    replace_file(path, b"words")
    assert read_regular(path, 10) == b"words"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["note"]


@pytest.mark.parametrize(
    ("content", "most", "reason"),
    [
        (b"\xff", 100, "not UTF-8 text"),
        (b"a\0b", 100, "not text"),
        (b"a" * 1025, 1 << 10, "larger than 1 KB"),
        (b"a" * ((1 << 20) + 1), 1 << 20, "larger than 1 MB"),
    ],
)
def test_a_file_that_is_no_text_is_rejected_with_the_reason(
    tmp_path: Path, content: bytes, most: int, reason: str
) -> None:
    (tmp_path / "note").write_bytes(content)
    with pytest.raises(UnreadableTextError, match=f"^it is {reason}$"):
        read_utf8(tmp_path / "note", most)


def test_a_link_or_a_folder_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("text", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "note")
    assert read_utf8(tmp_path / "note", 100) == "text"
    for name, reason in (("link", "a symbolic link"), ("", "a folder")):
        with pytest.raises(UnreadableTextError, match=reason):
            read_utf8(tmp_path / name, 100)
