"""The format of requests and responses, and the client that sends requests to the daemon (docs/protocol.md).

Terminal commands import this module, and their start has to be fast: no pydantic, asyncio, numpy or dataclasses here.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from subconscious import __version__
from subconscious.domain.errors import DaemonError, RequestError, SubconsciousError
from subconscious.settings.home import SOCKET_PATH_LIMIT, Home
from subconscious.system.programs import safe_path
from subconscious.system.safe_files import append_regular, open_regular, read_end, read_regular, replace_file

if TYPE_CHECKING:
    import subprocess

LARGEST_NOTE = 1 << 16
"""The maximum size, in bytes, of the file that says why the daemon refused to start."""

ANSWER_LIMIT = 64 * 2**20
"""The maximum size of a response in bytes. A larger response is an error or an attack that could use up all memory."""
LAST_BYTES = 64 * 2**10
"""How many bytes at the end of the log are searched for its last line."""
REQUEST_LIMIT = 16 * 2**20
"""The maximum size of a JSON request in bytes."""
START_SECONDS = 60.0
"""Seconds within which a new daemon must answer. On a busy machine its first start can take more than 20."""
HELLO_SECONDS = 2.0
"""Seconds after which a daemon that does not answer a ``hello`` request counts as unresponsive."""

KEPT_VARIABLES = re.compile(r"HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|SUBCONSCIOUS_LOG")
SETTINGS_VARIABLES = re.compile(r"SUBCONSCIOUS_\w+")
# A daemon serves every session, so switching it off in one shell must not affect the others.
DROPPED_VARIABLES = frozenset({"SUBCONSCIOUS_OFF"})
CLIENT_MARKS = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")
"""Variables that Claude Code sets for commands that its model runs."""
SESSION_MARKS = (*CLIENT_MARKS, "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR")
"""CLIENT_MARKS, and the variables that Claude Code sets for hooks and MCP servers."""


class AbsentError(DaemonError):
    """No daemon listens on the socket."""


class WedgedError(DaemonError):
    """A daemon listens, but does not answer in time."""


class Request(NamedTuple):
    """A JSON request as the daemon reads it."""

    cmd: str
    args: dict[str, Any]
    version: str


def encode_request(cmd: str, args: Mapping[str, Any]) -> bytes:
    """Return a request as a line. It is ASCII, so that lone surrogates in file names are preserved."""
    return json.dumps({"cmd": cmd, "args": dict(args), "version": __version__}).encode("ascii") + b"\n"


def decode_request(line: bytes) -> Request:
    """Return the request in a line. Raises RequestError if the line is not a valid request."""
    request = _parse(line, RequestError)
    cmd, args = request.get("cmd"), request.get("args", {})
    if not isinstance(cmd, str) or not isinstance(args, dict):
        raise RequestError("the request is not {cmd: text, args: object, version: text}", "see docs/protocol.md")
    return Request(cmd, args, str(request.get("version", "")))


def frame(body: bytes) -> bytes:
    """Return a response as it is sent: its length in bytes, a line feed, its bytes."""
    return b"%d\n%b" % (len(body), body)


def encode_result(result: Mapping[str, Any]) -> bytes:
    """Return the framed response to a request that succeeded."""
    return frame(json.dumps({"ok": True, "result": dict(result)}).encode("ascii"))


def encode_error(error: SubconsciousError) -> bytes:
    """Return the framed response to a request that failed."""
    return frame(json.dumps({"ok": False, "error": _error_fields(error)}).encode("ascii"))


def _error_fields(error: SubconsciousError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "remedy": error.remedy}


def decode_answer(body: bytes) -> dict[str, Any]:
    """Return the result in a response. Raises DaemonError with the code, message and remedy that the daemon sent."""
    answer = _parse(body, DaemonError)
    succeeded = answer.get("ok") is True
    content = answer.get("result" if succeeded else "error")
    if not isinstance(content, dict):
        raise DaemonError("the daemon's answer is invalid", "run `subconscious doctor`")
    if succeeded:
        return content
    error = DaemonError(str(content.get("message", "")), str(content.get("remedy", "")))
    error.code = str(content.get("code", error.code))
    raise error


def _parse(text: bytes, failure: type[SubconsciousError]) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise failure("the message on the socket is not JSON", "run `subconscious doctor`") from error
    if not isinstance(value, dict):
        raise failure("the message on the socket is not a JSON object", "run `subconscious doctor`")
    return value


def call(home: Home, cmd: str, args: Mapping[str, Any] | None = None, timeout: float = 30.0) -> dict[str, Any]:
    """Send a request to the running daemon and return the result. Raises DaemonError."""
    return decode_answer(exchange(home, encode_request(cmd, args or {}), timeout))


def hello(home: Home, timeout: float = HELLO_SECONDS) -> str:
    """Return the version of the running daemon. Raises AbsentError, WedgedError, or DaemonError for other failures."""
    return exchange(home, f"hello {__version__}\n".encode(), timeout).decode("utf-8", "replace").strip()


def exchange(home: Home, request: bytes, timeout: float) -> bytes:
    """Send one request and return the bytes of the response."""
    deadline = monotonic() + timeout
    try:
        with _connected(home, deadline) as connection:
            connection.sendall(request)
            return _read_answer(connection, deadline)
    except (TimeoutError, BlockingIOError) as error:
        raise WedgedError(f"the daemon did not answer within {timeout:g} s", "run `subconscious doctor`") from error
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise AbsentError("the daemon is not running", "run `subconscious daemon start`") from error
    except OSError as error:
        raise DaemonError(f"the daemon can't be reached: {error}", "run `subconscious doctor`") from error


@contextmanager
def _connected(home: Home, deadline: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        while not _connect(connection, home, deadline):
            sleep(0.01)
        yield connection


def _connect(connection: socket.socket, home: Home, deadline: float) -> bool:
    """Connect to the daemon; return False if its queue is full: a Unix socket then refuses instead of waiting."""
    connection.settimeout(_left(deadline))
    try:
        if len(os.fsencode(home.socket)) <= SOCKET_PATH_LIMIT:
            connection.connect(os.fspath(home.socket))
        else:
            _connect_from_within(connection, home)
    except BlockingIOError:
        if monotonic() > deadline:
            raise
        return False
    if not _is_ours(connection):
        raise PermissionError("another user's process listens on the socket")
    return True


def _is_ours(connection: socket.socket) -> bool:
    """Whether the listening process is this user's. Only Linux reports that; elsewhere, the folder's mode must do."""
    if sys.platform != "linux":
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # process, user, group
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def _connect_from_within(connection: socket.socket, home: Home) -> None:
    """Connect by the socket's bare name from within its folder, because the kernel refuses long paths."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(home.run)
        connection.connect(home.socket.name)
    finally:
        os.fchdir(here)
        os.close(here)


