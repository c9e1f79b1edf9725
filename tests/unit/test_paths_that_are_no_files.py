"""Each reader of a path that somebody else can choose, with a FIFO, a device or too much in its place."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from hooks import cap, environment, greet, regular
from subconscious import doctor, wire
from subconscious.authorship import attestation
from subconscious.capture.transcript_source import is_written
from subconscious.context.entry import Entry, Payload
from subconscious.domain.errors import DaemonError, SettingsError, StoreError, UnreadableTranscriptError
from subconscious.imports.sources import Sort, examine_file
from subconscious.sessions import read_deeds
from subconscious.sessions.deeds import Deeds
from subconscious.settings.home import Home
from subconscious.settings.settings import load_settings
from subconscious.store.check import check
from subconscious.store.connect import open_database
from subconscious.system.git_files import find_repository
from subconscious.system.projects import Checkout, head, latest_commits
from subconscious.transcripts import reading
from subconscious.transcripts.reading import read_turns


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe", 0o600)
    return tmp_path / "pipe"


def test_no_reader_of_transcripts_opens_a_fifo(fifo: Path) -> None:
    assert "FIFO" in read_turns(fifo).reason
    assert read_deeds(fifo, 0, 100, Deeds(), str) == Deeds()
    entry = Entry("n", "UserPromptSubmit", 1.0, "/p", "", "", {}, Payload("s", transcript_path=str(fifo)))
    assert not attestation.is_in_transcript(entry, "remember", "words")


def test_what_can_never_be_a_transcript_is_told_from_what_is_not_written_yet(fifo: Path, tmp_path: Path) -> None:
    assert not is_written(str(tmp_path / "later"))
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_text("{}\n")
    (tmp_path / "link").symlink_to("file")
    assert is_written(str(tmp_path / "link"))
    for path in (fifo, tmp_path, tmp_path / "dangling", Path("/dev/zero"), Path("/proc/self/mem")):
        with pytest.raises(UnreadableTranscriptError):
            is_written(str(path))


def test_a_transcript_of_absurd_size_is_foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 10)
    (tmp_path / "file").write_bytes(b"\0" * 11)
    assert read_turns(tmp_path / "file").foreign


def test_a_file_to_import_that_is_none(fifo: Path, tmp_path: Path) -> None:
    for name in ("note.md", "session.jsonl"):
        fifo.rename(tmp_path / name)
        assert examine_file(tmp_path / name).sort is Sort.FOREIGN
        (tmp_path / name).rename(fifo)


def test_a_repository_of_fifos_and_endless_files(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    for name in ("HEAD", "config", "packed-refs", "commondir"):
        os.mkfifo(git / name)
    (git / "logs").mkdir()
    os.mkfifo(git / "logs" / "HEAD")
    (tmp_path / "endless.py").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.py")
    assert find_repository(tmp_path) is None
    assert head(str(tmp_path)) == ("", "")
    assert latest_commits(str(tmp_path)) == []
    checkout = Checkout.at(str(tmp_path))
    assert checkout is not None
    assert [checkout.digest(name) for name in ("endless.py", "pipe.py")] == ["", ""]


def test_a_worktree_mark_that_is_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert head(str(tmp_path)) == ("", "")
    assert find_repository(tmp_path) is None


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_settings_in_no_file_are_an_error_with_a_remedy(home: Home, make: object) -> None:
    config = home.root / "config.toml"
    make(config)  # type: ignore[operator]
    with pytest.raises(SettingsError, match=r"not a regular file") as caught:
        load_settings(home.root)
    assert str(config) in caught.value.remedy
    assert not greet.is_wanted(str(home.root))


def test_settings_of_a_gigabyte_are_not_read(home: Home) -> None:
    with (home.root / "config.toml").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(SettingsError, match="larger than"):
        load_settings(home.root)
    assert not greet.is_wanted(str(home.root))


def test_hooks_neither_read_nor_append_to_a_fifo(home: Home, fifo: Path) -> None:
    with pytest.raises(OSError, match="regular"):
        regular.read(str(fifo), 10)
    with pytest.raises(OSError):  # noqa: PT011 - no reader, or no file: the system says either
        regular.append(str(fifo))
    (home.root / "env").mkdir()
    os.mkfifo(home.root / "env" / "failure")
    assert environment.read_failure(str(home.root)) is None
    target = environment.open_log(str(fifo))
    assert os.path.samestat(os.fstat(target), Path(os.devnull).stat())
    os.close(target)
    os.mkfifo(home.run / "spool-full")
    cap._note(str(home.root), "1 entries removed\n")


def test_a_log_that_is_a_fifo_is_an_error_with_a_remedy(home: Home) -> None:
    os.mkfifo(home.log / "daemon.log")
    assert wire.last_log_line(home) == ""
    with pytest.raises(DaemonError, match=r"daemon\.log"):
        wire.start(home)


async def test_a_database_that_is_a_fifo_is_an_error(home: Home) -> None:
    os.mkfifo(home.database)
    with pytest.raises(StoreError):
        check(home.database)
    with pytest.raises(StoreError):
        await open_database(home.database)


def test_doctor_ends_and_names_what_is_no_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (home.database, home.root / "config.toml", home.log / "daemon.log", home.run / "spool-full"):
        os.mkfifo(path, 0o600)
    found = doctor.examine({"SUBCONSCIOUS_HOME": str(home.root), "HOME": str(home.root)}, mounts="")
    named = " ".join(finding.detail for finding in found if not finding.ok)
    for name in ("memory.db", "config.toml", "daemon.log", "spool-full"):
        assert f"{name} is not a regular file" in named


def test_an_index_that_is_a_fifo_counts_as_wrong(home: Home) -> None:
    from subconscious.store.health import _in_index
    from subconscious.store.vectors.vec0 import index_path

    os.mkfifo(index_path(home.database, "m"))
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE embedding_models (name TEXT, serving INTEGER)")
        connection.execute("INSERT INTO embedding_models VALUES ('m', 1)")
        assert _in_index(home.database, connection) == 1
    connection.close()
