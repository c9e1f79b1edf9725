"""Whatever comes over the socket, and however much of it: the daemon lives, and answers everybody else."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from daemon import connection_limits
from daemon.server import Server
from daemon.spool import Spool
from subconscious import __version__, wire
from subconscious.app import App
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support.daemons import drained, eventually, new_session, processes_of

DEEP = b"[" * 200_000
ODD = {
    "nothing": b"",
    "a line feed": b"\n",
    "binary": bytes(range(256)) * 100 + b"\n",
    "no UTF-8": b'{"cmd": "\xff\xfe", "args": {}}\n',
    "half an emoji": b'{"cmd": "search", "args": {"query": "\\ud800", "cwd": "/tmp"}}\n',
    "half an emoji as a command": b'{"cmd": "\\ud800"}\n',
    "NUL in a path": b'{"cmd": "status", "args": {"cwd": "/tmp/\\u0000"}}\n',
    "deep nesting": DEEP + b"\n",
    "deep arguments": b'{"cmd": "list", "args": {"cwd": ' + DEEP + b"\n",
    "a number without end": b'{"cmd": "show", "args": {"id": ' + b"9" * 100_000 + b"}}\n",
    "a number that SQLite does not know": b'{"cmd": "show", "args": {"id": 99999999999999999999999}}\n',
    "a negative number": b'{"cmd": "list", "args": {"cwd": "/tmp", "offset": -1}}\n',
    "NaN": b'{"cmd": "drain", "args": {"timeout": NaN}}\n',
    "infinity": b'{"cmd": "drain", "args": {"timeout": Infinity}}\n',
    "a list for an object": b'{"cmd": "status", "args": []}\n',
    "an object for a name": b'{"cmd": {"a": 1}}\n',
    "no command of ours": b'{"cmd": "_hurry"}\n',
    "a name of the language": b'{"cmd": "__init__"}\n',
    "a huge name": b'{"cmd": "' + b"x" * 1_000_000 + b'"}\n',
    "a huge line": b'{"cmd": "status", "args": {"cwd": "' + b"x" * (17 * 2**20) + b'"}}\n',
    "a line without end": b"x" * 100_000,
    "an entry of negative length": b"ask name -5\n",
    "an entry of no length": b"ask name x\n",
    "an entry too long": b"ask name 99999999999\n",
    "an entry of a number without end": b"ask name " + b"9" * 10_000 + b"\n",
    "an entry that ends early": b"ask name 1000\nshort",
    "an entry that is none": b"ask name 9\nnot an en",
    "an entry without a session": b"ask n 40\nsubconscious 1\tStop\t1\t/\t\t0.1.0\t\n{}" + b" " * 10,
    "hello and no more": b"hello ",
    "a web page": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
}
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "x",
    "\ud83d",
    "/",
    [],
    ["x"],
    [[1]],
    [10**30],
    {},
    {"a": 1},
    "9" * 9000,
)
COMMANDS = (
    "status remember capture import_plan import_file recall search list show captures approve edit reject restore undo"
    " stats sessions archive unarchive why_surfaced"
).split()
FIELDS = (
    "cwd text query origin kind scope tags transcript paths vouched tokens limit offset id ids status session_id"
    " archived everywhere reason timeout version all details nonsense"
).split()


@contextmanager
def connected(home: Home, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(20)
        while True:
            try:
                link.connect(str(home.socket))
                break
            except BlockingIOError:
                time.sleep(0.01)
        if sent:
            link.sendall(sent)
        yield link


def answered(home: Home) -> bool:
    """Whether another caller is answered, in the time that a person would wait."""
    return bool(wire.hello(home, 10)) and bool(wire.call(home, "status", {"cwd": "/tmp"}, 10)["pid"])


@pytest.mark.parametrize("sent", ODD)
def test_an_odd_request_harms_nobody(running: Home, sent: str) -> None:
    before = wire.call(running, "status")
    with connected(running) as link:
        try:
            link.sendall(ODD[sent])
            link.shutdown(socket.SHUT_WR)
            while link.recv(65536):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass  # it was sent away
    assert answered(running)
    after = wire.call(running, "status")
    assert (after["pid"], after["started_at"]) == (before["pid"], before["started_at"])


def test_wrong_types_are_told_and_not_thrown(running: Home) -> None:
    """Each command with each argument of each wrong type: an answer with a code, never silence."""
    for number, (cmd, field) in enumerate((cmd, field) for cmd in COMMANDS for field in FIELDS):
        value = WRONG[number % len(WRONG)]
        args = {"cwd": "/tmp", field: value}
        sent = json.dumps({"cmd": cmd, "args": args}).encode() + b"\n"
        answer = json.loads(wire.exchange(running, sent, 20))
        assert answer["ok"] or answer["error"]["code"] != "E000", (cmd, field, value, answer)
    assert answered(running)


@pytest.mark.process
def test_a_thousand_silent_callers_keep_nobody_waiting(running: Home, speaker: Speaker) -> None:
    with ExitStack() as stack:
        for number in range(1000):
            stack.enter_context(connected(running, [b"", b"h", b'{"cmd": ', b"ask name 100\nhalf"][number % 4]))
        assert answered(running)
        speaker.say("We decided to keep all amounts in integer cents.")
        speaker.ask("UserPromptSubmit", prompt="go on")
        speaker.hook("drop", "Stop")
        drained(running)
    assert answered(running)


@pytest.mark.slow
async def test_who_is_sent_away_in_a_rush_is_hung_up_on(app: App) -> None:
    """More callers than may be silent, all let in before the first of them is heard."""
    server = Server(app, Spool(app))
    await server.open()
    with ExitStack() as stack:
        links = [stack.enter_context(connected(app.home)) for _ in range(connection_limits.MOST_SILENT + 50)]
        await asyncio.sleep(0.5)
        assert sum(is_hung_up(link) for link in links) == 50
        await server.close()


async def test_who_is_accepted_at_the_last_moment_is_answered(app: App) -> None:
    server = Server(app, Spool(app))
    await server.open()
    with connected(app.home) as link:
        link.sendall(b"hello \n")
        for _ in range(2):  # accepted, and not yet handed over
            await asyncio.sleep(0)
        await server.close()
        link.settimeout(5)
        assert link.recv(100).endswith(__version__.encode())


def is_hung_up(link: socket.socket) -> bool:
    link.setblocking(False)
    try:
        return link.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_slow_callers_keep_nobody_waiting(running: Home) -> None:
    with ExitStack() as stack:
        links = [stack.enter_context(connected(running)) for _ in range(50)]
        for sign in b'{"cmd": "status"':
            for link in links:
                link.sendall(bytes([sign]))
            assert wire.hello(running, 10)
        assert answered(running)


@pytest.mark.process
def test_long_requests_that_never_end_keep_nobody_waiting(running: Home) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            link = stack.enter_context(connected(running))
            link.setblocking(False)
            try:
                while True:
                    link.send(b"x" * 65536)
            except BlockingIOError:
                pass  # the daemon holds as much as it is willing to
        assert answered(running)
        (pid,) = processes_of(running)
        assert _resident(pid) < 600 * 2**20


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_callers_that_do_not_read_their_answer_keep_nobody_waiting(running: Home) -> None:
    asked = wire.encode_request("list", {"cwd": "/tmp", "limit": 1000})
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(connected(running, asked))
        assert answered(running)
    for _ in range(100):
        with connected(running, asked):
            pass  # gone before the answer
    assert answered(running)


def test_those_who_wait_for_ever_are_turned_away(running: Home, tmp_path: Path) -> None:
    (running.root / "config.toml").write_text('embedder = "none"\nsweep_seconds = 60\n')
    speaker = new_session(running, tmp_path / "project")
    speaker.say("Busy.")
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connected(running, wire.encode_request("drain", {"timeout": 600})))
        assert answered(running)


@pytest.mark.process
def test_the_daemon_listens_nowhere_but_at_its_socket(running: Home, speaker: Speaker) -> None:
    speaker.say("We decided to keep all amounts in integer cents.")
    speaker.hook("drop", "Stop")
    drained(running)
    (pid,) = processes_of(running)
    mine = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    for name in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "packet", "netlink"):
        table = Path(f"/proc/{pid}/net/{name}")
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        assert [line for line in lines if any(f"socket:[{word}]" in mine for word in line.split())] == []


as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
BECOME_ANOTHER = "import os, socket, time; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"


def script(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def printed(code: str, folder: Path) -> str:
    return subprocess.run(script(code), cwd=folder, capture_output=True, text=True, check=True).stdout


@as_root
def test_another_user_is_not_heard_even_where_modes_would_let_them(running: Home) -> None:
    running.socket.chmod(0o666)
    running.run.chmod(0o711)
    ask = "import socket; s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect('daemon.sock')\n"
    ask += "try:\n s.sendall(b'hello 1\\n'); print(s.recv(99))\nexcept OSError: print(b'')"
    assert __version__ in printed(ask, running.run)
    assert printed(BECOME_ANOTHER + ask, running.run) == "b''\n"


@as_root
def test_another_user_reaches_nothing_by_the_modes(running: Home) -> None:
    tried = "for name in ('memory.db', 'config.toml', 'spool', 'log/daemon.log'):\n"
    tried += " try: os.close(os.open(name, os.O_RDONLY)); print(name)\n except OSError: pass\n"
    tried += "try: socket.socket(socket.AF_UNIX).connect('run/daemon.sock'); print('socket')\nexcept OSError: pass"
    assert len(printed("import os, socket\n" + tried, running.root).splitlines()) == 5
    assert printed(BECOME_ANOTHER + tried, running.root) == ""


@as_root
def test_somebody_elses_daemon_is_not_spoken_to(home: Home, tmp_path: Path) -> None:
    home.run.chmod(0o777)
    serve = "s = socket.socket(socket.AF_UNIX); s.bind('daemon.sock'); s.listen(); print('x', flush=True)\n"
    serve += "while True:\n c, _ = s.accept()\n c.sendall(b'5\\n9.9.9'); c.close()"
    with subprocess.Popen(script(BECOME_ANOTHER + serve), cwd=home.run, stdout=subprocess.PIPE) as impostor:
        assert impostor.stdout
        assert impostor.stdout.readline() == b"x\n"
        with pytest.raises(DaemonError, match="another user"):
            wire.hello(home)
        speaker = new_session(home, tmp_path / "project")
        assert speaker.hook("ask", "UserPromptSubmit", prompt="/subconscious:status") == b""
        impostor.kill()


@pytest.mark.process
def test_a_linked_folder_is_refused(stopped: Home, tmp_path: Path) -> None:
    stopped.run.rmdir()
    (tmp_path / "elsewhere").mkdir()
    stopped.run.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DaemonError, match="a link"):
        wire.ensure_daemon(stopped)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_socket_that_is_none_is_refused(stopped: Home, tmp_path: Path) -> None:
    stopped.socket.symlink_to(tmp_path / "elsewhere")
    process = wire.start(stopped)
    assert process.wait(20) == 1
    assert "is not the daemon's socket" in wire.last_log_line(stopped)


def test_files_that_are_open_to_others_are_closed_at_the_start(stopped: Home, speaker: Speaker) -> None:
    wide = [stopped.database, stopped.root / "config.toml", stopped.log / "daemon.log", stopped.spool]
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 30)
    for path in wide:
        path.chmod(0o777)
    wire.ensure_daemon(stopped)
    assert eventually(lambda: answered(stopped))
    assert [path for path in stopped.root.rglob("*") if path.lstat().st_mode & 0o077] == []
