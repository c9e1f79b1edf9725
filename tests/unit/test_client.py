from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious import __version__, wire
from subconscious.domain.errors import DaemonError, NotFoundError, RequestError
from subconscious.settings.home import Home
from subconscious.wire import AbsentError, WedgedError
from tests.support.hook_calls import listening
from tests.support.stub_daemon import StubDaemon

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=5)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


@given(st.text(), st.dictionaries(st.text(), JSON))
def test_requests_arrive_as_they_were_sent(cmd: str, args: dict[str, object]) -> None:
    line = wire.encode_request(cmd, args)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.decode_request(line) == wire.Request(cmd, args, __version__)


def test_lone_surrogates_survive() -> None:
    name = os.fsdecode(b"/caf\xe9")
    assert wire.decode_request(wire.encode_request("status", {"cwd": name})).args == {"cwd": name}


@pytest.mark.parametrize(
    "line", [b"", b"[]\n", b"nonsense\n", b'{"cmd": 1}', b'{"cmd": "a", "args": []}', b"[" * 100_000, b"\xff"]
)
def test_what_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(RequestError):
        wire.decode_request(line)


def test_an_error_keeps_its_code_and_remedy() -> None:
    body = wire.encode_error(NotFoundError("no memory 7", "list them")).partition(b"\n")[2]
    with pytest.raises(DaemonError) as caught:
        wire.decode_answer(body)
    assert (caught.value.code, caught.value.message, caught.value.remedy) == ("E022", "no memory 7", "list them")


@pytest.mark.parametrize("body", [b"", b"1", b"{}", b'{"ok": true}', b'{"ok": false, "error": "x"}', b"[" * 10**5])
def test_an_answer_that_makes_no_sense_is_an_error(body: bytes) -> None:
    with pytest.raises(DaemonError):
        wire.decode_answer(body)


def test_a_call_gets_its_result(home: Home) -> None:
    counts = {"memories": 1, "captures": 2, "sessions": 0, "on_server": 0}
    with StubDaemon(home, {"purge_plan": counts}) as daemon:
        assert wire.call(home, "purge_plan", {"id": 3}) == counts
    assert daemon.requests[0].args == {"id": 3}


def test_a_large_answer_arrives_whole(home: Home) -> None:
    text = "x" * 3_000_000
    with StubDaemon(home, {"recall": {"text": text}}):
        assert wire.call(home, "recall")["text"] == text


def test_an_answer_beyond_the_limit_is_refused(home: Home) -> None:
    with (
        StubDaemon(home, {"list": b"%d\n" % (wire.ANSWER_LIMIT + 1)}),
        pytest.raises(DaemonError, match="too large"),
    ):
        wire.call(home, "list")


@pytest.mark.parametrize("raw", [b"", b"7", b"7\nabc", b"-1\nabc", b"x" * 64, b"9999999999999999999999\n"])
def test_a_broken_answer_is_an_error(home: Home, raw: bytes) -> None:
    with StubDaemon(home, {"status": raw}), pytest.raises(DaemonError):
        wire.call(home, "status", timeout=2)


def test_a_path_too_long_for_a_socket_is_reached(tmp_path: Path) -> None:
    home = Home(tmp_path / ("deep" * 20) / ("down" * 20))
    before = Path.cwd()
    with StubDaemon(home):
        assert wire.hello(home) == __version__
    assert Path.cwd() == before


def test_no_socket_and_a_dead_one_are_absence(home: Home) -> None:
    home.make()
    with pytest.raises(AbsentError) as caught:
        wire.hello(home)
    assert caught.value.remedy == "run `subconscious daemon start`"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.socket))
    with pytest.raises(AbsentError):
        wire.hello(home)


def test_silence_is_told_from_absence(home: Home) -> None:
    with StubDaemon(home) as daemon:
        daemon.silent = True
        with pytest.raises(WedgedError, match=r"within 0\.1 s"):
            wire.hello(home, 0.1)


def test_a_queue_of_connections_that_stays_full_is_silence(home: Home) -> None:
    home.make()
    with socket.socket(socket.AF_UNIX) as stopped, socket.socket(socket.AF_UNIX) as waiting:
        stopped.bind(str(home.socket))
        stopped.listen(0)
        waiting.connect(str(home.socket))
        with pytest.raises(WedgedError):
            wire.hello(home, 0.1)


def test_a_running_daemon_is_left_alone(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "start", lambda _: pytest.fail("started a second daemon"))
    with StubDaemon(home) as daemon:
        assert wire.ensure_daemon(home) == __version__
        daemon.version = "99.0.0"
        assert wire.ensure_daemon(home) == "99.0.0"
    assert daemon.requests == []


