"""The socket: owner-only, one request a connection, nothing that a request can be shall stall the rest (``crowd``)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
from contextlib import suppress

from subconscious import __version__
from subconscious.client import REQUEST_LIMIT, decode_request, encode_error, encode_result, frame
from subconscious.errors import SubconsciousError
from subconscious.home import Home
from subconscious.json_bounds import SMALL_BYTES
from subconscious.store.connect import HURRIED
from subconscious.store.presence import as_damage

from .answers import Answers
from .commands import Commands
from .core import Core
from .crowd import SHORT, Crowd
from .entry import BrokenEntryError, Entry, parse_entry, parse_secrets
from .peers import client_of, doubt_of_hook, is_ours, peer_of
from .spool import Spool
from .vouching import vouch, write_down, write_session_down

log = logging.getLogger("subconscious.daemon")

ENTRY_LIMIT = 2 * 2**20
"""Bytes of an entry that a hook may ask about; hooks ask about no more than 1 MB."""

REQUEST_SECONDS = 10.0
"""Time a caller has to state its request."""

FAREWELL_SECONDS = 2.0
"""Time that requests under way have once the daemon leaves."""

BACKLOG = 512
"""Connections that may wait: twenty sessions that start at once must not be turned away."""


class Server:
    """Listens at the state folder's socket."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool
        self._answers = Answers(core, spool)
        self._commands = Commands(core, spool)
        self._server: asyncio.Server | None = None
        self._bound: os.stat_result | None = None
        self._crowd = Crowd()

    async def open(self) -> None:
        """Bind and listen. Only the holder of the lock comes here, so what lies at the path is stale."""
        listener = bind(self._core.home)
        self._bound = self._core.home.socket.stat()
        self._server = await asyncio.start_unix_server(self._let_in, sock=listener, limit=SHORT, backlog=BACKLOG)

    async def close(self) -> None:
        """Stop listening. The path goes first: who comes from now on finds no daemon rather than a deaf one.

        Should somebody have deleted ours, what lies there is the socket of another daemon, and stays.
        """
        if self.reachable:
            self._core.home.socket.unlink(missing_ok=True)
        if self._server is not None:
            await _stop_accepting(self._server)
            self._server.close()
        if self._crowd.all:
            # Those who were let in get their answer while there is a database to answer from.
            _, late = await asyncio.wait(self._crowd.all, timeout=FAREWELL_SECONDS)
            for task in late:
                task.cancel()
            if late:
                # None of them may be at the database when it is closed.
                await asyncio.wait(late, timeout=FAREWELL_SECONDS)

    @property
    def reachable(self) -> bool:
        """Whether the socket at the path is ours."""
        try:
            return self._bound is not None and os.path.samestat(self._bound, self._core.home.socket.stat())
        except OSError:
            return False

    def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._crowd.full or not is_ours(writer.get_extra_info("socket")):
            log.warning("a caller was turned away: %s", "too many" if self._crowd.full else "another user's")
            writer.transport.abort()
            return
        caller = asyncio.create_task(self._serve(reader, writer))
        # Not close(): that would wait for a caller that does not read what it asked for. And not in the task itself:
        # in a rush, a caller may be sent away before its task has begun.
        caller.add_done_callback(lambda _: writer.transport.abort())
        self._crowd.let_in(caller)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._core.heard()
        try:
            await self._exchange(reader, writer)
            await _close(writer)
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            log.debug("a caller left or made no sense: %s", error)
        except Exception:
            # A request must never take the daemon down; the caller gets no answer, and the log the reason.
            log.exception("a request failed")

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(REQUEST_SECONDS) as patience:
            line = await _short_line(reader)
            if line.startswith(b"ask "):
                patience.reschedule(None)
                await self._ask(line, reader, writer)
                return
            async with self._crowd.holding(SHORT if line.endswith(b"\n") else REQUEST_LIMIT):
                line += await _rest_of_line(reader, line)
                self._crowd.heard()
                patience.reschedule(None)
                answer = await self._answer(line, _caller(writer))
        await _send(writer, answer)

    async def _answer(self, line: bytes, caller: int) -> bytes:
        if line.startswith(b"hello "):
            return frame(__version__.encode())
        try:
            request = decode_request(line)
            async with self._crowd.turn(request.cmd):
                return encode_result(await self._commands.run(request, caller))
        except SubconsciousError as error:
            return encode_error(error)
        except Exception as error:
            # After any error the caller gets an answer, and the daemon goes on.
            log.exception("a request failed")  # its words may be private
            if (damage := as_damage(error, self._core.home.database)) is not None:
                return encode_error(damage)
            return encode_error(SubconsciousError(f"{type(error).__name__}: {error}", "see the daemon's log"))

    async def _ask(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tell the hook what to print. Silence for what can't be understood: the entry is in the spool anyway."""
        _, name, length, *more = line.decode("utf-8", "replace").split()
        secrets, unspooled = more[:1], more[1:] == ["unspooled"]
        if not 0 < int(length) <= ENTRY_LIMIT:
            raise ValueError("the entry is too large to be asked about, or empty")
        async with self._crowd.holding(int(length)):
            raw = await asyncio.wait_for(reader.readexactly(int(length)), REQUEST_SECONDS)
            self._crowd.heard()
            self._core.spooled.set()
            if unspooled:
                await self._spool.take(name, raw)
            try:
                entry = await _parse(name, raw)
            except BrokenEntryError as error:
                log.warning("asked about a broken entry: %s", error)
                return
        if not await asyncio.to_thread(doubt_of_hook, _caller(writer), self._core.home.root):
            client = await asyncio.to_thread(client_of, _caller(writer))
            self._core.vouched.add_session(entry.payload.session_id, client)
            if secrets:
                told = parse_secrets(secrets[0])
                self._core.adopt(dict(entry.options) | told)
                self._core.hear_keys(entry.payload.session_id, told)
        if entry.event != "UserPromptSubmit":
            try:
                await self._tell(entry, "", reader, writer)
            finally:
                await write_session_down(self._core, entry.payload.session_id)
            return
        # At once: when its turn comes the hook may have given up, and what was typed is a person's all the same.
        doubt = await vouch(self._core, entry, _caller(writer))
        try:
            await self._tell(entry, doubt, reader, writer)
        finally:
            await write_session_down(self._core, entry.payload.session_id)
            await write_down(self._core, entry)

    async def _tell(self, entry: Entry, doubt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session_id = entry.payload.session_id
        async with self._core.answering[session_id]:
            HURRIED.set(True)  # of this connection's own task
            before = await self._answers.before(session_id)
            try:
                answer = await self._answers.answer(entry, doubt)
                # Between the ledger and the hook lies its deadline: a hook that has given up closed its end, and what
                # it was to print is not in anybody's context.
                await _send(writer, frame(answer), reader)
            except Exception:
                # After any error the hook has printed nothing.
                await self._answers.take_back(before)
                raise


async def _stop_accepting(server: asyncio.Server) -> None:
    """Accept nobody else, and let those in who are accepted already.

    asyncio makes the connection's transport one step of the loop after it was accepted, and calls us another step
    later. Where the server is closed in between, Python 3.11 drops the connection without closing it, and the caller
    waits for an answer until its deadline.
    """
    for listener in server.sockets:
        asyncio.get_running_loop().remove_reader(listener.fileno())
    for _ in range(2):
        await asyncio.sleep(0)


async def _parse(name: str, raw: bytes) -> Entry:
    """Parse an entry: a small one at once, for its hook waits, and a large one where it holds nobody up."""
    if len(raw) <= SMALL_BYTES:
        return parse_entry(name, raw)
    return await asyncio.to_thread(parse_entry, name, raw)


async def _short_line(reader: asyncio.StreamReader) -> bytes:
    """The request's line, or as much of it as is short."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial + b"\n"
    except asyncio.LimitOverrunError as error:
        return await reader.readexactly(error.consumed)


async def _rest_of_line(reader: asyncio.StreamReader, line: bytes) -> bytes:
    """What follows a line that is not short; raises ValueError where it is longer than any request."""
    rest = bytearray()
    while not (rest or line).endswith(b"\n"):
        rest += await _short_line(reader)
        if len(line) + len(rest) > REQUEST_LIMIT:
            raise ValueError("a request is too long")
    return bytes(rest)


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close once all is sent, if the caller reads it in time."""
    writer.close()
    with suppress(ConnectionError):
        await asyncio.wait_for(writer.wait_closed(), REQUEST_SECONDS)


def _caller(writer: asyncio.StreamWriter) -> int:
    return peer_of(writer.get_extra_info("socket"))


async def _send(writer: asyncio.StreamWriter, answer: bytes, reader: asyncio.StreamReader | None = None) -> None:
    if reader is not None and reader.at_eof():
        raise ConnectionResetError("the caller has left")
    writer.write(answer)
    await asyncio.wait_for(writer.drain(), REQUEST_SECONDS)


def bind(home: Home) -> socket.socket:
    """A listening place that only its owner reaches; paths too long for the system are bound by their bare name."""
    path = home.socket
    home.make()  # it says so where the folder is not ours alone
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode) or path.lstat().st_uid != os.getuid():
            raise SubconsciousError(f"{path} is in the way: it is no socket of ours", f"move {path} away")
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The folder is 0700 already; the mask closes the moment between bind and chmod all the same.
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
