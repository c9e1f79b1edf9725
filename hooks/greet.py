"""A minimal MCP server until a tool is called: ``python3 -I -S greet.py`` initializes, lists the tools, and waits.

The real server (`subconscious mcp`) takes ten times as long to start and 39 MB of memory, and on a new machine its
environment does not exist yet; a client gives up on a slow server, and most sessions call no tool. So this server
answers requests with known answers (tools.json), and replaces itself with the real server for any other request.
"""

import json
import os
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from hooks.drop import VERSION, environ_for_python, find_home, write
from hooks.regular import read

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools.json")
LARGEST_CONFIG = 1 << 20
NO_METHOD = -32601
FALSE = ("0", "false", "off", "no", "n", "f")
SETTING = re.compile(rb"^[ \t]*(mcp|off)[ \t]*=[ \t]*(true|false)[ \t]*(?:#.*)?$", re.MULTILINE)
SETTING_UP = (
    "Subconscious is still setting itself up (about a minute, once). Continue without its tools, and try again later."
)


class Greeter:
    """The connection to a client until it calls a tool; ``received`` holds messages that the real server must read."""

    def __init__(self, home: "str | None") -> None:
        self.home = home
        self.offered = home is not None and is_wanted(home)
        with open(TOOLS, encoding="utf-8") as file:
            self.known = json.load(file)
        self.received: "list[bytes]" = []
        self.greeted = False

    def handle(self, line: bytes, rest: bytes) -> None:
        """Answer one message, or start the real server, which gets the message and the data after it (``rest``)."""
        try:
            message = json.loads(line)
            method = message.get("method")
        except (ValueError, AttributeError, RecursionError):
            return
        if method == "initialize":
            self.received.append(line)
            self.greeted = True
            _respond(message, result=self._greeting(message))
        elif method == "ping":
            _respond(message, result={})
        elif method == "tools/list" and self.greeted:
            _respond(message, result={"tools": self.known["tools"]} if self.offered else {"tools": []})
        elif method == "notifications/initialized":
            self.received.append(line)
        elif isinstance(message, dict) and "id" in message:
            self._start_real_server(message, line, rest)

    def _greeting(self, message: "dict[str, object]") -> "dict[str, object]":
        params = message.get("params")
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        versions = self.known["protocol_versions"]
        greeting = {
            "protocolVersion": wanted if wanted in versions else versions[-1],
            "capabilities": {"tools": {"listChanged": False}} if self.offered else {},
            "serverInfo": {"name": self.known["name"], "version": VERSION},
        }
        return {**greeting, "instructions": self.known["instructions"]} if self.offered else greeting

    def _start_real_server(self, message: "dict[str, object]", line: bytes, rest: bytes) -> None:
        """Replace this process with the real server; if that fails, answer with the reason."""
        why = _take_over(self.home, [*self.received, line, rest]) if self.home and self.offered else ""
        if message.get("method") == "tools/call" and why:
            _respond(message, result={"content": [{"type": "text", "text": why}], "isError": True})
        else:
            _respond(message, error={"code": NO_METHOD, "message": why or "the tools are switched off"})


def is_wanted(home: str) -> bool:
    """Whether the tools are enabled: by the variable, else config.toml, else the plugin option.

    The real server reads the same variables and config.toml, but no plugin option.
    """
    try:
        config = read(os.path.join(home, "config.toml"), LARGEST_CONFIG)
    except FileNotFoundError:
        config = b""
    except OSError:
        return False  # the file may disable the tools, and the real server can't start if it is unreadable
    top = re.split(rb"^[ \t]*\[", config, maxsplit=1, flags=re.MULTILINE)[0]
    written = {name.decode(): value.decode() for name, value in SETTING.findall(top)}
    mcp = os.environ.get("SUBCONSCIOUS_MCP") or written.get("mcp") or os.environ.get("CLAUDE_PLUGIN_OPTION_MCP", "")
    off = os.environ.get("SUBCONSCIOUS_OFF") or written.get("off") or "false"
    return mcp.lower() not in FALSE and off.lower() in FALSE


def _respond(message: "dict[str, object]", **values: object) -> None:
    write(1, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **values}).encode() + b"\n")


def _take_over(home: str, received: "list[bytes]") -> str:
    """Replace this process with the real server; return the reason if that fails."""
    try:
        environment = _environment(home)
    except OSError as error:
        return f"Subconscious can't find its environment ({error}). Start a new session."
    if environment is None:
        return _reason(home)
    face = os.path.join(environment, "bin", "subconscious")
    try:
        handed = _write_handed(home, b"".join(received))
        os.execve(face, [face, "mcp", "--handed", str(handed)], environ_for_python())
    except OSError as error:
        return f"Subconscious can't start ({error}). The user may run `subconscious doctor`."


def _environment(home: str) -> "str | None":
    """Return the path of the Python environment with the real server, or None if it does not exist yet.

    If an update has removed this plugin's folder, this is the environment that is in use now.
    """
    try:
        from hooks.environment import find_environment

        return find_environment(home)
    except (ImportError, FileNotFoundError):
        current = os.path.realpath(os.path.join(home, "env", "current"))
        return current if os.path.exists(os.path.join(current, ".complete")) else None


def _reason(home: str) -> str:
    """Return why there is no environment yet; the hook at the session's start has begun to create it."""
    try:
        from hooks.environment import read_failure

        failure = read_failure(home)
    except (ImportError, FileNotFoundError):
        return "The plugin was updated or removed. Start a new session."
    return f"Subconscious can't set itself up: {failure['reason']}. {failure['remedy']}" if failure else SETTING_UP


def _write_handed(home: str, received: bytes) -> int:
    """Write the received messages to an unnamed file, for the real server to read first; return its descriptor."""
    path = os.path.join(home, "run", f".mcp-{os.getpid()}")
    handed = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    write(handed, received)
    os.lseek(handed, 0, os.SEEK_SET)
    os.set_inheritable(handed, True)
    return handed


def main() -> None:
    """Serve until the client disconnects."""
    greeter = Greeter(find_home())
    buffer = b""
    while chunk := os.read(0, 65536):
        buffer += chunk
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            greeter.handle(line + b"\n", buffer)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, OSError):
        os._exit(0)  # the client is gone, or asks us to stop
