"""Claude Code as a provider, for users with a subscription and no key: one ``claude -p`` per request.

The child process runs without the user's hooks, plugins, tools and notes, so that our own hooks don't run in it. It
receives no key from the environment and uses the account that is logged in (docs/providers.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any

from subconscious.domain.errors import (
    BadAnswerError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.providers import Access, Reply, Request, Usage
from subconscious.llm.providers.prices import default_model
from subconscious.llm.providers.structured import schema_of
from subconscious.llm.providers.wire import charged, clean, failure, need_url, out_of_time
from subconscious.settings.home import find_home
from subconscious.system.programs import find_program, safe_path

NAME = "claude_code"
SELLER = "Claude Code"
MAX_OUTPUT = 4 << 20
"""The most bytes that a child process may write."""

ARGUMENTS = (
    "--print",
    "--output-format=json",
    "--verbose",
    "--no-session-persistence",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--tools=",
    '--settings={"disableAllHooks":true}',
)
ENVIRONMENT = {
    "SUBCONSCIOUS_OFF": "1",
    "CLAUDE_CODE_SAFE_MODE": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "MAX_THINKING_TOKENS": "0",
}
KEPT = {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "CLAUDE_CONFIG_DIR", "NODE_EXTRA_CA_CERTS"}
"""Environment variables that the child receives for its login and its run: no keys, addresses or proxies."""
KEPT_PREFIXES = ("LC_", "XDG_")

END_SECONDS = 10.0
"""Seconds to wait for the end of a process that was killed."""

NEAR = "the usage limit of this Claude account is nearly reached: the rest is left for your own sessions"
WAIT = "no action is needed: Subconscious uses the account again after the limit's reset"

LIMIT_SECONDS = 1800.0
"""Seconds to pause after a usage limit was reached, if the client does not report when it ends."""

_LIMIT = re.compile(
    r"\blimit (?:is |was )?reached\b|\b(?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit", re.IGNORECASE
)
_RESET = re.compile(r"\blimit reached\|(\d{10})\b", re.IGNORECASE)
"""The message in which older clients report when a limit ends, in seconds since the epoch."""

INSTALL = "install Claude Code, or name its command in claude_code_command"
LOG_IN = "run `claude` in a terminal and log in with /login"


class ClaudeCodeProvider:
    """Claude Code as a provider. One child process runs at a time, because the user shares the subscription's limits.

    Options: ``command`` (default ``claude``), ``config_dir`` (the value of CLAUDE_CONFIG_DIR), ``folder`` (where child
    processes run; default: a folder in the state folder). A base URL and a key are passed on only if they are set.
    """

    name = NAME

    def __init__(self, access: Access) -> None:
        self.model = access.model or default_model(NAME)
        self._seconds = access.timeout
        self._command = _found(str(access.options.get("command") or "claude"))
        # If a version manager of Node installed the client, the client is a script, and its Node is in the same folder.
        beside = os.path.dirname(self._command)  # noqa: PTH120
        self._environment = _environment(access) | {"PATH": os.pathsep.join((beside, safe_path()))}
        self._folder = _folder(access.options.get("folder"))
        self._turn = asyncio.Lock()
        self._children: set[asyncio.subprocess.Process] = set()
        self._closed = False
        self._paused_until = 0.0

    async def ask(self, request: Request) -> Reply:
        """Run one child process with the request on its stdin.

        Raises RateLimitedError, without starting a process, if the client has reported that a usage limit is near.
        """
        if (left := self._paused_until - time()) > 0:
            raise RateLimitedError(NEAR, WAIT, left)
        schema = json.dumps(schema_of(request.schema), separators=(",", ":"))
        system = self._written(clean(request.system))
        try:
            arguments = (
                *ARGUMENTS,
                f"--model={self.model}",
                f"--system-prompt-file={system}",
                f"--json-schema={schema}",
            )
            limit = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(request.max_tokens)}
            output = await self._run(arguments, clean(request.text).encode(), limit)
        finally:
            system.unlink(missing_ok=True)
        messages = _messages(output)
        self._paused_until = _near_until(messages)
        return self._reply(_result(messages))

    async def check(self) -> None:
        """Check whether an account is logged in. Raises KeyRefusedError if not."""
        try:
            status = json.loads(await self._run(("auth", "status"), b"", {}))
        except ValueError:
            raise _too_old() from None
        if not isinstance(status, dict) or not status.get("loggedIn"):
            raise KeyRefusedError("Claude Code has no login", LOG_IN)

    async def close(self) -> None:
        """Kill the child processes."""
        self._closed = True
        for child in list(self._children):
            _kill(child)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await child.wait()  # ends, because the running call reads all output

    def _written(self, system: str) -> Path:
        """Write the system prompt to a file, because every process can read command-line arguments; return the path."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".md", "system-", self._folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(system)
        except OSError as error:
            raise ProviderError(
                f"{self._folder} can't be written: {error.strerror}", "make this folder writable"
            ) from None
        return Path(name)

    async def _run(self, arguments: tuple[str, ...], text: bytes, more: Mapping[str, str]) -> bytes:
        """Run one child process to its end and return its output."""
        async with self._turn:
            if self._closed:
                raise ProviderError(f"the provider {SELLER} is closed")
            child = await self._start(arguments, more)
            self._children.add(child)
            try:
                async with asyncio.timeout(self._seconds):
                    return await _spoken(child, text)
            except TimeoutError:
                raise out_of_time(SELLER, self._seconds) from None
            finally:
                # Also after a cancellation; this kills the processes that the child started, too.
                await _end(child)
                self._children.discard(child)

    async def _start(self, arguments: tuple[str, ...], more: Mapping[str, str]) -> asyncio.subprocess.Process:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return await asyncio.create_subprocess_exec(
                self._command,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=self._folder,
                env={**self._environment, **more},
                start_new_session=True,
            )
        except OSError as error:
            raise ProviderError(f"Claude Code can't be started: {error.strerror}", INSTALL) from None

    def _reply(self, result: Mapping[str, Any]) -> Reply:
        usage, model = _usage(result)
        said = result.get("result")
        if "structured_output" in str(result.get("subtype")):  # the client has asked the model for repairs already
            raise charged(BadAnswerError("the model's answer doesn't fit its schema", "choose another model"), usage)
        if result.get("is_error"):
            raise charged(_failure(result.get("api_error_status"), str(said or "")), usage)
        if result.get("stop_reason") == "refusal":
            raise charged(BadAnswerError("the model refused to answer", "no action is needed"), usage)
        if result.get("stop_reason") == "max_tokens":
            raise charged(
                BadAnswerError("the model's answer was cut off at the output token limit", "choose another model"),
                usage,
            )
        value = result.get("structured_output")
        text = json.dumps(value) if isinstance(value, dict) else said
        if not isinstance(text, str) or not text.strip():
            raise charged(BadAnswerError("the model's answer is empty", "the request is repeated later"), usage)
        return Reply(text, usage, model or self.model)


