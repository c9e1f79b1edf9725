from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from bench.sessions import ROOT, Speaker
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from subconscious.store.connect import Database
from subconscious.wire import AbsentError
from tests.support.daemons import configure, drained, eventually, new_session, processes_of

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."


def listens(home: Home) -> bool:
    with suppress(DaemonError):
        return bool(wire.hello(home))
    return False


def started(home: Home) -> subprocess.Popen[bytes]:
    """A daemon's process that this test may do anything to."""
    process = wire.start(home)
    assert eventually(lambda: listens(home))
    return process


def memories_of(home: Home, speaker: Speaker) -> list[str]:
    listed = wire.call(home, "list", {"cwd": str(speaker.project)})
    return [memory["content"] for memory in listed["memories"]]


@pytest.mark.process
def test_of_many_that_start_at_once_one_stays(stopped: Home) -> None:
    processes = [wire.start(stopped) for _ in range(6)]
    try:
        assert eventually(lambda: sum(process.poll() is None for process in processes) == 1, 40)
        assert eventually(lambda: listens(stopped))
        assert sorted({process.poll() for process in processes}, key=str) == [0, None]
    finally:
        for process in processes:
            process.terminate()
            process.wait(30)


def test_garbage_is_collected_again_once_it_runs(running: Home) -> None:
    assert gc.isenabled()


