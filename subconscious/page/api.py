"""Requests that open and close the web page. Its server is imported only when a person opens the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar

from subconscious import extras
from subconscious.app import App
from subconscious.app.request import Handler
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.wire.page import UiClosed, UiResult

if TYPE_CHECKING:
    from subconscious.page.server import PageServer

EXTRA = "page"

Run = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Runs a request to the daemon on behalf of the person who opened the web page."""


class Pages(Handler):
    """Requests that open and close the web page."""

    personal: ClassVar[frozenset[str]] = frozenset({"ui"})
    decides: ClassVar[str] = "whether the web page is opened"

    def __init__(self, app: App, run: Run) -> None:
        super().__init__(app)
        self._run = run
        self._server: PageServer | None = None
        self._opening = asyncio.Lock()

    async def cmd_ui(self, args: Args) -> UiResult:
        """Serve the web page; return a link to it that works once."""
        if not extras.is_installed(EXTRA):
            raise RequestError(
                "the packages that the web page needs are not installed", "run `subconscious ui`: it installs them"
            )
        project = await self.project(args)
        async with self._opening:
            server = self._server
            if server is None or not server.is_open:
                await self.close()  # an idle server may still be closing
                server = self._server = await self._open()
            return {"url": server.link(project.root if project else ""), "port": server.port}

    async def _open(self) -> PageServer:
        # Imported in a thread: it takes a few tenths of a second, during which hooks must be answered.
        server_module = await asyncio.to_thread(_load)
        server: PageServer = server_module.PageServer(self.app, self._run)
        server.open()
        return server

    async def cmd_ui_close(self, args: Args) -> UiClosed:
        """Stop serving the web page; the assistant may request this, too."""
        del args
        was_open = self._server is not None and self._server.is_open
        await self.close()
        return {"closed": was_open}

    async def close(self) -> None:
        """Stop serving the web page, if it is open."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()


def _load() -> Any:
    import importlib

    importlib.invalidate_caches()  # the packages may have been installed since the daemon's start
    return importlib.import_module("subconscious.page.server")
