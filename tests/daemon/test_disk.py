"""A full disk loses no word that was handed over, and ends no daemon: on a small file system that is really full."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.sessions import Speaker
from bench.tuned import tuned
from daemon import lifecycle, recovery
from daemon.server import described
from daemon.spool import Spool
from daemon.worker import Workers
from subconscious import wire
from subconscious.app import App
from subconscious.context import disk
from subconscious.context.disk import Disk, is_disk_fault, is_machine_fault
from subconscious.domain.errors import TranscriptError
from subconscious.settings.home import Home
from subconscious.store import jobs, losses, memories, sessions
from subconscious.store.connect import Database
from subconscious.store.projects import find_or_create
from subconscious.system.projects import Identity
from tests.support.daemons import configure, drained, eventually, new_session

NAME = "00000000000000000001-1-aa.entry"
ENTRY = b'subconscious 1\tStop\t1790000000000000000\t/\t\t0.1.0\t\n{"session_id": "s"}'
MEGABYTES = 12


class Volume:
    """A small file system that can be filled up and freed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave not a byte."""
        for size in (1 << 20, 1 << 12, 1):
            try:
                with (self.folder / f"ballast-{size}").open("wb", buffering=0) as file:
                    while True:
                        file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free(self) -> None:
        for file in self.folder.glob("ballast-*"):
            file.unlink()


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    folder = tmp_path / "volume"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=0700", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a full file system of one's own takes root and the right to mount")
    try:
        yield Volume(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """The state folder lies on the small volume where the test has one."""
    place = request.getfixturevalue("volume").folder if "volume" in request.fixturenames else tmp_path
    made = Home(place / "home")
    made.make()
    return made


def full(number: int = errno.ENOSPC) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", sorted(disk.WRITING | disk.SCARCE))
def test_faults_of_the_machine_are_told_from_those_of_the_work(number: int) -> None:
    wrapped = TranscriptError("it can't be read")
    wrapped.__cause__ = full(number)
    assert is_machine_fault(full(number))
    assert is_machine_fault(wrapped)
    assert is_machine_fault(ExceptionGroup("tasks", [ValueError("x"), full(number)]))
    assert is_disk_fault(full(number)) is (number in disk.WRITING)
    assert not is_machine_fault(FileNotFoundError(errno.ENOENT, "gone"))
    assert not is_machine_fault(sqlite3.OperationalError("no such table"))


def test_a_full_database_is_a_full_disk(volume: Volume) -> None:
    connection = sqlite3.connect(volume.folder / "test.db", isolation_level=None)
    connection.execute("CREATE TABLE words (word)")
    volume.fill()
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO words VALUES (?)", ("x" * 1_000_000,))
    connection.close()
    assert is_disk_fault(caught.value)


async def test_a_commit_that_fails_leaves_no_transaction_open(volume: Volume, database: Database) -> None:
    async def write(words: str) -> None:
        async with database.write() as tx:
            await tx.execute(
                "INSERT INTO events (at, actor, action, subject, subject_id, reason) VALUES (0, '', '', '', '', ?)",
                (words,),
            )

    volume.fill()
    with pytest.raises(sqlite3.OperationalError):
        await write("x" * 1_000_000)
    assert not database.writer.in_transaction
    volume.free()
    await write("x" * 1_000_000)


async def test_an_entry_that_could_not_be_written_waits_in_memory_and_is_written_when_there_is_room(
    volume: Volume, app: App
) -> None:
    spool = Spool(app)
    volume.fill()
    await spool.accept(NAME, ENTRY)
    assert (spool.unwritten_count, spool.path(NAME).exists(), list(app.home.spool.glob(".*"))) == (1, False, [])
    assert app.disk.trouble
    assert not await recovery.recovered(app, spool)
    volume.free()
    assert await recovery.recovered(app, spool)
    assert (spool.unwritten_count, spool.path(NAME).read_bytes(), app.disk.trouble) == (0, ENTRY, "")
    (told,) = await losses.unreported(app.database)
    assert told.action == losses.FULL


async def test_the_memory_for_unwritten_entries_is_bounded_and_its_end_is_told(
    volume: Volume, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.spool.MOST_UNWRITTEN", 2 * len(ENTRY))
    spool = Spool(app)
    volume.fill()
    for number in (3, 1, 2):
        await spool.accept(f"0000000000000000000{number}-1-aa.entry", ENTRY)
    assert (spool.unwritten_count, spool.lost) == (2, 1)
    volume.free()
    assert await recovery.recovered(app, spool)
    assert sorted(path.name[19] for path in app.home.spool.glob("*.entry")) == ["2", "3"]
    assert [loss.reason for loss in await losses.unreported(app.database)][1].startswith("1 entries")


@pytest.mark.parametrize("name", ["../run/x.entry", "x", ".hidden.entry", "a/b.entry"])
async def test_only_an_entry_s_name_is_written(app: App, name: str) -> None:
    with pytest.raises(ValueError, match="not an entry name"):
        await Spool(app).accept(name, ENTRY)


async def test_after_a_full_disk_the_tails_of_transcripts_are_read(app: App, tmp_path: Path) -> None:
    project = await find_or_create(app.database, Identity(root=str(tmp_path), name="demo"))
    speaker = Speaker(app.home.root, tmp_path)
    speaker.say("Remember: amounts are stored as integer cents, never as floats.")
    async with app.database.write() as tx:
        await sessions.record_activity(
            tx, speaker.id, project.id, 1.0, transcript=str(speaker.transcript), cwd=str(tmp_path)
        )
    app.sessions.vouched.add_session(speaker.id)
    app.disk.note(full())
    assert await recovery.recovered(app, Spool(app))
    assert (await memories.counts(app.database, None))["active"] == 1
    assert await recovery.read_new_lines(app) == 0


@pytest.mark.parametrize("number", sorted(disk.WRITING | disk.SCARCE))
async def test_a_job_is_never_buried_for_the_machine_s_fault(app: App, number: int) -> None:
    app.settings = tuned(embedder="none", job_attempts=1)
    spool, path = Spool(app), app.home.spool / NAME
    path.write_bytes(ENTRY)
    await spool.sweep()
    async with app.database.write() as tx:
        job = await jobs.lease(tx, 1.0, 60)
    assert job
    await Workers(app, spool)._fail(job, full(number))
    assert await jobs.states(app.database, [NAME]) == {NAME: "ready"}


async def test_a_loop_that_a_full_disk_broke_off_begins_again(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "DISK_SECONDS", 0.01)
    begun = 0

    async def loop() -> None:
        nonlocal begun
        begun += 1
        if begun < 3:
            raise full()

    await lifecycle._run_part(app, loop)
    assert begun == 3
    assert app.signals.stopping.is_set()  # the loop came to its end
    assert app.disk.trouble


async def test_trouble_is_remembered_until_it_is_over() -> None:
    trouble = Disk()
    assert trouble.note(full(errno.EMFILE))
    assert trouble.trouble == ""
    assert not trouble.note(ValueError("x"))
    assert trouble.note(full())
    trouble.note_reason("a later one")
    assert (trouble.trouble, trouble.failed.is_set()) == (str(full()), True)
    trouble.forget()
    assert (trouble.trouble, trouble.failed.is_set()) == ("", False)


async def test_what_hooks_dropped_is_recorded_once(app: App) -> None:
    (app.home.run / "spool-full").write_text("1790000000 12 entries removed\n1790000001 3 entries removed\n")
    for _ in range(2):
        await recovery.record_drops_of_hooks(app)
    (told,) = await losses.unreported(app.database)
    assert told.reason.startswith("15 entries")
    async with app.database.write() as tx:
        await losses.record_reported(tx, 1)
    assert await losses.unreported(app.database) == []


@pytest.mark.slow
def test_a_session_on_a_full_disk_is_learned_from_afterwards(volume: Volume, home: Home, tmp_path: Path) -> None:
    """The real hooks and the real daemon; the transcript lies where there is room."""
    configure(home)
    wire.ensure_daemon(home)
    try:
        speaker = new_session(home, tmp_path / "project")
        speaker.hook("wake", "SessionStart", source="startup")
        speaker.hook("ask", "SessionStart", source="startup")
        drained(home)
        volume.fill()
        text = "Remember: amounts are stored as integer cents, never as floats."
        speaker.hook("ask", "UserPromptSubmit", prompt=text, prompt_id="p1")
        speaker.say(text)
        speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        assert wire.hello(home, 5)
        assert "write" in wire.call(home, "status", {}, 10)["disk"]
        volume.free()
        assert eventually(lambda: wire.call(home, "status", {}, 10)["disk"] == "", 30)
        drained(home)
        with sqlite3.connect(home.database) as store:
            assert "integer cents" in str(store.execute("SELECT content FROM memories").fetchall())
        told = new_session(home, tmp_path / "project").ask("SessionStart", source="startup")
        assert b"the disk was full for a while" in told
        told = new_session(home, tmp_path / "project").ask("SessionStart", source="startup")
        assert b"the disk was full" not in told
    finally:
        wire.call(home, "stop", timeout=5)
        wire.await_absence(home, 15)


def test_a_full_disk_is_described_in_words(home: Home) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "/mnt/notes")
    assert (described(error, home).message, described(error, home).remedy) == (
        "nothing can be written: No space left on device",
        "check the disk with `df -h /mnt/notes`",
    )
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert described(full, home).message == "nothing can be written: database or disk is full"
    assert str(home.root) in described(full, home).remedy
    assert described(KeyError("x"), home).message == "KeyError: 'x'"
