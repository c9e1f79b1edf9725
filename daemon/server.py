"""The socket server: owner-only, one request per connection.

No request may block the others (see ``connection_limits``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
from contextlib import suppress
from time import monotonic

from subconscious import __version__
from subconscious.app import App
from subconscious.authorship.attestation import record_prompt, record_session, vouch
from subconscious.authorship.open_turns import starts_hooks_like_commands
from subconscious.authorship.peers import client_of, doubt_of_hook, is_ours, peer_of
from subconscious.context.disk import is_disk_fault
from subconscious.context.entry import BrokenEntryError, Entry, parse_entry, parse_secrets
from subconscious.domain.errors import SubconsciousError
from subconscious.hook_responses import Answers
from subconscious.settings.home import Home
from subconscious.store.presence import as_damage
from subconscious.surfacing.hook_output import in_form_of
from subconscious.system.json_bounds import SMALL_BYTES
from subconscious.wire import REQUEST_LIMIT, decode_request, encode_error, encode_result, frame

from .commands import Commands
from .connection_limits import SHORT_BYTES, ConnectionLimits
from .spool import Spool

log = logging.getLogger("subconscious.daemon")

ENTRY_LIMIT = 2 * 2**20
"""The largest entry that a hook may send, in bytes; hooks send more than 1 MB only if they can't spool it."""

REQUEST_SECONDS = 10.0
"""Seconds within which a caller must send its request."""

CONFIRMATION_SECONDS = 2.0
"""Seconds within which a hook confirms that it received its answer. The hook's own deadline is shorter, except for
a slash command."""

FAREWELL_SECONDS = 2.0
"""Seconds that running requests may take to finish when the daemon stops."""

BACKLOG = 512
"""Connections that may wait: twenty sessions that start at once must not be rejected."""


def described(error: Exception, home: Home) -> SubconsciousError:
    """Return an unexpected error of a request as a SubconsciousError with a message for a user."""
    if (damage := as_damage(error, home.database)) is not None:
        return damage
    if is_disk_fault(error):
        why = error.strerror if isinstance(error, OSError) else error
        path = error.filename if isinstance(error, OSError) and error.filename else home.root
        return SubconsciousError(f"nothing can be written: {why}", f"check the disk with `df -h {path}`")
    return SubconsciousError(f"{type(error).__name__}: {error}", f"the log has more: {home.log / 'daemon.log'}")


