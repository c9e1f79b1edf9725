"""The published names of files: every file that a memory may be bound to is among them, as a hook looks it up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.known_files import may_be_known
from subconscious.recall.file_binding import Touched, bond
from subconscious.surfacing.published_files import END, HEADER, names_in
from tests.support.values import make_memory

NAME = st.from_regex(r"[A-Za-z_@+-]{0,3}\.?[a-z]{1,2}(\.[a-z0-9]{1,2}){1,2}", fullmatch=True)
AROUND = st.text(alphabet="ab1 .,:/-_@+`\"'()\\\u00e9", max_size=4)


def published(home: Path, *names: str) -> Path:
    path = home / "run" / "file-names"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    path.write_bytes(HEADER + "".join(f"{name}\n" for name in sorted(names)).encode() + END)
    return path


def payload(file: str, **more: object) -> bytes:
    given = {"tool_name": "Edit", "tool_input": {"file_path": file, "new_string": 'x = "file_path":"/other.py"'}}
    return json.dumps(given | more, separators=(",", ":")).encode()


@given(name=NAME, before=AROUND, after=AROUND, folder=st.sampled_from(["", "src/", "/repo/src/", "./", "@scope/"]))
def test_all_bindings_of_memories_to_files_are_published(name: str, before: str, after: str, folder: str) -> None:
    touched = Touched(f"src/{name}", "/repo")
    for memory in (
        make_memory(f"We keep {before}{folder}{name}{after} small."),
        make_memory("We keep it small.", files=(f"{folder}{name}{after}",)),
    ):
        if bond(memory, touched):
            assert name in names_in(memory.content, memory.files)


def test_sentences_name_files_in_many_ways() -> None:
    said = "See `src/queue.py:12`, ./auth.ts, @app/index.d.ts; not v1. Makefile and e.g. caf\u00e9.py don't count."
    assert set(names_in(said, ("lib/a.go:3-9", "C:\\x\\b.cs"))) >= {"queue.py", "auth.ts", "index.d.ts", "a.go", "b.cs"}
    assert not {"Makefile", "caf\u00e9.py", "v1"} & set(names_in(said, ()))


def test_the_end_of_a_sentence_is_no_file_name() -> None:
    said = 'No deploys until Friday. Renamed. "ok." lol... see .env. and src/x.py. (v1.2.)'
    assert set(names_in(said, ("Done.", "."))) == {".env", "x.py", "v1.2"}


def test_a_file_that_no_memory_names_is_not_asked_about(tmp_path: Path) -> None:
    published(tmp_path, "queue.py")
    assert not may_be_known(str(tmp_path), payload("/repo/src/other.py"))
    assert may_be_known(str(tmp_path), payload("/repo/src/queue.py"))


@pytest.mark.parametrize(
    "asked",
    [
        b"",
        b'{"tool_input":{}}',
        b'{"tool_input":{"file_path":7}}',
        b'{"tool_input":{"file_path":"/repo/a\\u002epy"}}',
        payload("other.py"),
        payload("/repo/Makefile"),
        payload("/repo/notes."),
        payload("/repo/caf\u00e9.py"),
        payload("/repo/other.py", tool_response={"success": False, "error": "no such file"}),
        payload("/repo/other.py", tool_response={"file_path": "/repo/queue.py"}),
    ],
)
def test_unclear_files_are_sent_to_the_daemon(tmp_path: Path, asked: bytes) -> None:
    published(tmp_path, "queue.py")
    assert may_be_known(str(tmp_path), asked)


def test_a_name_behind_a_link_counts(tmp_path: Path) -> None:
    published(tmp_path, "queue.py")
    (tmp_path / "queue.py").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "queue.py")
    assert may_be_known(str(tmp_path), payload(str(tmp_path / "link.py")))


@pytest.mark.parametrize("broken", ["missing", "stale", "readable", "link", "fifo", "cut", "another version"])
def test_a_file_that_can_not_be_relied_on_is_not_used(tmp_path: Path, broken: str) -> None:
    path = published(tmp_path, "queue.py")
    asked = payload("/repo/other.py")
    assert not may_be_known(str(tmp_path), asked)
    if broken == "stale":
        os.utime(path, (1.0, 1.0))
    elif broken == "readable":
        path.chmod(0o644)
    elif broken == "cut":
        path.write_bytes(HEADER + b"queue.py\n")
    elif broken == "another version":
        path.write_bytes(path.read_bytes().replace(HEADER, b"subconscious-files 1\n"))
    elif broken == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.unlink()
        if broken == "fifo":
            os.mkfifo(path)
    assert may_be_known(str(tmp_path), asked)