async def _spoken(child: asyncio.subprocess.Process, text: bytes) -> bytes:
    written = asyncio.ensure_future(_write(child, text))
    try:
        output = await _read(child)
        await child.wait()
        return output
    finally:
        written.cancel()


async def _write(child: asyncio.subprocess.Process, text: bytes) -> None:
    """Write the request to the child process. An error is ignored, because the child's output gives the reason."""
    if child.stdin is None:
        return
    with contextlib.suppress(ConnectionError):
        child.stdin.write(text)
        await child.stdin.drain()
        child.stdin.close()


async def _read(child: asyncio.subprocess.Process) -> bytes:
    output = bytearray()
    while child.stdout is not None and (part := await child.stdout.read(1 << 16)):
        output += part
        if len(output) > MAX_OUTPUT:
            raise BadAnswerError(f"Claude Code wrote more than {MAX_OUTPUT >> 20} MB", "choose another model")
    return bytes(output)


def _kill(child: asyncio.subprocess.Process) -> None:
    """Kill the child's process group; does nothing if the processes have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


async def _end(child: asyncio.subprocess.Process) -> None:
    """Kill the child's process group and wait for the child."""
    _kill(child)
    # asyncio reports the end of a process only after the end of its output, and notices that only when all output has
    # been read. A process that left the group may keep the output open.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while child.stdout is not None and await child.stdout.read(1 << 16):
                pass
            await child.wait()