def test_an_older_daemon_that_stays_is_used(home: Home) -> None:
    with StubDaemon(home, {"yield": {"stopping": False}}, version="0.0.9") as daemon:
        assert wire.ensure_daemon(home) == "0.0.9"
    assert daemon.requests[0].args == {"version": __version__}


def test_an_older_daemon_yields_to_ours(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as older, ExitStack() as ours:

        def start(_: Home) -> subprocess.Popen[bytes]:
            ours.enter_context(StubDaemon(home))
            return subprocess.Popen(["/bin/true"])

        monkeypatch.setattr(wire, "await_absence", lambda *_: older.close())
        monkeypatch.setattr(wire, "start", start)
        older.enter_context(StubDaemon(home, {"yield": {"stopping": True}}, version="0.0.9"))
        assert wire.ensure_daemon(home) == __version__


def test_a_daemon_that_ends_at_its_start_is_told_with_its_last_words(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such module')"]
    monkeypatch.setattr(wire, "daemon_command", lambda _: (command, dict(os.environ)))
    with pytest.raises(DaemonError, match=r"ended at once \(exit 1\): no such module"):
        wire.ensure_daemon(home)
    assert (home.log / "daemon.log").stat().st_mode & 0o777 == 0o600


def test_a_daemon_that_never_answers_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "pass"]
    monkeypatch.setattr(wire, "daemon_command", lambda _: (command, dict(os.environ)))
    with pytest.raises(DaemonError, match="does not answer"):
        wire.ensure_daemon(home, timeout=0.3)


def test_the_daemon_gets_none_of_the_clients_keys(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "CLAUDECODE", "HTTPS_PROXY", "SUBCONSCIOUS_OFF", "PYTHONPATH", "LCX"):
        monkeypatch.setenv(name, "secret")
    for name in ("LC_ALL", "SUBCONSCIOUS_LOG", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, "kept")
    _, environment = wire.daemon_command(home)
    assert environment["SUBCONSCIOUS_HOME"] == str(home.root)
    assert {name for name, value in environment.items() if value == "kept"} == {
        "LC_ALL",
        "SUBCONSCIOUS_LOG",
        "XDG_STATE_HOME",
    }
    assert "secret" not in environment.values()


def test_settings_of_a_session_are_not_those_of_the_daemon(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for mark in wire.SESSION_MARKS:
        monkeypatch.delenv(mark, raising=False)
    monkeypatch.setenv("SUBCONSCIOUS_CAPTURE", "false")
    assert wire.daemon_command(home)[1]["SUBCONSCIOUS_CAPTURE"] == "false", "a person's own terminal"
    for mark in wire.SESSION_MARKS:
        with monkeypatch.context() as session:
            session.setenv(mark, "1")
            assert "SUBCONSCIOUS_CAPTURE" not in wire.daemon_command(home)[1]


def test_the_daemon_gets_no_folder_of_the_path(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin")
    folders = wire.daemon_command(home)[1]["PATH"].split(":")
    assert str(tmp_path) not in folders
    assert "/usr/bin" in folders


def test_a_daemon_without_a_socket_is_there_while_it_holds_its_lock(home: Home) -> None:
    home.make()
    with home.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(WedgedError, match="still running"):
            wire.await_absence(home, 0.2)
    wire.await_absence(home, 5)


@pytest.mark.slow
def test_a_greeting_that_is_never_answered_holds_nobody_up(home: Home) -> None:
    with listening(home.root), ThreadPoolExecutor() as pool:
        waiting = pool.submit(wire.await_absence, home, 20)
        time.sleep(0.3)  # it has connected
        home.socket.unlink()
        waiting.result(10)


def test_a_daemon_is_gone_when_the_next_one_answers(home: Home) -> None:
    home.make()
    with home.lock.open("w") as held, ThreadPoolExecutor() as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = pool.submit(wire.await_absence, home, 20)
        time.sleep(0.3)
        assert not waiting.done()
        with StubDaemon(home):
            waiting.result(20)


@pytest.mark.parametrize(
    ("one", "other", "is_newer"),
    [("0.2.0", "0.1.9", True), ("0.10.0", "0.9.0", True), ("0.1.0", "0.1.0", False), ("0.1", "0.1.0", False)],
)
def test_versions_are_compared_by_number(one: str, other: str, is_newer: bool) -> None:
    assert wire.newer(one, other) is is_newer


def test_the_client_is_light() -> None:
    code = "import sys, json, subconscious.wire; print(json.dumps(list(sys.modules)))"
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", code]))
    assert not {"pydantic", "asyncio", "numpy", "sqlite3"} & set(loaded)