def test_the_socket_and_its_folder_are_the_owners_alone(running: Home) -> None:
    assert stat.S_IMODE(running.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(running.run.stat().st_mode) == 0o700


@pytest.mark.process
@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_gracefully(stopped: Home, name: signal.Signals) -> None:
    process = started(stopped)
    process.send_signal(name)
    assert process.wait(30) == 0
    assert not stopped.socket.exists()


def test_what_is_handed_over_without_a_daemon_waits_for_one(stopped: Home, tmp_path: Path) -> None:
    speaker = new_session(stopped, tmp_path / "project")
    speaker.say(DECISION)
    speaker.hook("drop", "Stop")
    assert len(list(stopped.spool.glob("*.entry"))) == 1
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert memories_of(stopped, speaker) == [DECISION]
    assert not list(stopped.spool.glob("*.entry"))


@pytest.mark.process
def test_a_killed_daemons_work_is_done_once_by_the_next(stopped: Home, tmp_path: Path) -> None:
    speaker = new_session(stopped, tmp_path / "project")
    process = started(stopped)
    speaker.introduce()
    for number in range(20):
        speaker.say(f"We decided: record number {number} uses colour teal-{number}.")
        speaker.hook("drop", "Stop")
    process.kill()
    process.wait()
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert len(memories_of(stopped, speaker)) == len(set(memories_of(stopped, speaker))) == 20


@pytest.mark.serial
@pytest.mark.process
def test_a_wedged_daemon_costs_a_hook_its_deadline_and_nothing_is_lost(stopped: Home, tmp_path: Path) -> None:
    speaker = new_session(stopped, tmp_path / "project")
    process = started(stopped)
    speaker.introduce()
    process.send_signal(signal.SIGSTOP)
    try:
        speaker.say(DECISION)
        begun = time.monotonic()
        assert speaker.hook("ask", "UserPromptSubmit", prompt="go on") == b""
        assert time.monotonic() - begun < 5
        speaker.hook("drop", "Stop")
    finally:
        process.send_signal(signal.SIGCONT)
    drained(stopped)
    assert memories_of(stopped, speaker) == [DECISION]
    process.terminate()
    process.wait(30)


def test_it_is_gone_only_once_its_database_is_closed(running: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    close = Database.close

    async def close_slowly(self: Database) -> None:
        await asyncio.sleep(0.5)
        await close(self)

    monkeypatch.setattr(Database, "close", close_slowly)
    log = running.database.with_name("memory.db-wal")
    assert log.exists()
    wire.call(running, "stop")
    wire.await_absence(running, 20)
    assert not log.exists()


@pytest.mark.process
def test_it_leaves_when_nobody_needs_it(stopped: Home) -> None:
    configure(stopped, idle_exit_minutes=0.01)
    process = wire.start(stopped)
    assert process.wait(20) == 0
    assert not stopped.socket.exists()


@pytest.mark.process
@pytest.mark.slow
def test_it_leaves_when_its_folder_is_deleted(stopped: Home) -> None:
    process = started(stopped)
    shutil.rmtree(stopped.root)
    assert process.wait(20) == 0


@pytest.mark.process
@pytest.mark.slow
def test_a_daemon_whose_socket_was_deleted_leaves_and_spares_that_of_the_next(stopped: Home) -> None:
    first = started(stopped)
    shutil.rmtree(stopped.run)
    stopped.make()
    second = started(stopped)
    assert first.wait(20) == 0
    assert listens(stopped)
    second.terminate()
    assert second.wait(30) == 0


@pytest.mark.process
def test_an_empty_variable_is_no_setting(stopped: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_OFF", "")
    monkeypatch.setenv("SUBCONSCIOUS_REVIEW_EXPIRY_DAYS", "")
    assert wire.ensure_daemon(stopped)


def as_version(home: Home, version: str) -> subprocess.Popen[bytes]:
    """A daemon that believes to be of another version."""
    program = (
        f"import subconscious; subconscious.__version__ = {version!r}; from daemon.__main__ import main; exit(main())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, "run"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "SUBCONSCIOUS_HOME": str(home.root)},
    )


@pytest.mark.process
def test_a_newer_version_takes_over_and_an_older_one_does_not(stopped: Home) -> None:
    first = started(stopped)
    newer = as_version(stopped, "9.0.0")
    assert first.wait(20) == 0
    assert eventually(lambda: listens(stopped) and wire.hello(stopped) == "9.0.0")
    assert wire.start(stopped).wait(30) == 0
    assert newer.poll() is None
    newer.terminate()
    assert newer.wait(30) == 0


@pytest.mark.process
def test_the_daemon_gets_nothing_of_the_clients_environment(stopped: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDECODE", "HTTPS_PROXY", "SUBCONSCIOUS_OFF"):
        monkeypatch.setenv(name, "dummy")
    wire.ensure_daemon(stopped)
    (pid,) = processes_of(stopped)
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"dummy" not in environment


@pytest.mark.process
def test_a_lock_without_a_listener_is_told(stopped: Home) -> None:
    import fcntl

    with stopped.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = wire.start(stopped)
        assert process.wait(20) == 1
    assert "daemon stop --force" in (stopped.log / "daemon.log").read_text()


def test_a_long_path_is_no_obstacle(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 20) / ("path" * 20))
    home.make()
    configure(home)
    wire.ensure_daemon(home)
    speaker = new_session(home, tmp_path / "project")
    speaker.say(DECISION)
    speaker.hook("drop", "Stop")
    drained(home)
    assert eventually(lambda: b"integer cents" in speaker.hook("ask", "SessionStart", source="startup"), 60)
    wire.call(home, "stop")
    wire.await_absence(home, 30)


def send(home: Home, raw: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(10)
        link.connect(str(home.socket))
        try:
            link.sendall(raw)
            link.shutdown(socket.SHUT_WR)
        except OSError:
            return b""
        received = b""
        try:
            while chunk := link.recv(65536):
                received += chunk
        except OSError:
            pass
        return received


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\0" * 1000 + b"\n",
        b"{}\n",
        b'{"cmd": 7}\n',
        b'{"cmd": "__init__"}\n',
        b'{"cmd": "search", "args": {"query": 7}}\n',
        b'{"cmd": "search", "args": {"nonsense": 1}}\n',
        b'{"cmd": "show", "args": {"id": 99999999999999999999999}}\n',
        b'{"cmd": "archive", "args": {"ids": [1, 2, 3]}}\n',
        b"[" * 100_000 + b"\n",
        b"ask\n",
        b"ask x -1\n",
        b"ask x 99999999999\n",
        b"ask x 10\nhalf",
        b"ask x 4\n{}{}",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"x" * (20 * 2**20),
    ],
)
def test_no_request_stalls_or_ends_it(running: Home, raw: bytes) -> None:
    send(running, raw)
    assert wire.hello(running)


@pytest.mark.process
def test_two_hundred_callers_at_once_are_answered(running: Home, tmp_path: Path) -> None:
    with ThreadPoolExecutor(50) as pool:
        statuses = list(pool.map(lambda _: wire.call(running, "status", {"cwd": str(tmp_path)}), range(200)))
    assert len({status["pid"] for status in statuses}) == 1


def test_absence_is_told_as_such(stopped: Home) -> None:
    with pytest.raises(AbsentError):
        wire.call(stopped, "status")


STUBBORN = """
import asyncio, sys
from daemon import __main__ as daemon, lifecycle

async def stubborn():
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

async def run(*given, **named):
    run.task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)

lifecycle.run = run
daemon.LEAVING_SECONDS = 0.5
sys.argv[1:] = ["run"]
sys.exit(daemon.main())
"""
"""The daemon's process, in which a task ignores its cancellation after everything is closed."""


@pytest.mark.process
def test_a_task_that_does_not_end_keeps_no_process(stopped: Home) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STUBBORN],
        env=dict(os.environ, SUBCONSCIOUS_HOME=str(stopped.root)),
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "did not end in time" in (stopped.log / "daemon.log").read_text()