def _left(deadline: float) -> float:
    # A time-out of zero means "do not block".
    return max(deadline - monotonic(), 0.001)


def _read_answer(connection: socket.socket, deadline: float) -> bytes:
    header, rest = _read_header(connection, deadline)
    if not header.isdigit() or len(header) > 18:
        raise DaemonError("the daemon's answer is invalid", "run `subconscious doctor`")
    length = int(header)
    if length > ANSWER_LIMIT:
        raise DaemonError(f"the daemon's answer is too large ({length} bytes)", "request fewer results with --limit")
    body = bytearray(rest)
    while len(body) < length:
        body += _receive(connection, deadline)
    return bytes(body[:length])


def _read_header(connection: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    read = b""
    while b"\n" not in read and len(read) < 32:
        read += _receive(connection, deadline)
    header, _, rest = read.partition(b"\n")
    return header, rest


def _receive(connection: socket.socket, deadline: float) -> bytes:
    connection.settimeout(_left(deadline))
    chunk = connection.recv(65536)
    if not chunk:
        raise DaemonError(
            "the daemon closed the connection without an answer",
            "run `subconscious doctor`, which names the daemon's log",
        )
    return chunk


def ensure_daemon(home: Home, timeout: float = START_SECONDS) -> str:
    """Start a daemon if none answers; return the version of the running daemon.

    An older daemon is asked to exit first, so that a user who has just upgraded gets the new daemon; if the older one
    refuses, it keeps running. Raises DaemonError, or the SubconsciousError with which the new daemon refused to start.
    """
    deadline = monotonic() + timeout
    try:
        version = hello(home)
    except AbsentError:
        return _await_hello(home, start(home), deadline)
    if not newer(__version__, version) or not call(home, "yield", {"version": __version__})["stopping"]:
        return version
    await_absence(home, timeout)
    return _await_hello(home, start(home), deadline + timeout)


def start(home: Home) -> subprocess.Popen[bytes]:
    """Start a daemon in a session of its own, so that it outlives this terminal. If two daemons start, one exits."""
    import subprocess  # loaded only to start a daemon

    home.make()
    command, environment = daemon_command(home)
    with os.fdopen(_open_log(home), "ab") as log:
        # Output before logging is set up, such as a failed import, must not be lost.
        return subprocess.Popen(  # noqa: S603 - our own interpreter
            [*command, "run"],
            cwd=home.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _open_log(home: Home) -> int:
    log = home.log / "daemon.log"
    try:
        return append_regular(log)
    except OSError as error:
        raise DaemonError(f"{log} can't be written: {error.strerror}", f"move {log} away") from error


def daemon_command(home: Home) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs the daemon for ``home``, and its environment, with a PATH of trusted folders only.

    Settings in the environment of the user's own terminal, API keys included, apply to a daemon that is started there.
    Settings in a session's environment do not, because the daemon serves other sessions, too.
    """
    inside = any(os.environ.get(mark) for mark in SESSION_MARKS)
    kept = KEPT_VARIABLES if inside else re.compile(f"{KEPT_VARIABLES.pattern}|{SETTINGS_VARIABLES.pattern}")
    environment = {
        name: value for name, value in os.environ.items() if kept.fullmatch(name) and name not in DROPPED_VARIABLES
    }
    environment["PATH"] = safe_path()
    environment["SUBCONSCIOUS_HOME"] = os.fspath(home.root)
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent
    if (checkout / "daemon" / "__main__.py").exists() and (checkout / "pyproject.toml").exists():
        # In a checkout, the daemon's package lies beside the library, not within it.
        return [sys.executable, "-P", "-m", "daemon"], environment | {"PYTHONPATH": os.fspath(checkout)}
    return [sys.executable, "-I", "-m", "subconscious.daemon"], environment


def newer(one: str, other: str) -> bool:
    """Whether version ``one`` is strictly newer than ``other``."""
    return _numbers(one) > _numbers(other)


def await_absence(home: Home, timeout: float) -> None:
    """Wait until the daemon has closed its database and exited. Raises WedgedError if it does not."""
    deadline = monotonic() + timeout
    silent = False
    while monotonic() < deadline:
        try:
            # Don't wait for the whole remaining time: a daemon that is exiting may never answer an accepted connection.
            hello(home, min(_left(deadline), 0.5))
        except AbsentError:
            silent = True
            # A daemon that exits removes its socket first, and releases its lock last.
            if is_unlocked(home):
                return
        except DaemonError:
            pass  # it is exiting: it accepted the connection and closed it without an answer
        else:
            if silent:
                return  # another daemon answers, which has the lock that the first one released
        sleep(0.02)
    raise WedgedError(
        f"the daemon is still running {timeout:g} s after it was asked to stop",
        "run `subconscious daemon stop --force`",
    )


def is_unlocked(home: Home) -> bool:
    """Whether no daemon holds the lock of a state folder."""
    try:
        with open_regular(home.lock) as lock:
            # A shared lock, so that two concurrent checks do not mistake each other for a daemon.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


def _await_hello(home: Home, process: subprocess.Popen[bytes], deadline: float) -> str:
    while monotonic() < deadline:
        try:
            version = hello(home, _left(deadline))
        except AbsentError:
            # Exit code 0 means that another daemon has the lock and will answer soon.
            if process.poll():
                raise _start_failure(home, f"ended at once (exit {process.returncode})") from None
            sleep(0.02)
        else:
            # The daemon outlives this process; Popen would warn about a child that is not waited for.
            process.returncode = process.returncode or 0
            return version
    raise _start_failure(home, "does not answer yet")


def _start_failure(home: Home, what: str) -> SubconsciousError:
    if (refused := refusal(home)) is not None:
        return refused
    last = last_log_line(home)
    remedy = "run the command again in a minute; if it fails again, run `subconscious doctor`"
    return DaemonError(f"the daemon was started but {what}{f': {last}' if last else ''}", remedy)


def write_refusal(home: Home, error: SubconsciousError) -> None:
    """Write into a file why the daemon does not start, for hooks and commands, which can't ask the daemon."""
    replace_file(home.refusal, json.dumps(_error_fields(error)).encode())


def refusal(home: Home) -> SubconsciousError | None:
    """Return why the last daemon refused to start; None if it started."""
    try:
        fields = json.loads(read_regular(home.refusal, LARGEST_NOTE))
        error = SubconsciousError(str(fields["message"]), str(fields["remedy"]))
        error.code = str(fields["code"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return error


def last_log_line(home: Home) -> str:
    """Return the last line of the daemon's log; "" if it has none."""
    try:
        lines = read_end(home.log / "daemon.log", LAST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1].strip() if lines else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))
