"""A proxy on loopback that stalls, breaks off or lies, in front of a Unix socket."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
TLS_REQUEST = bytes.fromhex("0000000804d2162f")


class Proxy:
    """Passes connections on. ``stalled``: bytes wait until it is cleared. ``broken``: new connections are closed."""

    def __init__(self, socket: str, tls: ssl.SSLContext | None = None) -> None:
        self._socket = socket
        self._tls = tls
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.broken = False
        self.connections = 0
        self.port = 0

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stall(self) -> None:
        """Pass nothing on from now on."""
        self._flowing.clear()

    def resume(self) -> None:
        """Pass everything on again."""
        self._flowing.set()

    def drop(self) -> None:
        """Break off all connections."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            if not self.broken:
                await self._pass_on(reader, writer)
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._tls is not None:
            assert await reader.readexactly(8) == TLS_REQUEST
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(self._tls)
        server_reader, server_writer = await asyncio.open_unix_connection(self._socket)
        self._writers.add(server_writer)
        try:
            both = [self._copy(reader, server_writer), self._copy(server_reader, writer)]
            tasks = [asyncio.ensure_future(one) for one in both]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._writers.discard(server_writer)
            server_writer.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()


class Liar:
    """A server that greets as PostgreSQL does and then says what a test wants, for as long as somebody listens."""

    def __init__(self, says: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        self._says = says
        self.port = 0
        self.sent = 0

    async def __aenter__(self) -> Liar:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                request = await reader.readexactly(length - 4)
                if request[:4] == TLS_REQUEST[4:]:
                    writer.write(b"N")
                    continue
                break
            await self._says(reader, writer)
        writer.transport.abort()