def _messages(output: bytes) -> list[dict[str, Any]]:
    """Return the client's messages: all of them with --verbose, only the result from clients without that option."""
    try:
        said = json.loads(output)
    except ValueError:
        raise _too_old() from None
    return [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, dict)]


def _result(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = [one for one in messages if one.get("type") == "result"]
    if not found:
        raise _too_old()
    return found[-1]


def _near_until(messages: Sequence[dict[str, Any]]) -> float:
    """Return when a usage limit that is nearly reached is reset (seconds since the epoch); 0 if no limit is near."""
    reported = [one["rate_limit_info"] for one in messages if isinstance(one.get("rate_limit_info"), dict)]
    if not reported or reported[-1].get("status") not in ("allowed_warning", "rejected"):
        return 0.0
    reset = reported[-1].get("resetsAt")
    return float(reset) if isinstance(reset, int | float) and reset > time() else time() + LIMIT_SECONDS


def _too_old() -> UnavailableError:
    return UnavailableError("Claude Code returned no result: it was interrupted, or is too old", "run `claude update`")


def _failure(status: object, said: str) -> ProviderError:
    if _LIMIT.search(said):
        reset = _RESET.search(said)
        after = max(0.0, int(reset[1]) - time()) if reset else LIMIT_SECONDS
        message = "the usage limit of this Claude account is reached"
        return RateLimitedError(message, WAIT, after)
    if isinstance(status, int) and status >= 300:
        error = failure(status, {}, said, SELLER)
        return KeyRefusedError(error.message, LOG_IN) if isinstance(error, KeyRefusedError) else error
    if "log in" in said.lower() or "login" in said.lower() or "logged in" in said.lower():
        return KeyRefusedError("Claude Code has no login", LOG_IN)
    return UnavailableError("Claude Code couldn't reach its API", "the request is retried automatically")


def _usage(result: Mapping[str, Any]) -> tuple[Usage, str]:
    """Return the usage of all models together, and the model with the highest cost."""
    used = {name: each for name, each in (result.get("modelUsage") or {}).items() if isinstance(each, dict)}
    cost = result.get("total_cost_usd")
    cached = sum(each.get("cacheReadInputTokens", 0) for each in used.values())
    written = sum(each.get("cacheCreationInputTokens", 0) for each in used.values())
    asked = sum(each.get("inputTokens", 0) for each in used.values())
    output = sum(each.get("outputTokens", 0) for each in used.values())
    known = float(cost) if isinstance(cost, int | float) else None
    model = max(used, key=lambda name: float(used[name].get("costUSD", 0)), default="")
    return Usage(asked + cached + written, output, cached, known, written), model


def _found(command: str) -> str:
    """Return the path of the client. An absolute path is used as it is; a name is searched in trusted folders.

    Raises ProviderError if the client is not found.
    """
    path = str(Path(command).expanduser())
    found = shutil.which(path) if os.path.isabs(path) else find_program(command)  # noqa: PTH117
    if not found:
        raise ProviderError("Claude Code isn't found on this machine", INSTALL)
    return found


def _environment(access: Access) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)
    } | ENVIRONMENT
    chosen = {
        "CLAUDE_CONFIG_DIR": str(access.options.get("config_dir") or ""),
        "ANTHROPIC_BASE_URL": need_url(access.base_url) if access.base_url else "",
        "ANTHROPIC_API_KEY": access.key,
    }
    return kept | {name: value for name, value in chosen.items() if value}


def _folder(chosen: object) -> Path:
    home = find_home()
    if chosen or home is None:
        return Path(str(chosen or Path(tempfile.gettempdir()) / f"subconscious-{os.getuid()}-claude"))
    return home.run / "claude"