class Server:
    """Listens on the state folder's socket."""

    def __init__(self, app: App, spool: Spool) -> None:
        self._app = app
        self._spool = spool
        self._answers = Answers(app, spool.sweep)
        self._commands = Commands(app, spool)
        self._server: asyncio.Server | None = None
        self._bound: os.stat_result | None = None
        self._limits = ConnectionLimits()

    async def open(self) -> None:
        """Bind and listen. Only the holder of the lock gets here, so a file at the path is stale."""
        listener = bind(self._app.home)
        self._bound = self._app.home.socket.stat()
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=SHORT_BYTES, backlog=BACKLOG)

    async def close(self) -> None:
        """Stop listening.

        The path is removed first: callers that come now find no daemon rather than one that doesn't answer. If somebody
        has deleted our socket, the socket at the path belongs to another daemon, and is not removed.
        """
        if self.reachable:
            self._app.home.socket.unlink(missing_ok=True)
        await self._commands.close()
        if self._server is not None:
            await _stop_accepting(self._server)
            self._server.close()
        if self._limits.active:
            # Accepted callers get their answer while the database is still open.
            _, late = await asyncio.wait(self._limits.active, timeout=FAREWELL_SECONDS)
            for task in late:
                task.cancel()
            if late:
                # None of them may use the database when it is closed.
                await asyncio.wait(late, timeout=FAREWELL_SECONDS)

    @property
    def reachable(self) -> bool:
        """Whether the socket at the path is ours."""
        try:
            return self._bound is not None and os.path.samestat(self._bound, self._app.home.socket.stat())
        except OSError:
            return False

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._limits.full or not is_ours(writer.get_extra_info("socket")):
            log.warning("connection rejected: %s", "too many" if self._limits.full else "another user's")
            writer.transport.abort()
            return
        caller = asyncio.create_task(self._serve(reader, writer))
        # abort(), because close() would wait for a caller that does not read its answer. In a callback, because under
        # load, a task may be cancelled before it has begun.
        caller.add_done_callback(lambda _: writer.transport.abort())
        self._limits.add(caller)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._app.signals.heard()
        try:
            await self._exchange(reader, writer)
            await _close(writer)
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            log.debug("invalid request or closed connection: %s", error)
        except Exception:
            # A request must never stop the daemon; the caller gets no answer, and the reason is logged.
            log.exception("a request failed")

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(REQUEST_SECONDS) as deadline:
            line = await _short_line(reader)
            if line.startswith(b"ask "):
                deadline.reschedule(None)
                await self._answer_hook(line, reader, writer)
                return
            async with self._limits.buffer_slot(SHORT_BYTES if line.endswith(b"\n") else REQUEST_LIMIT):
                line += await _rest_of_line(reader, line)
                self._limits.request_read()
                deadline.reschedule(None)
                answer = await self._answer(line, _caller(writer))
        await _send(writer, answer)

    async def _answer(self, line: bytes, caller: int) -> bytes:
        if line.startswith(b"hello "):
            return frame(__version__.encode())
        try:
            request = decode_request(line)
            async with self._limits.command_slot(request.cmd):
                return encode_result(await self._commands.run(request, caller))
        except SubconsciousError as error:
            return encode_error(error)
        except Exception as error:
            # After any error the caller gets an answer, and the daemon continues.
            log.exception("a request failed")  # the message may be private
            return encode_error(described(error, self._app.home))

    async def _answer_hook(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a hook with the text that the hook should print.

        An entry that can't be parsed gets no answer, but is already in the spool.
        """
        _, name, length, *more = line.decode("utf-8", "replace").split()
        secrets, flag = more[:1], "".join(more[1:2])
        try:
            entry = await self._receive(name, int(length), reader, unspooled=flag == "unspooled")
        except BrokenEntryError as error:
            log.warning("a hook sent an invalid entry: %s", error)
            return
        is_prompt = entry.event == "UserPromptSubmit"
        if is_prompt:
            # At once: later the hook may have timed out, and the prompt would lose its proof that a person typed it.
            doubt = await vouch(self._app, entry, _caller(writer))
        else:
            doubt = await asyncio.to_thread(doubt_of_hook, _caller(writer), self._app.home.root)
        if not doubt:
            await self._trust(entry, secrets, _caller(writer))
        try:
            await self._send_answer(entry, doubt, reader, writer, confirms=flag == "confirms")
        finally:
            await record_session(self._app, entry.payload.session_id)
            if is_prompt:
                await record_prompt(self._app, entry)

    async def _receive(self, name: str, length: int, reader: asyncio.StreamReader, *, unspooled: bool) -> Entry:
        """Read an entry that a hook sends; store it if the hook could not write it to the spool."""
        if not 0 < length <= ENTRY_LIMIT:
            raise ValueError("the entry is empty or too large")
        async with self._limits.buffer_slot(length):
            raw = await asyncio.wait_for(reader.readexactly(length), REQUEST_SECONDS)
            self._limits.request_read()
            self._app.signals.spooled.set()
            if unspooled:
                await self._spool.accept(name, raw)
            return await _parse(name, raw)

    async def _trust(self, entry: Entry, secrets: list[str], caller: int) -> None:
        """Record that a session's hook was verified, and use the keys that it sent."""
        client = await asyncio.to_thread(client_of, caller)
        if entry.event == "UserPromptSubmit" or not await asyncio.to_thread(starts_hooks_like_commands, caller):
            self._app.sessions.vouched.add_session(entry.payload.session_id, client)
        if secrets:
            keys = parse_secrets(secrets[0])
            self._app.adopt(dict(entry.options) | keys)
            self._app.hear_keys(entry.payload.session_id, keys)

    async def _send_answer(
        self,
        entry: Entry,
        doubt: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        confirms: bool,
    ) -> None:
        session_id, began = entry.payload.session_id, monotonic()
        async with self._app.signals.answering[session_id]:
            before = await self._answers.before(session_id)
            try:
                answer = in_form_of(entry, await self._answers.answer(entry, doubt))
                # The hook may time out after the memories were recorded as shown: then it has closed its end of the
                # socket and printed nothing. An answer that was sent just before stays unread in the hook's buffer, so
                # only the hook knows whether the answer came in time.
                await _send(writer, frame(answer), reader)
                self._app.answer_times.note(entry.event, monotonic() - began)
                if answer and confirms:
                    await asyncio.wait_for(reader.readexactly(1), CONFIRMATION_SECONDS)
            except Exception:
                # After any error the hook has printed nothing.
                await self._answers.take_back(before)
                raise


async def _stop_accepting(server: asyncio.Server) -> None:
    """Stop accepting connections, but serve those that were accepted already.

    asyncio creates the connection's transport one iteration of the loop after accepting it, and calls us another
    iteration later. If the server is closed in between, Python 3.11 drops the connection without closing it, and the
    caller waits until its deadline.
    """
    for listener in server.sockets:
        asyncio.get_running_loop().remove_reader(listener.fileno())
    for _ in range(2):
        await asyncio.sleep(0)


async def _parse(name: str, raw: bytes) -> Entry:
    """Parse an entry: a small one at once, because its hook waits, a large one in a thread."""
    if len(raw) <= SMALL_BYTES:
        return parse_entry(name, raw)
    return await asyncio.to_thread(parse_entry, name, raw)


async def _short_line(reader: asyncio.StreamReader) -> bytes:
    """Return the request's line, or the beginning of a long one."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial + b"\n"
    except asyncio.LimitOverrunError as error:
        return await reader.readexactly(error.consumed)


async def _rest_of_line(reader: asyncio.StreamReader, line: bytes) -> bytes:
    """Return the rest of a long line. Raises ValueError if it exceeds the limit of a request."""
    rest = bytearray()
    while not (rest or line).endswith(b"\n"):
        rest += await _short_line(reader)
        if len(line) + len(rest) > REQUEST_LIMIT:
            raise ValueError("a request is too long")
    return bytes(rest)


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close the connection after everything is sent, or raise TimeoutError if the caller doesn't read it in time."""
    writer.close()
    with suppress(ConnectionError):
        await asyncio.wait_for(writer.wait_closed(), REQUEST_SECONDS)


def _caller(writer: asyncio.StreamWriter) -> int:
    return peer_of(writer.get_extra_info("socket"))


async def _send(writer: asyncio.StreamWriter, answer: bytes, reader: asyncio.StreamReader | None = None) -> None:
    if reader is not None and reader.at_eof():
        raise ConnectionResetError("the caller closed the connection")
    writer.write(answer)
    await asyncio.wait_for(writer.drain(), REQUEST_SECONDS)


def bind(home: Home) -> socket.socket:
    """Return a socket, bound to the state folder's path, that only its owner can use; it does not listen yet.

    It is bound by its file name alone, because the full path may be longer than the system allows.
    """
    path = home.socket
    home.make()  # raises if the folder is not ours alone
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode) or path.lstat().st_uid != os.getuid():
            raise SubconsciousError(f"{path} exists, but is not the daemon's socket", f"move {path} away")
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The folder is 0700 already; with this mask, the socket is 0600 from the start.
    mask = os.umask(0o177)
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(home.run)
        listener.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)
        os.umask(mask)
    return listener
