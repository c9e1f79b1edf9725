"""The ``ask`` hook: writes its entry to the spool, then waits briefly for the daemon's answer (docs/protocol.md).

The entry is in the spool before the question is sent, so a missed deadline loses an answer, never an event. stdout gets
the daemon's whole answer or nothing.
"""

import os
import sys
import time

from hooks.drop import compose, find_home, read_payload, spool, write

try:
    import _socket as socket  # the module `socket` takes 12 ms to import, its C part less than 1 ms
except ImportError:
    import socket  # type: ignore[no-redef]

STARTED = time.monotonic()
DEADLINES = {"SessionStart": 0.8, "UserPromptSubmit": 0.3, "PreCompact": 0.8}
OTHER_DEADLINE = 0.15
TYPED = b'"/subconscious'
TYPED_DEADLINE = 3.0
KEY = b"_KEY"
OPTION = b"CLAUDE_PLUGIN_OPTION_"
VARIABLE = b"SUBCONSCIOUS_"
NOT_OF_A_SESSION = b"SUBCONSCIOUS_EMBEDDER_KEY"
LONGEST_KEY = 1000
MOST_KEYS = 16
PAUSE = 0.01
JUST_NOW = 5.0
LARGEST_QUESTION = 1 << 20
HAND_OVER_SECONDS = 1.0
UNSPOOLED, CONFIRMS = b" unspooled", b" confirms"
SOCKET_PATH_LIMIT = 100


def connect(home: str, until: float) -> "socket.socket":
    """Connect to the daemon, or raise the OSError with the reason."""
    run = os.path.join(home, "run")
    path = os.path.join(run, "daemon.sock")
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        os.chdir(run)
        path = "daemon.sock"
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(_remaining(until))
        link.connect(path)
        if not _is_ours(link):
            raise PermissionError("another user's process listens on the socket")
    except OSError:
        link.close()
        raise
    return link


def _is_ours(link: "socket.socket") -> bool:
    """Whether the listener runs as this user; True if the system can't report it: the folder's mode protects us."""
    if sys.platform != "linux":
        return True
    credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # process, user, group
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def request(link: "socket.socket", question: bytes, until: float) -> bytes:
    """Send a question and return the complete answer, or raise an OSError."""
    link.settimeout(_remaining(until))
    link.sendall(question)
    received = b""
    while True:
        length, newline, answer = received.partition(b"\n")
        if newline and len(answer) >= int(length):
            return answer[: int(length)]
        link.settimeout(_remaining(until))
        chunk = link.recv(1 << 16)
        if not chunk:
            raise ConnectionError("the answer was cut off")
        received += chunk


def _remaining(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect_patiently(home: str, until: float, patient: bool) -> "socket.socket":
    """Connect; wait for a daemon that is busy and, if ``patient``, for one that is starting."""
    while True:
        try:
            return connect(home, until)
        except BlockingIOError:
            pass  # the backlog of the daemon is full: connect() on a Unix socket fails instead of waiting
        except (FileNotFoundError, ConnectionRefusedError):
            if not patient or refused_just_now(home):
                raise
        time.sleep(min(PAUSE, _remaining(until)))


def refused_just_now(home: str) -> bool:
    """Whether a daemon just refused to start, because its database or its settings can't be used."""
    try:
        return abs(time.time() - os.stat(os.path.join(home, "run", "refused.json")).st_mtime) < JUST_NOW
    except OSError:
        return False


def _wake() -> None:
    """Start the wake hook in a new session without our stdout: the client waits until our stdout is closed."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-B", start, "wake", "--quiet"])
    finally:
        os._exit(0)


def answer(home: str, event: str, name: str, entry: bytes, spooled: bool = True) -> "bytes | None":
    """Send an entry to the daemon and return its response, or None if no daemon runs.

    If no daemon runs, one is started for the next event (at a session's start, by the wake hook). ``spooled`` is false
    if the entry could not be written to the spool: then the daemon stores it.
    """
    deadline = DEADLINES.get(event, OTHER_DEADLINE)
    if event == "UserPromptSubmit" and TYPED in entry:
        # The prompt is one of our slash commands (or other text in the payload begins like one). The person waits for
        # its answer, and a daemon that has just started must load modules first.
        deadline = TYPED_DEADLINE
    until = STARTED + deadline
    # At a session's start, the wake hook starts the daemon. If it must create the environment first, don't wait.
    starting = event == "SessionStart" and os.path.exists(os.path.join(home, "env", "current"))
    try:
        link = _connect_patiently(home, until, starting)
    except (FileNotFoundError, ConnectionRefusedError):
        if event != "SessionStart":
            _wake()
        return None
    try:
        received = request(link, _question(name, entry, _secrets(), CONFIRMS if spooled else UNSPOOLED), until)
        _confirm(link)
        return received
    finally:
        link.close()  # before a fallback is printed: an unconfirmed end tells the daemon that its answer was unused


def _confirm(link: "socket.socket") -> None:
    """Confirm to the daemon that its answer came in time: an answer that comes after the deadline is never printed."""
    try:
        link.send(b".")
    except OSError:
        pass  # an older daemon, which does not wait for a confirmation


def _question(name: str, entry: bytes, secrets: bytes, flag: bytes) -> bytes:
    return b"ask %s %d %s%s\n" % (os.fsencode(name), len(entry), secrets, flag) + entry


def hand_over(home: str, name: str, entry: bytes) -> None:
    """Send the daemon an entry that could not be spooled; if no daemon runs, start one for the next event."""
    until = time.monotonic() + HAND_OVER_SECONDS
    try:
        link = _connect_patiently(home, until, False)
    except (FileNotFoundError, ConnectionRefusedError):
        _wake()
        return
    try:
        request(link, _question(name, entry, _secrets(), UNSPOOLED), until)
    finally:
        link.close()


def _secrets() -> bytes:
    """Return the plugin's sensitive options and this session's keys, for the daemon's socket only, never for the spool.

    The daemon ignores variables that set no key. The environment is read as bytes, because decoding a large one takes
    noticeable time.
    """
    pairs = []
    for name in os.environb:
        if name.endswith(KEY) and name.startswith((VARIABLE, OPTION)) and name != NOT_OF_A_SESSION:
            value = os.environb[name]
            key = name[len(OPTION) :].lower() if name.startswith(OPTION) else name
            if value and len(os.fsdecode(value)) <= LONGEST_KEY and key.replace(b"_", b"").isalnum():
                pairs.append(key + b"=" + value.hex().encode())
    return b";".join(pairs[:MOST_KEYS]) or b"-"


def _worth_asking(home: str, event: str, payload: bytes) -> bool:
    """Whether the daemon may have an answer: it has none if a tool used a file that no memory refers to."""
    if event != "PostToolUse":
        return True
    from hooks import known_files

    return known_files.may_be_known(home, payload)


def main(event: str) -> None:
    """Write the entry, ask the daemon, print its answer."""
    home = find_home()
    if home is None or not (payload := read_payload()):
        return
    name, entry = compose(event, payload)
    try:
        spool(home, name, entry)
        spooled = True
    except OSError:
        spooled = False
    if spooled and (len(entry) > LARGEST_QUESTION or not _worth_asking(home, event, payload)):
        return
    try:
        response = answer(home, event, name, entry, spooled)
    except (OSError, ValueError):
        response = None
    if response is not None:
        write(1, response)
    elif event == "SessionStart":
        from hooks import rendered

        rendered.main(home, payload)
