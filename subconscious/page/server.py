"""Serves the web page on a random port of 127.0.0.1, from when a person opens it until it is closed or unused."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from subconscious.app import App
from subconscious.authorship.tcp_peers import TcpPeers
from subconscious.page.access import Keys
from subconscious.page.guard import Guard
from subconscious.page.site import Ask, Site, application
from subconscious.system import heap

log = logging.getLogger("subconscious.page")

IDLE_SECONDS = 1200.0
"""Seconds without a request after which the web page is closed."""

LOOK_SECONDS = 5.0
"""Seconds between two checks of whether the page is still used."""

MOST_CONNECTIONS = 64
"""The most connections at the same time; a browser opens about six. Further ones are closed immediately."""

REQUEST_SECONDS = 10.0
"""Seconds within which a new connection must send its first request."""

FAREWELL_SECONDS = 2
"""Seconds that running requests may take to finish when the page closes."""


class _Connection(H11Protocol):
    """A connection that is closed if it sends no request in time, or if there are too many connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.access_log = False  # paths contain secrets, which no handler of the access log may write
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(REQUEST_SECONDS, self._abort_if_silent)

    def _abort_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.abort()


class _Server(uvicorn.Server):
    """A web server that installs no signal handlers, because the daemon has its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class PageServer:
    """The server of one open page."""

    def __init__(self, app: App, ask: Ask) -> None:
        self._app = app
        self.keys = Keys()
        self.site = Site(app, ask, self.keys.base)
        self._listener = _listen()
        self.port = int(self._listener.getsockname()[1])
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
        self._server = _Server(self._config())
        self._tasks: list[asyncio.Task[None]] = []
        self._used = monotonic()

    @property
    def is_open(self) -> bool:
        """Whether the web page is being served and is not closing."""
        return bool(self._tasks) and not self._tasks[0].done() and not self.site.closing.is_set()

    def open(self) -> None:
        """Start to serve the web page."""
        self._tasks = [asyncio.create_task(self._serve()), asyncio.create_task(self._close_when_idle())]
        log.info("the web page is open on port %d", self.port)

    def link(self, folder: str) -> str:
        """Return a new link to the web page; it opens with the project of ``folder``."""
        self._heard()
        self.site.folder = folder
        return f"http://127.0.0.1:{self.port}{self.keys.new_link()}"

    async def close(self) -> None:
        """Stop serving the web page, and free the memory that it used."""
        self.site.closing.set()
        self._server.should_exit = True
        if self._tasks:
            # The server closes by itself, even if a browser keeps its connections.
            await asyncio.wait(self._tasks[:1], timeout=2 * FAREWELL_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._release()

    def _config(self) -> uvicorn.Config:
        guard = Guard(application(self.site), self.keys, TcpPeers(self._app.home.root), self.port, self._heard)
        return uvicorn.Config(
            guard,
            http=_Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=FAREWELL_SECONDS,
        )

    def _heard(self) -> None:
        self._used = monotonic()
        self._app.signals.heard()

    async def _serve(self) -> None:
        try:
            await self._server.serve(sockets=[self._listener])
        except Exception:
            # A page that fails must not stop the daemon; the next `subconscious ui` opens another.
            log.exception("the server of the web page failed")
        log.info("the web page is closed")

    async def _close_when_idle(self) -> None:
        while monotonic() - self._used < IDLE_SECONDS and not self._app.signals.stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._app.signals.stopping.wait(), min(LOOK_SECONDS, IDLE_SECONDS / 4))
        self.site.closing.set()
        self._server.should_exit = True
        await asyncio.wait(self._tasks[:1], timeout=2 * FAREWELL_SECONDS)
        await self._release()

    async def _release(self) -> None:
        """Free the port, and the memory for the parts of the database that only the page has read."""
        self._listener.close()
        self.site.forget()
        if self._app.signals.stopping.is_set():
            return  # the process is about to exit, which frees its memory
        heap.empty_caches()
        await self._app.database.shrink()
        heap.trim()


def _listen() -> socket.socket:
    """Return a socket that listens on a free port of 127.0.0.1."""
    # If the protocol is named, asyncio sets TCP_NODELAY on accepted connections. Without it, the body of each answer
    # waits 40 ms for the acknowledgement of its headers.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    return listener
